#!/usr/bin/env bash
# Options on the command line: help, wrong values in the words of a file, options that would be ignored.
# Usage: cli_options_test.sh PROGRAM
set -euo pipefail

program=$1
# shellcheck source=tests/integration/support.sh
. "$(dirname "$0")/support.sh"

# The help says default and bounds.
expect_help() { # COMMAND OPTION-WITH-DEFAULT TEXT
  COLUMNS=300 "$program" "$1" --help | tr -s ' \n' ' ' >help.txt
  expect_line "$2" help.txt
  expect_line "$3" help.txt
}
expect_help run "--steps N=30" "controls to choose after them; 1 to 1000000"
expect_help run "--plan-ms MS=0" "at most this long for one decision; 0 = no clock; number >= 0"
expect_help run "--until-sd X" "falls below this; number > 0 (default: never)"
expect_help compare "--plan-evaluations N=320" "plans tried for one decision; 1 to 1000000"
expect_help fit "--method em|lbfgs|adam=em" "em (smoothing with quasi-Newton steps), lbfgs, adam"
expect_help fit "--learning-rate X=0.01" "--structure auto|linear|delay|subspace|declared"

# A wrong value is refused on the command line as in a file, with the same words.
"$program" init rig.toml --example pendulum >/dev/null
"$program" simulate pendulum --steps 60 --seed 1 -o a.csv >/dev/null
expect_alike() { # SECTION KEY VALUE COMMAND-LINE..
  local section=$1 key=$2 value=$3 code=0 words
  shift 3
  awk -v section="[$section]" -v line="$key = $value" '{ print } $0 == section { print line }' \
    <(sed -E "/^\[$section\]/,/^\[/s/^(# )?$key = .*//" rig.toml) >wrong.toml
  "$program" check wrong.toml >/dev/null 2>wrong.err || code=$?
  expect_equal "exit code of $section.$key = $value" "$code" 2
  words=$(sed "s/.*$section\.$key: //" wrong.err)
  expect_refused "${words//\"/}" "$@"
}
expect_alike study steps 0 run pendulum --steps 0 -o x
expect_alike study initial 2147483648 run pendulum --initial 2147483648 -o x
expect_alike study delta 1 run pendulum --limit th=0:1 --delta 1 -o x
expect_alike study until_sd -2 run pendulum --until-sd -2 -o x
expect_alike study strategy '"totmy"' run pendulum --strategy totmy -o x
expect_alike study seed -1 run pendulum --seed -1 -o x
expect_alike planning horizon 201 compare kink --horizon 201 -o x
expect_alike planning hold 0 run pendulum --plan-hold 0 -o x
expect_alike planning evaluations 0 run pendulum --plan-evaluations 0 -o x
expect_alike planning draws -1 run pendulum --plan-draws -1 -o x
expect_alike model inducing 501 fit a.csv --outputs y_th --states 2 --inducing 501 -o x.json
expect_alike model mean '"liner"' fit a.csv --outputs y_th --states 2 --mean liner -o x.json
expect_alike training rounds 1001 fit a.csv --outputs y_th --states 2 --rounds 1001 -o x.json
expect_alike training learning_rate -1 fit a.csv --outputs y_th --states 2 --learning-rate=-1 -o x.json
expect_alike training threads 257 fit a.csv --outputs y_th --states 2 --threads 257 -o x.json
expect_alike training threads 257 compare kink --threads 257 -o x

# What is no value at all, and values that would leave a run without an end.
fit=(fit a.csv --inputs c --outputs y_th)
expect_refused "--steps: expected a value, not an empty text" run pendulum --steps '' -o x
expect_refused "--strategy: expected a value, not an empty text" run pendulum --strategy '' -o x
expect_refused "--states: expected a value, not an empty text" "${fit[@]}" --states '' -o x.json
expect_refused "--box: expected a value, not an empty text" compare kink --box '' -o x
expect_refused "--states: expected names, or a whole number from 1 to 16, not -1" "${fit[@]}" --states=-1 -o x.json
expect_refused "--rig: expected a value, not an empty text" init x.toml --rig ''
expect_refused "--plan-ms: expected a number between 1e-12 and 1e12, not 0" run pendulum --plan-ms 0 -o x
expect_refused "--plan-ms: expected a number between 1e-12 and 1e12, not 0" compare kink --plan-ms 0 -o x
expect_refused "--steps: expected a whole number from 1 to 1000000, not '99999999999999999999'" \
  run pendulum --steps 99999999999999999999 -o x
expect_refused "--steps: expected a whole number from 1 to 1000000, not '3.5'" run pendulum --steps 3.5 -o x
for states in -1 0 17 2.5 1e1; do
  expect_refused "from 1 to 16, not $states" "${fit[@]}" --states=$states -o x.json
done
expect_refused "--nodes: expected a whole number from 1 to 1000, not 1001" "${fit[@]}" --states a,b --nodes qmc:1001 -o x.json
expect_refused "--region: region: 'th', expected NAME=LOW:HIGH" run pendulum --region th -o x

