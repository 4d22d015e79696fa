# How good a plan is against the time of its search: the median over models, and the worst of them dashed.
load folder_of_scripts . '/common.gp'
eval open('planners', 900, 380)
set multiplot layout 1, 2 margins 0.08, 0.985, 0.28, 0.92 spacing 0.1, 0.1
set logscale x
unset logscale y
set xrange [0.5:500]
set xtics (1, 5, 20, 50, 200)
set yrange [0.93:1.002]
set xlabel 'milliseconds of one processor'
methods = 'elites shooting stretches gradient'
shade(m) = m eq 'elites' ? '#2e8b57' : m eq 'shooting' ? '#3b6fb6' : m eq 'stretches' ? '#7d5ba6' : '#c8372d'
file = data . '/planners.dat'
do for [system in 'cart-pole pendulum'] {
  set title system
  set ylabel 'value, share of the best known'
  plot for [m in methods] file index (system." ".m) using 1:2 with linespoints lw 2 pt 7 ps 0.5 lc rgb shade(m), \
       for [m in methods] file index (system." ".m) using 1:3 with lines lw 1 dt 2 lc rgb shade(m)
}
key_height = 0.12
eval key_below . 'for [m in methods] NaN with lines lw 2 lc rgb shade(m) title m'
unset multiplot
