#!/usr/bin/env bash
# clang-tidy over the library's and the program's sources with a ratchet: the number of warnings per check may not exceed
# ci/tidy-baseline.txt. Lower the baseline after mending something: ci/tidy.sh --update
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}
build=build/tidy
baseline=ci/tidy-baseline.txt

# Precompiled headers are g++'s own and mean nothing to clang-tidy, so it has a build directory without them. There
# sources are put together, many at a time: every check walks all of Eigen, in every unit.
mkdir -p "$build"
cmake --preset tidy >"$build/configure.log" || {
  cat "$build/configure.log"
  exit 1
}

status=0
# g++ has warnings and parameters that clang does not know.
run-clang-tidy -quiet -p "$build" -j "$jobs" -extra-arg=-Wno-unknown-warning-option -extra-arg=-Wno-unused-command-line-argument "$PWD/$build/.*/Unity/.*\.cxx$" >"$build/tidy.coloured" 2>"$build/tidy.err" ||
  status=$?
# It colours its output whatever it writes to.
sed 's/\x1b\[[0-9;]*m//g' "$build/tidy.coloured" >"$build/tidy.log"
if grep -E '(^|: )error: ' "$build/tidy.log"; then
  echo "clang-tidy could not read the sources above" >&2
  exit 1
fi
if [ "$status" -ne 0 ] || ! grep -q 'clang-tidy' "$build/tidy.log"; then
  cat "$build/tidy.err" "$build/tidy.log" >&2
  echo "run-clang-tidy failed with status $status" >&2
  exit 1
fi

# A header's warning appears once per source that includes it: count each place once.
warnings=$(grep -E '^[^ ]+:[0-9]+:[0-9]+: warning: .*\[[a-z].*\]$' "$build/tidy.log" | sort -u || true)
counts=$(sed -nE 's/.*\[([A-Za-z0-9.,-]+)\]$/\1/p' <<<"$warnings" | sort | uniq -c | awk '{print $2, $1}')

if [ "${1:-}" = --update ]; then
  {
    echo "# Warnings per clang-tidy check over src/gpilot, apps and their headers. Written by ci/tidy.sh --update; only falls."
    [ -z "$counts" ] || echo "$counts"
  } >"$baseline"
  cat "$baseline"
  exit 0
fi

failed=0
while read -r check count; do
  [ -n "$check" ] || continue
  allowed=$(awk -v check="$check" '$1 == check {print $2}' "$baseline")
  allowed=${allowed:-0}
  if [ "$count" -gt "$allowed" ]; then
    echo "$check: $count warnings, $allowed allowed:"
    grep -F "[$check]" <<<"$warnings" | sed "s|$PWD/||"
    failed=1
  elif [ "$count" -lt "$allowed" ]; then
    echo "$check: $count warnings, $allowed allowed; please run ci/tidy.sh --update"
  fi
done <<<"$counts"
while read -r check allowed; do
  case "$check" in '' | '#') continue ;; esac
  grep -q "^$check " <<<"$counts" || echo "$check: no warnings left, $allowed allowed; please run ci/tidy.sh --update"
done <"$baseline"
total=$(grep -c . <<<"$warnings" || true)
sources=$(git ls-files 'src/gpilot/*.cpp' 'apps/*.cpp' | wc -l)
echo "clang-tidy: $total warnings in $sources sources"
exit "$failed"
