"""The guides are true: what they show is run, page by page, in a fresh project.

A fenced block of a page is a step. `sql` alone is a statement for the engine, and a table right below it its answer;
`sql`, `yaml` or `csv` with a path is a file of the dbt project; `console` lines are commands, `dbt` or `tablestore`;
`python` is run unchanged, and a table below it is the value of its last line; `skip` is only parsed.
"""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass

import pytest
import yaml
from support.repository import ROOT
from support.spark_settings import FEW_ROWS

pytestmark = pytest.mark.spark

GUIDES = os.path.join(ROOT, "docs", "how-to")

PROJECT = "name: my_project\nprofile: my_project\nflags: {send_anonymous_usage_stats: false}\n"
PROFILE = {
    "type": "tablestore",
    "warehouse": "./warehouse",
    "schema": "analytics",
    "threads": 2,
    "master": "local[2]",
    "spark_config": FEW_ROWS,
}

_BLOCK = re.compile(
    r"^```(?P<kind>\w+)(?: (?P<path>\S+))?\n(?P<text>.*?)^```\n(?P<table>\n(?:\|[^\n]*\n)+)?",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Step:
    kind: str
    path: str | None
    text: str
    answer: tuple[tuple[str, ...], ...] | None


def steps(page):
    with open(page, encoding="utf-8") as file:
        text = file.read() + "\n"
    return [
        Step(found["kind"], found["path"], found["text"], _cells(found["table"]) if found["table"] else None)
        for found in _BLOCK.finditer(text)
    ]


def _cells(table):
    """Header and rows of a Markdown table, without the line of dashes."""
    rows = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in table.strip().splitlines()]
    return (rows[0], *rows[2:])


class Reader:
    """Does what a page says, as its reader would."""

    def __init__(self, folder):
        self.folder = str(folder)
        self.names = {}
        self.write("dbt_project.yml", PROJECT)
        self.write_profile(PROFILE)

    def write(self, path, text):
        target = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8") as file:
            file.write(text)

    def write_profile(self, output):
        self.write("profiles.yml", yaml.safe_dump({"my_project": {"target": "dev", "outputs": {"dev": output}}}))

    def take(self, step):
        if step.path == "skip":
            from tablestore_engine.sql.parse.parse import parse

            parse(step.text)
        elif step.path == "profiles.yml":
            # The page's profile with this machine's share of Spark.
            shown = yaml.safe_load(step.text)["my_project"]["outputs"]["dev"]
            self.write_profile({**PROFILE, **shown})
        elif step.path:
            self.write(step.path, step.text)
        elif step.kind == "console":
            for line in step.text.strip().replace("\\\n", "").splitlines():
                self.command(*shlex.split(line))
        elif step.kind == "sql":
            frame = self.store().sql(step.text)
            if step.answer is not None:
                answer = [tuple(_shown(value) for value in row) for row in frame.collect()]
                assert (tuple(frame.columns), *answer) == step.answer
        elif step.kind == "python":
            value = self.python(step.text)
            if step.answer is not None:
                found = value if hasattr(value, "column_names") else value.toArrow()
                answer = [tuple(_shown(one) for one in row.values()) for row in found.to_pylist()]
                assert (tuple(found.column_names), *answer) == step.answer
        elif step.kind == "yaml":
            yaml.safe_load(step.text)

    def command(self, program, *arguments):
        if program == "dbt":
            self.dbt(*arguments)
        else:
            assert program == "tablestore"
            # In a process of its own: it stops the Spark that it started.
            call = [sys.executable, "-m", "tablestore_engine.cli", *arguments]
            done = subprocess.run(call, cwd=self.folder, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr

    def python(self, text):
        """Run a text in the page's names. Returns the value of its last line, None when that is no expression."""
        lines = ast.parse(text).body
        last = lines.pop() if isinstance(lines[-1], ast.Expr) else None
        exec(compile(ast.Module(lines, []), "<page>", "exec"), self.names)
        return eval(compile(ast.Expression(last.value), "<page>", "eval"), self.names) if last else None

    def dbt(self, *arguments):
        from dbt.cli.main import dbtRunner

        folders = ["--project-dir", self.folder, "--profiles-dir", self.folder]
        outcome = dbtRunner().invoke([*arguments, *folders])
        assert outcome.success, outcome.exception or [one.message for one in outcome.result.results]

    def store(self):
        from tablestore_engine.store import TableStore

        store = TableStore(os.path.join(self.folder, "warehouse"), database="analytics")
        store.sql("create schema if not exists analytics")
        return store


def _shown(value):
    return "null" if value is None else str(value)


# `make processes`: some guides start Spark anew, and all of them take more than a minute.
@pytest.mark.slow
@pytest.mark.parametrize("page", sorted(os.listdir(GUIDES)))
def test_guide(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    reader = Reader(tmp_path)
    for step in steps(os.path.join(GUIDES, page)):
        reader.take(step)


@pytest.mark.slow
def test_readme(tmp_path, monkeypatch):
    """Its project, and its Python in another folder."""
    shown = steps(os.path.join(ROOT, "README.md"))
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    monkeypatch.chdir(_made(elsewhere))
    python = [step for step in shown if step.kind == "python"]
    assert python
    for step in python:
        exec(compile(step.text, "README.md", "exec"), {})
    monkeypatch.chdir(_made(project))
    reader = Reader(project)
    for step in shown:
        if step.kind not in ("python", "sh"):
            reader.take(step)
    [(kept,)] = reader.store().sql("select count(*) from order_history").collect()
    assert kept == 2


def _made(folder):
    folder.mkdir()
    return folder
