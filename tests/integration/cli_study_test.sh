#!/usr/bin/env bash
# Drives a study as an engineer would, by hand and on the example rig. Usage: cli_study_test.sh PROGRAM RIG
set -euo pipefail

program=$1
rig=$2
# shellcheck source=tests/integration/support.sh
. "$(dirname "$0")/support.sh"

for command in run ask tell void show export import; do
  "$program" "$command" --help | grep 'Examples:' >/dev/null || fail "$command --help has no examples"
done

# json KEY FILE: the value of the first line with this key.
json() {
  sed -n "s/^ *\"$1\": \(.*[^,]\),*$/\1/p" "$2" | head -1
}

"$program" init rig.toml --example pendulum >/dev/null

# By hand: a study is made by its first question, which stays the same until it is answered. Not by one that is refused.
expect_refused "--y: 2 value(s), expected 1: angle" ask hand.study --config rig.toml --after-reset --y 0.1,0.2
expect_refused "--y: expected a finite number, not 'abc'" ask hand.study --config rig.toml --after-reset --y abc
"$program" ask hand.study --config rig.toml >ask.txt
expect_line "step 1: torque = " ask.txt
"$program" ask hand.study --format json >ask.json
expect_equal "the same step" "$(json step ask.json)" 1
"$program" tell hand.study --step 1 --y 0.31 >tell.txt
expect_line "step 1: told; the study has 1 measurement(s)" tell.txt
"$program" tell hand.study --step 1 --y 0.31 >tell.txt
expect_line "has been told the same before" tell.txt
expect_refused "--format: 'xml', expected text or json" show hand.study --format xml
expect_refused "told already" tell hand.study --step 1 --y 0.32
expect_refused "step 7 was never asked: the newest is 1" tell hand.study --step 7 --y 0.32
expect_refused "2 value(s), expected 1: angle" tell hand.study --step 1 --y 0.3,0.4
expect_refused "--y: expected a finite number, not 'abc'" tell hand.study --step 1 --y abc
expect_refused "one of the two" tell hand.study --step 1
expect_refused "there is no such study" tell none.study --step 1 --y 0
expect_refused "--config FILE.toml makes it" ask none.study
"$program" ask hand.study --suggest --format json >suggest.json
"$program" ask hand.study --format json >ask.json
expect_equal "suggested" "$(json u suggest.json)" "$(json u ask.json)"
"$program" tell hand.study --step 2 --status unknown --reason "the power failed" >tell.txt
expect_line "its sequence has ended" tell.txt
"$program" tell hand.study --step 2 --y 0.5 >tell.txt
expect_line "the outputs are kept, but not learned from" tell.txt
"$program" ask hand.study --after-reset --y 0.01 >ask.txt
expect_line "step 3: " ask.txt
expect_refused "step 3 waits for its outputs" ask hand.study --after-pause
"$program" tell hand.study --step 3 --y nan --u 0.125 --time 1.5 >/dev/null
"$program" show hand.study >show.txt
expect_line "2 told, 1 unknown; 2 sequence(s)" show.txt
expect_line "1 late answer(s) are kept" show.txt
expect_line "the power failed" show.txt
"$program" export hand.study --csv -o hand.csv >/dev/null
expect_equal "columns" "$(head -1 hand.csv)" "sequence,step,t,torque,angle"
expect_equal "rows of the second sequence" "$(tail -2 hand.csv)" "$(printf '2,0,0,0.125,0.01\n2,3,0.1,,')"
expect_refused "there is no model yet" export hand.study --model

