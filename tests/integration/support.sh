# shellcheck shell=bash
# Sourced by the scripts beside it after they have set `program`: a folder of their own to work in, and checks that
# count what failed. A script ends with `finish`.

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

expect_equal() { # WHAT ACTUAL EXPECTED
  [[ $2 == "$3" ]] || fail "$1: got '$2', expected '$3'"
}

expect_line() { # TEXT FILE
  grep -qF -- "$1" "$2" || fail "'$1' is not in $2: $(cat "$2")"
}

# Runs the program, expects exit code 2, one line on stderr with the given text, and no new file.
expect_refused() { # TEXT ARGUMENTS..
  local text=$1 code=0 before after
  shift
  before=$(find . | sort)
  "${program:?}" "$@" >"$folder.out" 2>"$folder.err" || code=$?
  after=$(find . | sort)
  expect_equal "exit code of: $*" "$code" 2
  expect_equal "lines on stderr of: $*" "$(wc -l <"$folder.err")" 1
  expect_equal "files after: $*" "$after" "$before"
  grep -qF -- "gpilot: error: " "$folder.err" || fail "no 'gpilot: error: ' in: $(cat "$folder.err")"
  grep -qF -- "$text" "$folder.err" || fail "'$text' is not in: $(cat "$folder.err")"
  rm -f "$folder.out" "$folder.err"
}

finish() {
  if ((failures > 0)); then
    echo "$failures checks failed" >&2
    exit 1
  fi
  echo "all checks passed"
}
