# Curves over the steps of a comparison: for each system and strategy a block of lines "step lower-quartile median
# upper-quartile" over its trials, in the order of the file. Gnuplot finds a block by its name:
#   plot FILE index 'pendulum totmi' using 1:3
# Usage: awk -v metric=rmse [-v trials=20] -f curves.awk results.csv     (also timings.csv, with metric=choose or train)
# A value that is not finite is infinitely bad; a quartile that falls on one is missing.
BEGIN {
  FS = ","
  huge = 1e300
}

NR > 1 && $5 == metric && (trials == "" || $3 + 0 < trials + 0) {
  curve = $1 " " $2
  if (!(curve in last)) {
    curves[++n_curves] = curve
    last[curve] = 0
  }
  if ($4 + 0 > last[curve]) {
    last[curve] = $4 + 0
  }
  key = curve SUBSEP ($4 + 0)
  values[key, ++count[key]] = ($6 ~ /^-?[0-9.]/) ? $6 + 0 : huge
}

# The p-quantile of sorted[1..n], between neighbours by their distance.
function quantile(p, n,    at, low) {
  at = 1 + p * (n - 1)
  low = int(at)
  if (low == at || low == n) {
    return sorted[low]
  }
  return sorted[low] + (at - low) * (sorted[low + 1] - sorted[low])
}

function shown(value) {
  return value < huge / 2 ? sprintf("%.6g", value) : "NaN"
}

function print_step(curve, step,    key, n, i, j, value) {
  key = curve SUBSEP step
  n = count[key]
  if (n == 0) {
    return
  }
  for (i = 1; i <= n; ++i) {
    value = values[key, i]
    for (j = i - 1; j > 0 && sorted[j] > value; --j) {
      sorted[j + 1] = sorted[j]
    }
    sorted[j + 1] = value
  }
  print step, shown(quantile(0.25, n)), shown(quantile(0.5, n)), shown(quantile(0.75, n))
}

END {
  for (c = 1; c <= n_curves; ++c) {
    print "# " curves[c]
    for (step = 0; step <= last[curves[c]]; ++step) {
      print_step(curves[c], step)
    }
    print "\n"
  }
}
