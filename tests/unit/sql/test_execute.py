"""Statements that are refused before Spark starts."""

from __future__ import annotations

import pytest
from support.tables import no_spark, write

from tablestore_engine.catalog import View
from tablestore_engine.errors import ReadOnlyError
from tablestore_engine.store import TableStore

WRITES = [
    "INSERT INTO seen VALUES (2, 'b')",
    "INSERT INTO default.seen (id) SELECT 2",
    "INSERT OVERWRITE seen SELECT 2, 'b'",
    "UPDATE seen SET v = 'x'",
    "UPDATE seen SET v = 'x' WHERE id = 1",
    "DELETE FROM seen",
    "DELETE FROM seen WHERE id = 1",
    "MERGE INTO seen USING (SELECT 1 AS id) s ON seen.id = s.id WHEN MATCHED THEN DELETE",
    "MERGE INTO seen USING (SELECT 9 AS id, 'n' AS v) s ON seen.id = s.id WHEN NOT MATCHED THEN INSERT *",
    "TRUNCATE TABLE seen",
]


@pytest.mark.parametrize("text", WRITES)
def test_a_view_cannot_be_written_to(tmp_path, text):
    store = TableStore(tmp_path, session_factory=no_spark)
    store.execute("CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED)")
    write(store.table("t"), [{"id": 1, "v": "a"}])
    store.catalog.create_view("default", "seen", View("SELECT id, v FROM t", "default"))
    before = store.table("t").latest_snapshot()
    with pytest.raises(ReadOnlyError) as caught:
        store.execute(text)
    assert str(caught.value) == "'default.seen' is a view, which cannot be written to. Write to the table it reads."
    assert store.table("t").latest_snapshot() == before
