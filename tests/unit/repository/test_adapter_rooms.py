"""The adapter's rooms import downwards, and no module of it is part of a circle.

import-linter holds this for the engine. It cannot read the adapter, whose parent package `dbt` belongs to dbt-core.
"""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter

from support.repository import ROOT

PACKAGE = "dbt.adapters.tablestore"
FOLDER = ROOT / "dbt" / "adapters" / "tablestore"
ROOMS = (
    "impl", "macro_methods", "change_methods", "schema_methods", "models", "relation", "config", "connection",
    "dialect",
)  # fmt: skip


def _modules():
    files = (path for path in FOLDER.rglob("*.py") if path.name != "__init__.py")
    return {".".join(path.relative_to(FOLDER).with_suffix("").parts): path for path in files}


def _imports(path, modules):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE):
            inside = node.module[len(PACKAGE) + 1 :]
            for name in node.names:
                one = f"{inside}.{name.name}" if inside else name.name
                yield one if one in modules else inside


def _graph():
    modules = _modules()
    return {name: set(_imports(path, modules)) & set(modules) for name, path in modules.items()}


def test_rooms_import_downwards():
    graph = _graph()
    assert {name.split(".")[0] for name in graph} == {*ROOMS, "__version__"}
    room = {name: ROOMS.index(name.split(".")[0]) for name in graph if name != "__version__"}
    upwards = [
        f"{name} imports {other}"
        for name, others in graph.items()
        for other in others & set(room)
        if room.get(name, -1) > room[other]
    ]
    assert upwards == []


def test_no_module_is_part_of_a_circle():
    assert list(TopologicalSorter(_graph()).static_order())
