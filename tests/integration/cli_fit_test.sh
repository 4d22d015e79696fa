#!/usr/bin/env bash
# Drives `gpilot fit`, `show` and `transition` as a user would. Usage: cli_fit_test.sh PROGRAM
set -euo pipefail

program=$1
# shellcheck source=tests/integration/support.sh
. "$(dirname "$0")/support.sh"

for command in fit show transition; do
  "$program" "$command" --help | grep 'Examples:' >/dev/null || fail "$command --help has no examples"
done

# From simulated data to a model, its explanation and its function.
"$program" simulate pendulum --steps 25 --hold 1:5 --seed 1 --with-states -o a.csv >/dev/null
"$program" simulate pendulum --steps 20 --hold 1:5 --seed 2 -o b.csv >/dev/null
pendulum=(--inputs c --outputs y_th --states "th,th_dot" --derivative-of th_dot=th)
"$program" fit a.csv "${pendulum[@]}" -o a.json >a.txt 2>a.err
expect_equal "progress where there is no terminal" "$(wc -c <a.err)" 0
expect_line "26 rows in 1 sequence(s), dt 0.1 s, seed 0" a.txt
expect_line "y_th measures th" a.txt
expect_line "chosen: " a.txt
expect_line "status: " a.txt
expect_line "Wrote a.json" a.txt
"$program" show a.json >show.txt
expect_line "th' = th + dt/2 (th_dot + th_dot')" show.txt
expect_line "th_dot' = th_dot + f(th, th_dot, c)" show.txt
"$program" show a.json --format json | grep '"kind": "kinematic"' >/dev/null || fail "show in JSON"
printf 'note,th,th_dot,c\n7,0.1,0.2,0.3\n8,-0.1,1,-0.3\n' >grid.csv
"$program" transition a.json grid.csv -o f.csv >/dev/null
expect_equal "transition's columns" "$(head -1 f.csv)" \
  "note,th,th_dot,c,th_next_mean,th_next_sd,th_dot_next_mean,th_dot_next_sd"
expect_equal "transition's rows" "$(wc -l <f.csv)" 3
"$program" transition a.json grid.csv -o - | cmp -s - f.csv || fail "transition -o -"
# The declared kinematics hold in the user's units: th' = th + dt/2 (th_dot + th_dot').
awk -F, 'NR > 1 { e = $5 - $2 - 0.05 * ($3 + $7); if (e * e > 1e-20) exit 1 }' f.csv || fail "kinematics in f.csv"

# The same seed gives the same bytes, whatever the number of threads.
"$program" fit a.csv "${pendulum[@]}" --threads 2 --verbose -o again.json >/dev/null 2>&1
cmp -s a.json again.json || fail "--threads 2 gives another model"
"$program" fit a.csv "${pendulum[@]}" --seed 0 --format json -o json.json >report.json
cmp -s a.json json.json || fail "--format json gives another model"
expect_line '"model": "json.json"' report.json
expect_line '"trace"' report.json

# Several files are several sequences; part of the rows; a start from a model.
"$program" fit a.csv b.csv "${pendulum[@]}" -o ab.json >ab.txt
expect_line "47 rows in 2 sequence(s)" ab.txt
"$program" fit a.csv "${pendulum[@]}" --rows 5:20 -o rows.json >rows.txt
expect_line "15 rows in 1 sequence(s)" rows.txt
"$program" fit b.csv --from a.json -o warm.json >warm.txt || fail "--from"
expect_line "y_th measures th" warm.txt
"$program" show warm.json | grep -F "th' = th + dt/2 (th_dot + th_dot')" >/dev/null || fail "--from drops what was declared"

