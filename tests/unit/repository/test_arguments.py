"""No function below the doors takes more than seven arguments: what travels together is one value."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

import tablestore_engine

ENGINE = Path(tablestore_engine.__file__).parent
ADAPTER = ENGINE.parent / "dbt" / "adapters" / "tablestore"
CODE = [file for folder in (ENGINE, ENGINE.parent / "dbt") for file in sorted(folder.rglob("*.py"))]
MOST = 7
MOST_FILES = 5
DATA = {"nullable", "schema"}
"""Not wishes of a caller: a property of each type, copied wherever a type is made from another one; and a name that is
a flag in a value of dbt only (which parts of a relation's name are written)."""
DOOR = "store.py"  # whose callers name each thing that they ask for


def arguments_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    given = function.args
    names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg) if one]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def functions_with(folder: Path, more_than: int) -> list[str]:
    return [
        f"{file.relative_to(folder)}:{node.lineno} {node.name} takes {len(arguments_of(node))}"
        for file in sorted(folder.rglob("*.py"))
        if str(file.relative_to(folder)) != DOOR
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and len(arguments_of(node)) > more_than
    ]


@pytest.mark.parametrize("folder", [ENGINE, ADAPTER], ids=lambda folder: folder.name)
def test_no_function_takes_many_arguments(folder):
    assert functions_with(folder, MOST) == []


def test_functions_are_found_at_all():
    assert len(functions_with(ENGINE / "operation", 2)) > 50


def _parts(file):
    return list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))


def _is_flag(annotation):
    return annotation is not None and ast.unparse(annotation) in ("bool", "bool | None")


def _flags(parts):
    """Parameters and fields of this file that are true or false."""
    taken = {one.arg for one in parts if isinstance(one, ast.arg) and _is_flag(one.annotation)}
    fields = {
        one.target.id
        for one in parts
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and _is_flag(one.annotation)
    }
    return taken, fields


def _relayed(parts):
    """Names of values that this file reads from an object, and passes on under the same name."""
    keywords = (one for one in parts if isinstance(one, ast.keyword) and isinstance(one.value, ast.Attribute))
    return {one.arg for one in keywords if one.arg == one.value.attr}


def test_a_flag_is_passed_on_through_few_files():
    """A file passes a flag on if a function in it takes the flag, or if it copies the flag from one value to another.
    What more files need is one value with a name, such as `WriteIntent` and `Existing`."""
    files = {file: _parts(file) for file in CODE}
    flags = {file: _flags(parts) for file, parts in files.items()}
    known = {name for taken, fields in flags.values() for name in taken | fields}
    passing = defaultdict(list)
    for file, parts in files.items():
        for name in flags[file][0] | (_relayed(parts) & known):
            passing[name].append(str(file.relative_to(ENGINE.parent)))
    assert len(passing) > 100, "flags are found at all"
    assert {name: found for name, found in passing.items() if len(found) > MOST_FILES and name not in DATA} == {}


def test_a_flag_of_writes_is_named_in_few_files():
    """What a caller wants of a write travels as a `WriteIntent`, so a flag is named where it is set and where it is
    used. Names that are made from a flag count as the flag."""
    flags = (("refuse_duplicates", "refuses_repeated"), ("row_kinds", "takes_row_kinds"), ("check_duplicate",))
    for names in flags:
        word = re.compile(rf"\b({'|'.join(names)})\b")
        naming = [str(file.relative_to(ENGINE.parent)) for file in CODE if word.search(file.read_text())]
        assert len(naming) <= MOST_FILES, naming
