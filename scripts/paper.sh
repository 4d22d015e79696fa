#!/usr/bin/env bash
# The experiments of docs/results/paper.md and their figures. Usage: paper.sh GPILOT FOLDER [IMAGES]
# Each experiment has a directory in FOLDER, and its printed tables in FOLDER/<name>.txt. What is finished there is not
# run again: a run that was interrupted goes on, and with everything in place the figures are drawn at once.
# TRIALS=2 tries it all with fewer trials (in a folder of its own, please, and with other IMAGES).
set -euo pipefail
gpilot=${1:?usage: paper.sh GPILOT FOLDER [IMAGES]}
folder=${2:?usage: paper.sh GPILOT FOLDER [IMAGES]}
scripts=$(dirname "$0")
images=${3:-$scripts/../docs/results/images}
mkdir -p "$folder" "$images"

# compare NAME TRIALS ARGUMENT..
compare() {
  local name=$1 trials=${TRIALS:-$2}
  shift 2
  printf '\n$ gpilot compare %s --trials %s --steps 30 --seed 0 -o %s\n' "$*" "$trials" "$folder/$name"
  "$gpilot" compare "$@" --trials "$trials" --steps 30 --seed 0 -o "$folder/$name" | tee "$folder/$name.txt"
}

# The four experiments, with auto and prbs for planning.md and trust.md; the two propositions in each of their forms; the
# paper's training.
compare paper 50 kink pendulum cart-pole tras --strategies random,randext,prbs,latmi,totmi,entropy,auto
compare variants 50 kink pendulum --strategies random,latmi,latmi-x0,totmi,totmi-sampled
compare preset 15 kink pendulum --strategies random,randext,latmi,totmi --paper

# Weaker and stronger controls than those of the systems.
four=random,randext,latmi,totmi
compare pendulum-0.25 20 pendulum --strategies $four --box pendulum=-0.25:0.25
compare pendulum-1 20 pendulum --strategies $four --box pendulum=-1:1
compare cart-pole-1 20 cart-pole --strategies $four --box cart-pole=-1:1
compare tras-half 10 tras --strategies $four --box tras=0:0.25,-0.175:0.275

# One exploration of the kink, for the criterion over the control. model.json is the last file that it writes.
if [ ! -f "$folder/landscape/model.json" ]; then
  rm -rf "$folder/landscape"
  printf '\n$ gpilot run kink --strategy totmi --steps 30 --seed 0 -o %s\n' "$folder/landscape"
  "$gpilot" run kink --strategy totmi --steps 30 --seed 0 -o "$folder/landscape" | tee "$folder/landscape.txt"
fi

if ! command -v gnuplot >/dev/null; then
  echo "paper.sh: the results are in $folder; gnuplot is missing, so there are no figures" >&2
  exit 0
fi

# Files for the figures: medians and quartiles, seconds, landscapes.
figures=$folder/figures
mkdir -p "$figures"
curves() { # NAME METRIC FILE
  awk -v metric="$2" -f "$scripts/curves.awk" "$folder/$1/$3.csv" >"$figures/$1-$2.dat"
}
for name in paper variants preset pendulum-0.25 pendulum-1 cart-pole-1 tras-half; do
  curves $name rmse results
done
curves paper choose timings
curves paper train timings
# Our training in the trials that the preset has, for a fair look side by side.
awk -v metric=rmse -v trials=15 -f "$scripts/curves.awk" "$folder/paper/results.csv" >"$figures/paper-15-rmse.dat"

# The criterion that chose step k saw 5 + k - 1 points; what step 31 would be chosen by, the last model says.
landscape() { # POINTS
  awk -v start="{\"step\":$(($1 - 4))," 'index($0, start) == 1 {
    text = substr($0, index($0, "\"landscape\":[[") + 14)
    text = substr(text, 1, index(text, "]]") - 1)
    n = split(text, rows, /\],\[/)
    for (i = 1; i <= n; ++i) print rows[i]
  }' "$folder/landscape/steps.jsonl" >"$figures/landscape-$1.csv"
}
for points in 9 18 27; do
  landscape $points
done
"$gpilot" criterion "$folder/landscape/model.json" -c totmi --grid 41 -o - | tail -n +2 >"$figures/landscape-35.csv"

settings="data = '$figures'; images = '$images'; folder_of_scripts = '$scripts/figures'"
for figure in curves times variants preset boxes landscape; do
  gnuplot -e "$settings" "$scripts/figures/$figure.gp"
done
printf '\nDrew the figures in %s\n' "$images"