# An angle: what is said of it, and that a recording which jumps by a turn is the same recording.
"$program" fit a.csv "${pendulum[@]}" --angle th -o angle.json >/dev/null
"$program" show angle.json >angle.txt
expect_line "angles, the same after a full turn: th" angle.txt
expect_line "sin(th)" angle.txt
"$program" show angle.json --format json | tr -d ' \n' | grep -F '"angles":["th"]' >/dev/null || fail "angles in JSON"
awk -F, -v OFS=, -v CONVFMT=%.17g -v OFMT=%.17g 'NR > 8 && $3 != "" { $3 -= 6.283185307179586 } { print }' b.csv >jump.csv
cmp -s b.csv jump.csv && fail "jump.csv does not jump"
"$program" score angle.json b.csv | grep -v csv >whole.txt
"$program" score angle.json jump.csv | grep -v csv >jump.txt
expect_equal "scores of a recording that jumps" "$(cat jump.txt)" "$(cat whole.txt)"
expect_refused "--angle: unknown state 'tth', did you mean 'th'?" fit a.csv "${pendulum[@]}" --angle tth -o x.json
expect_refused "'th_dot' is declared a derivative" fit a.csv "${pendulum[@]}" --angle th_dot -o x.json
expect_refused "mean function linear" fit a.csv "${pendulum[@]}" --angle th --mean linear -o x.json

# Batches: all rows count, the same bytes for any number of threads, nothing of the files is held.
"$program" simulate pendulum --steps 600 --hold 1:5 --seed 4 -o long.csv >/dev/null
batch=(fit long.csv b.csv "${pendulum[@]}" --batch 60 --batch-length 20 --batches 2 --rounds 2 --polish 5)
"$program" "${batch[@]}" -o batch.json >batch.txt
expect_line "622 rows in 2 sequence(s)" batch.txt
expect_line "parameters from 2 batches of 60 rows, the function from all 622 rows" batch.txt
"$program" show batch.json | grep "learned from 622 rows in 2 sequence(s)" >/dev/null || fail "show of a model by batches"
"$program" "${batch[@]}" --threads 2 -o batch2.json >/dev/null
cmp -s batch.json batch2.json || fail "--batch with --threads 2 gives another model"
"$program" "${batch[@]}" --seed 5 -o batch2.json >/dev/null
cmp -s batch.json batch2.json && fail "--seed does not change the batches"
"$program" score batch.json b.csv --warmup 5 >/dev/null || fail "score of a model by batches"

# Ctrl-C and SIGTERM keep the best model so far.
"$program" simulate pendulum --steps 20000 --hold 1:5 --seed 6 -o longer.csv >/dev/null
for signal in INT TERM; do
  "$program" fit longer.csv "${pendulum[@]}" --verbose -o kept.json >kept.txt 2>kept.err &
  running=$!
  for _ in $(seq 3000); do
    grep -q "linear" kept.err && break
    kill -0 "$running" 2>/dev/null || break
    sleep 0.02
  done
  kill -"$signal" "$running" || true
  code=0
  wait "$running" || code=$?
  expect_equal "exit code of a fit after SIG$signal" "$code" 130
  expect_line "interrupted: the best model so far is in kept.json" kept.err
  expect_line "status: interrupted: training was stopped at 'linear'" kept.txt
  "$program" score kept.json b.csv --warmup 5 >/dev/null || fail "score of an interrupted model"
  rm -f kept.json kept.txt kept.err  # what the next one waits for must be its own
done

# So they do while a structure is chosen, at every stage of it.
for stage in "linear models" "Gaussian processes"; do
  "$program" fit longer.csv --inputs c --outputs y_th --states 4 --verbose -o kept.json >kept.txt 2>kept.err &
  running=$!
  for _ in $(seq 6000); do
    grep -q "$stage" kept.err && break
    kill -0 "$running" 2>/dev/null || break
    sleep 0.02
  done
  kill -INT "$running" || true
  code=0
  wait "$running" || code=$?
  expect_equal "exit code of an identification after SIGINT" "$code" 130
  expect_line "interrupted: the best model so far is in kept.json" kept.err
  expect_line "the choice was stopped; this is the best model so far" kept.txt
  "$program" score kept.json longer.csv --warmup 5 >/dev/null || fail "score of a model whose choice was stopped"
  rm -f kept.json kept.txt kept.err
done

