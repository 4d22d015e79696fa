#!/usr/bin/env bash
# Drives `gpilot compare` as a user would. Usage: cli_compare_test.sh PROGRAM
set -euo pipefail

program=$1
# shellcheck source=tests/integration/support.sh
. "$(dirname "$0")/support.sh"

"$program" compare --help | grep 'Examples:' >/dev/null || fail "compare --help has no examples"

# The table, the files.
kink=(compare kink --strategies "random,totmi" --trials 2 --steps 3)
"$program" "${kink[@]}" --threads 1 -o one >one.txt 2>one.err
expect_line "kink: rmse over 2 trials" one.txt
expect_line "p against random" one.txt
expect_line "steps to random's end" one.txt
expect_line "to one (4 trials, 0 of them found there)" one.txt
expect_line "100 % 4 of 4 trials" one.err
expect_equal "header" "$(head -1 one/results.csv)" "system,strategy,trial,step,metric,value"
expect_equal "errors" "$(grep -c ',rmse,[0-9]' one/results.csv)" 16
expect_equal "random has no criterion" "$(grep -c '^kink,random,.*,criterion,$' one/results.csv)" 8
expect_equal "seconds" "$(grep -c '^kink,totmi,.*,choose,' one/timings.csv)" 8
expect_line '"format": "gpilot-comparison"' one/comparison.json

# The same numbers with two threads; both strategies begin alike.
"$program" "${kink[@]}" --threads 2 --format json -o two >two.json 2>/dev/null
cmp -s one/results.csv two/results.csv || fail "--threads 2 gives other results"
cmp -s two/summary.json two.json || fail "--format json"
numbers() { sed '/"seconds_per_step"/,$d' "$1/summary.json"; }
expect_equal "summary with two threads" "$(numbers two)" "$(numbers one)"
start() { grep "^kink,$1,1,0,rmse," one/results.csv | cut -d, -f6; }
expect_equal "start of trial 1" "$(start totmi)" "$(start random)"

# All states observed: one more error, and another comparison.
observed=(compare pendulum --strategies random --trials 1 --steps 1)
"$program" "${observed[@]}" --observe-states -o observed >/dev/null 2>&1
expect_equal "errors of the velocity" "$(grep -c ',rmse.y_th_dot,[0-9]' observed/results.csv)" 2
expect_refused "observe_states is true there, not false" "${observed[@]}" -o observed

# Limits: a table of violations, a metric of each step.
within=(compare pendulum --strategies random --trials 2 --steps 2 --limit y_th=-0.01:0.01)
"$program" "${within[@]}" -o within >within.txt 2>/dev/null
expect_line "outside the limits" within.txt
expect_line "95 % interval" within.txt
expect_equal "violations" "$(grep -c ',violation,[01]' within/results.csv)" 6
expect_line '"no_safe_plan"' within/summary.json
expect_refused "limits is " "${within[@]}" --delta 0.1 -o within
expect_refused "limits is " "${observed[@]}" --observe-states --limit th=0:1 -o observed
expect_refused "did you mean 'y_th'?" "${observed[@]}" --limit y_ht=0:1 -o x
expect_refused "'y_th' has two" "${observed[@]}" --limit y_th=0:1 --limit th=0:1 -o x

# Interrupted after the first trial, it goes on.
long=(compare kink --strategies "random,totmi" --trials 10 --steps 10)
"$program" "${long[@]}" --threads 2 -o whole >/dev/null 2>&1
"$program" "${long[@]}" --threads 1 -o stopped >stopped.txt 2>stopped.err &
running=$!
until [[ -n $(find stopped/trials -name '[!.]*.json' 2>/dev/null) ]]; do
  kill -0 "$running" 2>/dev/null || break
  sleep 0.01
done
kill -INT "$running" || true
code=0
wait "$running" || code=$?
expect_equal "exit code of an interrupted comparison" "$code" 130
expect_line "of 20 trials are stored in stopped; the same command goes on from there" stopped.err
expect_equal "table of an interrupted comparison" "$(wc -c <stopped.txt)" 0
[[ ! -e stopped/results.csv ]] || fail "an interrupted comparison has results"
"$program" "${long[@]}" --threads 2 -o stopped >stopped.txt 2>/dev/null
grep -qE '\(20 trials, ([1-9]|1[0-9]) of them found there\)' stopped.txt || fail "resumed: $(tail -1 stopped.txt)"
cmp -s whole/results.csv stopped/results.csv || fail "an interruption changes the results"
expect_equal "summary after an interruption" "$(numbers stopped)" "$(numbers whole)"

