"""The shape of the house: small rooms, each of which says what it contains."""

from __future__ import annotations

import ast
import itertools
import re
from collections import defaultdict
from functools import cache

import pytest
from support.repository import ROOT

MOST_MODULES = 12
MOST_LINES = 400
LEAST_SHARED = 2, 14
"""Statements, and parts of a single one: a function of so many is not written again in another file of tests."""
SQL_TAKERS = ("expr", "filter", "selectExpr", "sql", "where")
ROOMS = [
    room
    for house in ("tablestore_engine", "dbt/adapters/tablestore")
    for room in sorted((ROOT / house).rglob("*"))
    if room.is_dir() and list(room.glob("*.py"))
]
SUB_ROOMS = [
    room
    for above in ("tablestore_engine/sql", "tablestore_engine/spark", "tablestore_engine/operation",
                  "tablestore_engine/mergetree", "tablestore_engine/metadata", "tablestore_engine/schema",
                  "tablestore_engine/storage", "dbt/adapters/tablestore")
    for room in sorted((ROOT / above).iterdir())
    if room in ROOMS
]  # fmt: skip


def _name(room):
    return str(room.relative_to(ROOT))


@cache
def _tree(file):
    return ast.parse(file.read_text(encoding="utf-8"))


def _statements(file):
    """What a module does besides saying what it is."""
    tree = _tree(file)
    return tree.body[1:] if ast.get_docstring(tree) else tree.body


@pytest.mark.parametrize("room", ROOMS, ids=_name)
def test_a_room_is_small(room):
    modules = sorted(file.stem for file in room.glob("*.py") if file.name != "__init__.py")
    assert len(modules) <= MOST_MODULES, f"split {_name(room)}: {', '.join(modules)}"


@pytest.mark.parametrize("room", ROOMS, ids=_name)
def test_files_are_small(room):
    lines = {file.name: len(file.read_text(encoding="utf-8").splitlines()) for file in room.glob("*.py")}
    assert not {name: number for name, number in lines.items() if number > MOST_LINES}


@pytest.mark.parametrize("room", ROOMS, ids=_name)
def test_a_room_says_what_lives_in_it(room):
    opening = room / "__init__.py"
    assert opening.exists(), f"{_name(room)} has no __init__.py"
    assert ast.get_docstring(_tree(opening)), f"{_name(room)}/__init__.py says nothing"


@pytest.mark.parametrize("room", SUB_ROOMS, ids=_name)
def test_a_room_s_opening_holds_no_code(room):
    assert _statements(room / "__init__.py") == [], f"move the code of {_name(room)}/__init__.py into a module"


def _modules():
    return [file for room in ROOMS for file in sorted(room.glob("*.py"))]


def test_only_the_transaction_commits():
    """Statements, DataFrames, Arrow, rollbacks, compactions and expirations take the one write path."""
    may = {"tablestore_engine/operation/transaction", "tablestore_engine/operation/commit"}
    found = {
        _name(file)
        for file in _modules()
        if _name(file.parent) not in may and "ommitter" in file.read_text(encoding="utf-8")
        for node in ast.walk(_tree(file))
        if (isinstance(node, ast.alias) and node.name == "Committer")
        or (isinstance(node, ast.Attribute) and node.attr in ("Committer", "committer"))
    }
    assert not found, f"commit by `operation.transaction.transaction` in {', '.join(sorted(found))}"


def test_a_commit_is_followed_by_what_follows_commits():
    """Only maintenance may leave that out: it follows a commit itself."""
    maintenance = {"transaction", "compact", "history", "expiration"}
    found = set()
    for file in (one for one in _modules() if "publish" in one.read_text(encoding="utf-8")):
        calls = [node for node in ast.walk(_tree(file)) if isinstance(node, ast.Call)]
        followed = {id(call.args[0]) for call in calls if getattr(call.func, "id", "") == "follow" and call.args}
        published = [one for one in calls if getattr(one.func, "id", "") in ("publish", "publish_change")]
        if file.parent.name not in maintenance and any(id(one) not in followed for one in published):
            found.add(_name(file))
    assert not found, f"pass what is published to `after_commit.follow` in {', '.join(sorted(found))}"


def _without_docstring(function):
    return function.body[1:] if ast.get_docstring(function) else function.body


