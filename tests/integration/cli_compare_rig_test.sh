#!/usr/bin/env bash
# Drives `gpilot compare` on the example rig. Usage: cli_compare_rig_test.sh PROGRAM RIG
set -euo pipefail

program=$1
rig=$2
# shellcheck source=tests/integration/support.sh
. "$(dirname "$0")/support.sh"

"$program" init pendulum.toml --example pendulum >/dev/null
command="$rig --seed {seed}"
short=(compare pendulum.toml --strategies "random,prbs,latmi" --trials 2 --steps 3)

# The table, the files, the tests.
"$program" "${short[@]}" --rig "$command" --test-rig "$command" --threads 1 -o one >one.txt 2>one.err
expect_line "pendulum: rmse over 2 trials" one.txt
expect_line "p against random" one.txt
grep -qE '^20 tests, [0-9]+ of [0-9]+ rows inside the declared ranges$' \
  one.txt || fail "what the tests are: $(head -1 one.txt)"
grep -qE '^  holding the last value has the rmse [0-9.]+; worse after the last step: ' one.txt || fail "the baseline: $(cat one.txt)"
expect_equal "header of the tests" "$(head -1 one/tests.csv)" "sequence,t,torque,angle,after_reset"
expect_equal "errors" "$(grep -c ',rmse,[0-9]' one/results.csv)" 24
expect_equal "logs of rigs that did as they should" "$(find one/rig-logs -type f | wc -l)" 0

# All strategies of a trial meet the same rig, other trials another one.
start() { grep "^pendulum,$1,$2,0,rmse," one/results.csv | cut -d, -f6; }
expect_equal "start of trial 1" "$(start latmi 1)" "$(start random 1)"
[[ $(start random 0) != "$(start random 1)" ]] || fail "two trials begin alike"

# The same numbers with two threads, and after an interruption; done trials are found.
"$program" "${short[@]}" --rig "$command" --test-rig "$command" --threads 2 -o two >/dev/null 2>&1
cmp -s one/results.csv two/results.csv || fail "--threads 2 gives other results"
rm two/results.csv two/trials/pendulum-prbs-001.json
"$program" "${short[@]}" --rig "$command" --test-rig "$command" -o two >two.txt 2>/dev/null
expect_line "(6 trials, 5 of them found there)" two.txt
cmp -s one/results.csv two/results.csv || fail "an interruption changes the results"

# Recorded tests. They must stay what they were.
mkdir recorded
grep -E '^(sequence|1|2|3|4),' one/tests.csv | cut -d, -f1-4 >recorded/some.csv
"$program" "${short[@]}" --rig "$command" --tests recorded -o recordings >recordings.txt 2>/dev/null
grep -qE '^[1-4] tests, [0-9]+ of 244 rows inside' recordings.txt || fail "recorded tests: $(head -1 recordings.txt)"
sed -i '$d' recorded/some.csv
expect_refused "have changed since the comparison began" "${short[@]}" --rig "$command" --tests recorded -o recordings
expect_refused "the rig's command is" "${short[@]}" --rig "$command --no-reset" --tests recorded -o recordings
sed 's/^strategy = .*/strategy = "latmi"/; s/^# slew = .*/slew = 0.4/' pendulum.toml >slow.toml
mkdir other && mv slow.toml other/pendulum.toml
expect_refused "input.torque.slew is \"none\" there, not \"0.4\"" compare other/pendulum.toml \
  --strategies "random,prbs,latmi" --trials 2 --steps 3 --rig "$command" --test-rig "$command" -o one

# A rig without reset is started for every test; its states begin anywhere.
"$program" "${short[@]}" --rig "$command --no-reset" --test-rig "$command --no-reset" -o anywhere >/dev/null 2>&1
expect_equal "tests after a reset" "$(tail -n +2 anywhere/tests.csv | cut -d, -f5 | sort -u)" 0

# Episodes: what was measured at their end counts, and another sequence begins. Tests are as long as an episode.
"$program" "${short[@]}" --rig "$command --episode 3" --test-rig "$command --episode 30" -o episodes >/dev/null 2>&1
expect_equal "errors with episodes" "$(grep -c ',rmse,[0-9]' episodes/results.csv)" 24
expect_equal "rows of a test" "$(grep -c '^1,' episodes/tests.csv)" 31

# Every reset has a seed, by the trial and its number: the same for all strategies of a trial, another one in another trial.
# A rig may rely on it.
"$program" "${short[@]}" --rig "tee -a resets-{seed} | $command --episode 3" --test-rig "$command" -o seeds >/dev/null 2>&1
resets() { grep -h '"op":"reset"' "$@" | grep -o '"seed":[0-9]*' | sort | uniq -c | awk '{print $1}' | sort -u; }
for trial in 0 1; do
  expect_equal "resets without a seed" "$(grep '"op":"reset"' "resets-$trial" | grep -vc '"seed":[0-9]')" 0
  expect_equal "strategies that had a reset's seed in $trial" "$(resets "resets-$trial")" 3
  [[ $(grep -c '"op":"reset"' "resets-$trial") -gt 3 ]] || fail "one reset says little"
