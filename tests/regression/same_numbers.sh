#!/usr/bin/env bash
# Writes numbers that a reorganisation must not change, to compare two versions of the program bit by bit:
#
#   same_numbers.sh OLD/build/release/bin/gpilot before [OLD/build/bench/bin/engine]
#   same_numbers.sh build/release/bin/gpilot after [build/bench/bin/engine]
#   diff -r before after
#
# A comparison and a study of a rig for every strategy, fits and predictions, old files; with the program `engine` also
# the tables of docs/results/engine.md. Wall-clock times are left out. Takes some minutes.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2; }
gpilot=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
engine=${3:+$(realpath "$3")}
here=$(cd "$(dirname "$0")" && pwd)
fixtures=$here/../fixtures
rig="python3 $here/../../examples/rigs/pendulum_rig.py --seed 3"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

strategies=random,randext,latmi,latmi-x0,totmi,totmi-sampled,entropy,entropy-plan,infogain,imse,local,auto

# Old files open, and say the same.
for version in "$fixtures"/*/; do
  name=$(basename "$version")
  "$gpilot" show "$version/model.json" --format json >"$out/fixture-$name-model.json"
  cp "$version/pendulum.study" "$name.study"
  "$gpilot" export "$name.study" --csv -o "$out/fixture-$name-study.csv"
  "$gpilot" export "$name.study" --model -o "$out/fixture-$name-study-model.json"
done

# Fits and predictions: declared states, identified ones, a linear model, batches.
"$gpilot" simulate pendulum --steps 120 --seed 1 --hold 1:5 -o train.csv >/dev/null
"$gpilot" simulate pendulum --steps 60 --seed 2 --hold 1:5 -o test.csv >/dev/null
fit() { # fit NAME OPTIONS..
  local name=$1
  shift
  "$gpilot" fit train.csv --inputs c --outputs y_th "$@" -o "$out/fit-$name.json" >/dev/null 2>&1
  "$gpilot" predict "$out/fit-$name.json" test.csv --warmup 10 -o "$out/predict-$name.csv" >/dev/null
  "$gpilot" score "$out/fit-$name.json" test.csv --warmup 10 --format json >"$out/score-$name.json"
}
fit declared --states th,th_dot --derivative-of th_dot=th
fit angle --states th,th_dot --derivative-of th_dot=th --angle th
fit two --states 2 --structure declared --mean linear --kernel matern32+linear
fit adam --states th,th_dot --method adam --epochs 20
fit identified --states 3
fit linear --linear
fit batches --states th,th_dot --derivative-of th_dot=th --batch 60 --batch-length 30

# A comparison with every strategy, and one with limits.
"$gpilot" compare kink pendulum --strategies "$strategies" --trials 2 --steps 6 --seed 5 -o compare >/dev/null 2>&1
cp compare/results.csv "$out/compare.csv"
"$gpilot" compare pendulum --strategies random,imse --trials 2 --steps 6 --seed 5 --limit th=-0.6:0.6 --box pendulum=-1:1 \
  -o limits >/dev/null 2>&1
cp limits/results.csv "$out/compare-limits.csv"
"$gpilot" compare cart-pole --strategies auto,totmi --trials 1 --steps 4 --commit 2 --retrain-every 2 -o commit >/dev/null 2>&1
cp commit/results.csv "$out/compare-commit.csv"

# A study of a rig for every strategy: slew limits, sequences, the controls and the newest model.
for strategy in ${strategies//,/ }; do
  "$gpilot" init "$strategy.toml" --example pendulum >/dev/null
  sed -i -E "s/^strategy = .*/strategy = \"$strategy\"/; s/^(# )?slew = .*/slew = 0.3/; s/^initial = .*/initial = 4/; s/^(# )?until_sd.*//" "$strategy.toml"
  "$gpilot" run "$strategy.toml" --rig "$rig" --steps 9 >/dev/null 2>&1
  "$gpilot" run "$strategy.toml" --rig "$rig" --steps 3 --resume >/dev/null 2>&1
  "$gpilot" export "$strategy.study" --csv -o "$out/study-$strategy.csv"
  "$gpilot" export "$strategy.study" --model -o "$out/study-$strategy-model.json"
done

if [ -n "$engine" ]; then
  "$engine" kink | sed -E "s/\| [0-9.]+ \|$/|/" >"$out/engine-kink.txt"
  "$engine" latent | sed -E "s/\| [0-9.]+ \|$/|/" >"$out/engine-latent.txt"
fi
echo "wrote $(find "$out" -type f | wc -l) files to $2"
