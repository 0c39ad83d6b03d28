"""Tables without a key that other writers change at the same time."""

from __future__ import annotations

import threading

import pyarrow as pa
import pytest
from support.multiset_tables import check
from support.spark_rows import rows

from tablestore_engine.errors import (
    TableStoreError,
)

pytestmark = pytest.mark.spark


def test_two_writers_enable_retractions_at_once(store):
    """One of them publishes the schema; the other notices, and nothing is lost."""
    store.execute("CREATE TABLE t (writer INT, n INT)")
    store.execute("INSERT INTO t SELECT cast(id % 3 AS INT), cast(id AS INT) FROM range(60)")
    start, failures = threading.Barrier(3), []

    def change(writer):
        kinds = [("-D", n) for n in range(60) if n % 3 == writer] if writer < 2 else [("+I", 100 + n) for n in range(5)]
        given = pa.table(
            {
                "_row_kind": [kind for kind, _ in kinds],
                "writer": pa.array([writer] * len(kinds), pa.int32()),
                "n": pa.array([n for _, n in kinds], pa.int32()),
            }
        )
        table = store.table("t")
        start.wait(300)
        try:
            table.write(given)
        except TableStoreError as error:
            failures.append(error)

    threads = [threading.Thread(target=change, args=(writer,)) for writer in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    expected = sorted([(2, n) for n in range(60) if n % 3 == 2] + [(2, 100 + n) for n in range(5)])
    assert rows(store) == expected
    table = check(store)
    assert table.schema.merge_engine.rules.is_multiset
    with_retractions = next(s for s in table.snapshots() if any(e.file.delete_row_count for e in table.live_files(s)))
    assert table.schemas.load(with_retractions.schema_id).merge_engine.rules.is_multiset


def test_a_row_level_change_notices_that_retractions_were_enabled(store, monkeypatch):
    """A DELETE that began on an append table runs again when a retraction comes first."""
    store.execute("CREATE TABLE t (id INT)")
    store.execute("INSERT INTO t VALUES (1), (2), (3)")
    from tablestore_engine.spark.dml import row_level

    real, calls = row_level.finish, []

    def finish(*args, **more):
        calls.append(more.get("removed"))
        if len(calls) == 1:
            store.table("t").write(pa.table({"_row_kind": ["-D"], "id": pa.array([1], pa.int32())}))
        return real(*args, **more)

    monkeypatch.setattr(row_level, "finish", finish)
    assert store.execute("DELETE FROM t WHERE id = 2").rows_affected == 1
    assert len(calls) == 2
    assert rows(store) == [(3,)]
    check(store)
