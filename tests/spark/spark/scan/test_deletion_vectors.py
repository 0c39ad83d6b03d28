"""Deletion vectors through Spark: every query, time travel, system tables, and every statement that writes them."""

from __future__ import annotations

import pytest
from support.append_deletion_vectors import prepared_delete
from support.deletion_vectors import delete_positions, with_options
from support.spark_rows import ids_of
from support.tables import make_table, rows, write

from tablestore_engine.errors import OptionError, TableStoreError
from tablestore_engine.schema.types.types import AtomicType, DataField
from tablestore_engine.spark.scan import deletion_vectors, file_scan

VECTORS = {"deletion-vectors.enabled": "true"}


@pytest.fixture
def table(store):
    """A table without a key in two partitions; of the first file of each, rows are deleted."""
    store.sql(
        "CREATE TABLE t (p STRING, `a b` BIGINT, v STRING) PARTITIONED BY (p) "
        # Spark returns the names of files in the encoding of URIs.
        "TBLPROPERTIES ('data-file.prefix' = 'ä, b%41+(~')"
    )
    for start in (0, 100):
        store.sql(f"INSERT INTO t SELECT concat('p ', id % 2), id, concat('v', id) FROM range({start}, {start + 100})")
    made = with_options(store.catalog, store.table("t"), VECTORS)
    # Row n of a file of the first write is the number 2 n, or 2 n + 1.
    first = sorted(made.live_files(), key=lambda e: (e.file.min_sequence_number, e.partition))
    names = [e.file.file_name for e in first if e.file.row_count == 50][:2]
    delete_positions(made, {names[0]: [0, 10, *range(20, 30)], names[1]: [49]}, wide=False)
    return made


@pytest.fixture(params=["found", "joined"])
def words(request, monkeypatch):
    """How the word of a row is found: in an array, or by a join."""
    if request.param == "joined":
        monkeypatch.setattr("tablestore_engine.spark.scan.deletion_vector_words._MOST_WORDS", 0)
    return request.param


def test_queries(store, table, words):
    own = sorted(table.to_arrow().column("a b").to_pylist())
    assert len(own) == 200 - 13
    assert ids_of(store, "SELECT `a b` FROM t") == own
    assert ids_of(store, "SELECT count(*) FROM t") == [len(own)]
    assert ids_of(store, "SELECT `a b` FROM t WHERE `a b` > 40 AND v < 'v9'") == [
        i for i in own if i > 40 and f"v{i}" < "v9"
    ]
    assert ids_of(store, "SELECT `a b` FROM t WHERE p = 'p 1'") == [i for i in own if i % 2]
    assert ids_of(store, "SELECT `a b` FROM t VERSION AS OF 2") == list(range(200))
    assert ids_of(store, "SELECT sum(record_count) FROM `t$partitions`") == [len(own)]


def test_a_scan_whose_rows_have_no_numbers_is_an_error(store, table, monkeypatch):
    """As where a version of Spark does not know the column: no row may be left out, or shown, for it."""
    number = deletion_vectors._NUMBER.replace(deletion_vectors.ROW_NUMBER, "unknown")
    monkeypatch.setattr(deletion_vectors, "_NUMBER", number)
    monkeypatch.setattr(file_scan, "_ROW_NUMBER", DataField(0, "unknown", AtomicType("BIGINT")))
    with pytest.raises(TableStoreError, match="did not number the rows"):
        store.execute("INSERT INTO t SELECT * FROM t")


def test_files_of_one_size(store):
    """The words of a row are found by the size of its file: files of one size are scanned apart."""
    options = {**VECTORS, "file.compression": "none"}
    table = make_table(store.catalog, {"id": "BIGINT"}, options=options)
    for start in (0, 10, 20):
        write(table, rows(range(start, start + 10)))
    prepared_delete(table, [1, 15, 16, 29])()
    assert len({e.file.file_size for e in table.live_files()}) == 1
    assert ids_of(store, "SELECT id FROM t") == [i for i in range(30) if i not in (1, 15, 16, 29)]


