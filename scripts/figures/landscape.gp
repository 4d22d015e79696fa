# The total information over the control, as one exploration of the kink goes on; the dot is its maximum.
load folder_of_scripts . '/common.gp'
eval open('landscape', 900, 270)
set datafile separator comma
unset logscale y
set xrange [-0.03:1.03]
set xtics (0, 0.5, 1)
set xlabel 'control c'
tic(span) = (unit = 10**floor(log10(span)), span < 2*unit ? 0.5*unit : span < 5*unit ? unit : 2*unit)
set multiplot layout 1, 4 margins 0.085, 0.985, 0.22, 0.88 spacing 0.06, 0.1
do for [points in '9 18 27 35'] {
  file = data . '/landscape-' . points . '.csv'
  set yrange [*:*]
  stats file using 1:2 nooutput
  span = STATS_max_y - STATS_min_y
  set yrange [STATS_min_y - 0.1*span:STATS_max_y + 0.1*span]
  set ytics tic(span)
  set title points . ' points'
  if (points eq '9') { set ylabel 'totmi, nats' } else { unset ylabel }
  best = STATS_pos_max_y
  highest = STATS_max_y
  plot file using 1:2 with lines lw 2 lc rgb colour('totmi'), \
       file using (best):(highest) every ::0::0 with points pt 7 ps 0.8 lc rgb colour('totmi')
}
unset multiplot
