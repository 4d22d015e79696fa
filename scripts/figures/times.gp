# What a step costs: choosing the control and training, medians over trials.
load folder_of_scripts . '/common.gp'
eval open('times', 900, 700)
strategies = 'random randext latmi totmi entropy'
choose = data . '/paper-choose.dat'
train = data . '/paper-train.dat'
set xrange [1:30]
set xtics (1, 5, 10, 15, 20, 25, 30)
set format y '10^{%T}'
set yrange [1e-3:1e3]
set ylabel 'milliseconds a step'
set multiplot layout 2, 2 margins 0.08, 0.985, 0.14, 0.95 spacing 0.09, 0.13
do for [system in 'kink pendulum cart-pole tras'] {
  set title system
  plot for [s in strategies] choose index (system . ' ' . s) using 1:($1 > 0 ? 1e3*$3 : NaN) with lines lw 2 \
           lc rgb colour(s), \
       for [s in strategies] train index (system . ' ' . s) using 1:($1 > 0 ? 1e3*$3 : NaN) with lines lw 1.5 \
           dt (6, 3) lc rgb colour(s)
}
key_height = 0.06
eval key_below . 'for [s in strategies] NaN with lines lw 2 lc rgb colour(s) title s, ' . \
     'NaN with lines lw 2 lc rgb "black" title "choose", NaN with lines lw 1.5 dt (6, 3) lc rgb "black" title "train"'
unset multiplot
