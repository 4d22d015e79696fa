# What the figures share: colours (the paper's: random blue, latMI yellow, totMI red), panels of median curves over
# bands between the quartiles, one key below all panels. Given before: data, the folder of the curves, and images, the
# folder to draw to.
colour(s) = s eq 'random' ? '#3b6fb6' : s eq 'randext' ? '#555555' : s eq 'latmi' ? '#e0a100' : \
            s eq 'latmi-x0' ? '#7d5ba6' : s eq 'totmi' ? '#c8372d' : s eq 'totmi-sampled' ? '#e07fb0' : \
            s eq 'prbs' ? '#8aa8a0' : '#2e8b57'
# Dashes where a line may lie on another.
dashes(s) = s eq 'entropy' || s eq 'totmi-sampled' ? 2 : 1
error_of(system) = system eq 'kink' ? 'RMSE of f' : 'free-run RMSE, test sd'

set style fill transparent solid 0.12 noborder
set border 3 lc rgb '#444444'
set tics nomirror
set grid ytics lc rgb '#dddddd' lw 0.5
set title offset 0, -0.5
set ylabel offset 1, 0
set xlabel 'controls chosen' offset 0, 0.4
set xrange [0:30]
set xtics 5
set logscale y
set autoscale yfix
set format y '%g'
set key off
# The terminal's name is set from outside to look at a figure as a bitmap.
if (!exists('terminal')) { terminal = 'svg' }
open(name, width, height) = sprintf("set terminal %s size %d,%d font 'sans,12' background rgb 'white'; " . \
                                    "set output '%s/%s.%s'", terminal, width, height, images, name, \
                                    terminal eq 'svg' ? 'svg' : 'png')
fine_tics = 'set ytics add (0.03, 0.05, 0.2, 0.3, 0.5, 2, 3, 5)'
# The key of all panels, in a strip below them: evaluated after the last one, with the lines that it shall name.
key_below = 'reset; set lmargin at screen 0.02; set rmargin at screen 0.98; set bmargin at screen 0; ' . \
            'set tmargin at screen key_height; unset border; unset tics; set xrange [0:1]; set yrange [0:1]; ' . \
            'set key at screen 0.5, screen 0.5*key_height center center horizontal Left reverse samplen 2; plot '
key_of_strategies = 'for [s in strategies] NaN with lines lw 2 dt dashes(s) lc rgb colour(s) title s'
# Medians over quartile bands; evaluated with file, system and strategies set.
curve = 'for [s in strategies] file index (system." ".s) using '
panel = 'plot ' . curve . '1:2:4 with filledcurves lc rgb colour(s) notitle, ' . \
        curve . '1:3 with lines lw 2 dt dashes(s) lc rgb colour(s)'
