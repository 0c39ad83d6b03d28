"""Prints the lowest version of each run-time dependency that pyproject.toml allows, as a constraints file.

    python scripts/floors.py > floors.txt && pip install --constraint floors.txt --editable '.[test]'

`make floors` does so in an environment of its own and runs the tests there: a floor that nobody has tried is a guess.
"""

from __future__ import annotations

import os
import re

PYPROJECT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "pyproject.toml")

# tomllib came with 3.11; the list is simple enough to read line by line.
_DEPENDENCY = re.compile(r'^\s*"(?P<name>[A-Za-z0-9._-]+)>=(?P<floor>[0-9.]+)')


def floors() -> list[str]:
    """`name==version` for each dependency that every installation has."""
    with open(PYPROJECT, encoding="utf-8") as file:
        lines = iter(file.read().splitlines())
    for line in lines:
        if line == "dependencies = [":
            break
    found = []
    for line in lines:
        if line == "]":
            break
        match = _DEPENDENCY.match(line)
        if match:
            found.append(f"{match['name']}=={match['floor']}")
    return found


if __name__ == "__main__":
    print("\n".join(floors()))
