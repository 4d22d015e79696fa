#!/usr/bin/env bash
# Drives `gpilot predict` and `gpilot score` as a user would. Usage: cli_predict_test.sh PROGRAM
set -euo pipefail

program=$1
# shellcheck source=tests/integration/support.sh
. "$(dirname "$0")/support.sh"

for command in predict score; do
  "$program" "$command" --help | grep 'Examples:' >/dev/null || fail "$command --help has no examples"
done

"$program" simulate pendulum --steps 30 --hold 1:5 --seed 1 -o train.csv >/dev/null
"$program" simulate pendulum --steps 20 --hold 1:5 --seed 2 -o test.csv >/dev/null
cut -d, -f1,2 test.csv >controls.csv
"$program" fit train.csv --inputs c --outputs y_th --states th,th_dot --derivative-of th_dot=th --inducing 10 \
  -o model.json >/dev/null

# One row a row of data; the same seed gives the same bytes, another seed other ones after the warm-up.
"$program" predict model.json test.csv --warmup 4 -o a.csv >/dev/null
expect_equal "header" "$(head -1 a.csv)" "t,y_th_mean,y_th_sd,y_th_q05,y_th_q25,y_th_q50,y_th_q75,y_th_q95,beyond"
expect_equal "lines" "$(wc -l <a.csv)" 22
expect_equal "times" "$(cut -d, -f1 a.csv)" "$(cut -d, -f1 test.csv)"
"$program" predict model.json test.csv --warmup 4 -o - | cmp -s - a.csv || fail "-o - or the seed"
"$program" predict model.json test.csv --warmup 4 --seed 1 -o b.csv >/dev/null
expect_equal "filtered rows" "$(head -5 b.csv)" "$(head -5 a.csv)"
! cmp -s a.csv b.csv || fail "the seed does not matter"
"$program" predict model.json test.csv --draws 0 --format json -o c.csv | grep '"draws": 0' >/dev/null || fail "summary"

# Without a warm-up the outputs are not looked at.
"$program" predict model.json test.csv -o d.csv >/dev/null
"$program" predict model.json controls.csv -o - | cmp -s - d.csv || fail "controls alone"

# Scores.
"$program" score model.json test.csv | grep '^y_th .*linear, one step' >/dev/null || fail "score"
"$program" score model.json test.csv --warmup 4 | grep '^y_th .*last value held' >/dev/null || fail "score of holding"
"$program" score model.json test.csv --warmup 4 --format json >score.json
for key in free_run one_step baselines mean linear '"90"' '"count"'; do
  grep -q "${key//\"/\\\"}" score.json || fail "$key is not in the score"
done
grep -q '"whiteness"' score.json || fail "no test of residuals in JSON"
"$program" score model.json test.csv --residual-lags 3 >residuals.txt
grep -q '^y_th  *white (Ljung-Box)  *[0-9.]*  *3  ' residuals.txt || fail "no test of residuals: $(cat residuals.txt)"
grep -q '^y_th  *input c  *[0-9.]*  *4  ' residuals.txt || fail "no test against the input: $(cat residuals.txt)"
expect_refused "--residual-lags: expected a whole number of at least 1" score model.json test.csv --residual-lags 0
expect_equal "values" "$(grep -A1 '"count"' score.json | grep -c '"y_th": 17')" 6

# Wrong input.
expect_refused "--warmup: 30 rows are more than the 21 of test.csv" predict model.json test.csv --warmup 30 -o x.csv
expect_refused "no column 'y_th' for the output" predict model.json controls.csv --warmup 2 -o x.csv
expect_refused "no column 'y_th' for the output" score model.json controls.csv
expect_refused "--draws: expected a whole number" predict model.json test.csv --draws -1 -o x.csv
expect_refused "nothing to score" score model.json test.csv --warmup 21
expect_refused "0.2 s apart, but the model was trained on rows 0.1 s apart" predict model.json test.csv --dt 0.2 -o x.csv
expect_refused "selects none of the 21 rows" predict model.json test.csv --rows 40:50 -o x.csv
expect_refused "give -o FILE.csv" predict model.json test.csv --format json -o -
sed '5s/,[^,]*,/,,/' test.csv >gap.csv
expect_refused "gap.csv, line 5, column 'c'" predict model.json gap.csv -o x.csv
awk -F, -v OFS=, 'NR == 7 { $1 = 0.55 } { print }' test.csv >uneven.csv
expect_refused "uneven.csv, line 7, column 't'" score model.json uneven.csv

# Data as people have it: read alike, and said in one line; a plain file says nothing.
"$program" score model.json test.csv --warmup 4 >plain.txt 2>plain.err
expect_equal "notes about a plain file" "$(wc -c <plain.err)" 0
{ echo '# rig 3'; tr ',.' ';,' <test.csv; } >semicolon.csv
"$program" score model.json semicolon.csv --warmup 4 2>note.txt | grep -v csv >semicolon.txt
expect_line "gpilot: note: semicolon.csv: read as semicolon-separated, decimal comma, 1 comment line" note.txt
expect_equal "scores of a file with semicolons" "$(cat semicolon.txt)" "$(grep -v csv plain.txt)"
sed 9d test.csv >dropped.csv
"$program" predict model.json dropped.csv -o filled.csv >/dev/null 2>note.txt
expect_line "dropped.csv: filled 1 missing row (outputs missing, inputs held)" note.txt
expect_equal "rows predicted" "$(wc -l <filled.csv)" 22

# Several files: pooled and one by one; predictions are numbered, and read back as sequences.
"$program" score model.json test.csv train.csv --warmup 4 >both.txt
expect_line "model.json on 2 recordings: 52 rows, 8 of them warm-up" both.txt
expect_line "Free run, by recording" both.txt
"$program" score model.json test.csv train.csv --warmup 4 --format json | grep '"name": "train.csv"' >/dev/null ||
  fail "recordings in JSON"
"$program" predict model.json test.csv train.csv -o both.csv >/dev/null
expect_equal "columns of two predictions" "$(head -1 both.csv | cut -d, -f1-3)" "sequence,t,y_th_mean"
{ awk -F, -v OFS=, '{ print NR == 1 ? "sequence" : 1, $0 }' test.csv; awk -F, -v OFS=, 'NR > 1 { print 2, $0 }' train.csv; } \
  >sequences.csv
"$program" score model.json sequences.csv --warmup 4 2>/dev/null | grep -v csv >sequences.txt
expect_equal "scores of a file of two sequences" "$(cat sequences.txt)" "$(grep -v csv both.txt)"

# Nothing is overwritten.
expect_refused "it is also an input" predict model.json test.csv -o test.csv
cp model.json again.json
expect_refused "what stands there is a model, not a CSV file" predict model.json test.csv -o again.json
expect_refused "what stands there is a CSV file, not a model" fit train.csv --inputs c --outputs y_th --linear -o a.csv

finish
