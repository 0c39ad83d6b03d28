"""No function below the doors takes more than seven arguments: what travels together is one value."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import tablestore_engine

ENGINE = Path(tablestore_engine.__file__).parent
ADAPTER = ENGINE.parent / "dbt" / "adapters" / "tablestore"
MOST = 7
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


def test_a_flag_of_writes_is_named_in_few_files():
    """What a caller wants of a write travels as a `WriteIntent`, so a flag is named where it is set and where it is
    used. Names that are made from a flag count as the flag."""
    dbt = ENGINE.parent / "dbt"
    files = [file for folder in (ENGINE, dbt) for file in folder.rglob("*.py")]
    flags = (("refuse_duplicates", "refuses_repeated"), ("row_kinds", "takes_row_kinds"), ("check_duplicate",))
    for names in flags:
        word = re.compile(rf"\b({'|'.join(names)})\b")
        naming = [str(file.relative_to(ENGINE.parent)) for file in files if word.search(file.read_text())]
        assert len(naming) <= 5, naming
