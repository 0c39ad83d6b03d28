"""ALTER TABLE … CLUSTERED INTO n BUCKETS and ADD PRIMARY KEY: the same rows in another layout, all or nothing."""

from __future__ import annotations

import pytest
from support.files import data_files, live_paths
from support.invariants import check_invariants
from support.spark_rows import rows
from support.tables import DELETE, arrow_rows, identity, read

from tablestore_engine.errors import (
    ColumnNotFound,
    ConflictError,
    DuplicateKeyError,
    OptionError,
    ParseError,
    PrimaryKeyError,
    SchemaError,
    SqlError,
)
from tablestore_engine.operation.commit.commit import Change, Committer
from tablestore_engine.schema.merge_engines.engine_rules import Kept
from tablestore_engine.spark.dml import rewrite

pytestmark = [pytest.mark.spark, pytest.mark.cover("path")]

UPDATE_BEFORE = 1


def numbers(table):
    """The number of buckets of each partition."""
    found = {}
    for entry in table.live_files():
        assert found.setdefault(entry.partition, entry.total_buckets) == entry.total_buckets
    return sorted(found.values())


def test_rescaling_a_table(store, path):
    store.execute("CREATE TABLE t (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '2')")
    store.execute("INSERT INTO t SELECT cast(id AS INT), 1 FROM range(200)")
    store.execute("INSERT INTO t SELECT cast(id AS INT), 2 FROM range(150, 250)")
    store.execute("DELETE FROM t WHERE id < 10")
    before = rows(store)
    assert store.execute("ALTER TABLE t CLUSTERED INTO 5 BUCKETS").rows_affected == 240
    table = store.table("t")
    assert numbers(table) == [5]
    assert table.options.bucket == 5
    assert table.latest_snapshot().commit_kind == "OVERWRITE"
    assert rows(store) == before
    check_invariants(table)
    ids = [f.id for f in table.schema.fields]
    assert ids == [f.id for f in table.schemas.load(0).fields], "columns keep their ids"
    # The past is read as it was.
    assert rows(store, f"SELECT * FROM t VERSION AS OF {table.latest_snapshot().id - 1}") == before
    store.execute("INSERT INTO t VALUES (7, 7)")
    assert rows(store) == sorted([*before, (7, 7)])
    snapshot = table.latest_snapshot().id
    assert store.execute("ALTER TABLE t CLUSTERED INTO 5 BUCKETS").rows_affected == 0
    assert table.latest_snapshot().id == snapshot, "nothing to do"
    store.execute("ALTER TABLE t ADD COLUMN n INT")
    store.execute("CALL sys.rescale(table => 't', bucket_num => 1)")
    assert numbers(table) == [1]
    assert len(rows(store)) == 241
    check_invariants(store.table("t"))


def test_rescaling_partitions(store):
    store.execute(
        "CREATE TABLE t (dt STRING, id INT, PRIMARY KEY (dt, id) NOT ENFORCED) "
        "PARTITIONED BY (dt) WITH ('bucket' = '2')"
    )
    store.execute("INSERT INTO t SELECT concat('d', id % 3), cast(id AS INT) FROM range(60)")
    before = rows(store)
    store.execute("ALTER TABLE t PARTITION (dt = 'd1') CLUSTERED INTO 4 BUCKETS")
    table = store.table("t")
    assert numbers(table) == [2, 2, 4]
    assert table.options.bucket == 2, "the table's own number is that of new partitions"
    store.execute("INSERT INTO t SELECT concat('d', id % 4), cast(id AS INT) FROM range(80)")
    assert numbers(table) == [2, 2, 2, 4]
    check_invariants(table)
    store.execute("ALTER TABLE t SET TBLPROPERTIES ('bucket' = '3')")
    store.execute("CALL sys.rescale(table => 't', partition => 'dt=d0;dt=d1')")
    assert numbers(table) == [2, 2, 3, 3]
    described = {row[0]: row[1] for row in store.sql("DESCRIBE EXTENDED t PARTITION (dt = 'd0')").collect()}
    assert described["Buckets"] == "3"
    store.execute("ALTER TABLE t CLUSTERED INTO 3 BUCKETS")
    assert numbers(table) == [3, 3, 3, 3]
    assert set(before) < set(rows(store))
    check_invariants(table)


