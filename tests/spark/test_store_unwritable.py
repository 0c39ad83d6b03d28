"""Rows for a warehouse that cannot be written to: one clear error from every writer."""

from __future__ import annotations

import os

import pytest

from tablestore_engine.errors import ExecutionError, StorageError
from tablestore_engine.store import TableStore


@pytest.mark.spark
def test_rows_for_a_table_whose_folder_takes_none(store, path):
    """`path` writes in this process and through executors: the message is the same."""
    store.sql("CREATE TABLE t (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')")
    table = store.table("t")
    blocked = os.path.join(table.path, "bucket-0")
    with open(blocked, "w") as file:
        file.write("")
    with pytest.raises((StorageError, ExecutionError)) as caught:
        store.sql("INSERT INTO t VALUES (1), (2)")
    text = str(caught.value)
    assert blocked in text
    assert "Not a directory" in text or "File exists" in text
    assert "Traceback" not in text
    assert "org.apache.spark" not in text
    assert len(text.splitlines()) == 1
    assert table.latest_snapshot() is None


@pytest.mark.spark
@pytest.mark.parametrize(
    "text", ["CREATE TABLE t AS SELECT 1 AS id", "CREATE VIEW v AS SELECT 1 AS id"], ids=["table", "view"]
)
def test_a_table_and_a_view_of_a_query_below_a_file(spark, tmp_path, text):
    from tablestore_engine.spark.session.session import new_session

    (tmp_path / "file").write_text("mine")
    store = TableStore(tmp_path / "file" / "warehouse", new_session(spark))
    with pytest.raises(StorageError, match="Not a directory"):
        store.sql(text)
