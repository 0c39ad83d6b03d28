"""The documents say what the code says, and their links lead somewhere."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
from dataclasses import fields

import pytest
from support.repository import ROOT, text_of

from dbt.adapters.tablestore.config.foreign_config import FOREIGN_KEYS, MERGE_KEYS
from dbt.adapters.tablestore.config.model_config import IGNORED_SPARK_KEYS, TableStoreConfig
from dbt.adapters.tablestore.connection.credentials import TableStoreCredentials
from dbt.adapters.tablestore.macro_methods import BUILTIN_STRATEGIES
from tablestore_engine.options.declarations.merge_options import AGGREGATE_FUNCTIONS

PAGES = [
    *sorted(
        os.path.relpath(os.path.join(where, name), ROOT)
        for folder in ("docs", "examples")
        for where, _, names in os.walk(os.path.join(ROOT, folder))
        for name in names
        if name.endswith(".md")
    ),
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
]


def _script(name):
    spec = importlib.util.spec_from_file_location(name, os.path.join(ROOT, "scripts", f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_options_page_is_fresh():
    assert text_of("docs/options.md") == _script("generate_options_docs").page(), "run `make docs`"


def test_the_page_of_procedures_and_system_tables_is_fresh():
    assert text_of("docs/sql.md") == _script("generate_sql_docs").page(), "run `make docs`"


def test_the_macros_of_run_operation_are_documented():
    macros = re.findall(r"{% macro (\w+)\(", text_of("dbt/include/tablestore/macros/operations.sql"))
    public = {name for name in macros if not name.startswith("tablestore_")}
    script = _script("generate_sql_docs")
    assert public == script.IN_DBT | script.SHORT_IN_DBT
    assert all(f"`{name}`" in text_of("docs/sql.md") for name in public - script.IN_DBT)


def _first_column(page, title):
    """What the tables of one chapter speak of: the code words that their rows begin with."""
    chapter = text_of(page).split(f"\n## {title}\n")[1].split("\n## ")[0]
    return set(re.findall(r"^\| `([^`]+)` \|", chapter, re.MULTILINE))


def test_every_key_of_the_profile_is_documented():
    own = {one.name for one in fields(TableStoreCredentials)}
    assert _first_column("docs/configuration.md", "The profile") == own | {"type", "threads"}
    for alias in TableStoreCredentials._ALIASES:
        assert f"Also spelt `{alias}`" in text_of("docs/configuration.md")


def test_every_config_of_a_model_is_documented():
    own = {one.name for one in fields(TableStoreConfig) if not one.name.startswith("_")}
    assert _first_column("docs/configuration.md", "Models, seeds and snapshots") == own
    for ignored in (*IGNORED_SPARK_KEYS, *FOREIGN_KEYS, *MERGE_KEYS):
        assert f"`{ignored}`" in text_of("docs/configuration.md")


def test_every_strategy_is_documented():
    assert _first_column("docs/configuration.md", "Incremental strategies") == set(BUILTIN_STRATEGIES)


def test_the_readme_counts_the_aggregate_functions():
    counted = set(AGGREGATE_FUNCTIONS) - {"first_not_null_value"}  # an old name of another one
    assert len(counted) == 22
    assert "[twenty-two functions](docs/how-to/aggregate.md)" in text_of("README.md")
    assert all(f"`{one}`" in text_of("docs/how-to/aggregate.md") for one in counted)


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    prose = re.sub(r"```.*?```", "", text_of(page), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", prose):
        if "://" not in target:
            path = os.path.normpath(os.path.join(ROOT, os.path.dirname(page), target))
            assert os.path.exists(path), f"{page} links to {target}"


def test_prose_is_wrapped():
    script = _script("wrap_docs")
    pages = [page for page in script.pages() if page.parent in (ROOT, ROOT / "docs" / "adr")]
    long = [str(page.relative_to(ROOT)) for page in pages if script.wrapped(text_of(page)) != text_of(page)]
    assert len(pages) > 10
    assert not long, "run `make format`"


def test_only_long_paragraphs_are_wrapped():
    words = "word " * 30
    page = f"# {words}\n\nA short\nline.\n\n| {words} |\n\n```sh\n{words}\n```\n"
    wrapped = _script("wrap_docs").wrapped
    assert wrapped(page) == page
    item, code = f"1. {words}`a b` {words}\n   more\n2. next", f"{'word ' * 23}`one two`\n"
    assert wrapped(item).split("\n")[1].startswith("   word")
    assert wrapped(item).split() == item.split()
    assert max(map(len, wrapped(item).split("\n"))) <= 120
    assert wrapped(code).split("\n")[1] == "`one two`"


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/format.md", "docs/architecture.md"])
def test_commands_exist(page):
    targets = set(re.findall(r"^([a-z-]+):", text_of("Makefile"), re.MULTILINE))
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", text_of(page), re.MULTILINE))
    assert named
    assert named <= targets


def test_every_target_explains_itself():
    phony = re.findall(r"^\.PHONY: ([a-z-]+)$", text_of("Makefile"), re.MULTILINE)
    shown = subprocess.run(
        ["make", "--no-print-directory", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert all(re.search(rf"^  {target} +\S", shown.stdout, re.MULTILINE) for target in phony)


def test_paths_named_in_the_architecture_exist():
    rooms = [one for one in os.listdir(os.path.join(ROOT, "tablestore_engine")) if "." not in one]
    found = re.findall(
        rf"`((?:tablestore_engine|dbt|tests|{'|'.join(rooms)})/[\w/.-]*)`", text_of("docs/architecture.md")
    )
    assert len(found) > 5
    for path in found:
        inside = path if path.startswith(("tablestore_engine", "dbt", "tests")) else f"tablestore_engine/{path}"
        assert os.path.exists(os.path.join(ROOT, inside)), path


def _words(text):
    """The words of prose and of names in code, without the endings of plurals."""
    return re.findall(r"([a-z]+?)s?(?![a-z])", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).lower())


def test_terms_of_the_glossary_are_used():
    """In the code or in another page, as they are or as a name."""
    used = " ".join(
        word
        for folder, ending in (("tablestore_engine", "*.py"), ("dbt", "*.py"), ("docs", "*.md"))
        for file in sorted((ROOT / folder).rglob(ending))
        if file.name != "glossary.md"
        for word in _words(file.read_text(encoding="utf-8"))
    )
    rows = re.findall(r"^\| ([^|]+) \| [^-]", text_of("docs/glossary.md"), re.MULTILINE)
    terms = [term for row in rows if row != "term" for term in row.split(", ")]
    assert len(terms) > 90
    assert [term for term in terms if f" {' '.join(_words(term))} " not in used] == []


def test_benchmarks_above_their_bar_are_marked():
    measured = re.findall(r"\| ([0-9.]+) \| ≤ ([0-9.]+)(.*) \|$", text_of("docs/benchmarks.md"), re.MULTILINE)
    assert len(measured) > 20
    for ratio, bar, mark in measured:
        assert mark == (" **missed**" if float(ratio) > float(bar) else "")
