#!/usr/bin/env bash
# The pictures that the documentation shows, made by the program: a comparison, a study and a model on data, as their
# reports show them, and an exploration step by step. Usage: figures.sh GPILOT FOLDER
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
gpilot=$(realpath "${1:-$root/build/release/bin/gpilot}")
folder=${2:-$root/build/figures}
images=$root/docs/images/report
mkdir -p "$folder" "$images"
cd "$folder"
rm -rf compare rig.* tanks.* model.json ./*.csv ./*.html "${images:?}"/*
node=$(command -v node || command -v nodejs || true)
[ -n "$node" ] || {
  echo "figures.sh: Node.js is missing, and the page with it: install nodejs and npm" >&2
  exit 1
}
# The strategies of the paper, on two systems.
"$gpilot" compare kink pendulum --strategies random,latmi,totmi,local --trials 10 --steps 15 -o compare >compare.log
"$gpilot" report compare -o comparison.html
"$gpilot" init rig.toml --example pendulum
"$gpilot" run rig.toml --rig "python3 $root/examples/rigs/pendulum_rig.py --seed 2 --state rig.state" --steps 20 >rig.log
"$gpilot" void rig.study --step 19 --why "the sensor was loose"
"$gpilot" run rig.toml --rig "python3 $root/examples/rigs/pendulum_rig.py --seed 2 --state rig.state" --resume --steps 3 >>rig.log
"$gpilot" report rig.study --history all -o study.html
"$gpilot" simulate pendulum --steps 120 --seed 1 --hold 1:5 -o train.csv
"$gpilot" simulate pendulum --steps 120 --seed 2 --hold 1:5 -o test.csv
"$gpilot" fit train.csv --inputs c --outputs y_th --states th,th_dot --derivative-of th_dot=th -o model.json >fit.log
"$gpilot" report model.json test.csv --warmup 10 -o model.html

# Two controls, two outputs with limits, a region, a rig that fails now and then.
"$gpilot" run "$root/scripts/figures/tanks.toml" --rig "python3 $root/scripts/figures/tanks_rig.py" -o tanks.study --steps 28 >tanks.log
"$gpilot" report tanks.study --history all -o tanks.html

shots=$root/web/tests/screenshots.mjs
export LOOKS=light,dark,phone
"$node" "$shots" comparison.html "$images"
"$node" "$shots" study.html "$images" outputs decisions sure states model time
"$node" "$shots" tanks.html "$images" about outputs controls decisions events
"$node" "$shots" model.html "$images"

# An exploration of its own for the animation: every model is at hand, none was corrected.
"$gpilot" init film.toml --example pendulum --force >/dev/null
rm -f film.study*
"$gpilot" run film.toml --rig "python3 $root/examples/rigs/pendulum_rig.py --seed 3 --state film.state" --steps 24 >film.log
"$gpilot" report film.study --history all --record -o film.json
"$node" "$root/web/exploration.mjs" film.json "$root/docs/images/exploration.svg"
echo "pictures are in $images and $root/docs/images/exploration.svg"
