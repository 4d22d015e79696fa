#!/usr/bin/env bash
# Drives `gpilot run` and `gpilot criterion` as a user would. Usage: cli_run_test.sh PROGRAM
set -euo pipefail

program=$1
# shellcheck source=tests/integration/support.sh
. "$(dirname "$0")/support.sh"

for command in run criterion; do
  "$program" "$command" --help | grep 'Examples:' >/dev/null || fail "$command --help has no examples"
done

# Every line of a record is whole: it opens with its step, counted from 0, and closes both braces.
expect_whole_lines() { # FILE
  awk -v file="$1" 'index($0, "{\"step\":" (NR - 1) ",") != 1 || !/}}$/ { print file ": line " NR; bad = 1 }
    END { exit bad }' "$1" || fail "$1 has a broken line"
  expect_equal "last byte of $1" "$(tail -c 1 "$1" | od -An -c | tr -d ' ')" '\n'
}

# Starts a long run in the background and waits for its second step.
start_long_run() { # DIR
  "$program" run cart-pole --strategy totmi --steps 500 -o "$1" >"$1.out" 2>"$1.err" &
  run_pid=$!
  for _ in $(seq 600); do
    if [[ -e $1/steps.jsonl ]] && (($(wc -l <"$1/steps.jsonl") >= 2)); then
      return
    fi
    sleep 0.1
  done
  fail "the run in $1 did not get to its second step: $(cat "$1.err")"
}

# A run: a line a step, all files, the same bytes again (seconds apart).
"$program" run pendulum --strategy totmi --steps 3 --initial 4 --seed 2 -o a >a.txt
expect_equal "lines on stdout" "$(wc -l <a.txt)" 7
expect_line "standard deviations of the test outputs; criterion: nats" a.txt
expect_equal "files" "$(find a -type f | sort | xargs)" "a/data.csv a/model.json a/run.json a/steps.jsonl"
expect_equal "columns" "$(head -1 a/data.csv)" "t,c,y_th"
expect_equal "rows" "$(wc -l <a/data.csv)" 9
expect_equal "steps" "$(wc -l <a/steps.jsonl)" 4
expect_equal "measured" "$(grep -o '"y_th":[-0-9.e]*' a/steps.jsonl | cut -d: -f2)" "$(tail -3 a/data.csv | cut -d, -f3)"
expect_equal "applied" "$(grep -o '"applied":{"c":[-0-9.e]*' a/steps.jsonl | cut -d: -f3)" \
  "$(tail -4 a/data.csv | head -3 | cut -d, -f2)"
expect_whole_lines a/steps.jsonl
expect_equal "initial measurements" \
  "$(head -1 a/steps.jsonl | grep -o '"initial":{[^}]*}' | grep -oE -- '-?[0-9][-0-9.e]*|null' | xargs)" \
  "$(head -6 a/data.csv | awk -F, 'NR > 1 { print NR < 6 && $2 != "" ? $2 : "null" }' | xargs) $(head -6 a/data.csv |
    awk -F, 'NR > 1 { print $3 != "" && $3 != "nan" ? $3 : "null" }' | xargs)"
expect_equal "lines with initial measurements" "$(grep -c '"initial"' a/steps.jsonl)" 1
for text in '"format": "gpilot-run"' '"version": 1' '"library_version": "' '"strategy": "totmi"' '"seed": 2' '"initial": 4' '"retrain_every": 1'; do
  expect_line "$text" a/run.json
done
"$program" show a/model.json | grep th_dot >/dev/null || fail "the model cannot be shown"
"$program" run pendulum --strategy totmi --steps 3 --initial 4 --seed 2 -o b --format json >b.json 2>/dev/null
cmp -s a/data.csv b/data.csv || fail "the same seed gave other data"
cmp -s a/model.json b/model.json || fail "the same seed gave another model"
expect_line '"rmse"' b.json

# All states observed.
"$program" run pendulum --strategy random --steps 1 --seed 2 --observe-states -o observed >/dev/null
expect_equal "observed columns" "$(head -1 observed/data.csv)" "t,c,y_th,y_th_dot"
expect_line '"observe_states": true' observed/run.json
expect_line '"rmse.y_th_dot"' observed/steps.jsonl