# Wrong measurements: voided, corrected, not plausible.
"$program" void hand.study --step 1 --why "the sensor was loose" >void.txt
expect_line "step 1: voided: its outputs stay on record and count as missing" void.txt
"$program" void hand.study --step 1 --why "again" | grep 'nothing changed' >/dev/null || fail "voided twice"
"$program" show hand.study >show.txt
expect_line "1 voided, 0 not plausible: kept, but not learned from" show.txt
expect_line "not learned from: the sensor was loose" show.txt
expect_equal "a voided row" "$("$program" export hand.study | sed -n 3p)" "1,1,0.1,,"
expect_refused "other values are a correction" tell hand.study --step 3 --y 0.2
expect_refused "goes with --correct" tell hand.study --step 3 --y 0.2 --why x
"$program" tell hand.study --step 3 --y 0.2 --correct --why "found it" >tell.txt
expect_line "step 3: corrected; what was told before stays on record" tell.txt
"$program" show hand.study >show.txt
expect_line "1 correction(s); what was told before is on record" show.txt
expect_line ": found it" show.txt
"$program" export hand.study --json >hand.json
expect_line '"why": "found it"' hand.json
expect_refused "status is 'unknown', so that nothing is learned from it" void hand.study --step 2 --why x
expect_refused "one of the two" void hand.study --why x
"$program" ask hand.study >/dev/null
"$program" tell hand.study --step 4 --y 1e9 >tell.txt
expect_line "careful: angle = 1e+09 rad is not plausible (expected -8 to 8 rad): kept, but not learned from" tell.txt
"$program" show hand.study | grep 'not learned from: angle = 1e+09 rad' >/dev/null || fail "a spike is not shown"

# A changed byte is told, with the step and the file, and can be mended.
cp hand.study broken.study
python3 - <<'END'
data = open("broken.study", "rb").read()
assert data.count(b"[1000000000.0]") == 1
open("broken.study", "wb").write(data.replace(b"[1000000000.0]", b"[1000000001.0]"))
END
for command in "show broken.study" "ask broken.study" "export broken.study"; do
  code=0
  # shellcheck disable=SC2086
  "$program" $command >/dev/null 2>broken.err || code=$?
  expect_equal "exit code of $command" "$code" 1
  expect_line "broken.study: damaged: step 4: the file does not hold what was measured (wrong checksum)" broken.err
done
"$program" void broken.study --step 4 --why damaged >/dev/null
"$program" ask broken.study >/dev/null || fail "a mended study does not go on"

# Ending early needs a strategy that looks at how sure the model is.
sed -e 's/^# until_sd = 0.05 /until_sd = 0.05 /' -e 's/^strategy = .*/strategy = "totmi"/' rig.toml >sure.toml
"$program" check sure.toml >sure.txt
expect_line "ends when the model's standard deviation where it will be used is below 0.05" sure.txt
expect_line "study.until_sd: no run can begin: the strategy 'totmi'" sure.txt
expect_refused "study.until_sd: the strategy 'totmi' does not look" run sure.toml --rig "$rig"

# A configuration that would change results is refused for a study that has begun.
sed 's/^seed = .*/seed = 99/' rig.toml >other.toml
expect_refused "study.seed" ask hand.study --config other.toml

# What was measured before comes first, and counts.
printf 't,torque,angle\n0,0.1,0\n0.1,0.4,0.01\n0.2,-0.2,0.03\n0.3,0.3,\n0.4,0.5,0.08\n0.5,,0.15\n' >before.csv
"$program" import old.study before.csv --config rig.toml >import.txt
expect_line "imported 5 measurement(s) in 1 sequence(s); the study has 5" import.txt
"$program" ask old.study --format json >ask.json
expect_equal "chosen, not drawn" "$(json phase ask.json)" '"chosen"'
expect_refused "step 6 waits" import old.study before.csv
printf 'torque\n1\n2\n' >wrong.csv
expect_refused "angle" import new.study wrong.csv --config rig.toml

# On the rig, in two parts; an idempotent rig goes on as if it had never stopped.
"$program" run rig.toml --rig "exec $rig --seed 1 --state one" --steps 8 -o one.study >one.txt
expect_line "measured 8 time(s), 8 in all" one.txt
"$program" run rig.toml --rig "exec $rig --seed 1 --state two" --steps 3 -o two.study >/dev/null
expect_refused "--resume goes on with it" run rig.toml --rig "$rig" -o two.study
"$program" run rig.toml --rig "exec $rig --seed 1 --state two" --steps 5 -o two.study --resume >/dev/null
expect_equal "in two parts" "$("$program" export two.study)" "$("$program" export one.study)"
"$program" export one.study --model -o model.json >/dev/null
"$program" show model.json >/dev/null || fail "the model of a study cannot be shown"
for step in 5 6 7 8; do
  "$program" export one.study --model --step "$step" -o "model$step.json" >/dev/null
