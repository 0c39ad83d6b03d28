"""The table that statements change, with and without a key, and a source of changes."""

from __future__ import annotations

import pytest
from support.row_level import SOURCE, TARGET


@pytest.fixture(params=["keyed", "keyless"])
def target(request, store, monkeypatch):
    # For large files, MERGE looks at its source first.
    monkeypatch.setattr("tablestore_engine.spark.read.merge_source_bounds.LARGE_FILES", 0)
    key = ", PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '2'" if request.param == "keyed" else ""
    store.execute(f"CREATE TABLE t (id INT, v INT, s STRING{key})")
    values = ", ".join(f"({i}, {v}, {'NULL' if s is None else repr(s)})" for i, v, s in TARGET)
    store.execute(f"INSERT INTO t VALUES {values}")
    store.keyed = request.param == "keyed"
    frame = store.spark.createDataFrame(SOURCE, "id int, v int, s string")
    frame.createOrReplaceTempView("source")
    return store
