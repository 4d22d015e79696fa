# Each criterion in its two forms: from the filtered state and from x_0, exact and sampled.
load folder_of_scripts . '/common.gp'
eval open('variants', 900, 380)
eval fine_tics
strategies = 'random latmi latmi-x0 totmi totmi-sampled'
file = data . '/variants-rmse.dat'
set multiplot layout 1, 2 margins 0.08, 0.985, 0.25, 0.92 spacing 0.09, 0.13
do for [system in 'kink pendulum'] {
  set title system
  set ylabel error_of(system)
  eval panel
}
key_height = 0.1
eval key_below . key_of_strategies
unset multiplot
