#!/usr/bin/env bash
# Drives `gpilot init` and `gpilot check` as a user would. Usage: cli_config_test.sh PROGRAM
set -euo pipefail

program=$1
keys=$(cd "$(dirname "$0")/../.." && pwd)/docs/configuration.md
# shellcheck source=tests/integration/support.sh
. "$(dirname "$0")/support.sh"

for command in init check; do
  "$program" "$command" --help | grep 'Examples:' >/dev/null || fail "$command --help has no examples"
done

# Every example is written, commented, and valid.
for example in $("$program" systems --format json | sed -n 's/^      "name": "\(.*\)",$/\1/p') blank; do
  "$program" init "$example.toml" --example "$example" >init.txt
  expect_line "wrote $example.toml (example $example); change it, then: gpilot check $example.toml" init.txt
  "$program" check "$example.toml" >check.txt || fail "check $example.toml"
  expect_line "$example.toml is a valid configuration of the study" check.txt
  "$program" check "$example.toml" --format json >check.json || fail "check $example.toml --format json"
  "$program" init - --example "$example" | cmp -s - "$example.toml" || fail "init - of $example"
done
"$program" init default.toml >/dev/null
cmp -s default.toml blank.toml || fail "the default is not the blank example"
"$program" init j.toml --format json | grep '"example": "blank"' >/dev/null || fail "init --format json"

# Every key of the example is explained in the documentation.
grep -oE '^(# )?[a-z0-9_]+ = ' pendulum.toml | sed 's/^# //; s/ = $//' | sort -u >keys.txt
[[ $(wc -l <keys.txt) -gt 40 ]] || fail "only $(wc -l <keys.txt) keys"
while read -r key; do
  grep -qF "\`$key\`" "$keys" || fail "docs/configuration.md does not explain '$key'"
done <keys.txt
awk '/^```toml/ { n++; inside = 1; next } /^```/ { inside = 0 } inside { print > ("doc" n ".toml") }' "$keys"
for file in doc1.toml doc2.toml; do
  "$program" check "$file" >/dev/null || fail "an example of docs/configuration.md"
done

# Its tables of keys are those of the description; `gpilot key-tables` brings them up to date.
"$program" key-tables "$keys" | cmp -s - "$keys" || fail "docs/configuration.md is out of date: gpilot key-tables"
grep -v 'keys: rig' "$keys" >page.md
expect_refused "the page has no line '<!-- keys: rig -->'" key-tables page.md
sed 's/keys: rig/keys: rigs/' "$keys" >page.md
expect_refused "a configuration has no section [rigs]" key-tables page.md
"$program" --help | grep -q key-tables && fail "key-tables is in the help"

# What it means, in words and for machines.
"$program" check pendulum.toml >check.txt
for text in "torque [N m]: from -0.5 to 0.5, any change in a step, safe at 0" "Outputs (measured every 0.1 s)" \
  "angle [rad]: measures the state angle, expected from -0.8 to 0.8, noise learned" \
  "velocity: not measured, the derivative of angle, expected from -2.3 to 2.3; after a reset at 0, sd 0.1" \
  "5 measurements under random controls, then 30 under controls chosen by auto" \
  "35 measurements, 3.5 s of the rig's time; seed 0" "no command: give 'gpilot run --rig'"; do
  expect_line "$text" check.txt
done
grep -q Notes check.txt && fail "notes on an example"
"$program" check pendulum.toml --format json >check.json
for text in '"name": "torque"' '"slew": null' '"derivative_of": "angle"' '"study.dt": "0.1"' '"notes": []'; do
  expect_line "$text" check.json
done
sed -e '/^\[\[output\]\]/,/^\[\[state/{/^low/d;/^high/d}' -e 's/^# slew = 0.3/slew = 0.001/' \
  -e 's/^deadline_s = 2 /deadline_s = 0.01 /' pendulum.toml >odd.toml
"$program" check odd.toml >odd.txt
expect_line "output.angle: without low and high" odd.txt
expect_line "input.torque: with this slew it takes 1000 steps" odd.txt
expect_line "rig.deadline_s: 0.01 s are less than dt" odd.txt

# Limits of outputs.
sed -e 's/^# limit_low = [^ ]* */limit_low = -0.9 /' -e 's/^delta = 0.05 /delta = 0.1 /' pendulum.toml >limits.toml
"$program" check limits.toml >limits.txt
expect_line "noise learned, kept above -0.9 with probability 0.9" limits.txt
"$program" check limits.toml --format json >limits.json
expect_line '"limit_low": -0.9' limits.json
sed 's/^limit_low = -0.9 /limit_low = 0.5 /' limits.toml >outside.toml
"$program" check outside.toml | grep -q "output.angle: after a reset it is outside its limits" || fail "start outside"
sed -e '/^\[\[state/,/^\[/s/^# angle = true/angle = true/' pendulum.toml >turning.toml
"$program" check turning.toml >turning.txt
expect_line "angle: measured, an angle" turning.txt
"$program" check turning.toml --format json | grep '"angle": true' >/dev/null || fail "an angle in JSON"

# A file that is there is kept, unless told otherwise.
cp pendulum.toml mine.toml
expect_refused "mine.toml: the file is there already; --force replaces it" init mine.toml
cmp -s mine.toml pendulum.toml || fail "a refused init changed its file"
"$program" init mine.toml --force >/dev/null
cmp -s mine.toml blank.toml || fail "--force"

# Settings without effect, and formulas that have no value somewhere in the declared ranges, are told.
cat >ignored.toml <<'END'
[study]
dt = 0.2
strategy = "random"
delta = 0.2
[[input]]
name = "u"
low = -2
high = 2
[[output]]
name = "x"
unit = "deg"
low = -3
high = 3
[planning]
horizon = 7
[training]
epochs = 5
[physics]
x = "u - sqrt(x)"
END
"$program" check ignored.toml >ignored.txt
expect_line "planning: without effect: the strategy is random, which does not plan" ignored.txt
expect_line "study.delta: without effect: no output has limits" ignored.txt
expect_line "training.epochs, samples, learning_rate: without effect: the method is em" ignored.txt
expect_line "physics.x: no training can succeed with such data" ignored.txt
expect_line "'deg', the unit of x, is none of the SI's" ignored.txt

# Wrong input names file, line and key.
expect_refused "did you mean 'pendulum'?" init x.toml --example pendulun
expect_refused "there is no directory 'nowhere'" init nowhere/x.toml
expect_refused "x.toml: cannot read the file" check x.toml
line=$(grep -n '^strategy' pendulum.toml | cut -d: -f1)
sed 's/^strategy/strategi/' pendulum.toml >wrong.toml
expect_refused "wrong.toml:$line: study.strategi: unknown key 'strategi', did you mean 'strategy'?" check wrong.toml
sed 's/^dt = .* #/dt = "fast" #/' pendulum.toml >wrong.toml
expect_refused "study.dt: expected a number between 1e-12 and 1e12, not the text \"fast\"" check wrong.toml
printf '[study]\ndt = \n' >wrong.toml
expect_refused "wrong.toml:2:6: not valid TOML: " check wrong.toml

finish
