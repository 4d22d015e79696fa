# Free runs over the second half of three recordings: what was measured, the mean, the 90 % interval.
set terminal svg size 900, 640 font 'sans,11' background 'white'
set output images . '/recordings.svg'
set datafile separator ','
set style fill transparent solid 0.25 noborder
set border 3 lc rgb '#444444'
set tics nomirror
set grid ytics lc rgb '#dddddd' lw 0.5
set key top left horizontal samplen 2
set multiplot layout 3, 1 margins 0.07, 0.985, 0.06, 0.96 spacing 0.02, 0.07
array names[3] = ['actuator', 'ballbeam', 'gas_furnace']
array halves[3] = [512, 500, 148]
array ends[3] = [1023, 999, 295]
do for [i = 1:3] {
  file = data . '/' . names[i] . '-figure.csv'
  set title names[i] . ', rows of the second half' offset 0, -0.7 noenhanced
  set xrange [halves[i]:ends[i]]
  if (i > 1) { unset key }
  plot file using 1:4:8 every ::1 with filledcurves lc rgb '#3b6fb6' title '90 % interval', \
       file using 1:2 every ::1 with lines lc rgb '#3b6fb6' lw 1.5 title 'free run', \
       file using 1:10 every ::1 with lines lc rgb '#222222' lw 1 title 'measured'
}
unset multiplot
