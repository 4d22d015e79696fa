# Other control boxes than the systems' own.
load folder_of_scripts . '/common.gp'
eval open('boxes', 900, 700)
eval fine_tics
strategies = 'random randext latmi totmi'
set ylabel 'free-run RMSE, test sd'
set multiplot layout 2, 2 margins 0.08, 0.985, 0.14, 0.95 spacing 0.09, 0.13
array names[4] = ['pendulum-0.25', 'pendulum-1', 'cart-pole-1', 'tras-half']
array titles[4] = ['pendulum, |c| <= 0.25', 'pendulum, |c| <= 1', 'cart-pole, |c| <= 1', 'tras, half its box']
array systems[4] = ['pendulum', 'pendulum', 'cart-pole', 'tras']
do for [i = 1:4] {
  file = data . '/' . names[i] . '-rmse.dat'
  system = systems[i]
  set title titles[i]
  eval panel
}
key_height = 0.06
eval key_below . key_of_strategies
unset multiplot