def test_a_table_without_a_key_is_rescaled_by_its_bucket_key(store):
    store.execute("CREATE TABLE t (id INT, v INT) WITH ('bucket' = '2', 'bucket-key' = 'id')")
    store.execute("INSERT INTO t SELECT cast(id AS INT), 1 FROM range(20)")
    store.execute("ALTER TABLE t CLUSTERED INTO 3 BUCKETS")
    assert numbers(store.table("t")) == [3]
    assert rows(store, "SELECT v FROM t WHERE id = 7") == [(1,)]
    store.execute("CREATE TABLE plain (id INT)")
    with pytest.raises(OptionError, match="no buckets to change"):
        store.execute("ALTER TABLE plain CLUSTERED INTO 3 BUCKETS")


def test_from_fixed_to_dynamic_and_back(store):
    store.execute("CREATE TABLE t (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '3')")
    store.execute("INSERT INTO t SELECT cast(id AS INT), 1 FROM range(50)")
    store.execute("CALL sys.rescale(table => 't', bucket_num => -1)")
    table = store.table("t")
    assert table.schema.has_hash_index
    assert numbers(table) == [-1]
    store.execute("INSERT INTO t SELECT cast(id AS INT), 2 FROM range(40, 60)")
    assert len(rows(store)) == 60
    check_invariants(table)
    store.execute("ALTER TABLE t CLUSTERED INTO 2 BUCKETS")
    table = store.table("t")
    assert numbers(table) == [2]
    assert table.index_files() == []
    assert len(rows(store)) == 60
    check_invariants(table)


def test_deletes_outlive_it_where_rows_come_late(store):
    """A late row with a smaller sequence than that of a delete must stay hidden, whatever was rewritten meanwhile; in
    sequence groups a delete without a row is forgotten."""
    store.execute(
        "CREATE TABLE s (id INT, at INT, v STRING, PRIMARY KEY (id) NOT ENFORCED)"
        " WITH ('bucket' = '2', 'sequence.field' = 'at')"
    )
    store.execute(
        "CREATE TABLE g (id INT, at INT, v STRING, n INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '2',"
        " 'merge-engine' = 'partial-update', 'fields.at.sequence-group' = 'v,n', 'fields.n.aggregate-function' = 'sum')"
    )
    given = [{"id": n, "at": at, "v": v, "n": n} for n, at, v in ((1, 10, "a"), (2, 1, "b"), (3, 1, "c"))]
    removed = [{"id": n, "at": 20, "v": "a", "n": n} for n in (1, 4)]
    late = [{"id": n, "at": 15, "v": "late", "n": n} for n in (1, 4)]
    for name in "sg":
        table = store.table(name)
        table.write(arrow_rows(table.schema, given))
        table.write(arrow_rows(table.schema, removed, [DELETE, DELETE]))
        if name == "g":
            store.execute("ALTER TABLE g COMPACT")  # one run, in which a key is nothing but a retraction
        before = rows(store, f"SELECT * FROM {name}")
        assert store.execute(f"ALTER TABLE {name} CLUSTERED INTO 3 BUCKETS").rows_affected == len(before)
        table = store.table(name)
        assert sorted(tuple(row.values()) for row in read(table)) == before
        check_invariants(table)
        table.write(arrow_rows(table.schema, late))
    assert rows(store, "SELECT * FROM s") == [(2, 1, "b"), (3, 1, "c")]
    assert rows(store, "SELECT * FROM g") == [(1, 20, None, 1), (2, 1, "b", 2), (3, 1, "c", 3), (4, 15, "late", 4)]


