#!/usr/bin/env bash
# Runs a program of unit tests in JOBS parts side by side: shards.sh PROGRAM [OPTIONS OF GOOGLETEST]. ctest starts a process for
# every test, which under a sanitizer takes longer than most of the tests.
set -euo pipefail
program=$1
shift
jobs=${JOBS:-$(nproc)}
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

declare -A parts
for ((k = 0; k < jobs; ++k)); do
  GTEST_TOTAL_SHARDS=$jobs GTEST_SHARD_INDEX=$k "$program" --gtest_brief=1 "$@" >"$logs/$k" 2>&1 &
  parts[$k]=$!
done
failed=0
for k in "${!parts[@]}"; do
  if ! wait "${parts[$k]}"; then
    failed=1
    cat "$logs/$k"
  fi
done
tests=$(sed -nE 's/^\[=+\] ([0-9]+) tests? from .* ran\..*/\1/p' "$logs"/* | awk '{sum += $1} END {print sum + 0}')
wrong=$(sed -nE 's/^ ?([0-9]+) FAILED TESTS?$/\1/p' "$logs"/* | awk '{sum += $1} END {print sum + 0}')
[ "$tests" -gt 0 ] || { echo "no tests" >&2 && exit 1; }
echo "$wrong tests failed out of $tests"
exit "$failed"
