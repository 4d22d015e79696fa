#!/usr/bin/env bash
# Drives `gpilot report` and `gpilot serve` as a user would; web/tests looks at the page itself. Usage: cli_report_test.sh PROGRAM
set -euo pipefail

program=$1
# shellcheck source=tests/integration/support.sh
. "$(dirname "$0")/support.sh"

for command in report serve; do
  "$program" "$command" --help | grep 'Examples:' >/dev/null || fail "$command --help has no examples"
done

"$program" simulate pendulum --steps 25 --hold 1:5 --seed 1 -o train.csv >/dev/null
"$program" fit train.csv --inputs c --outputs y_th --states th,th_dot --derivative-of th_dot=th --inducing 8 \
  -o model.json >/dev/null
"$program" compare kink --strategies random,latmi --trials 2 --steps 2 -o comparison >/dev/null 2>&1

# The data of each kind: whole JSON, whether or not the program has its page.
"$program" report model.json train.csv --warmup 3 --record -o model-record.json >/dev/null
"$program" report model.json --record -o bare.json >/dev/null
"$program" report comparison --record -o comparison-record.json >/dev/null
python3 - <<'PY' || fail "records"
import json
model, bare, comparison = (json.load(open(f)) for f in ("model-record.json", "bare.json", "comparison-record.json"))
assert model["kind"] == "model" and len(model["recordings"][0]["t"]) == 26, model["kind"]
assert bare["recordings"] == []
assert len(comparison["systems"][0]["strategies"]) == 2 and comparison["about"]["done"] == 4
PY

# What does not fit is refused, before anything is written.
expect_refused "no comparison.json" report . -o x.html --record
expect_refused "--history" report model.json --history all --record -o x.json
expect_refused "goes with a model" report comparison train.csv --record -o x.json
expect_refused "goes with a model and data" report model.json --warmup 3 --record -o x.json
expect_refused "nothing.study" report nothing.study --record -o x.json
expect_refused "train.csv" report model.json --record -o train.csv
expect_refused "model.json" report model.json --record -o model.json
expect_refused "no such study" serve nothing.study
expect_refused "not a study" serve train.csv

# The page, where the program has it.
if "$program" report model.json train.csv --warmup 3 -o model.html >out.txt 2>&1; then
  expect_equal "first line" "$(head -1 model.html)" "<!doctype html>"
  ! grep -E '(src|href)="?(https?:)?//' model.html >/dev/null || fail "the page looks for something elsewhere"
  "$program" report model.json train.csv --format json -o model.html | grep '"kind": "model"' >/dev/null || fail "summary"
  expect_refused "a CSV file, not a report" report model.json -o train.csv
  # Only a report is replaced by a report.
  "$program" init mine.toml --example pendulum >/dev/null
  echo 'import sys' >rig.py
  echo '<!doctype html><title>My page</title>' >page.html
  expect_refused "mine.toml: cannot write the file: what stands there is a configuration, not a report" \
    report model.json -o mine.toml
  expect_refused "rig.py: cannot write the file: what stands there is a file that gpilot does not know, not a report" \
    report model.json -o rig.py
  expect_refused "page.html" report model.json -o page.html
  expect_equal "somebody's files" "$(cat rig.py page.html)" "$(printf 'import sys\n<!doctype html><title>My page</title>')"
  "$program" report model.json -o - >stdout.html
  expect_equal "first line on standard output" "$(head -1 stdout.html)" "<!doctype html>"
else
  # Built without Node: said in a sentence, by both commands, as an input error; the data above were written all the same.
  grep "built without its page" out.txt >/dev/null || fail "no page, and no word of it"
  "$program" init rig.toml --example pendulum >/dev/null
  "$program" ask rig.study --config rig.toml >/dev/null
  expect_refused "built without its page" report rig.study -o rig.html
  expect_refused "built without its page" serve rig.study --port 0
  [ ! -e rig.html ] || fail "a page was written all the same"
fi
"$program" report model.json --record -o - | python3 -c 'import json, sys; json.load(sys.stdin)' || fail "standard output"
expect_refused "standard output" report model.json --record --format json -o -
finish