def test_retractions_without_a_row_are_as_nothing_after_a_rewrite(store):
    """Where a -D of a sequence group removes rows, keys without a row have none after a rewrite, and begin anew."""
    columns = {"id": 1, "changed": 1, "v": "a", "paid_at": 1, "price": 20}
    for name in ("rewritten", "kept"):
        store.execute(
            f"CREATE TABLE {name} (id INT, changed INT, v STRING, paid_at INT, "
            f"price INT, PRIMARY KEY (id) NOT ENFORCED)"
            " WITH ('bucket' = '1', 'merge-engine' = 'partial-update', 'fields.changed.sequence-group' = 'v',"
            " 'fields.paid_at.sequence-group' = 'price', 'fields.price.aggregate-function' = 'sum',"
            " 'partial-update.remove-record-on-sequence-group' = 'changed', 'write-only' = 'true')"
        )
        table = store.table(name)
        for at in (1, 2):
            table.write(arrow_rows(table.schema, [{**columns, "paid_at": at}], [UPDATE_BEFORE]))
        if name == "rewritten":
            store.execute("ALTER TABLE rewritten CLUSTERED INTO 2 BUCKETS")
        assert rows(store, f"SELECT * FROM {name}") == []
        table = store.table(name)
        table.write(arrow_rows(table.schema, [{**columns, "paid_at": 3, "price": 40}]))
    assert rows(store, "SELECT * FROM rewritten") == rows(store, "SELECT * FROM kept") == [(1, 1, "a", 3, 40)]


def test_an_empty_table_takes_the_number(store):
    store.execute("CREATE TABLE t (id INT, PRIMARY KEY (id) NOT ENFORCED)")
    store.execute("ALTER TABLE t CLUSTERED INTO 6 BUCKETS")
    assert store.table("t").options.bucket == 6
    store.execute("INSERT INTO t VALUES (1)")
    assert numbers(store.table("t")) == [6]


def test_a_write_in_between_makes_it_run_again(store, monkeypatch):
    store.execute("CREATE TABLE t (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '2')")
    store.execute("INSERT INTO t VALUES (1, 1), (2, 2)")
    finish, runs = rewrite.finish, []

    def late(*args, **kwargs):
        runs.append(1)
        if len(runs) == 1:
            store.execute("INSERT INTO t VALUES (3, 3)")
        return finish(*args, **kwargs)

    monkeypatch.setattr(rewrite, "finish", late)
    store.execute("ALTER TABLE t CLUSTERED INTO 3 BUCKETS")
    assert len(runs) == 2
    table = store.table("t")
    assert rows(store) == [(1, 1), (2, 2), (3, 3)]
    assert numbers(table) == [3]
    assert live_paths(table) <= data_files(table)
    check_invariants(table)


def test_one_that_dies_leaves_the_table_as_it_was(store, monkeypatch):
    store.execute("CREATE TABLE t (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '2')")
    store.execute("INSERT INTO t VALUES (1, 1), (2, 2)")
    table = store.table("t")

    def die(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("tablestore_engine.storage.metadata_files.snapshot_store.SnapshotStore.try_create", die)
    with pytest.raises(KeyboardInterrupt):
        store.execute("ALTER TABLE t CLUSTERED INTO 3 BUCKETS")
    monkeypatch.undo()
    assert table.schemas.list_ids() == [0, 1], "the schema file is there, the snapshot will never be"
    assert store.table("t").options.bucket == 2
    store.execute("INSERT INTO t VALUES (3, 3)")
    assert rows(store) == [(1, 1), (2, 2), (3, 3)]
    assert numbers(table) == [2]
    store.execute("ALTER TABLE t CLUSTERED INTO 4 BUCKETS")
    assert numbers(store.table("t")) == [4]
    assert store.table("t").options.bucket == 4


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("ALTER TABLE t CLUSTERED INTO 0 BUCKETS", OptionError, "0 buckets"),
        ("ALTER TABLE t CLUSTERED INTO many BUCKETS", ParseError, "number of buckets"),
        ("ALTER TABLE t CLUSTERED INTO 3", ParseError, "BUCKETS"),
        ("ALTER TABLE t PARTITION (x = 1) CLUSTERED INTO 3 BUCKETS", ColumnNotFound, "x"),
        ("CALL sys.rescale(table => 't', bucket_num => 'four')", SqlError, "bucket_num"),
        ("CALL sys.rescale(table => 't', bucket_num => -1, partition => 'dt=a')", OptionError, "whole table"),
        ("ALTER TABLE t ADD PRIMARY KEY (id) NOT ENFORCED", PrimaryKeyError, "primary key already"),
        ("ALTER TABLE t SET TBLPROPERTIES ('bucket' = '-1')", OptionError, "bucket"),
    ],
)
def test_refused(store, text, error, message):
    store.execute("CREATE TABLE t (dt STRING, id INT, PRIMARY KEY (dt, id) NOT ENFORCED) PARTITIONED BY (dt)")
    store.execute("INSERT INTO t VALUES ('a', 1)")
    with pytest.raises(error, match=message):
        store.execute(text)
    assert rows(store) == [("a", 1)]


