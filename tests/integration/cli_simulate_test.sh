#!/usr/bin/env bash
# Drives `gpilot systems` and `gpilot simulate` as a user would. Usage: cli_simulate_test.sh PROGRAM
set -euo pipefail

program=$1
# shellcheck source=tests/integration/support.sh
. "$(dirname "$0")/support.sh"

# Listings, help, version.
"$program" --version | grep '^gpilot [0-9]' >/dev/null || fail "--version"
for command in systems simulate; do
  "$program" "$command" --help | grep 'Examples:' >/dev/null || fail "$command --help has no examples"
done
"$program" systems | grep 'y_th \[rad\] measures th' >/dev/null || fail "systems"
expect_equal "systems in JSON" "$("$program" systems --format json | grep -c '"derivative_of"')" 4

# Rows 0..N; row 0 without outputs, the last row without controls.
"$program" simulate pendulum --steps 10 --seed 3 -o a.csv >/dev/null
expect_equal "header" "$(head -1 a.csv)" "t,c,y_th"
expect_equal "lines" "$(wc -l <a.csv)" 12
sed -n 2p a.csv | grep -Eq '^0,[^,]+,$' || fail "row 0: $(sed -n 2p a.csv)"
tail -1 a.csv | grep -Eq '^1,,[^,]+$' || fail "last row: $(tail -1 a.csv)"

# The same seed gives the same bytes, with the states beside them or not; another seed does not.
"$program" simulate pendulum --steps 10 --seed 3 --with-states -o b.csv >/dev/null
expect_equal "states" "$(head -1 b.csv)" "t,c,y_th,th,th_dot"
cut -d, -f1-3 b.csv | cmp -s - a.csv || fail "--with-states changes the data"
"$program" simulate pendulum --steps 10 --seed 4 -o c.csv >/dev/null
! cmp -s a.csv c.csv || fail "the seed does not matter"
"$program" simulate pendulum --steps 10 --seed 3 -o - | cmp -s - a.csv || fail "-o -"

# Observed states are further outputs; what was measured before is measured the same.
"$program" simulate pendulum --steps 10 --seed 3 --observe-states -o o.csv >/dev/null
expect_equal "observed states" "$(head -1 o.csv)" "t,c,y_th,y_th_dot"
cut -d, -f1-3 o.csv | cmp -s - a.csv || fail "--observe-states changes the data"

# Controls from a file: a run's own file replays it.
"$program" simulate pendulum --steps 10 --seed 3 --controls a.csv -o d.csv >/dev/null
cmp -s a.csv d.csv || fail "--controls FILE does not replay"

# No noise: the mean of x_0, outputs equal to states; negative values after options.
"$program" simulate kink --steps 1 --controls 0.8 --process-noise none --output-noise none --with-states -o - |
  sed -n 2p | grep '^0,0.8,,0.5$' >/dev/null || fail "noise-free kink"
"$program" simulate pendulum --steps 2 --x0 -1,-.5 --controls -0.25 --box -1:1 --with-states -o - |
  sed -n 2p | grep '^0,-0.25,,-1,-0.5$' >/dev/null || fail "negative values"
"$program" simulate tras --steps 3 --controls 0.3,-0.1 --hold 2 -o - >/dev/null 2>&1 && fail "--hold with a constant"
"$program" simulate cart-pole --steps 9 --hold 1:5 --set m_p=0.2 --set mu_c=0 --dt 0.05 -o e.csv --format json |
  grep -q '"rows": 10' || fail "JSON summary"
"$program" simulate tras --steps 2 --variant paper --controls extremes --output-noise 0.1,0.2 -o f.csv >/dev/null

# Wrong input.
printf 't,c\n0,0.1\n1,0.2\n' >short.csv
printf 't,u\n0,0.1\n' >other.csv
printf 't,c\n0,0.1\n1,x\n' >broken.csv
printf 't,c\n0,0.1\n1,\n' >gap.csv
expect_refused "required"
expect_refused "did you mean 'simulate'?" simulat
expect_refused "did you mean 'pendulum'?" simulate pendulm --steps 5 -o x.csv
expect_refused "--steps is required" simulate kink -o x.csv
expect_refused "--output is required" simulate kink --steps 5
expect_refused "not '0'" simulate kink --steps 0 -o x.csv
expect_refused "at most" simulate kink --steps 1000000000000 -o x.csv
expect_refused "not 'many'" simulate kink --steps many -o x.csv
expect_refused "--seed" simulate kink --steps 5 --seed -1 -o x.csv
expect_refused "--frobnicate" simulate kink --steps 5 --frobnicate -o x.csv
expect_refused "--format" simulate kink --steps 5 --format yaml -o x.csv
expect_refused "--format json" simulate kink --steps 5 --format json -o -
expect_refused "c in [0, 1]" simulate kink --steps 5 --controls 1.5 -o x.csv
expect_refused "c_v in [0, 0.5]" simulate tras --steps 5 --controls 0.2 -o x.csv
expect_refused "not 'ranodm'" simulate kink --steps 5 --controls ranodm -o x.csv
expect_refused "none.csv: cannot read" simulate kink --steps 5 --controls none.csv -o x.csv
expect_refused "the file has 2" simulate kink --steps 5 --controls short.csv -o x.csv
expect_refused "no column 'c'" simulate kink --steps 1 --controls other.csv -o x.csv
expect_refused "broken.csv:3: column 'c': 'x'" simulate kink --steps 2 --controls broken.csv -o x.csv
expect_refused "missing in row 1" simulate kink --steps 2 --controls gap.csv -o x.csv
cp a.csv same.csv && ln -s same.csv link.csv
expect_refused "same.csv: cannot write the file: it is also an input" \
  simulate pendulum --steps 10 --controls same.csv -o same.csv
expect_refused "it is also an input" simulate pendulum --steps 10 --controls same.csv -o link.csv
cmp -s a.csv same.csv || fail "an input was replaced"
expect_refused "--hold" simulate kink --steps 5 --hold 0 -o x.csv
expect_refused "--hold" simulate kink --steps 5 --hold 3:2 -o x.csv
expect_refused "needs 2 value(s), not 1" simulate pendulum --steps 5 --x0 1 -o x.csv
expect_refused "not 'a'" simulate pendulum --steps 5 --x0 a,0 -o x.csv
expect_refused "1 or 2 standard deviations, not 3" simulate pendulum --steps 5 --process-noise 1,2,3 -o x.csv
expect_refused "not negative, not -1" simulate pendulum --steps 5 --output-noise -1 -o x.csv
expect_refused "known: g, m, l, b" simulate pendulum --steps 5 --set mass=1 -o x.csv
expect_refused "NAME=VALUE" simulate pendulum --steps 5 --set m -o x.csv
expect_refused "did you mean 'paper'?" simulate pendulum --steps 5 --variant papre -o x.csv
expect_refused "dt" simulate kink --steps 5 --dt 0.5 -o x.csv
expect_refused "no directory 'nowhere'" simulate kink --steps 5 -o nowhere/x.csv
expect_refused "it is a directory" simulate kink --steps 5 -o .

# A failure that is not the user's: exit code 1.
code=0
"$program" simulate kink --steps 5 -o /dev/full >/dev/null 2>&1 || code=$?
expect_equal "exit code when the disk is full" "$code" 1

finish
