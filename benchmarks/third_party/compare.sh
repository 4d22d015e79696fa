#!/usr/bin/env bash
# Compares strategies on the third-party systems: compare.sh development|held-back|NAME.. OUT [OPTIONS OF gpilot compare].
# OUT/NAME is the comparison of each system; the same command goes on where it was interrupted. GPILOT names the program,
# STRATEGIES other strategies than those of docs/results/trust.md.
set -euo pipefail
cd "$(dirname "$0")/../.."
gpilot=${GPILOT:-build/release/bin/gpilot}
case ${1:-} in
  development) systems=(pendulum mountain-car reacher quad-tank) ;;
  held-back) systems=(swimmer cheetah-leg crane acrobot slider two-tank) ;;
  '') echo "usage: compare.sh development|held-back|NAME OUT [OPTIONS]" >&2 && exit 2 ;;
  *) systems=("$1") ;;
esac
out=${2:?"usage: compare.sh development|held-back|NAME OUT [OPTIONS]"}
shift 2
[ -x build/third_party/bin/python ] || benchmarks/third_party/setup.sh
mkdir -p "$out"
for system in "${systems[@]}"; do
  rig="build/third_party/bin/python benchmarks/third_party/third_party_rig.py $system --seed {seed}"
  "$gpilot" compare "benchmarks/third_party/$system.toml" --rig "$rig" --test-rig "$rig" \
    --strategies "${STRATEGIES:-random,randext,prbs,multisine,latmi,auto}" "$@" -o "$out/$system"
done
