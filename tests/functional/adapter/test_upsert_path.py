"""How many files of ours a small upsert passes, from the macro of its materialization to the snapshot.

A file counts when one of its functions or macros is on the call stack at the moment when the data file or the snapshot
file is made: these are the files that somebody reads who follows a write.
"""

from __future__ import annotations

import os
import sys

import pytest
from dbt.tests.util import run_dbt

import tablestore_engine
from tablestore_engine.storage.file_io import LocalFileIO

ROOT = os.path.dirname(os.path.dirname(tablestore_engine.__file__))
OURS = (
    "tablestore_engine",
    os.path.join("dbt", "adapters", "tablestore"),
    os.path.join("dbt", "include", "tablestore"),
)
MOST_FILES = 18

MODEL = """
{{ config(materialized='incremental', unique_key='id', on_schema_change='ignore') }}
select id, id * {{ var('factor', 1) }} as v from range(100)
{% if is_incremental() %} where id = 7 {% endif %}
"""


def files_on_stack():
    """Files of ours on the stack of this thread, outermost first, relative to the repository."""
    frame, found = sys._getframe(1), []
    while frame is not None:
        macro = getattr(frame.f_locals.get("self"), "macro", None)
        path = getattr(macro, "original_file_path", None)
        if path is not None and "tablestore" in macro.package_name:
            found.append(os.path.join("dbt", "include", "tablestore", path))
        name = os.path.abspath(frame.f_code.co_filename).removeprefix(ROOT + os.sep)
        if name.startswith(OURS):
            found.append(name)
        frame = frame.f_back
    return list(dict.fromkeys(reversed(found)))


class TestUpsertPath:
    @pytest.fixture(scope="class")
    def models(self):
        return {"upserted.sql": MODEL}

    def test_an_upsert_passes_few_files(self, project, monkeypatch):
        run_dbt(["run"])
        open_output, create, passed = LocalFileIO.open_output, LocalFileIO.create, {}

        def made(path):
            if os.path.basename(path).startswith(("data-", "snapshot-")):
                passed.setdefault(os.path.basename(path).split("-")[0], files_on_stack())

        def open_seen(self, path):
            made(path)
            return open_output(self, path)

        def create_seen(self, path, data):
            made(path)
            return create(self, path, data)

        monkeypatch.setattr(LocalFileIO, "open_output", open_seen)
        monkeypatch.setattr(LocalFileIO, "create", create_seen)
        run_dbt(["run", "--vars", "{factor: 2}"])
        assert set(passed) == {"data", "snapshot"}
        files = {one for stack in passed.values() for one in stack} | {"tablestore_engine/storage/file_io.py"}
        print("\n".join(["To the data file:", *passed["data"], "To the snapshot file:", *passed["snapshot"]]))
        for part in (
            "macros/materializations",
            "adapters/tablestore/macro_methods",
            "transaction/transaction",
            "commit/commit",
        ):
            assert any(part in one for one in files), f"no {part} in {sorted(files)}"
        assert len(files) <= MOST_FILES, sorted(files)