def test_adding_a_primary_key(store, path):
    store.execute("CREATE TABLE t (id INT, dt STRING, v STRING COMMENT 'text') PARTITIONED BY (dt)")
    store.execute("INSERT INTO t SELECT cast(id AS INT), concat('d', id % 2), 'a' FROM range(30)")
    store.execute("ALTER TABLE t ADD COLUMN n INT")
    store.execute("INSERT INTO t SELECT cast(id AS INT), 'd9', 'b', 1 FROM range(5)")
    old = store.table("t")
    before, files, snapshot = rows(store), data_files(old), old.latest_snapshot().id
    store.execute("ALTER TABLE t ADD CONSTRAINT pk PRIMARY KEY (dt, id) NOT ENFORCED")
    table = store.table("t")
    assert table.schema.primary_keys == ("dt", "id")
    assert [(f.id, f.name, f.description) for f in table.schema.fields] == [
        (f.id, f.name, f.description) for f in old.schema.fields
    ]
    assert {f.name for f in table.schema.fields if not f.type.nullable} == {"dt", "id"}
    assert table.options.bucket == 1
    assert rows(store) == before
    assert files < data_files(table)
    check_invariants(table)
    store.execute("INSERT INTO t VALUES (3, 'd9', 'upserted', 9)")
    assert len(rows(store)) == len(before)
    assert rows(store, f"SELECT * FROM t VERSION AS OF {snapshot}") == before
    check_invariants(table)


def test_keys_that_do_not_hold_are_named(store):
    store.execute("CREATE TABLE t (id INT, v INT)")
    store.execute("INSERT INTO t VALUES (1, 1), (2, 2), (2, 3), (4, NULL)")
    table = store.table("t")
    snapshot, files = table.latest_snapshot().id, data_files(table)
    with pytest.raises(DuplicateKeyError, match="id=2"):
        store.execute("ALTER TABLE t ADD PRIMARY KEY (id) NOT ENFORCED")
    with pytest.raises(PrimaryKeyError, match="'v' has 1 null"):
        store.execute("ALTER TABLE t ADD PRIMARY KEY (v) NOT ENFORCED")
    with pytest.raises(SchemaError, match="not a column"):
        store.execute("ALTER TABLE t ADD PRIMARY KEY (nothing) NOT ENFORCED")
    table = store.table("t")
    assert not table.schema.primary_keys
    assert (table.latest_snapshot().id, data_files(table)) == (snapshot, files)
    assert len(table.schemas.list_ids()) == 1


def test_adding_a_key_during_a_write(store, monkeypatch):
    store.execute("CREATE TABLE t (id INT, v INT)")
    store.execute("INSERT INTO t VALUES (1, 1)")
    late = store.table("t")
    finish, runs = rewrite.finish, []

    def slow(*args, **kwargs):
        runs.append(1)
        if len(runs) == 1:
            store.execute("INSERT INTO t VALUES (1, 2)")
        return finish(*args, **kwargs)

    monkeypatch.setattr(rewrite, "finish", slow)
    with pytest.raises(DuplicateKeyError, match="id=1"):
        store.execute("ALTER TABLE t ADD PRIMARY KEY (id) NOT ENFORCED")
    store.execute("DELETE FROM t WHERE v = 1")
    store.execute("ALTER TABLE t ADD PRIMARY KEY (id) NOT ENFORCED")
    # One that began when the table had no key does not write into it.
    with pytest.raises(ConflictError, match="replaced"):
        Committer(late.state).commit(Change("APPEND"), identity())
    assert rows(store) == [(1, 2)]
    check_invariants(store.table("t"))


