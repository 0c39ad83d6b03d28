#!/bin/sh
# Succeeds silently when Spark will find Java 17 or newer; otherwise says what is missing and how to get it.
#
# Spark looks at JAVA_HOME first and at the PATH second; so does this script.
set -eu

wanted=17

advise() {
    echo "Spark needs Java $wanted or newer. For example:"
    echo "  Debian, Ubuntu   sudo apt-get install openjdk-17-jre-headless"
    echo "  Fedora           sudo dnf install java-17-openjdk-headless"
    echo "  macOS            brew install openjdk@17"
    echo "If it is installed elsewhere, set JAVA_HOME to its folder."
}

if [ -n "${JAVA_HOME:-}" ]; then
    java=$JAVA_HOME/bin/java
    where="JAVA_HOME=$JAVA_HOME"
else
    java=java
    where="the PATH"
fi

if ! command -v "$java" >/dev/null 2>&1; then
    { echo "No Java was found by $where."; advise; } >&2
    exit 1
fi

# macOS ships a stub called java that only prints an advertisement, hence "|| true" and the check for digits.
banner=$("$java" -version 2>&1 || true)
version=$(printf '%s\n' "$banner" | sed -n 's/.*version "\([0-9][0-9._]*\).*/\1/p' | head -n 1)
major=$(printf '%s\n' "$version" | sed 's/^1\.//; s/[^0-9].*//')

if [ -z "$major" ]; then
    { echo "$java did not print its version."; advise; } >&2
    exit 1
fi
if [ "$major" -lt "$wanted" ]; then
    { echo "Java $version was found by $where, which is too old."; advise; } >&2
    exit 1
fi
