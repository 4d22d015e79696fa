#!/usr/bin/env bash
# The results of docs/results/recordings.md and the figures of docs/recordings.md.
# Usage: recordings.sh GPILOT DATA FOLDER [IMAGES]; DATA holds NAME.csv with the columns u and y.
# For every recording and seed: a fit of the first half, scored on the second; the same with outputs taken away.
set -euo pipefail
gpilot=${1:?usage: recordings.sh GPILOT DATA FOLDER [IMAGES]}
data=${2:?usage: recordings.sh GPILOT DATA FOLDER [IMAGES]}
folder=${3:?usage: recordings.sh GPILOT DATA FOLDER [IMAGES]}
scripts=$(dirname "$0")
images=${4:-$scripts/../docs/images}
seeds=${SEEDS:-0 1 2 3 4}
mkdir -p "$folder" "$images"

# fit_and_score NAME TRAINING FULL HALF SEED LABEL: one line with the free run's RMSE and coverage, and the linear model's.
fit_and_score() {
  local name=$1 training=$2 full=$3 half=$4 seed=$5 label=$6
  local model=$folder/$name-$label-$seed.json
  "$gpilot" fit "$training" --inputs u --outputs y --states 4 --rows ":$half" --seed "$seed" -o "$model" \
    >"$folder/$name-$label-$seed.txt"
  "$gpilot" score "$model" "$full" --warmup "$half" --seed "$seed" >"$folder/$name-$label-$seed.score"
  awk -v name="$name" -v label="$label" -v seed="$seed" \
    -v chosen="$(sed -n 's/^  chosen: \([^;]*\);.*/\1/p' "$folder/$name-$label-$seed.txt")" \
    -v seconds="$(sed -n 's/^Trained in \([0-9.]*\) s.*/\1/p' "$folder/$name-$label-$seed.txt")" '
    /  free run  /         { rmse = $5; cover = $8 }
    /  linear, free run  / { linear = $6; linear_cover = $9 }
    END { printf "%-12s %-8s seed %s  RMSE %-8s in 90%%: %-5s linear %-8s in 90%%: %-5s %5s s  %s\n",
          name, label, seed, rmse, cover, linear, linear_cover, seconds, chosen }' "$folder/$name-$label-$seed.score"
}

# Outputs taken away from the first half: 30 % at random and a gap of 50 rows (25 where the half is short).
take_away() {
  local half=$2
  awk -F, -v OFS=, -v half="$half" 'BEGIN { srand(1); gap = half > 200 ? 50 : 25 }
    NR > 1 && NR - 1 <= half && (rand() < 0.3 || (NR - 1 > half / 2 && NR - 1 <= half / 2 + gap)) { $2 = "" } { print }' "$1"
}

for name in ${RECORDINGS:-actuator ballbeam gas_furnace}; do
  full=$data/$name.csv
  half=$((($(wc -l <"$full") - 1) / 2))
  for seed in $seeds; do
    fit_and_score "$name" "$full" "$full" "$half" "$seed" complete
  done
  take_away "$full" "$half" >"$folder/$name-gaps.csv"
  fit_and_score "$name" "$folder/$name-gaps.csv" "$full" "$half" 0 gaps
  "$gpilot" predict "$folder/$name-complete-0.json" "$full" --warmup "$half" -o "$folder/$name-prediction.csv" >/dev/null
  paste -d, "$folder/$name-prediction.csv" "$full" >"$folder/$name-figure.csv"
done | tee "$folder/table.txt"

if command -v gnuplot >/dev/null; then
  gnuplot -e "data='$folder'; images='$images'" "$scripts/figures/recordings.gp"
fi
