"""kill -9 of an application in the middle of a statement that Spark executes: the table is as it was before."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time

import pytest
from support.files import data_files, live_paths
from support.invariants import check_invariants
from support.tables import make_table, reload, rows, write

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import TableNotFound

pytestmark = [pytest.mark.spark, pytest.mark.slow]

VICTIM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "spark_victim.py")
OPTIONS = {"bucket": "2", "target-file-size": "1 b"}
KEYED = "(PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '2', 'target-file-size' = '1 b')"
ROWS = "SELECT id, repeat('x', 200) AS v FROM range(800000)"


def files_below(directory):
    return sum(name.endswith(".parquet") for _, _, names in os.walk(directory) for name in names)


def kill_when_writing(warehouse, statement):
    """Run a statement; kill everything at the first data file that it writes."""
    process = subprocess.Popen(
        [sys.executable, VICTIM, str(warehouse), statement],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout.readline().strip() == "ready"
        before = files_below(warehouse)
        deadline = time.monotonic() + 300
        while files_below(warehouse) <= before:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.002)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        out, _ = process.communicate(timeout=300)
    assert "done" not in out, "the statement was too quick to be killed"


def test_a_killed_create_as_leaves_no_table(tmp_path):
    kill_when_writing(tmp_path, f"CREATE TABLE c {KEYED} AS {ROWS}")
    catalog = Catalog(tmp_path)
    assert catalog.list_tables("default") == []
    with pytest.raises(TableNotFound):
        catalog.load_table("default", "c")


def test_a_killed_replacement_and_a_killed_upsert_leave_the_old_table(tmp_path):
    table = make_table(tmp_path, {"id": "BIGINT", "v": "STRING"}, ["id"], options=OPTIONS, name="c")
    write(table, rows(range(1000), "x" * 200))
    kill_when_writing(
        tmp_path, "CREATE OR REPLACE TABLE c AS SELECT id AS other, repeat('y', 200) AS w FROM range(800000)"
    )
    table = reload(table)
    assert table.schema.field_names == ("id", "v")
    assert table.to_arrow().num_rows == 1000
    assert live_paths(table) < data_files(table), "what was killed left files that nothing names"
    check_invariants(table)
    kill_when_writing(tmp_path, f"INSERT INTO c {ROWS}")
    table = reload(table)
    assert [s.id for s in table.snapshots()] == [1]
    assert table.to_arrow(["id"]).num_rows == 1000
    check_invariants(table)
