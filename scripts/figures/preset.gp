# Our training beside the paper's, the same trials and the same scale.
load folder_of_scripts . '/common.gp'
eval open('preset', 900, 700)
eval fine_tics
strategies = 'random randext latmi totmi'
array files[2] = [data . '/paper-15-rmse.dat', data . '/preset-rmse.dat']
array training[2] = ['our training', "the paper's training"]
set multiplot layout 2, 2 margins 0.08, 0.985, 0.14, 0.95 spacing 0.09, 0.13
do for [system in 'kink pendulum'] {
  # One range for both, from the quartiles of all curves.
  set yrange [*:*]
  low = 1e9
  high = 0
  do for [i = 1:2] {
    do for [s in strategies] {
      stats files[i] index (system . ' ' . s) using 2:4 nooutput
      low = STATS_min_x < low ? STATS_min_x : low
      high = STATS_max_y > high ? STATS_max_y : high
    }
  }
  set yrange [0.9*low:1.1*high]
  set ylabel error_of(system)
  do for [i = 1:2] {
    file = files[i]
    set title system . ', ' . training[i]
    eval panel
  }
}
key_height = 0.06
eval key_below . key_of_strategies
unset multiplot