done
expect_equal "strategies that had a reset's seed" "$(resets resets-0 resets-1)" 3

# A rig that declares something else is refused before anything is written, both of them.
declares() { echo "read -r line; echo '{\"v\":1,\"id\":0,\"ok\":true,$1}'; read -r line; : {seed}"; }
for other in '"dt":0.5' '"inputs":[{"name":"torque","low":-0.2,"high":0.2}]' '"outputs":[{"name":"pos"}]'; do
  expect_refused "change the configuration, or the rig" \
    "${short[@]}" --rig "$(declares "$other")" --test-rig "$command" -o x
  expect_refused "change the configuration, or the rig" \
    "${short[@]}" --rig "$command" --test-rig "$(declares "$other")" -o x
  expect_refused "change the configuration, or the rig" \
    "${short[@]}" --rig "$(declares "$other")" --tests recorded -o x
done

# A rig that fails ends its trial, with the reason; the others are there. Mended, it is tried again.
cat >sometimes.sh <<END
#!/bin/sh
[ "\$1" = 1 ] && [ ! -e mended ] && exec "$rig" --seed 1 --misbehave die@7
exec "$rig" --seed "\$1"
END
chmod +x sometimes.sh
failing=("${short[@]}" --rig "./sometimes.sh {seed}" --test-rig "$command" -o failing)
code=0
"$program" "${failing[@]}" >failing.txt 2>failing.err || code=$?
expect_equal "exit code with failed trials" "$code" 1
expect_line "3 of 6 trials failed, first: pendulum random trial 1: the rig: " failing.err
expect_line "pendulum: rmse over 2 trials" failing.txt
expect_equal "errors of the trials that did not fail" "$(grep -c '^pendulum,.*,0,.*,rmse,[0-9]' failing/results.csv)" 12
[[ -e failing/rig-logs/pendulum-random-001.log ]] || fail "no log of a rig that failed"
touch mended
"$program" "${failing[@]}" >failing.txt 2>/dev/null
expect_line "(6 trials, 3 of them found there)" failing.txt
cmp -s one/results.csv failing/results.csv || fail "a mended rig gives other results"

# A step that fails begins a new sequence; too many in a row end the trial.
"$program" "${short[@]}" --rig "$command --misbehave fail@4" --test-rig "$command" -o once >/dev/null 2>&1 ||
  fail "one failed step ends a trial"
sed 's/^failures = 3/failures = 1/' pendulum.toml >other/strict.toml
code=0
"$program" compare other/strict.toml --strategies random --trials 1 --steps 3 --rig "$command --misbehave fail@4" \
  --test-rig "$command" -o never >/dev/null 2>never.err || code=$?
expect_equal "exit code of a rig that fails too often" "$code" 1
expect_line "strict random trial 0: the rig: it failed 1 time(s) in a row, the limit is 1" never.err
code=0
"$program" "${short[@]}" --rig "$command" --test-rig "./none {seed}" -o x >/dev/null 2>x.err || code=$?
expect_equal "exit code without a rig for tests" "$code" 1
expect_line "the rig ended before it answered hello" x.err
[[ ! -e x ]] || fail "a comparison was made without a rig for tests"

# What makes no sense is refused, and nothing written.
both=(--rig "$command" --test-rig "$command" -o x)
expect_refused "has no {seed}" "${short[@]}" --rig "$rig" --test-rig "$command" -o x
expect_refused "has no {seed}" "${short[@]}" --rig "$command" --test-rig "$rig" -o x
expect_refused "no rig: give --rig COMMAND" "${short[@]}" --test-rig "$command" -o x
expect_refused "expected either a directory" "${short[@]}" --rig "$command" -o x
expect_refused "expected either a directory" "${short[@]}" --tests recorded "${both[@]}"
expect_refused "none: no directory" "${short[@]}" --rig "$command" --tests none -o x
expect_refused "--horizon: goes with simulated systems" "${short[@]}" --horizon 3 "${both[@]}"
expect_refused "--paper: goes with simulated systems" "${short[@]}" --paper "${both[@]}"
expect_refused "is compared by itself" compare pendulum.toml kink "${both[@]}"
expect_refused "--rig: goes with the configuration of a rig" compare kink --rig "$command" -o x
expect_refused "from 0 to 20000 for a rig, not 20001" "${short[@]}" --seed 20001 "${both[@]}"
expect_refused "nowhere.toml" compare nowhere.toml "${both[@]}"

finish