done
cmp -s model8.json model.json || fail "the model after the last step is not the newest"
cmp -s model5.json model6.json && fail "all steps have one model"
expect_refused "there was no model yet after step 2" export one.study --model --step 2
expect_refused "the study has 8 step(s)" export one.study --model --step 9
expect_refused "goes with --model" export one.study --step 3
expect_refused "goes with a simulated system" run rig.toml --rig "$rig" --seed 3
expect_refused "goes with the configuration of a rig" run pendulum --rig "$rig" -o x
expect_refused "no rig: give --rig COMMAND" run rig.toml -o three.study
expect_refused "--steps: expected a whole number from 1 to 1000000, not 0" run rig.toml --rig "$rig" --steps 0 -o three.study
expect_refused "--period: expected a number of seconds, above 0 and at most 86400, not -1" run rig.toml --rig "$rig" --period=-1 -o three.study
expect_refused "is a study" export one.study -o one.study
# A configuration may be somebody's work: only another one is replaced, and only where that is said.
"$program" export one.study --config -o exported.toml >/dev/null
expect_refused "exported.toml: a configuration is there already; --force replaces it" \
  export one.study --config -o exported.toml
cp rig.toml exported.toml && echo '# mine' >>exported.toml
"$program" export one.study --config --force -o exported.toml >/dev/null
cmp -s exported.toml rig.toml || fail "the configuration was not exported"
echo "call the plumber" >notes.txt
for force in "" --force; do
  # shellcheck disable=SC2086
  expect_refused "notes.txt: cannot write the file: what stands there is a file that gpilot does not know, not a configuration" \
    export one.study --config $force -o notes.txt
done
expect_equal "somebody's notes" "$(cat notes.txt)" "call the plumber"
expect_refused "goes with --config" export one.study --force -o one.csv
expect_refused "goes with --y, not with --status" tell one.study --step 1 --status failed --u 0.1

# Episodes: the rig ends them, the measurement counts, and it is no failure.
"$program" run rig.toml --rig "exec $rig --seed 1 --episode 3" --steps 7 -o episodes.study >episodes.txt
expect_line "measured 7 time(s), 7 in all; 0 step(s) failed" episodes.txt
expect_line "the rig ended 2 episode(s)" episodes.txt
expect_equal "sequences" "$(grep -c 'a new sequence begins' episodes.txt)" 3
code=0
"$program" run rig.toml --rig "exec $rig --seed 1 --episode 3 --no-reset" --steps 7 -o once.study >once.txt || code=$?
expect_equal "exit code of an episode that cannot be followed by another" "$code" 0
expect_line "the run ends: the rig says that its episode is over, and it cannot be reset; --resume" once.txt
expect_line "measured 3 time(s), 3 in all" once.txt

# A configuration from what the rig declares; a rig that declares something else is not run.
"$program" init asked.toml --rig "exec $rig --seed 1" >asked.txt
expect_line "wrote asked.toml (from what the rig declares)" asked.txt
"$program" check asked.toml >asked.txt
expect_line "torque [N m]: from -0.5 to 0.5, any change in a step, safe at 0" asked.txt
expect_line "started by: exec $rig --seed 1" asked.txt
"$program" run asked.toml --steps 2 -o asked.study >/dev/null || fail "the configuration of a rig cannot be run"
expect_refused "--example: the rig says what the configuration holds" init x.toml --rig "$rig" --example pendulum
expect_refused "asked.toml: the file is there already" init asked.toml --rig "$rig"
bare='read -r line; echo "{\"v\":1,\"id\":0,\"ok\":true}"; read -r line'
expect_refused "the rig does not declare its inputs" init x.toml --rig "$bare"
half='read -r line; echo "{\"v\":1,\"id\":0,\"ok\":true,\"inputs\":[{\"name\":\"u\"}],\"outputs\":[{\"name\":\"y\"}]}"; read -r line'
"$program" init half.toml --rig "$half" >half.txt
expect_line "it cannot be used yet, since the rig does not say all: half.toml" half.txt
expect_line "# TO FILL IN: never less than this" half.toml
expect_refused "the rig declares the inputs u, the study has torque" \
  run rig.toml --rig "$half" --steps 1 --resume -o once.study

