#!/usr/bin/env bash
# Runs the fuzzers, two at a time. Usage: fuzz.sh BUILD_DIRECTORY SECONDS [NAME..]
# They begin with tests/fuzz/corpus/NAME; what they discover goes to BUILD_DIRECTORY/NAME/corpus, findings and the log
# to BUILD_DIRECTORY/NAME. To keep a smaller corpus:  BUILD/bin/fuzz_NAME -merge=1 NEW_DIRECTORY CORPUS..
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
seconds=$2
shift 2
names=("${@:-csv config model protocol}")
read -ra names <<<"${names[*]}"

fuzz() { # fuzz NAME
  local out=$build/$1 corpus=tests/fuzz/corpus/$1 options=()
  mkdir -p "$out/corpus"
  [ -f "tests/fuzz/$1.dict" ] && options+=("-dict=tests/fuzz/$1.dict")
  # A 10 s limit on one input; anything an honest file of this size needs is far below 1 GB.
  "$build/bin/fuzz_$1" "${options[@]}" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -malloc_limit_mb=1024 \
    -max_len=16384 -print_final_stats=1 -artifact_prefix="$out/" "$out/corpus" "$corpus" >"$out/log" 2>&1
}

failed=0
finish() { # finish NAME PROCESS
  local verdict="no finding"
  if ! wait "$2"; then
    verdict="FINDING"
    failed=1
  fi
  printf '%-9s %s: %s\n' "$1" "$verdict" "$(awk '
    / cov: / { for (i = 1; i < NF; ++i) { if ($i == "cov:") cov = $(i + 1); if ($i == "ft:") ft = $(i + 1) } }
    /stat::number_of_executed_units/ { runs = $2 }
    END { printf "%s executions, cov %s, ft %s", runs, cov, ft }' "$build/$1/log")"
  [ "$verdict" = "no finding" ] || tail -n 25 "$build/$1/log"
}

for ((i = 0; i < ${#names[@]}; i += 2)); do
  fuzz "${names[i]}" &
  first=$!
  if ((i + 1 < ${#names[@]})); then
    fuzz "${names[i + 1]}" &
    second=$!
  fi
  finish "${names[i]}" "$first"
  ((i + 1 < ${#names[@]})) && finish "${names[i + 1]}" "$second"
done
exit "$failed"