# Limits of an output: recorded, counted, told.
"$program" run pendulum --strategy random --steps 2 --seed 2 --limit th=-0.01:0.01 --delta 0.1 -o within >within.txt
expect_line '"delta": 0.1' within/run.json
expect_line '"violation_model"' within/steps.jsonl
expect_line '"safe":' within/steps.jsonl
grep -qE '^outside the limits: [12] of 2 steps, and [1-5] of 5 measurements before them' within.txt ||
  fail "limits: $(cat within.txt)"
expect_refused "did you mean 'y_th'?" run pendulum --limit y_ht=0:1 -o x
expect_refused "--limit: expected NAME=LOW:HIGH, not 'th=1'" run pendulum --limit th=1 -o x
expect_refused "--limit: expected NAME=LOW:HIGH, not 'th=:'" run pendulum --limit th=: -o x
expect_refused "limits of 'y_th': [1, 0]" run pendulum --limit th=1:0 -o x
expect_refused "--delta: goes with --limit" run pendulum --delta 0.1 -o x
expect_refused "--delta: expected a probability between 0 and 1, neither of the two, not 2" run pendulum --limit th=0:1 --delta 2 -o x

# Stopping needs a strategy that looks at how sure the model is.
expect_refused "until-sd: the strategy 'totmi' does not look at how sure the model is" run pendulum --strategy totmi --until-sd 0.05 -o x
expect_refused "--until-sd: expected a number between 1e-12 and 1e12, not 0" run pendulum --until-sd 0 -o x
expect_refused "--until-sd: expected a number between 1e-12 and 1e12, not 'sure'" run pendulum --until-sd sure -o x

# Initial controls from a file (a recording: its last row has no control), an empty directory, fewer trainings, a box.
"$program" simulate pendulum --steps 4 --seed 2 -o first.csv >/dev/null
mkdir c
"$program" run pendulum --controls-initial first.csv --steps 2 --retrain-every 2 --box -0.6:0.6 -o c >/dev/null
expect_equal "initial controls" "$(head -5 c/data.csv | cut -d, -f2)" "$(head -5 first.csv | cut -d, -f2)"
expect_equal "trainings" "$(grep -c '"trained":true' c/steps.jsonl)" 2
"$program" run pendulum --angles --strategy random --steps 1 -o turning >/dev/null
expect_line '"angles": true' turning/run.json
"$program" show turning/model.json | grep "angles, the same after a full turn: th" >/dev/null || fail "run --angles"
"$program" run kink --strategy randext --steps 1 -o k >/dev/null
grep -q '"criterion":null' k/steps.jsonl || fail "randext has a criterion"

# The landscape of a criterion.
"$program" criterion a/model.json -c totmi --grid 11 -o l.csv >l.txt
expect_line "totmi is largest at c = " l.txt
expect_equal "header" "$(head -1 l.csv)" "c,value"
expect_equal "grid" "$(cut -d, -f1 l.csv | sed 1d | xargs)" "-0.5 -0.4 -0.3 -0.2 -0.1 0 0.1 0.2 0.3 0.4 0.5"
"$program" criterion a/model.json -c totmi --grid 11 -o - | cmp -s - l.csv || fail "-o -"
"$program" criterion a/model.json -c latmi --box 0:1 --grid 3 --format json >l.json
for key in criterion best value lowest highest; do
  expect_line "\"$key\"" l.json
done
# With the training's recording it stands where it stands without, and where the run stood; else it filters.
expect_line "the state is the smoothed one at the end of the training data" l.txt
"$program" criterion a/model.json --grid 11 --data a/data.csv -o l2.csv >l2.txt
cmp -s l.csv l2.csv || fail "the training's recording gave another state"
expect_line "the state is the smoothed one" l2.txt
"$program" simulate pendulum --steps 7 --seed 9 -o other.csv >/dev/null
expect_equal "rows of another recording" "$(wc -l <other.csv)" "$(wc -l <a/data.csv)"
"$program" criterion a/model.json --grid 11 --data other.csv -o l3.csv >l3.txt
cmp -s l.csv l3.csv && fail "another recording gave the same state"
expect_line "the state is the filter's at the end of other.csv" l3.txt
expect_refused "other.csv: totmi-sampled needs the recording that a/model.json was trained on" \
  criterion a/model.json -c totmi-sampled --data other.csv
