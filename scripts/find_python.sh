#!/bin/sh
# Prints the path of a Python that can run the project, or says on stderr why there is none.
#
# A candidate counts when it starts, is between 3.10 and 3.13, and can make virtual environments (Debian and
# Ubuntu ship `venv` apart from the interpreter). The system's own Python comes first: distributions optimise it by
# profiles, which pyenv's builds are not, and the unit tests take a sixth more processor time with those. Set PYTHON to
# insist on one.
set -eu

suits() {
    "$1" -c 'import sys; sys.exit(not ((3, 10) <= sys.version_info[:2] <= (3, 13)))' >/dev/null 2>&1
}

makes_environments() {
    "$1" -c 'import ensurepip, venv' >/dev/null 2>&1
}

if [ -n "${PYTHON:-}" ]; then
    candidates=$PYTHON
else
    candidates='/usr/bin/python3 python3 python3.13 python3.12 python3.11 python3.10 python'
fi

without_venv=
for candidate in $candidates; do
    command -v "$candidate" >/dev/null 2>&1 || continue
    suits "$candidate" || continue
    if makes_environments "$candidate"; then
        "$candidate" -c 'import sys; print(sys.executable)'
        exit 0
    fi
    without_venv=$candidate
done

{
    if [ -n "$without_venv" ]; then
        echo "$without_venv is recent enough but cannot create virtual environments."
        echo "On Debian and Ubuntu: sudo apt-get install python3-venv"
    elif [ -n "${PYTHON:-}" ]; then
        echo "PYTHON=$PYTHON is not a Python between 3.10 and 3.13."
    else
        echo "No Python between 3.10 and 3.13 was found (looked for: $candidates)."
        echo "Install one, or point at one: make PYTHON=/path/to/python3.12 …"
    fi
} >&2
exit 1
