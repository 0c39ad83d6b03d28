"""CREATE TABLE … AS at the levels of `ctas.atomicity`: what others see meanwhile, and what is left after a failure."""

from __future__ import annotations

import pytest

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import TableNotFound, TableStoreError
from tablestore_engine.sql.write_statements import execute_create_as

pytestmark = pytest.mark.spark

FORM = (
    "CREATE TABLE {0} (PRIMARY KEY (id, p) NOT ENFORCED) COMMENT 'c' PARTITIONED BY (p) "
    "WITH ('bucket' = '2', 'ctas.atomicity' = '{1}') AS SELECT id, CAST(id % 2 AS INT) AS p, {2} AS v FROM range(4)"
)
FAILS = "IF(id > 2, raise_error('too big'), id)"


def seen(store):
    """The tables that another process finds."""
    return Catalog(store.catalog.warehouse).list_tables("default")


@pytest.mark.parametrize(("level", "visible", "stays"), [("atomic", 0, 0), ("rollback", 1, 0), ("none", 1, 1)])
def test_a_level(store, monkeypatch, level, visible, stays):
    during = []
    write_files = execute_create_as.write_files

    def write_and_look(*arguments):
        during.append(seen(store))
        return write_files(*arguments)

    def interrupted(*arguments):
        write_files(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(execute_create_as, "write_files", write_and_look)
    store.sql(FORM.format("t", level, "id"))
    assert during == [["t"] * visible]
    assert store.sql("SELECT count(*) FROM t").first()[0] == 4
    table = store.table("t")
    assert (table.schema.primary_keys, table.schema.partition_keys, table.schema.comment) == (("id", "p"), ("p",), "c")
    with pytest.raises(TableStoreError, match="too big"):
        store.sql(FORM.format("failed", level, FAILS))
    monkeypatch.setattr(execute_create_as, "write_files", interrupted)
    with pytest.raises(KeyboardInterrupt):
        store.sql(FORM.format("cancelled", level, "id"))
    assert seen(store) == ["cancelled", "failed"] * stays + ["t"]
    if stays:
        assert store.sql("SELECT * FROM failed").collect() == []


def test_a_list_of_columns(store):
    store.sql(
        "CREATE TABLE t (`a key` COMMENT 'the key' PRIMARY KEY, v DECIMAL(10, 2) NOT NULL COMMENT 'a value', w) "
        "AS SELECT id, id * 2 AS x, 'w' FROM range(3)"
    )
    fields = [(f.name, str(f.type), f.description) for f in store.table("t").schema.fields]
    assert fields == [("a key", "BIGINT NOT NULL", "the key"), ("v", "DECIMAL(10, 2) NOT NULL", "a value"),
                      ("w", "STRING", None)]  # fmt: skip
    assert store.table("t").schema.primary_keys == ("a key",)
    assert store.sql("SELECT v FROM t WHERE `a key` = 2").first()[0] == 4
    with pytest.raises(TableStoreError, match="lists 1 columns, and its query returns 2"):
        store.sql("CREATE TABLE u (a) AS SELECT 1, 2")
    with pytest.raises(TableStoreError, match="have no value"):
        store.sql("CREATE TABLE u (a NOT NULL) AS SELECT CAST(NULL AS INT)")
    assert seen(store) == ["t"]


@pytest.mark.parametrize("level", ["rollback", "none"])
def test_replacing_is_one_snapshot_at_every_level(store, level):
    form = f"{{0}} TABLE t WITH ('ctas.atomicity' = '{level}') AS SELECT {{1}} AS v"
    with pytest.raises(TableNotFound):
        store.sql(form.format("REPLACE", 1))
    store.sql(form.format("CREATE OR REPLACE", 1))
    old = store.sql("SELECT v FROM t")
    before = store.read("t")
    with pytest.raises(TableStoreError, match="too big"):
        store.sql(form.format("REPLACE", "raise_error('too big')"))
    assert store.sql("SELECT v FROM t").first()[0] == 1
    store.sql(form.format("REPLACE", "'two'"))
    store.sql(form.format("CREATE", 3).replace("TABLE t", "TABLE IF NOT EXISTS t"))
    assert [one.id for one in store.table("t").snapshots()] == [1, 2]
    assert store.sql("SELECT v FROM t").first()[0] == "two"
    assert (old.first()[0], before.first()[0]) == (1, 1), "readers finish on the snapshot that they began with"
