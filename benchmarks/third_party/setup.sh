#!/usr/bin/env bash
# Makes the Python environment of the third-party systems: build/third_party/bin/python, with pinned versions.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
environment="$here/../../build/third_party"
[ -x "$environment/bin/python" ] || python3 -m venv "$environment"
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check -r "$here/requirements.txt"
"$environment/bin/python" -c 'import gymnasium, mujoco; print("gymnasium", gymnasium.__version__, "mujoco", mujoco.__version__)'