# A first start that fails leaves nothing behind that would stand in the way of the next.
weak='read -r line; echo "{\"v\":1,\"id\":0,\"ok\":true,\"inputs\":[{\"name\":\"torque\",\"low\":-0.1,\"high\":0.1}]}"; read -r line'
other_dt='read -r line; echo "{\"v\":1,\"id\":0,\"ok\":true,\"dt\":0.2}"; read -r line'
expect_refused "the rig declares the inputs u, the study has torque" run rig.toml --rig "$half" -o first.study
expect_refused "the rig declares a step of 0.2 s, the study has 0.1 s" run rig.toml --rig "$other_dt" -o first.study
expect_refused "the study would send -0.5 to 0.5" run rig.toml --rig "$weak" -o first.study
before=$(find . | sort)
code=0
"$program" run rig.toml --rig ./nosuchprogram -o first.study >first.txt 2>first.err || code=$?
expect_equal "exit code with a rig that is not there" "$code" 1
expect_line "the rig could not be started, 3 time(s) in a row" first.err
expect_line "no study was made" first.err
expect_line "first.study.rig.log ends with: " first.err
rm first.txt first.err first.study.rig.log
expect_equal "files after a rig that is not there" "$(find . | sort)" "$before"
"$program" run rig.toml --rig "exec $rig --seed 1" --steps 2 -o first.study >first.txt || fail "the right rig is not run"
expect_line "measured 2 time(s), 2 in all; 0 step(s) failed, the rig was started again 0 time(s)" first.txt

# A second writer is refused and told who writes; readers are not.
"$program" run rig.toml --rig "exec $rig --seed 1 --real-time" --steps 500 -o long.study >long.txt 2>long.err &
run_pid=$!
for _ in $(seq 300); do
  grep -q ' told ' long.txt 2>/dev/null && break
  sleep 0.1
done
code=0
"$program" ask long.study >busy.txt 2>&1 || code=$?
expect_equal "exit code of a second writer" "$code" 1
expect_line "another writer has the study: process $run_pid on " busy.txt
"$program" show long.study >/dev/null || fail "a study that is written cannot be read"
# Ctrl-C: the step at hand is finished, the study can go on.
kill -INT "$run_pid"
code=0
wait "$run_pid" || code=$?
expect_equal "exit code after Ctrl-C" "$code" 130
expect_line "--resume goes on with long.study" long.err
expect_equal "no step waits" "$("$program" show long.study --format json | grep -c '"pending": null')" 1
"$program" run rig.toml --rig "exec $rig --seed 1" --steps 1 -o long.study --resume >/dev/null || fail "cannot go on"

# A rig that never measures anything: controls stay random, and the run says so.
cat >blind.py <<'END'
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    answer = {"v": 1, "id": request["id"], "ok": True}
    if request["op"] == "hello":
        answer.update(can_reset=False, idempotent=False)
    elif request["op"] == "step":
        answer.update(y=[None], u_applied=request["u"])
    print(json.dumps(answer), flush=True)
    if request["op"] == "close":
        break
END
code=0
"$program" run rig.toml --rig "python3 blind.py" --steps 7 -o blind.study >blind.txt 2>blind.err || code=$?
expect_equal "exit code of random controls" "$code" 1
expect_line "2 of 7 controls were random, since training or choosing failed; the last time: drawn, since the training" blind.err
expect_line "training(s) failed" blind.txt

# A rig that fails again and again ends the run; nothing is lost.
code=0
"$program" run rig.toml --rig "exec $rig --misbehave die@2" --steps 9 -o bad.study >bad.txt 2>bad.err || code=$?
expect_equal "exit code with a rig that dies" "$code" 0
code=0
"$program" run rig.toml --rig "exit 3" --steps 9 -o none.study >none.txt 2>none.err || code=$?
expect_equal "exit code with a rig that does not start" "$code" 1
expect_line "in a row" none.err
[[ ! -e none.study ]] || fail "a study was made without a rig"

finish
