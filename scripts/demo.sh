#!/usr/bin/env bash
# From nothing to a model with error bars: simulate a pendulum, learn it from 60 measurements of its angle, and predict
# a motion that was not seen. Every command is shown before it runs. Usage: demo.sh GPILOT FOLDER
set -euo pipefail
gpilot=${1:-build/release/bin/gpilot}
folder=${2:-build/demo}
mkdir -p "$folder"

say() { printf '\n# %s\n' "$*"; }
run() {
  printf '$ gpilot %s\n' "$*"
  "$gpilot" "$@"
}

say "A pendulum driven by a torque c that is held for 1 to 5 steps. Only its angle is measured, with noise."
run simulate pendulum --steps 60 --seed 1 --hold 1:5 -o "$folder/train.csv"
run simulate pendulum --steps 60 --seed 2 --hold 1:5 -o "$folder/test.csv"

say "Learn the dynamics. The velocity th_dot is never measured; it is only said to be the derivative of th. Runs begin near rest."
run fit "$folder/train.csv" --inputs c --outputs y_th --states th,th_dot --derivative-of th_dot=th --x0 0,0 --x0-sd 0.1,0.1 \
  -o "$folder/model.json"

say "How good is it on the motion it has not seen, beside a constant and a linear model?"
run score "$folder/model.json" "$folder/test.csv"

say "Predict that motion from its controls alone (6 s ahead, no measurement used)."
run predict "$folder/model.json" "$folder/test.csv" -o "$folder/prediction.csv"

if ! command -v gnuplot >/dev/null; then
  say "The prediction is in $folder/prediction.csv (install gnuplot to see it drawn here)."
  exit 0
fi

common="set datafile separator comma; set datafile columnheaders; set xlabel 'time, s'"
say "The angle over time: prediction (line) and measurement (o). The picture with intervals: $folder/prediction.png"
gnuplot <<PLOT
$common
set terminal dumb size 100,24
set key below
plot '$folder/prediction.csv' using 't':'y_th_mean' with lines title 'predicted', \
     '$folder/test.csv' using 't':'y_th' with points pt 'o' title 'measured'
set terminal pngcairo size 1000,500 font 'sans,12'
set output '$folder/prediction.png'
set key default
set key top left horizontal
set offsets 0, 0, graph 0.15, graph 0.05
set ylabel 'angle, rad'
set title 'A pendulum predicted from its controls alone'
set style fill solid noborder
plot '$folder/prediction.csv' using 't':'y_th_q05':'y_th_q95' with filledcurves lc rgb '#cfe0f5' title '90 %', \
     '' using 't':'y_th_q25':'y_th_q75' with filledcurves lc rgb '#9dc1ec' title '50 %', \
     '' using 't':'y_th_mean' with lines lw 2 lc rgb '#1f5fae' title 'predicted mean', \
     '$folder/test.csv' using 't':'y_th' with points pt 7 ps 0.7 lc rgb '#d1495b' title 'measured'
PLOT