# With angles it is another comparison.
swing=(compare pendulum --strategies random --trials 1 --steps 1 --box pendulum=-1:1)
"$program" "${swing[@]}" --angles -o swing >/dev/null 2>&1
expect_line '"angles": true' swing/comparison.json
expect_line '"angles": false' one/comparison.json
expect_refused "swing: holds another comparison: angles is true there, not false" "${swing[@]}" -o swing
expect_refused "angles: the paper's model knows none" "${swing[@]}" --angles --paper -o x
# One of an older version does not say.
cp -r one older
sed -i '/"angles"/d' older/comparison.json
"$program" "${kink[@]}" -o older 2>/dev/null | tail -1 >older.txt
expect_line "(4 trials, 4 of them found there)" older.txt

# A damaged trial is run again, more trials extend what is there.
truncate -s 500 two/trials/kink-totmi-001.json
"$program" "${kink[@]}" -o two >/dev/null 2>damaged.err
expect_line "kink-totmi-001.json: damaged file of a trial" damaged.err
cmp -s one/results.csv two/results.csv || fail "a damaged trial changes the results"
"$program" compare kink --strategies random,randext,totmi --trials 2 --steps 3 -o two 2>/dev/null | tail -1 >grown.txt
expect_line "(6 trials, 4 of them found there)" grown.txt

# A stored trial that failed is not run again; the tables come all the same.
# Written as by a version that had no checksums, so that it may be changed here.
sed -i -e 's/"status": "[a-z ]*"/"status": "failed: no factor"/' -e 's/"version": 2/"version": 1/' \
  -e 's/"evaluate_seconds": \(.*\),$/"evaluate_seconds": \1/' -e '/"checksum"/d' stopped/trials/kink-totmi-003.json
code=0
"$program" "${long[@]}" -o stopped >failed.txt 2>failed.err || code=$?
expect_equal "exit code after a failed trial" "$code" 1
expect_line "(20 trials, 20 of them found there)" failed.txt
expect_line "1 of 20 trials failed, first: kink totmi trial 3: no factor" failed.err

# Wrong input leaves everything as it was.
mkdir other
echo mine >other/notes.txt
before=$(find . -type f -exec cksum {} + | sort)
expect_refused "one: holds another comparison: steps is 3 there, not 4" compare kink --steps 4 -o one
expect_refused "one: holds another comparison: seed is 0 there, not 1" "${kink[@]}" --seed 1 -o one
expect_refused "the box of kink is" "${kink[@]}" --box kink=0:0.5 -o one
expect_refused "strategies is [\"random\",\"totmi\"] there" compare kink --strategies random --steps 3 -o one
expect_refused "other: the directory holds something else" "${kink[@]}" -o other
expect_refused "one.txt: it is a file" "${kink[@]}" -o one.txt
expect_refused "no/where: cannot make the directory" "${kink[@]}" -o no/where
expect_refused "did you mean 'totmi'?" compare kink --strategies totm -o x
expect_refused "did you mean 'kink'?" compare kinl -o x
expect_refused "'kink' is named twice" compare kink kink -o x
expect_refused "--trials: expected a whole number from 1 to 1000000, not 0" compare kink --trials 0 -o x
expect_refused "--steps: expected a whole number from 1 to 1000000, not 0" compare kink --steps 0 -o x
expect_refused "--initial: expected a whole number from 2 to 10000, not 1" "${kink[@]}" --initial 1 -o x
expect_refused "--retrain-every" "${kink[@]}" --retrain-every 0 -o x
expect_refused "--threads: expected a whole number from 1 to 256, not 0" "${kink[@]}" --threads 0 -o x
expect_refused "--box: expected SYSTEM=LOW:HIGH, not '0:1'" "${kink[@]}" --box 0:1 -o x
expect_refused "--box: expected LOW:HIGH" "${kink[@]}" --box kink=1 -o x
expect_refused "box of kink: [1, 1]" "${kink[@]}" --box kink=1:1 -o x
expect_refused "'pendulum'" "${kink[@]}" --box pendulum=-1:1 -o x
expect_refused "--output is required" "${kink[@]}"
expect_refused "SYSTEM is required" compare -o x
expect_equal "files after wrong input" "$(find . -type f -exec cksum {} + | sort)" "$before"

finish
