"""No function below the doors takes more than seven arguments: what travels together is one value."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

import tablestore_engine

ENGINE = Path(tablestore_engine.__file__).parent
ADAPTER = ENGINE.parent / "dbt" / "adapters" / "tablestore"
CODE = [file for folder in (ENGINE, ENGINE.parent / "dbt") for file in sorted(folder.rglob("*.py"))]
MOST = 7
MOST_FILES = 5
DATA = {
    "nullable": "a property of each type, copied wherever a type is made from another one",
    "schema": "a flag in a value of dbt only: which parts of a relation's name are written",
    "database": "the same",
    "keyed": "whether a table has a key: a fact, which is set where an option, a source or a topic is checked",
    "retractions": "whether some rows, records or files hold retractions: facts of values of several rooms",
    "immutable": "a property of an option, in the rooms' lists of options",
    "ours": "the same",
}
"""Not wishes of a caller, with the reason."""
LIKE_NAMED = {
    "if_exists": "IF EXISTS of nine statements, each from its parser to the door of the catalog",
    "if_not_exists": "IF NOT EXISTS of other statements, the same",
    "extended": "EXTENDED of three statements",
    "first": "FIRST of ALTER TABLE, and the first position of a stream",
    "named": "a fold that names its column, and a column that can be named",
    "strict": "of options, of an expiration, and Python's own of `zip`",
}
"""Wishes of several kinds that have the word of SQL, of Python or of the field; no one takes the other for its own."""
DOOR = "store.py"  # whose callers name each thing that they ask for


def arguments_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    given = function.args
    names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg) if one]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


@cache
def _parts(file: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))


def functions_with(folder: Path, more_than: int) -> list[str]:
    return [
        f"{file.relative_to(folder)}:{node.lineno} {node.name} takes {len(arguments_of(node))}"
        for file in sorted(folder.rglob("*.py"))
        if str(file.relative_to(folder)) != DOOR
        for node in _parts(file)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and len(arguments_of(node)) > more_than
    ]


@pytest.mark.parametrize("folder", [ENGINE, ADAPTER], ids=lambda folder: folder.name)
def test_no_function_takes_many_arguments(folder):
    assert functions_with(folder, MOST) == []


def test_functions_are_found_at_all():
    assert len(functions_with(ENGINE / "operation", 2)) > 50


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


def _set(parts):
    """Names of arguments that this file gives as true or false, as a condition, or from a variable of that name."""
    found = set()
    for call in (one for one in parts if isinstance(one, ast.Call)):
        for given in call.keywords:
            value = given.value
            is_fixed = isinstance(value, ast.Constant) and isinstance(value.value, bool)
            is_condition = isinstance(value, (ast.Compare, ast.UnaryOp))
            if is_fixed or is_condition or given.arg == getattr(value, "id", getattr(value, "attr", None)):
                found.add(given.arg)
    return found


def test_a_flag_is_named_in_few_files():
    """Where it is taken, held, passed on or set: a wish that more files name is an enumeration, such as `Extent`, or
    two functions."""
    naming = defaultdict(list)
    files = {file: _parts(file) for file in CODE}
    flags = {file: set.union(*_flags(parts)) for file, parts in files.items()}
    known = set.union(*flags.values())
    for file, parts in files.items():
        for name in flags[file] | (_set(parts) & known):
            naming[name].append(str(file.relative_to(ENGINE.parent)))
    many = {name: found for name, found in naming.items() if len(found) > MOST_FILES}
    assert {name: found for name, found in many.items() if name not in DATA | LIKE_NAMED} == {}
    assert DATA.keys() | LIKE_NAMED.keys() == many.keys(), "a name that few files have needs no reason"


def test_a_flag_of_writes_is_named_in_few_files():
    """What a caller wants of a write travels as a `WriteIntent`, so a flag is named where it is set and where it is
    used. Names that are made from a flag count as the flag."""
    flags = (("refuse_duplicates", "refuses_repeated"), ("row_kinds", "takes_row_kinds"), ("check_duplicate",))
    for names in flags:
        word = re.compile(rf"\b({'|'.join(names)})\b")
        naming = [str(file.relative_to(ENGINE.parent)) for file in CODE if word.search(file.read_text())]
        assert len(naming) <= MOST_FILES, naming
