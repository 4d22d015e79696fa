#!/usr/bin/env bash
# Installs what a group of make targets needs, if it is missing. Usage: install-deps.sh GROUP..
# On Debian and its relatives with apt-get (as root or through sudo); elsewhere it prints what to install and leaves
# the verdict to the CMake configuration that follows.
set -euo pipefail
cd "$(dirname "$0")/.."

# Node builds the page of reports. One that is there already, from wherever, does.
node_packages() {
  command -v node >/dev/null || command -v nodejs >/dev/null || echo nodejs
  command -v npm >/dev/null || echo npm
}

packages_of() {
  case "$1" in
    build) echo build-essential cmake ninja-build ccache libeigen3-dev libtbb-dev libboost-dev libfmt-dev \
      nlohmann-json3-dev libcli11-dev librandom123-dev liblbfgspp-dev \
      libnlopt-dev libtomlplusplus-dev libsqlitecpp-dev libsqlite3-dev
      node_packages ;;
    test) echo libgtest-dev python3 ;;
    bench) echo libbenchmark-dev ;;
    web) # a browser for the tests of the page, and letters for it to write with
      if ! command -v chromium >/dev/null && ! command -v google-chrome >/dev/null; then echo chromium; fi
      echo fonts-dejavu-core ;;
    python) echo python3-dev python3-venv python3-pip ;;
    demo) echo gnuplot-nox python3 ;;
    figures) echo gnuplot-nox ;;
    fuzz) echo clang libclang-rt-14-dev ;;
    ci) echo clang-format clang-tidy shellcheck ;;
    *)
      echo "install-deps.sh: unknown group '$1' (build, test, web, bench, python, demo, figures, fuzz, ci)" >&2
      exit 2
      ;;
  esac
}

wanted=()
for group in "$@"; do
  list=$(packages_of "$group")
  read -ra names <<<"${list//$'\n'/ }"
  wanted+=("${names[@]}")
done
[ ${#wanted[@]} -gt 0 ] || exit 0

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  # Said once: a configured build directory shows that everything was found.
  [ -f build/release/build.ninja ] && exit 0
  cat <<'LIST'
This is not a Debian system: please install a C++20 compiler (g++ 12 or newer) and
  Fedora   cmake ninja-build ccache eigen3-devel tbb-devel boost-devel fmt-devel json-devel cli11-devel
           NLopt-devel Random123-devel tomlplusplus-devel sqlitecpp-devel gtest-devel google-benchmark-devel gnuplot
           python3 python3-devel nodejs npm chromium
  Arch     cmake ninja ccache eigen tbb boost fmt nlohmann-json cli11 nlopt random123 tomlplusplus sqlitecpp gtest
           benchmark gnuplot python nodejs npm chromium
  macOS    brew install cmake ninja ccache eigen tbb boost fmt nlohmann-json cli11 nlopt tomlplusplus sqlitecpp
           googletest google-benchmark gnuplot node; brew install --cask chromium
and, where there is no package, the header-only libraries Random123 and LBFGSpp (put their include folders on CPATH).
LIST
  exit 0
fi

installed=" $(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null |
  awk '$2 == "installed" {printf "%s ", $1}' || true)"
missing=()
for name in "${wanted[@]}"; do
  [[ $installed == *" $name "* ]] || missing+=("$name")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "Missing packages; as root, run:  apt-get install ${missing[*]}" >&2
    exit 0
  fi
  as_root=(sudo)
fi
echo "Installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq || echo "apt-get update failed; trying with the package lists at hand" >&2
# dpkg names every package it unpacks; that is worth reading only when it fails.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  exit 1
fi
