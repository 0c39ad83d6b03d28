#!/bin/sh
# Runs the unit tests on every supported Python that is found, each in an environment of its own ($VENV-3.x), and
# says at the end on which they passed and failed and which were skipped. The arguments go to make. With the argument
# `lowest` it runs nothing and prints the path of the lowest one.
#
# A Python is looked for on the PATH and below pyenv; PYTHONS names fewer versions than all of them. The exit code is 0
# only if there was one and none failed.
set -u

: "${MAKE:=make}" "${VENV:=.venv}"
here=$(dirname "$0")

# Prints the path of Python $1 that suits, by the judgement of find_python.sh.
python_of() {
    set -- "$1" "python$1" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*/bin/python
    version=$1
    shift
    for candidate in "$@"; do
        found=$(PYTHON=$candidate sh "$here/find_python.sh" 2>/dev/null) || continue
        [ "$("$found" -c 'import sys; print("%d.%d" % sys.version_info[:2])')" = "$version" ] || continue
        echo "$found"
        return 0
    done
    return 1
}

if [ "${1:-}" = lowest ]; then
    for version in ${PYTHONS:-3.10 3.11 3.12 3.13}; do
        python_of "$version" && exit 0
    done
    exit 1
fi

passed='' failed='' skipped=''
for version in ${PYTHONS:-3.10 3.11 3.12 3.13}; do
    if ! python=$(python_of "$version"); then
        skipped="$skipped $version"
        continue
    fi
    printf '\n=== Python %s (%s)\n' "$version" "$python"
    if "$MAKE" --no-print-directory VENV="$VENV-$version" PYTHON="$python" "$@" test-unit; then
        passed="$passed $version"
    else
        failed="$failed $version"
    fi
done

echo
[ -z "$passed" ] || echo "Passed on Python:$passed"
[ -z "$failed" ] || echo "FAILED on Python:$failed"
[ -z "$skipped" ] || echo "Skipped, because there is none here: Python$skipped"
[ -n "$passed" ] && [ -z "$failed" ]
