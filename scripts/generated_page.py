"""A page of docs/ that a script makes from the code: written, or with --check only compared."""

from __future__ import annotations

import argparse
import os
import sys


def keep_fresh(path: str, wanted: str, description: str | None) -> int:
    """Write `wanted` to `path` unless it is there already, as the command line asks. Returns the exit code."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--check", action="store_true", help="change nothing; fail when the page is stale")
    check = parser.parse_args().check
    try:
        with open(path, encoding="utf-8") as file:
            fresh = file.read() == wanted
    except FileNotFoundError:
        fresh = False
    if not fresh and check:
        print(f"docs/{os.path.basename(path)} is stale: run `make docs`.", file=sys.stderr)
        return 1
    if not fresh:
        with open(path, "w", encoding="utf-8") as file:
            file.write(wanted)
        print(f"Wrote {path}")
    return 0