# States identified: only their number is given. Every choice can be fixed, the linear model stands alone.
"$program" fit long.csv --inputs c --outputs y_th --states 3 --inducing 8 --rows :160 -o auto.json >auto.txt
for line in "free-run error / sd(y)" "chosen: " "calibration: " "Trained in"; do
  expect_line "$line" auto.txt
done
"$program" score auto.json long.csv --warmup 160 --rows :300 >auto.score || fail "score of an identified model"
expect_line "by tenths" auto.score
"$program" fit long.csv --inputs c --outputs y_th --linear --order 2 --dead-time 1 --rows :160 -o linear.json >linear.txt
expect_line "chosen: linear, 2 states, dead time 1; asked for" linear.txt
"$program" fit long.csv --inputs c --outputs y_th --structure delay --lags 2:1 --dead-time 0 --rows :160 --inducing 8 \
  -o delay.json >delay.txt
expect_line "chosen: delay, 2 output and 1 input lags" delay.txt
"$program" show delay.json >delay.show
expect_line "y_th(t-1)' = y_th" delay.show
# The linear baseline has states of its own, and more of them than names in the model.
"$program" fit long.csv --inputs c --outputs y_th --structure delay --lags 1:1 --order 3 --rows :160 --inducing 8 \
  --format json -o one.json >one.txt || fail "fit --format json of delays"
for file in delay.json one.json; do
  "$program" show $file --format json | python3 -c 'import json, sys
linear = json.load(sys.stdin)["baselines"]["linear"]
sys.exit([s["name"] for s in linear["states"]] != list(linear["outputs"][0]["measures"]))' ||
    fail "states of the linear baseline in $file"
done
"$program" predict delay.json long.csv --warmup 160 --rows :200 -o delay.csv >/dev/null || fail "predict of delays"

# Which state an output measures.
"$program" simulate cart-pole --steps 20 --hold 1:5 --seed 3 -o cart.csv >/dev/null
sed '1s/y_th/angle/' cart.csv >renamed.csv
cart=(--states "th,th_dot,p,p_dot" --derivative-of "th_dot=th,p_dot=p" --rounds 2 --polish 2)
"$program" fit cart.csv --inputs c --outputs y_p,y_th "${cart[@]}" -o c.json >c.txt
expect_line "y_p measures p" c.txt
"$program" fit renamed.csv --inputs c --outputs angle,y_p "${cart[@]}" -o c.json >c.txt
expect_line "angle measures th" c.txt
expect_line "y_p measures p" c.txt
"$program" fit cart.csv --inputs c --outputs y_th,y_p "${cart[@]}" --emission "1,0,0,0;0,0,2,0" --offset 0,0.5 \
  -o c.json >c.txt
expect_line "y_p measures 2 p + 0.5" c.txt

# Other declarations.
"$program" fit a.csv --inputs c --outputs y_th --states 2 --kernel matern32 --mean linear --inducing 5 --x0 0,0 \
  --x0-sd 0.1 --fix output-noise=0.02 --fix process-noise=0.01,0.02 --range c=-0.5:0.5 --nodes cubature3 --rounds 2 \
  --polish 3 -o other.json >other.txt
expect_line "y_th measures x1" other.txt
expect_line "y_th: sd 0.02 of a measurement (given)" other.txt
expect_line "x2: sd 0.02 of a step (given)" other.txt
"$program" fit a.csv --outputs y_th --states 2 --kernel linear -o free.json >/dev/null # no controls

