#!/usr/bin/env bash
# What choosing controls is worth, in a minute: strategies compared on a pendulum whose velocity nobody measures, then
# one exploration in the open, and a study of a rig. Every command is shown before it runs. Usage: demo.sh GPILOT FOLDER
set -euo pipefail
gpilot=${1:-build/release/bin/gpilot}
folder=${2:-build/demo}
scripts=$(dirname "$0")
mkdir -p "$folder"
# Only what an earlier demo made, so that this one starts afresh.
rm -rf "$folder/compare" "$folder/comparison.html" "$folder/run" "$folder/test.csv" "$folder/rmse.dat" \
  "$folder/rmse.png" "$folder"/rig.*

say() {
  echo
  printf '# %s\n' "$@"
}
run() {
  local word
  printf '$ gpilot'
  for word in "$@"; do
    if [[ $word == *' '* ]]; then printf ' "%s"' "$word"; else printf ' %s' "$word"; fi
  done
  echo
  "$gpilot" "$@"
}

say "Learn a pendulum from 5 noisy measurements of its angle and 20 more, each after a control that is chosen:" \
  "at random, at random among the extremes, or as the first of a plan (auto). Eight paired trials: same start and noise." \
  "rmse is the error of predictions 2 s ahead from controls alone, on test motions; predicting the mean has 1."
run compare pendulum --strategies random,randext,auto --trials 8 --steps 20 -o "$folder/compare"

awk -v metric=rmse -f "$scripts/curves.awk" "$folder/compare/results.csv" >"$folder/rmse.dat"
if command -v gnuplot >/dev/null; then
  say "Median rmse over the controls chosen. As a picture, with quartiles: $folder/rmse.png"
  gnuplot <<PLOT
set logscale y
set yrange [0.25:2]
set xlabel 'controls chosen'
set xrange [0:20]
set ytics (0.1, 0.2, 0.3, 0.5, 1, 2, 3, 5)
set terminal dumb size 100,24
set key below
plot '$folder/rmse.dat' index 'pendulum random' using 1:3 with linespoints pt 'r' title 'random', \
     '' index 'pendulum randext' using 1:3 with linespoints pt 'e' title 'randext', \
     '' index 'pendulum auto' using 1:3 with linespoints pt 'A' title 'auto'
set terminal pngcairo size 900,500 font 'sans,12'
set output '$folder/rmse.png'
set key default
set key top right
set ylabel 'free-run RMSE, test sd'
set title 'A pendulum learned from its angle: median and quartiles of 8 trials'
set style fill transparent solid 0.15 noborder
plot '$folder/rmse.dat' index 'pendulum random' using 1:2:4 with filledcurves lc rgb '#3b6fb6' notitle, \
     '' index 'pendulum randext' using 1:2:4 with filledcurves lc rgb '#555555' notitle, \
     '' index 'pendulum auto' using 1:2:4 with filledcurves lc rgb '#2e8b57' notitle, \
     '' index 'pendulum random' using 1:3 with lines lw 2 lc rgb '#3b6fb6' title 'random', \
     '' index 'pendulum randext' using 1:3 with lines lw 2 lc rgb '#555555' title 'randext', \
     '' index 'pendulum auto' using 1:3 with lines lw 2 lc rgb '#2e8b57' title 'auto'
PLOT
else
  say "Medians and quartiles over the controls chosen are in $folder/rmse.dat (install gnuplot to see them drawn here)."
fi

say "One such exploration, step by step: the model, its data and a record of every step."
run run pendulum --steps 20 -o "$folder/run"

say "What would each control teach it next? And how well does it predict a motion that it has not seen?"
run criterion "$folder/run/model.json" -c totmi
run simulate pendulum --steps 60 --seed 2 --hold 1:5 -o "$folder/test.csv"
run score "$folder/run/model.json" "$folder/test.csv"

if command -v python3 >/dev/null; then
  rig="python3 $scripts/../examples/rigs/pendulum_rig.py --seed 1 --state $folder/rig.state"
  say "The same on a rig: a program that reads and writes lines of JSON. Its study is one file; it is stopped after 10" \
    "measurements here, and goes on as if it had not been."
  run init "$folder/rig.toml" --example pendulum
  run run "$folder/rig.toml" --rig "$rig" --steps 10
  run run "$folder/rig.toml" --rig "$rig" --resume --steps 5
  run show "$folder/rig.study" --last 3
fi

say "The same to look at: reports are single files, which open from the disk in any browser."
if run report "$folder/compare" -o "$folder/comparison.html"; then
  [ ! -e "$folder/rig.study" ] || run report "$folder/rig.study" -o "$folder/rig.html"
  say "Open $folder/comparison.html and $folder/rig.html in a browser. A study that runs can be watched:" \
    "  gpilot serve $folder/rig.study        # then http://127.0.0.1:8717/"
fi

say "The comparison is in $folder/compare, the exploration in $folder/run, the study of the rig in $folder/rig.study."
