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

report "typedef (write using) or NULL (write nullptr)" \
  "$(git grep -nE '\btypedef\b|\bNULL\b' -- 'include/*pp' 'src/*pp' 'apps/*pp' | grep -vE '//.*\b(typedef|NULL)\b|"[^"]*NULL' || true)"

# Layers in the order data flows: a folder includes itself and what stands before it, wherever the header stands
# (include/ or src/). Files directly in gpilot/ are the door: they may include all folders, and only apps may include them.
layers=(core linalg kernels gp physics ssm inference identify plan explore io systems rig options study trials report . apps)
# Simulators are the truth the model is compared with, so they know nothing of it; the loop knows neither files nor
# processes.
declare -A apart=([systems]="gp ssm inference identify plan explore" [explore]="io rig study")
declare -A rank=()
for i in "${!layers[@]}"; do
  rank[${layers[$i]}]=$i
done
layer_of() { # the folder of gpilot/<folder>/.., or . for a file directly in gpilot/; in $layer
  local rest=${1#*gpilot/}
  layer=.
  [[ $rest == */* ]] && layer=${rest%%/*}
  [ -n "${rank[$layer]:-}" ] || {
    echo "ci/checks.sh: the folder '$layer' is not in its list of layers" >&2
    exit 1
  }
}
wrong=""
private=""
while IFS=: read -r file line text; do
  header=${text#*\"}
  header=${header%%\"*}
  layer_of "$header"
  to=$layer
  case "$file" in
    apps/*) from=apps ;;
    *)
      layer_of "$file"
      from=$layer
      ;;
  esac
  if [ "${rank[$to]}" -gt "${rank[$from]}" ] || [[ " ${apart[$from]:-} " == *" $to "* ]]; then
    wrong+="$file:$line: $from may not include $to"$'\n'
  fi
  if [[ $file == include/* && ! -e include/$header ]]; then
    private+="$file:$line: $header"$'\n'
  fi
done < <(git grep -nE '^ *#include "gpilot/' -- include src apps || true)
report "Layer order (${layers[*]}; . is a file directly in gpilot/)" "$wrong"
report "Public header that includes a private one" "$private"
if [ -e include/gpilot/gpilot.hpp ]; then
  headers=$(git ls-files 'include/*.hpp' | wc -l)
  [ "$headers" -le 30 ] || report "Public headers" "$headers, at most 30 may be"
fi

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
