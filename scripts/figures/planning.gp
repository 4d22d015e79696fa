# Planned exploration beside the rest: error over steps.
load folder_of_scripts . '/common.gp'
eval open('planning', 900, 700)
eval fine_tics
strategies = 'random randext prbs latmi totmi auto'
file = data . '/planning-rmse.dat'
set multiplot layout 2, 2 margins 0.08, 0.985, 0.14, 0.95 spacing 0.09, 0.13
do for [system in 'kink pendulum cart-pole tras'] {
  set title system
  set ylabel error_of(system)
  eval panel
}
key_height = 0.06
eval key_below . key_of_strategies
unset multiplot