# An option that would be ignored is refused, and told what it goes with.
declared="goes with declared states (--states NAME,.. or --structure declared), and here they are identified"
while read -r option value; do
  for kind in --linear "--structure auto" "--order 2"; do
    # shellcheck disable=SC2086
    expect_refused "$option: $declared" "${fit[@]}" $kind $option $value -o x.json
  done
done <<'LIST'
--method lbfgs
--mean zero
--from none.json
--fix output-noise=1
--batch 100
--batch-length 50
--batches 2
--tied
--rounds 3
--e-steps 2
--m-iterations 2
--restarts 2
--noise-path 2
--horizon 2
--epochs 3
--samples 4
--learning-rate 0.1
--x0 0,0
--x0-sd 1
--emission 1,0
--offset 0
--learn offset
--derivative-of x2=x1
--angle x1
LIST
while read -r option value; do
  # shellcheck disable=SC2086
  expect_refused "${option}: goes with identified states, not with --structure declared" \
    "${fit[@]}" --states 2 --structure declared $option $value -o x.json
done <<'LIST'
--order 2
--dead-time 1
--lags 1:1
--offset-per-recording
LIST
for option in "--epochs 3" "--samples 3" "--learning-rate 0.1" --tied; do
  # shellcheck disable=SC2086
  expect_refused "${option% *}: goes with --method adam, not with em" "${fit[@]}" --states th,v $option -o x.json
done
expect_refused "--epochs: goes with --method adam, not with em" "${fit[@]}" --states 2 --epochs 3 -o x.json
expect_refused "--rounds: goes with --method em, not with lbfgs" "${fit[@]}" --states 2 --method lbfgs --rounds 2 -o x.json
expect_refused "--restarts: goes with the methods em and lbfgs" "${fit[@]}" --states 2 --method adam --restarts 2 -o x.json
expect_refused "--inducing: goes with a kernel other than linear" \
  "${fit[@]}" --states 2 --kernel linear --inducing 5 -o x.json
for option in "--kernel se" "--inducing 5" "--nodes qmc" "--polish 5"; do
  # shellcheck disable=SC2086
  expect_refused "${option% *}: goes with a Gaussian process" "${fit[@]}" --linear $option -o x.json
done
expect_refused "--lags: goes with the structures delay and auto" "${fit[@]}" --structure subspace --lags 1:1 -o x.json
expect_refused "--states: --order says how many" "${fit[@]}" --linear --order 2 --states 3 -o x.json

for option in "--horizon 5" "--plan-hold 2" "--commit 2" "--plan-evaluations 9" "--plan-ms 5" "--plan-draws 2"; do
  # shellcheck disable=SC2086
  expect_refused "${option% *}: goes with --limit or a strategy that plans" run pendulum --strategy totmi $option -o x
  # shellcheck disable=SC2086
  expect_refused "${option% *}: goes with --limit or a strategy that plans" \
    compare kink --strategies random,totmi $option -o x
done
"$program" run pendulum --strategy random --limit th=-1:1 --horizon 4 --steps 1 -o limited >/dev/null || fail "--horizon with limits"
"$program" compare kink --strategies random,imse --horizon 4 --trials 1 --steps 1 -o some >/dev/null 2>&1 || fail "--horizon with imse"
"$program" run kink --plan-ms 20 --steps 1 -o clock >/dev/null
expect_line '"evaluations": 2147483647' clock/run.json
expect_refused "--region: goes with the strategies imse, local, auto, not with infogain" \
  run pendulum --strategy infogain --region th=0:1 -o x
expect_refused "--delta: goes with --limit" compare kink --delta 0.1 -o x
for option in "--seed 1" "--initial 3" "--horizon 3" "--region th=0:1" --paper "--limit th=0:1" "--until-sd 1"; do
  # shellcheck disable=SC2086
  expect_refused "${option% *}: goes with a simulated system" run rig.toml --rig true $option
done

"$program" "${fit[@]}" --states th,v --rounds 1 --polish 1 -o m.json >/dev/null
expect_refused "--seed: goes with --draws above 0" predict m.json a.csv --draws 0 --seed 1 -o x.csv
expect_refused "--seed: goes with --draws above 0" score m.json a.csv --draws 0 --seed 1
expect_refused "--last: goes with a study" show m.json --last 3
"$program" ask r.study --config rig.toml >/dev/null
expect_refused "--last: goes with --format text" show r.study --last 3 --format json
expect_refused "--config: does not go with --suggest" ask r.study --suggest --config rig.toml
expect_refused "--after-reset: does not go with --suggest" ask r.study --suggest --after-reset
expect_refused "--y: the outputs of a first row go with" ask r.study --suggest --y 1
expect_refused "--sequence: goes with --csv" export r.study --json --sequence 1
expect_refused "--hold: goes with random controls" simulate kink --steps 5 --controls 0.1 --hold 2 -o x.csv
expect_refused "--force: goes with a file" init - --force

finish