def test_numbers_of_rows_without_what_else_spark_knows_of_them(store):
    """All that Spark knows of a row's file is one struct, of which the second query needs nothing."""
    kept = "'deletion-vectors.enabled' = 'true', 'compaction.delete-ratio-threshold' = '1'"
    store.execute(f"CREATE TABLE n (k INT) WITH ({kept})")
    store.execute("INSERT INTO n SELECT id FROM range(8)")
    store.execute("DELETE FROM n WHERE k IN (1, 6)")
    assert len(store.table("n").live_files()) == 1
    for query in ("SELECT k, __paimon_row_index, __paimon_file_path FROM n", "SELECT k, __paimon_row_index FROM n"):
        found = [tuple(row)[:2] for row in store.sql(query).collect()]
        assert sorted(found) == [(k, k) for k in (0, 2, 3, 4, 5, 7)]
    assert ids_of(store, "SELECT k FROM n WHERE __paimon_row_index > 3") == [4, 5, 7]
    assert ids_of(store, "SELECT count(__paimon_row_index) FROM n") == [6]


def test_columns_of_today(store, table):
    own = sorted(table.to_arrow().column("a b").to_pylist())
    store.sql("ALTER TABLE t ADD COLUMN more INT")
    assert ids_of(store, "SELECT `a b` FROM t WHERE more IS NULL") == own


def test_only_columns_of_the_query_are_read(store, table, words):
    plan = store.sql("SELECT sum(`a b`) FROM t")._jdf.queryExecution().executedPlan().toString()
    assert ("LeftAnti" in plan) == (words == "joined")
    assert ("getbit" in plan) == (words == "found")
    assert "v:" not in plan.split("ReadSchema")[1].split(">")[0]


def test_tables_of_other_writers_are_not_written(store, table):
    table = with_options(store.catalog, table, {"deletion-vectors.merge-on-read": "true"})
    before = table.latest_snapshot()
    for statement in (
        "INSERT INTO t VALUES ('p 0', 1, 'x')",
        "UPDATE t SET v = 'x' WHERE `a b` = 5",
        "DELETE FROM t WHERE `a b` = 5",
        "ALTER TABLE t COMPACT",
        "CALL sys.rollback(table => 't', version => '1')",
    ):
        with pytest.raises(OptionError, match=r"'deletion-vectors.merge-on-read' = 'true' is not supported"):
            store.sql(statement)
    assert table.latest_snapshot() == before


def test_statements_without_new_files_work(store, table):
    own = sorted(table.to_arrow().column("a b").to_pylist())
    store.sql("ALTER TABLE t DROP PARTITION (p = 'p 0')")
    assert ids_of(store, "SELECT `a b` FROM t") == [i for i in own if i % 2]
    store.sql("ANALYZE TABLE t COMPUTE STATISTICS")
    store.sql("TRUNCATE TABLE t")
    assert ids_of(store, "SELECT `a b` FROM t") == []
    assert store.catalog.load_table("default", "t").index_files() == []


def test_statements_on_a_table_with_a_key(store):
    store.sql(
        "CREATE TABLE t (p STRING, id BIGINT, v STRING) PARTITIONED BY (p) "
        "TBLPROPERTIES ('primary-key' = 'p,id', 'bucket' = '2', 'deletion-vectors.enabled' = 'true')"
    )
    kept = {}

    def check(statement, *, removed=(), put=()):
        store.sql(statement)
        for one in removed:
            kept.pop(one, None)
        kept.update(put)
        table = store.table("t")
        assert all(e.file.level > 0 and e.file.delete_row_count == 0 for e in table.live_files()), statement
        found = {row[0]: row[1] for row in store.sql("SELECT id, v FROM t").collect()}
        assert found == kept, statement
        assert ids_of(store, "SELECT count(*) FROM t") == [len(kept)]
        assert dict(zip(*(table.to_arrow(c).column(c).to_pylist() for c in ("id", "v")), strict=True)) == kept

    first = {i: f"v{i}" for i in range(400)}
    check("INSERT INTO t SELECT concat('p', id % 2), id, concat('v', id) FROM range(400)", put=first)
    check(
        "INSERT INTO t SELECT concat('p', id % 2), id, 'new' FROM range(390, 410)",
        put=dict.fromkeys(range(390, 410), "new"),
    )
    check("UPDATE t SET v = 'u' WHERE id < 5", put=dict.fromkeys(range(5), "u"))
    check("DELETE FROM t WHERE id % 100 = 7", removed=[7, 107, 207, 307, 407])
    check(
        "MERGE INTO t USING (SELECT concat('p', id % 2) AS p, id FROM range(0, 1000, 50)) s "
        "ON t.p = s.p AND t.id = s.id "
        "WHEN MATCHED AND s.id < 100 THEN DELETE WHEN MATCHED THEN UPDATE SET v = 'm' "
        "WHEN NOT MATCHED THEN INSERT (p, id, v) VALUES (s.p, s.id, 'i')",
        removed=[0, 50],
        put={i: "m" if i < 410 else "i" for i in range(100, 1000, 50)},
    )
    before, version = dict(kept), store.table("t").latest_snapshot().id
    check("INSERT OVERWRITE t PARTITION (p = 'p1') VALUES (1, 'o')", removed=[i for i in kept if i % 2], put={1: "o"})
    check("ALTER TABLE t COMPACT")
    assert store.table("t").index_files() == []
    check(f"CALL sys.rollback(table => 't', version => '{version}')", removed=list(kept), put=before)
    check("DELETE FROM t WHERE p = 'p0'", removed=[i for i in kept if i % 2 == 0])
    check("TRUNCATE TABLE t", removed=list(kept))


