#!/usr/bin/env bash
# gpilot beside JAX, PyTorch and GPflow, with pinned versions in an environment of its own (build/peers, 7 GB: PyTorch comes
# with libraries for graphics cards). Arguments are those of compare.py, e.g. --rounds 3 --libraries jax.
set -euo pipefail
cd "$(dirname "$0")/../.."
environment=build/peers
[ -f build/bench/build.ninja ] || cmake --preset bench
cmake --build build/bench --target peers
[ -x "$environment/bin/python" ] || python3 -m venv "$environment"
if ! cmp -s benchmarks/peers/requirements.txt "$environment/installed.txt"; then
  # --no-deps: GPflow asks for a TensorFlow with libraries for graphics cards, too. The list is complete.
  "$environment/bin/pip" install --quiet --disable-pip-version-check --no-deps -r benchmarks/peers/requirements.txt
  cp benchmarks/peers/requirements.txt "$environment/installed.txt"
fi
exec "$environment/bin/python" benchmarks/peers/compare.py build/bench/bin/peers "$@"