# Wrong input.
fit=(fit a.csv "${pendulum[@]}")
printf 't,c,y_th\n0,1,\n0.1,1,oops\n' >broken.csv
printf 't,c,y_th\n0,1,2\n0.1,1\n' >ragged.csv
printf 't,c,y_th\n' >empty.csv
printf 't,c,y_th\n0,1,2\n' >single.csv
sed '1!s/^\([0-9.]*\),/\1e1,/' b.csv >slow.csv
head -c 3000 a.json >cut.json
sed 's/"version": 4,/"version": 5,/' a.json >future.json
printf 'th,c\n0,0\n' >lacking.csv
printf 'th,th_dot,c\n0,,0\n' >gap.csv
expect_refused "--output is required" "${fit[@]}"
expect_refused "--outputs is required" fit a.csv --states 2 -o x.json
expect_refused "--states is required" fit a.csv --outputs y_th -o x.json
expect_refused "FILE is required" fit --outputs y_th --states 2 -o x.json
expect_refused "none.csv: cannot read" fit none.csv "${pendulum[@]}" -o x.json
expect_refused "no column 'u'" fit a.csv --inputs u --outputs y_th --states 2 -o x.json
expect_refused "no column 'y'" fit a.csv --inputs c --outputs y --states 2 -o x.json
expect_refused "broken.csv:3: column 'y_th': 'oops'" fit broken.csv "${pendulum[@]}" -o x.json
expect_refused "ragged.csv:3: the line has 2 values, expected 3" fit ragged.csv "${pendulum[@]}" -o x.json
expect_refused "empty.csv: the file has column names but no rows" fit empty.csv "${pendulum[@]}" -o x.json
expect_refused "single.csv: 1 row(s), expected at least 2" fit single.csv "${pendulum[@]}" -o x.json
expect_refused "slow.csv: its rows are 1 s apart" fit a.csv slow.csv "${pendulum[@]}" -o x.json
expect_refused "did you mean 'matern32'" "${fit[@]}" --kernel matrn32 -o x.json
expect_refused "did you mean 'identity'" "${fit[@]}" --mean identiy -o x.json
expect_refused "did you mean 'lbfgs'" "${fit[@]}" --method lbgfs -o x.json
expect_refused "--nodes: " "${fit[@]}" --nodes many -o x.json
expect_refused "--states: expected names, or a whole number from 1 to 16, not 50" fit a.csv --inputs c --outputs y_th --states 50 -o x.json
expect_refused "from 1 to 16, not 0" fit a.csv --inputs c --outputs y_th --states 0 -o x.json
expect_refused "'a' is named twice" fit a.csv --inputs c --outputs y_th --states a,a -o x.json
expect_refused "a name is empty" fit a.csv --inputs c --outputs y_th --states a,,b -o x.json
expect_refused "2 outputs but 1 state(s)" fit a.csv --inputs c --outputs y_th,th --states 1 -o x.json
expect_refused "unknown state 'omega'" fit a.csv --inputs c --outputs y_th --states th,v --derivative-of omega=th -o x.json
expect_refused "VELOCITY=POSITION" fit a.csv --inputs c --outputs y_th --states th,v --derivative-of v -o x.json
expect_refused "a derivative of itself" fit a.csv --inputs c --outputs y_th --states a,b,d \
  --derivative-of a=b,b=a -o x.json
