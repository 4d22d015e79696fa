#!/usr/bin/env bash
# The experiments of docs/results/planning.md and their figures. Usage: planning.sh GPILOT BENCHES FOLDER PAPER [IMAGES]
# BENCHES is the folder of the programs that 'make bench' builds, PAPER that of paper.sh, whose first comparison is part of
# this one, too. What is finished in the folders is not run again.
# TRIALS=2 tries it all with fewer trials (in a folder of its own, please, and with other IMAGES).
set -euo pipefail
usage="usage: planning.sh GPILOT BENCHES FOLDER PAPER [IMAGES]"
gpilot=${1:?$usage}
benches=${2:?$usage}
folder=${3:?$usage}
paper=${4:?$usage}
scripts=$(dirname "$0")
images=${5:-$scripts/../docs/results/images}
mkdir -p "$folder" "$paper" "$images"

# compare NAME TRIALS ARGUMENT..
compare() {
  local name=$1 trials=${TRIALS:-$2}
  shift 2
  printf '\n$ gpilot compare %s --trials %s --steps 30 --seed 0 -o %s\n' "$*" "$trials" "$folder/$name"
  "$gpilot" compare "$@" --trials "$trials" --steps 30 --seed 0 -o "$folder/$name" | tee "$folder/$name.txt"
}
# bench FILE PROGRAM ARGUMENT..: its output, unless it is there.
bench() {
  local file=$1
  shift
  [ -s "$folder/$file" ] || { "$benches/$1" "${@:2}" >"$folder/$file.part" && mv "$folder/$file.part" "$folder/$file"; }
}

folder=$paper compare paper 50 kink pendulum cart-pole tras --strategies random,randext,prbs,latmi,totmi,entropy,auto
compare angles 30 pendulum --angles --strategies random,randext,latmi,totmi,auto
compare local 30 pendulum cart-pole --observe-states --strategies random,totmi,local,imse
compare safe 30 pendulum --box pendulum=-1:1 --limit th=-0.8:0.8 --delta 0.05 --strategies random,randext,latmi,auto
compare unsafe 30 pendulum --box pendulum=-1:1 --strategies random,randext,latmi,auto
bench oracle.txt oracle "${TRIALS:-15}"
bench planners.csv planners "${TRIALS:-5}" 77

if ! command -v gnuplot >/dev/null; then
  echo "planning.sh: the results are in $folder; gnuplot is missing, so there are no figures" >&2
  exit 0
fi

figures=$folder/figures
mkdir -p "$figures"
awk -v metric=rmse -f "$scripts/curves.awk" "$paper/paper/results.csv" >"$figures/planning-rmse.dat"
# Share of the best plan over the milliseconds of the search: a block "ms median lowest" for each system and method.
sed -nE 's/^# ([a-z-]+), ([a-z]+), +([0-9]+) ms: median ([0-9.]+), lowest ([0-9.]+) .*/\1 \2 \3 \4 \5/p' "$folder/planners.csv" |
  sort -k1,2 -k3n | awk '{ key = $1 " " $2 } key != last { if (last != "") print "\n"; print "# " key; last = key } { print $3, $4, $5 }' \
  >"$figures/planners.dat"
settings="data = '$figures'; images = '$images'; folder_of_scripts = '$scripts/figures'"
for figure in planning planners; do
  gnuplot -e "$settings" "$scripts/figures/$figure.gp"
done
printf '\nDrew the figures in %s\n' "$images"