def _outline(function):
    """The kinds of its parts, which functions of one shape have in common: found in a tenth of the time."""
    return tuple(type(one) for part in (function.args, *_without_docstring(function)) for one in ast.walk(part))


def _shape(function):
    """A function without its name, its docstring and the names of its variables; and whether it is worth sharing."""
    body = _without_docstring(function)
    own = {one.arg for one in ast.walk(function) if isinstance(one, ast.arg)}
    own |= {one.id for one in ast.walk(function) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    text = " ".join(ast.dump(part) for part in (function.args, *body))
    seen: dict[str, str] = {}

    def numbered(match):
        return f"'{seen.setdefault(match[1], str(len(seen)))}'" if match[1] in own else match[0]

    parts = [one for part in body for one in ast.walk(part)]
    statements, least = sum(isinstance(one, ast.stmt) for one in parts), LEAST_SHARED
    shared = (statements >= least[0] or len(parts) >= least[1]) and function.name != "__init__"
    return re.sub(r"'(\w+)'", numbered, text), shared


def _is_fixture(function):
    """Whether it is a fixture that makes the same in every file: it names no constant of its own module."""
    names = [one.id for one in ast.walk(function) if isinstance(one, ast.Name)]
    return any("fixture" in ast.unparse(one) for one in function.decorator_list) and not any(map(str.isupper, names))


def test_helpers_of_several_tests_are_written_once():
    """Helpers, fixtures (of one line, too) and scenarios of several files are in tests/support, or in the conftest of a
    folder."""
    outlines, files = defaultdict(list), defaultdict(set)
    for file in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(_tree(file)):
            if isinstance(node, ast.FunctionDef):
                outlines[_outline(node)].append((file, node))
    for file, node in (one for alike in outlines.values() if len(dict(alike)) > 1 for one in alike):
        shape, shared = _shape(node)
        if shared:
            files[shape].add(f"{_name(file)}: {node.name}")
        elif _is_fixture(node):  # the names of its arguments are those of other fixtures
            files[" ".join(map(ast.unparse, (node.args, *node.body)))].add(f"{_name(file)}: {node.name}")
    found = [" = ".join(sorted(one)) for one in files.values() if len({name.split(":")[0] for name in one}) > 1]
    assert not found, f"move to tests/support: {'; '.join(found)}"


def _hand_made(node):
    """Whether an f-string puts something between backquotes, or a value of a SQL expression in quotes."""
    texts = [one.value if isinstance(one, ast.Constant) else None for one in node.values]
    return any(
        text is None and number and str(texts[number - 1] or "").endswith(("`", "WHEN '", "THEN '"))
        for number, text in enumerate(texts)
    )


def _quotes_in_a_query(node):
    """Whether the text of a query or expression, as Spark's functions take it, puts a value between quotes."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr not in SQL_TAKERS:
        return False
    parts = [
        part for given in node.args for one in ast.walk(given) if isinstance(one, ast.JoinedStr) for part in one.values
    ]
    return any(
        isinstance(after, ast.FormattedValue) and isinstance(before, ast.Constant) and str(before.value).endswith("'")
        for before, after in itertools.pairwise(parts)
    )


def test_names_and_values_become_sql_in_one_module():
    """`schema.types.sql_literals`: a name with a backquote, or a text with a quote, is one everywhere."""
    forms = {"tablestore_engine/schema/types/sql_literals.py", "tablestore_engine/schema/types/types.py"}
    found = [
        f"{_name(file)}:{node.lineno}"
        for file in _modules()
        if _name(file) not in forms and "dbt" not in file.relative_to(ROOT).parts[0]
        for node in ast.walk(_tree(file))
        if (isinstance(node, ast.JoinedStr) and _hand_made(node)) or _quotes_in_a_query(node)
    ]
    assert not found, f"quote by `quoted_name` and `literal` in {', '.join(found)}"


def test_macros_write_no_literals():
    """A macro puts a value between quotes in messages only: `adapter.tablestore_literal` escapes it."""
    found = [
        f"{_name(file)}:{number}"
        for file in sorted((ROOT / "dbt" / "include").rglob("*.sql"))
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(r"""'" ~|~ "'""", line) and "exceptions." not in line
    ]
    assert not found, f"write `adapter.tablestore_literal(…)` in {', '.join(found)}"
