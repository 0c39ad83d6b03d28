"""Tests are where their subject is: the path of a test names the module, the room or the part of the repository."""

from __future__ import annotations

import ast
import re
from itertools import combinations, product
from pathlib import Path

import pytest
from support.repository import ROOT
from support.soak import cover

TESTS = ROOT / "tests"
MOST_LINES = 400
MIRRORS = ("unit", "spark")
"""Folders of tests in the shape of the house; the adapter's rooms are under `adapter`."""
OF_ALL_ROOMS = {"unit": "repository", "spark": "property"}
"""Next to the rooms: docs, package, scripts, the example, and the shape of house and tests; random histories."""
VALUES = {
    "options/declarations": "lists of options, which tests/unit/options compares with Paimon's and holds to tests",
    "sql/statements": "values that the parser makes; tests/unit/sql/parse compares them",
}
"""Rooms that decide nothing, which need no tests of their own."""
CALLED_BY_DBT = "adapter"
"""The methods that dbt and its macros call, which pass decisions on to the rooms: tests/functional calls them."""


def _house():
    """The modules and sub-rooms of each room, by its path in a folder of tests."""
    found = {}
    for house, above in (("tablestore_engine", ""), ("dbt/adapters/tablestore", "adapter")):
        folders = {file.parent for file in (ROOT / house).rglob("*.py")}
        for folder in folders:
            modules = {file.stem for file in folder.glob("*.py") if file.stem != "__init__"}
            rooms = {one.name for one in folders if one.parent == folder}
            found[(Path(above) / folder.relative_to(ROOT / house)).as_posix()] = modules, rooms
    return found


HOUSE = _house()
FILES = [file for mirror in MIRRORS for file in sorted((TESTS / mirror).rglob("test_*.py"))]


def _room(file):
    return Path(*file.relative_to(TESTS).parts[1:-1]).as_posix()


def _relative(file):
    return str(file.relative_to(TESTS))


@pytest.mark.parametrize("file", FILES, ids=_relative)
def test_a_file_is_named_after_what_it_tests(file):
    """`test_<name>.py` or, of one aspect, `test_<name>_<aspect>.py`: the name of a module, a sub-room or the room."""
    room = _room(file)
    if room == OF_ALL_ROOMS[file.relative_to(TESTS).parts[0]]:
        return
    assert room in HOUSE, f"{room} is no room of the house"
    modules, rooms = HOUSE[room]
    subjects = sorted(modules | rooms | {Path(room).name})
    name = file.stem.removeprefix("test_")
    assert any(f"{name}_".startswith(f"{one}_") for one in subjects), f"call it after one of {', '.join(subjects)}"


@pytest.mark.parametrize(
    "room", sorted(room for room, (modules, _) in HOUSE.items() if modules and room not in (*VALUES, CALLED_BY_DBT))
)
def test_a_room_has_tests(room):
    assert any(_room(file) == room for file in FILES), f"no file in tests/unit/{room} or tests/spark/{room}"


@pytest.mark.parametrize("room", VALUES)
def test_a_room_without_tests_decides_nothing(room):
    """Its functions have no branch worth a test: a handful in all."""
    house = ROOT / "tablestore_engine" / room
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in sorted(house.glob("*.py"))]
    branches = [node for tree in trees for node in ast.walk(tree) if isinstance(node, (ast.If, ast.Match, ast.While))]
    assert trees
    assert len(branches) <= 3


def test_files_are_small():
    lines = {_relative(file): len(file.read_text(encoding="utf-8").splitlines()) for file in TESTS.rglob("*.py")}
    assert not {name: number for name, number in lines.items() if number > MOST_LINES}


def test_names_of_tests_are_statements():
    """`test_removed_files_are_not_found`, not `test_what_was_removed`: a failure's name says what no longer holds."""
    questions = re.compile(r"^\s*def (test_(?:what|who|whose|which|how|where|when|why)_\w*)", re.MULTILINE)
    found = [
        f"{_relative(file)}: {name}"
        for file in sorted(TESTS.rglob("test_*.py"))
        for name in questions.findall(file.read_text(encoding="utf-8"))
    ]
    assert not found, f"state what is held: {', '.join(found)}"


@pytest.mark.parametrize(
    ("axes", "together", "size"), [(("abc", "xy"), 1, 3), (("ab", "xyz", "12"), 2, 6), (("ab",), 1, 2)]
)
def test_a_cover_has_each_value_or_each_pair(axes, together, size):
    """A column that another one determines, as an expected value, is no axis of its own."""
    cases = [(*case, case[0].upper()) for case in product(*axes)]
    chosen = [cases[number] for number in cover(cases)]
    assert len(set(chosen)) == len(chosen) == size
    for some in combinations(range(len(axes)), together):
        assert {tuple(case[one] for one in some) for case in chosen} == set(product(*(axes[one] for one in some)))
