#!/usr/bin/env bash
# What is known about a rig, as options of fit and in a configuration: it arrives in the model and its file, and what is
# wrong is refused with the place.
# Usage: cli_knowledge_test.sh PROGRAM
set -euo pipefail

program=$1
# shellcheck source=tests/integration/support.sh
. "$(dirname "$0")/support.sh"

"$program" simulate pendulum --steps 60 --seed 1 -o a.csv >/dev/null
fit=(fit a.csv --inputs c --outputs y_th --states "th,th_dot" --derivative-of th_dot=th --rounds 3 --polish 10)
fit+=(--noise-path 0 --inducing 8)

# Structure.
"$program" "${fit[@]}" --angle th --odd th_dot --control-affine th_dot -o told.json >fit.txt
expect_line "the function of th_dot is odd about 0" fit.txt
expect_line "the function of th_dot is affine in the controls" fit.txt
"$program" show told.json >show.txt
expect_line "the function of th_dot is odd about 0" show.txt
"$program" "${fit[@]}" --depends-on th_dot=th_dot,c -o some.json >fit.txt
"$program" show some.json >show.txt
expect_line "th_dot' = th_dot + f(th_dot, c)" show.txt
"$program" predict told.json a.csv -o p.csv >/dev/null
"$program" "${fit[@]}" --cyclic th --from some.json -o x.json 2>err.txt && exit 1
expect_line "was told other things about its functions" err.txt

# Physics.
cat >physics.toml <<'END'
[physics]
th_dot = "(c - b*th_dot - m*g*l*sin(th)) / (m*l^2)"
[physics.parameters]
b = { start = 0.2, factor = 3, unit = "N m s" }
m = { start = 0.2, factor = 3, unit = "kg" }
l = 1.0
g = 9.81
END
"$program" "${fit[@]}" --physics physics.toml --format json -o grey.json >fit.json
expect_line '"name": "b"' fit.json
"$program" show grey.json >show.txt
expect_line "d/dt th_dot = (c - b*th_dot - m*g*l*sin(th)) / (m*l^2) (rk4)" show.txt
expect_line "95 % from" show.txt
"$program" predict grey.json a.csv -o p1.csv >/dev/null
cp grey.json copy.json
"$program" predict copy.json a.csv -o p2.csv >/dev/null
cmp p1.csv p2.csv

# Errors point at the place.
expect_physics() { # SED MESSAGE
  sed "$1" physics.toml >wrong.toml
  expect_refused "$2" "${fit[@]}" --physics wrong.toml -o x.json
}
expect_physics 's/sin(th)/sin(tho)/' "unknown name 'tho'"
expect_physics 's/m\*l^2)"/m*l^2 - m*l^2)"/' "division by zero where training starts, at character"
expect_physics 's/, unit = "kg"/, unit = "kgs"/' "unknown unit 'kgs'"
expect_physics 's/start = 0.2, factor = 3, unit = "kg"/start = 0.2/' "nothing bounds it"
expect_physics 's/^th_dot/th/' "has the declared derivative 'th_dot'"
expect_refused "--depends-on: expected STATE=NAME,.." "${fit[@]}" --depends-on th_dot -o x.json
expect_refused "unknown state 'z'" "${fit[@]}" --cyclic z -o x.json
expect_refused "goes with declared states" fit a.csv --inputs c --outputs y_th --structure delay --cyclic x -o x.json

# The same in a configuration, with its line.
"$program" init rig.toml --example pendulum >/dev/null
{ cat rig.toml; sed 's/th_dot/velocity/g; s/(c /(torque /; s/sin(th)/sin(angle)/' physics.toml; } >told.toml
"$program" check told.toml >check.txt
sed 's/sin(angle)/sin(angel)/' told.toml >wrong.toml
line=$(grep -n 'sin(angel)' wrong.toml | cut -d: -f1)
expect_refused "wrong.toml:$line: physics.velocity: unknown name 'angel'" check wrong.toml

# Suggestions are printed and not adopted.
"$program" "${fit[@]}" --suggest -o s.json >suggest.txt
expect_line "Nothing of it is adopted" suggest.txt
expect_line "--odd th_dot" suggest.txt
grep -q '"odd": \[\]' s.json
finish