@pytest.mark.parametrize("late", ["DELETE FROM t WHERE v = 2", "INSERT INTO t VALUES (2, 20)", "TRUNCATE TABLE t"])
def test_adding_a_key_to_a_table_with_deletion_vectors_during_a_write(store, monkeypatch, late):
    """The rows are read anew, also if only a vector says which of them are left."""
    store.execute("CREATE TABLE t (id INT, v INT) WITH ('deletion-vectors.enabled' = 'true')")
    store.execute("INSERT INTO t VALUES (1, 1), (2, 2), (3, 3), (3, 4)")
    store.execute("DELETE FROM t WHERE v = 4")
    finish, runs = rewrite.finish, []

    def slow(*args, **kwargs):
        runs.append(1)
        if len(runs) == 1:
            store.execute(late)
        return finish(*args, **kwargs)

    monkeypatch.setattr(rewrite, "finish", slow)
    if late.startswith("INSERT"):
        with pytest.raises(DuplicateKeyError, match="id=2"):
            store.execute("ALTER TABLE t ADD PRIMARY KEY (id) NOT ENFORCED")
        return
    store.execute("ALTER TABLE t ADD PRIMARY KEY (id) NOT ENFORCED")
    left = [] if late.startswith("TRUNCATE") else [(1, 1), (3, 3)]
    assert rows(store) == left
    check_invariants(store.table("t"))
    store.execute("INSERT INTO t VALUES (3, 30)")
    store.execute("DELETE FROM t WHERE id = 1")
    assert rows(store) == [(3, 30)]
    check_invariants(store.table("t"))


def test_a_table_expires_over_a_key_that_was_added(store):
    """The commit names no file of the table without a key; they are removed with the snapshot that uses them."""
    store.execute("CREATE TABLE t (id INT, v INT)")
    store.execute("INSERT INTO t VALUES (1, 1)")
    store.execute("CALL sys.create_tag(table => 't', tag => 'first')")
    store.execute("INSERT INTO t VALUES (2, 2)")
    store.execute("ALTER TABLE t ADD PRIMARY KEY (id) NOT ENFORCED")
    store.execute("CALL sys.expire_snapshots(table => 't', retain_max => 1, retain_min => 1)")
    table = store.table("t")
    assert len(data_files(table)) == 2, "the one of the tag, and the new one"
    assert rows(store, "SELECT * FROM t VERSION AS OF 'first'") == [(1, 1)]
    store.execute("CALL sys.rollback(table => 't', version => 'first')")
    assert store.table("t").schema.primary_keys == ()
    store.execute("INSERT INTO t VALUES (1, 2)")
    assert rows(store) == [(1, 1), (1, 2)]
    check_invariants(store.table("t"))


def test_an_empty_table_takes_the_key(store):
    store.execute("CREATE TABLE t (id INT, v INT)")
    store.execute("ALTER TABLE t ADD PRIMARY KEY (id) NOT ENFORCED")
    store.execute("INSERT INTO t VALUES (1, 1), (1, 2)")
    assert rows(store) == [(1, 2)]


def test_a_table_that_counts_rows_takes_a_key_and_gives_it_back(store):
    store.execute("CREATE TABLE t (id INT, v STRING)")
    store.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (2, 'c'), (3, 'd'), (4, 'e'), (4, 'e')")
    store.execute("INSERT INTO t (_row_kind, id, v) VALUES ('-D', 3, 'd'), ('-D', 4, 'e')")
    with pytest.raises(DuplicateKeyError, match=r"id=2\."):
        store.execute("ALTER TABLE t ADD PRIMARY KEY (id) NOT ENFORCED")
    store.execute("INSERT INTO t (_row_kind, id, v) VALUES ('-D', 2, 'c')")
    store.execute("ALTER TABLE t ADD PRIMARY KEY (id) NOT ENFORCED")
    table = store.table("t")
    assert table.schema.merge_engine.rules.kept is Kept.NEWEST
    assert rows(store) == [(1, "a"), (2, "b"), (4, "e")]
    store.execute("INSERT INTO t (_row_kind, id, v) VALUES ('+I', 1, 'new'), ('-D', 2, 'whatever')")
    assert rows(store) == [(1, "new"), (4, "e")]
    check_invariants(table)
    # Back to when it counted, and on.
    table.roll_back(2)
    again = store.table("t")
    assert again.schema.merge_engine.rules.is_multiset
    assert rows(store) == [(1, "a"), (2, "b"), (2, "c"), (4, "e")]
    store.execute("INSERT INTO t (_row_kind, id, v) VALUES ('-D', 2, 'c'), ('+I', 1, 'a')")
    store.execute("ALTER TABLE t COMPACT")
    assert rows(store) == [(1, "a"), (1, "a"), (2, "b"), (4, "e")]
    check_invariants(again)
