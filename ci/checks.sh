#!/usr/bin/env bash
# Checks of the repository's text: what may include what, no leftovers, no paths of one machine, scripts that lint.
set -euo pipefail
cd "$(dirname "$0")/.."
git rev-parse --is-inside-work-tree >/dev/null
failed=0
# report TITLE LINES: prints the lines, if any, and remembers the failure.
report() {
  [ -n "$2" ] || return 0
  printf '%s:\n%s\n' "$1" "$2"
  failed=1
}

report "Absolute paths of a machine" \
  "$(git grep -nIE '(^|[^A-Za-z0-9_.$}])/(work|root|home|farm)(/|$)' -- . ':!ci/checks.sh' || true)"
report "Left to do" "$(git grep -nIE '\b(TO[D]O|FIX[M]E|XX[X]|HAC[K])\b' || true)"
report "Trailing white space" "$(git grep -nIE '[[:space:]]+$' -- '*.cpp' '*.hpp' '*.sh' '*.cmake' '*.txt' Makefile || true)"
report "Third-party header in the public interface (only Eigen may be)" \
  "$(git grep -nE '#include <.*[/.]' -- include | grep -vE '#include <Eigen/' || true)"

# Layers in the order data flows: a folder includes itself and what stands before it. The files directly in
# include/gpilot (types, errors, random numbers) are the lowest layer; gpilot.hpp, if there is one, is above all.
layers=(. linalg kernels gp ssm inference acquisition systems study report apps)
# Simulators are the truth the model is compared with, so they know nothing of it.
declare -A apart=([systems]="gp ssm inference acquisition")
rank_of() {
  local i
  for i in "${!layers[@]}"; do
    [ "${layers[$i]}" = "$1" ] && echo "$i" && return 0
  done
  echo "ci/checks.sh: the folder '$1' is not in its list of layers" >&2
  return 1
}
layer_of() { # the folder of gpilot/<folder>/.., or . for a file directly in gpilot/
  local rest=${1#*gpilot/}
  if [[ $rest == */* ]]; then echo "${rest%%/*}"; else echo .; fi
}
wrong=""
while IFS=: read -r file line text; do
  case "$file" in
    include/gpilot/gpilot.hpp) continue ;;
    apps/*) from=apps ;;
    *) from=$(layer_of "$file") ;;
  esac
  header=${text#*\"}
  to=$(layer_of "${header%%\"*}")
  from_rank=$(rank_of "$from")
  to_rank=$(rank_of "$to")
  if [ "$to_rank" -gt "$from_rank" ] || [[ " ${apart[$from]:-} " == *" $to "* ]]; then
    wrong+="$file:$line: $from may not include $to"$'\n'
  fi
done < <(git grep -nE '#include "gpilot/' -- include src apps || true)
report "Layer order (${layers[*]:1})" "$wrong"

# Links and pictures of the Markdown files that point into the repository.
dead=""
while IFS=: read -r file link; do
  link=${link#*](}
  link=${link%)}
  link=${link%%#*}
  case "$link" in '' | http://* | https://* | mailto:*) continue ;; esac
  [ -e "$(dirname "$file")/$link" ] || dead+="$file: $link"$'\n'
done < <(git grep -oE '\]\([^) ]+\)' -- '*.md' || true)
report "Dead links" "$dead"

mapfile -t scripts < <(git ls-files '*.sh' .ci/run)
report "shellcheck" "$(shellcheck "${scripts[@]}" || true)"

[ "$failed" -eq 0 ] && echo "checks: clean"
exit "$failed"