expect_refused "two derivatives" fit a.csv --inputs c --outputs y_th --states a,b,d --derivative-of b=a,d=a -o x.json
expect_refused "--x0: 1 value(s), expected 2 (one for each state: th, th_dot)" "${fit[@]}" --x0 1 -o x.json
expect_refused "--x0-sd: 3 value(s), expected 1 or 2" "${fit[@]}" --x0-sd 1,2,3 -o x.json
expect_refused "must be positive" "${fit[@]}" --fix output-noise=0 -o x.json
expect_refused "did you mean 'output-noise'" "${fit[@]}" --fix outptu-noise=1 -o x.json
expect_refused "--emission: 2 row(s), expected 1" "${fit[@]}" --emission "1,0;0,1" -o x.json
expect_refused "--range: " "${fit[@]}" --range c=1:1 -o x.json
expect_refused "unknown column or state 'd'" "${fit[@]}" --range d=0:1 -o x.json
expect_refused "did you mean 'delay'" fit a.csv --inputs c --outputs y_th --states 2 --structure dely -o x.json
expect_refused "--lags: expected NY:NU" fit a.csv --inputs c --outputs y_th --structure delay --lags 2 -o x.json
expect_refused "contradicts --structure delay" fit a.csv --outputs y_th --linear --structure delay -o x.json
expect_refused "identified states" fit long.csv --from delay.json -o x.json
expect_refused "inputs of up to 1 rows ago" transition delay.json grid.csv -o x.csv
expect_refused "--inducing: expected a whole number from 0 to 500, not -3" "${fit[@]}" --inducing -3 -o x.json
expect_refused "--threads: expected a whole number from 1 to 256, not 0" "${fit[@]}" --threads 0 -o x.json
expect_refused "--batch: " "${fit[@]}" --batch 3 -o x.json
expect_refused "--batch-length: goes with --batch ROWS only" "${fit[@]}" --batch-length 30 -o x.json
expect_refused "--batches: goes with --batch ROWS only" "${fit[@]}" --batches 3 -o x.json
expect_refused "--batch: does not go with --from" fit b.csv --from a.json --batch 20 -o x.json
expect_refused "not with adam" "${fit[@]}" --batch 20 --method adam -o x.json
expect_refused "slow.csv: its rows are 1 s apart" fit a.csv slow.csv "${pendulum[@]}" --batch 20 -o x.json
expect_refused "no column 'u'" fit a.csv --inputs u --outputs y_th --states 2 --batch 20 -o x.json
expect_refused "--learning-rate: expected a number between 1e-12 and 1e12, not 0" "${fit[@]}" --method adam --learning-rate 0 -o x.json
expect_refused "no directory 'nowhere'" "${fit[@]}" -o nowhere/x.json
expect_refused "it is a directory" "${fit[@]}" -o .
expect_refused "standard output" "${fit[@]}" -o -
expect_refused "differs from the model given with --from" fit cart.csv --inputs c --outputs y_th,y_p --from a.json -o x.json
expect_refused "cut.json: damaged model file: it ends at byte 3000" show cut.json
expect_refused "future.json: written by a newer gpilot (format version 5" show future.json
sed 's/"dt": 0.1/"dt": 0.2/' a.json >changed.json
expect_refused "changed.json: damaged model file: checksum: a value in the file is not what was stored" show changed.json
expect_refused "looks like a CSV file" show a.csv
expect_refused "cannot read" show none.json
expect_refused "lacking.csv: there is no column 'th_dot' for the state" transition a.json lacking.csv -o x.csv
expect_refused "gap.csv:2: column 'th_dot' has no value" transition a.json gap.csv -o x.csv
expect_refused "has a column 'th_next_mean' already" transition a.json f.csv -o x.csv
expect_refused "no directory 'nowhere'" transition a.json grid.csv -o nowhere/x.csv

# Data that tell little, or nothing: said, not guessed.
printf 't,u,y\n' >still.csv
printf 'u,y\n' >untimed.csv
printf 't u y\n' >blanks.csv
for k in $(seq 0 13); do
  echo "$k,$((k * k % 7)),1" >>still.csv
  echo "1,$((k * k % 7))" >>untimed.csv
  echo "$k $((k % 3)) $((k * k % 7))" >>blanks.csv
done
iconv -f UTF-8 -t UTF-16 still.csv >wide.csv
io=(--inputs u --outputs y --linear)
expect_refused "output 'y': it is 1 in all rows, so that there is no motion to learn" fit still.csv "${io[@]}" -o x.json
expect_refused "--outputs: the column 'u' is an input already" fit still.csv --inputs u --outputs y,u --linear -o x.json
expect_refused "expected columns separated by commas, semicolons or tabs" fit blanks.csv "${io[@]}" -o x.json
expect_refused "wide.csv: it looks like UTF-16 or a binary file, expected text in UTF-8" fit wide.csv "${io[@]}" -o x.json
"$program" fit untimed.csv "${io[@]}" -o untimed.json >untimed.txt 2>untimed.err
expect_line "note: no column of times (t): rows are taken to be 1 s apart; --dt says otherwise" untimed.err
expect_line "note: the input 'u' is 1 in all rows: nothing can be learned of what it does" untimed.err
expect_line "not judged" untimed.txt # 14 rows are too few to leave any out; that is no failure

finish