FOLDED = "'merge-engine' = 'partial-update', 'fields.s.sequence-group' = 'a,b'"


MERGE = (
    "MERGE INTO {} AS t USING (SELECT id, 7 AS s FROM range(998, 1003)) AS n ON t.id = n.id "
    "WHEN MATCHED AND t.id = 999 THEN UPDATE SET s = n.s, a = 'merged' "
    "WHEN NOT MATCHED THEN INSERT (id, s, a, b) VALUES (n.id, n.s, 'inserted', 2)"
)


@pytest.mark.parametrize("options", ["'sequence.field' = 's'", FOLDED], ids=["sequence", "groups"])
def test_statements_give_what_they_give_without_vectors(store, options):
    """Where the old row of a key counts in what becomes of it."""
    names = ("plain", "marked")
    for name, more in zip(names, ("", ", 'deletion-vectors.enabled' = 'true'"), strict=True):
        store.sql(
            f"CREATE TABLE {name} (id BIGINT, s INT, a STRING, b INT, PRIMARY KEY (id) NOT ENFORCED) "
            f"WITH ('bucket' = '1', {options}{more})"
        )
        store.sql(f"INSERT INTO {name} SELECT id, 5, 'first', 1 FROM range(1000)")
        store.sql(f"INSERT INTO {name} SELECT id * 7, id % 10, 'late or not', 1 FROM range(20)")
    statements = [
        "INSERT INTO {} VALUES (3, 4, 'late', 9), (4, 6, 'new', 9), (5, NULL, 'none', 9)",
        "UPDATE {} SET a = 'updated' WHERE id IN (7, 8)",
        "DELETE FROM {} WHERE id BETWEEN 20 AND 22" if options != FOLDED else "SELECT * FROM {} WHERE id = 4",
        MERGE,
    ]
    for statement in statements:
        for name in names:
            store.sql(statement.format(name))
        plain, marked = (store.sql(f"SELECT * FROM {name} ORDER BY id").toArrow() for name in names)
        assert marked.to_pylist() == plain.to_pylist(), statement
        assert store.table("marked").statistics().row_count == plain.num_rows
        assert (
            store.sql("SELECT * FROM marked WHERE id = 7").collect()
            == store.sql("SELECT * FROM plain WHERE id = 7").collect()
        )
    assert {e.file.level for e in store.table("marked").live_files()} > {5}


def test_statements_on_a_write_only_table_read_all_rows(store):
    store.sql(
        "CREATE TABLE t (id BIGINT, v STRING, PRIMARY KEY (id) NOT ENFORCED) "
        "WITH ('bucket' = '1', 'deletion-vectors.enabled' = 'true', 'write-only' = 'true')"
    )
    store.sql("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    store.sql("INSERT INTO t VALUES (2, 'c'), (3, 'd')")
    assert ids_of(store, "SELECT id FROM t") == [1, 2]
    store.sql("UPDATE t SET v = concat(v, '+') WHERE id >= 2")
    assert store.sql("SELECT v FROM t WHERE id = 2").collect()[0][0] == "c", "the update waits for a compaction, too"
    store.sql("CALL sys.compact(table => 't')")
    assert sorted(map(tuple, store.sql("SELECT * FROM t").collect())) == [(1, "a"), (2, "c+"), (3, "d+")]
