"""What a wheel must contain, and what it must not; what it must ask pip for, and nothing else."""

from __future__ import annotations

import ast
import fnmatch
import os
import re
import sys

import pytest
from setuptools import find_namespace_packages
from support.repository import ROOT, text_of

# Distributions by the name that one imports, where the two differ.
DISTRIBUTIONS = {
    "py4j": "pyspark",
    "dbt": "dbt-core",
    "dbt_common": "dbt-common",
    "typing_extensions": "typing-extensions",
}
# Needed without being imported by name: macros that ours fall back to, the part of `dbt` that adapters build on, and
# what PySpark asks for before it lends its workers to Arrow.
NOT_IMPORTED = {"dbt-spark", "dbt-adapters", "pandas"}
# PySpark pins the version that it works with.
FROM_PYSPARK = {"py4j"}


def _files(*folders):
    for folder in folders:
        for where, _, names in os.walk(os.path.join(ROOT, folder)):
            yield from (os.path.join(where, name) for name in names if "__pycache__" not in where)


@pytest.mark.parametrize("folder", ["dbt", "dbt/adapters", "dbt/include"])
def test_namespaces_of_dbt_stay_dbts(folder):
    assert not os.path.exists(os.path.join(ROOT, folder, "__init__.py"))


def test_every_package_is_found():
    (shipped,) = re.findall(r"include=(\[.*\])", text_of("setup.py"))
    found = set(find_namespace_packages(str(ROOT), include=ast.literal_eval(shipped)))
    files = _files("dbt/adapters", "pyspark_tablestore", "tablestore_engine")
    folders = {os.path.dirname(path) for path in files if path.endswith(".py")}
    assert {os.path.relpath(folder, ROOT).replace(os.sep, ".") for folder in folders} <= found


def test_every_macro_file_is_package_data():
    patterns = re.findall(r'"((?:\*\*/)?\*\.\w+)"', text_of("setup.py"))
    top = os.path.join(ROOT, "dbt", "include", "tablestore")
    for path in _files("dbt/include/tablestore"):
        name = os.path.relpath(path, top)
        assert name.endswith(".py") or any(fnmatch.fnmatch(name, pattern) for pattern in patterns), name


def test_one_version():
    (declared,) = re.findall(r'^version = "(.+)"$', text_of("pyproject.toml"), re.MULTILINE)
    (adapter,) = re.findall(r'^version = "(.+)"$', text_of("dbt/adapters/tablestore/__version__.py"), re.MULTILINE)
    assert declared == adapter


IN_EXTRAS = {"confluent_kafka"}
"""Imported when they are used, and named by the error when they are missing."""


def test_dependencies_are_those_that_are_imported():
    block = re.search(r"^dependencies = \[$(.*?)^\]$", text_of("pyproject.toml"), re.MULTILINE | re.DOTALL)
    declared = set(re.findall(r'^\s*"([A-Za-z0-9_-]+)', block[1], re.MULTILINE))
    imported = set()
    for path in _files("dbt", "tablestore_engine"):
        if path.endswith(".py"):
            imported |= {DISTRIBUTIONS.get(name, name) for name in _imports(ast.parse(text_of(path)))}
    imported -= {*sys.stdlib_module_names, "tablestore_engine"}
    assert imported >= IN_EXTRAS, "an extra that nothing imports"
    assert declared == imported - IN_EXTRAS - FROM_PYSPARK | NOT_IMPORTED


def _imports(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name.split(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").split(".")[0]