expect_refused "5 rows, the training's had 8" criterion a/model.json -c totmi-sampled --data first.csv
"$program" criterion a/model.json -c latmi-x0 --data a/data.csv >/dev/null || fail "latmi-x0 with data"
"$program" criterion a/model.json -c totmi-sampled --data a/data.csv >/dev/null || fail "totmi-sampled with data"

# Killed in the middle: every step so far is there, in whole lines.
start_long_run killed
kill -9 "$run_pid"
wait "$run_pid" 2>/dev/null || true
expect_whole_lines killed/steps.jsonl

# Interrupted: stops after the step, writes data and model so far, exit code 130.
start_long_run stopped
kill -INT "$run_pid"
code=0
wait "$run_pid" || code=$?
expect_equal "exit code after Ctrl-C" "$code" 130
expect_line "interrupted after step" stopped.err
expect_whole_lines stopped/steps.jsonl
expect_equal "rows after Ctrl-C" "$(wc -l <stopped/data.csv)" "$(($(wc -l <stopped/steps.jsonl) + 6))"
"$program" show stopped/model.json >/dev/null || fail "the model of an interrupted run"

# Out of space for steps.jsonl: data and model so far are written all the same, and the error says where.
code=0
(
  trap '' XFSZ
  ulimit -f 40
  exec "$program" run pendulum --strategy totmi --steps 500 -o full
) >full.out 2>full.err || code=$?
expect_equal "exit code without space" "$code" 1
expect_line "full/steps.jsonl: cannot write the file: File too large; what was measured until then is in full" full.err
expect_equal "rows without space" "$(($(wc -l <full/data.csv) > $(wc -l <full/steps.jsonl) + 6))" 1
"$program" show full/model.json >/dev/null || fail "the model of a run without space"

# Wrong input; nothing is written.
expect_refused "did you mean 'totmi'?" run pendulum --strategy totmy -o x
expect_refused "did you mean 'pendulum'?" run pendulun -o x
expect_refused "--steps: expected a whole number from 1 to 1000000, not 0" run pendulum --steps 0 -o x
expect_refused "--initial: expected a whole number from 2 to 10000, not 1" run pendulum --initial 1 -o x
printf 'c\n0.1\n' >one.csv
expect_refused "initial measurements: 1, expected at least 2" run pendulum --controls-initial one.csv -o x
expect_refused "--retrain-every: expected a whole number from 1 to 1000000, not 0" run pendulum --retrain-every 0 -o x
cp -r a before
expect_refused "a: the directory holds files already" run pendulum --steps 1 -o a
diff -r a before || fail "a refused run changed its directory"
expect_refused "l.csv: expected a directory" run pendulum --steps 1 -o l.csv
expect_refused "there is no directory 'nowhere'" run pendulum --steps 1 -o nowhere/x
expect_refused "--box: expected LOW:HIGH" run pendulum --box 3 -o x
expect_refused "needs 1 interval(s), not 2" run pendulum --box 0:1,0:1 -o x
expect_refused "is empty" run pendulum --box 0.2:0.2 -o x
printf 'c\n0.1\n0.7\n' >strong.csv
expect_refused "control c = 0.7 at step 1 is outside the box" run pendulum --controls-initial strong.csv -o x
expect_refused "there is no column 'c_v'" run tras --controls-initial strong.csv -o x
printf 'c\n0.1\nnan\n0.2\n' >gap.csv
expect_refused "the control 'c' is missing in row 1" run pendulum --controls-initial gap.csv -o x
expect_refused "--initial: the rows of --controls-initial" run pendulum --controls-initial first.csv --initial 4 -o x
expect_refused "random has no criterion of one control" criterion a/model.json -c random
expect_refused "did you mean 'latmi'?" criterion a/model.json -c latmy
expect_refused "it needs the data" criterion a/model.json -c latmi-x0
expect_refused "--box: 2 interval(s), the model has 1 control(s): c" criterion a/model.json --box 0:1,0:1
expect_refused "expected LOW below HIGH" criterion a/model.json --box 1:0
expect_refused "--grid: 2000000 points for each of 1 controls" criterion a/model.json --grid 2000000
expect_refused "--grid: expected a whole number of at least 2" criterion a/model.json --grid 1
"$program" fit a/data.csv --inputs c --outputs y_th --states th,th_dot --derivative-of th_dot=th -o m.json >/dev/null
expect_refused "no range was declared for the control 'c': give --box" criterion m.json

finish
