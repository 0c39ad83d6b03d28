"""Keys that cross partitions: where a key goes that comes with another partition, by merge engine."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from support.invariants import check_invariants
from support.spark_rows import in_order, rows
from support.tables import make_table

from tablestore_engine.errors import DuplicateKeyError, OptionError, PrimaryKeyError, UserError
from tablestore_engine.spark.dml import insert_overwrite

pytestmark = pytest.mark.spark

TABLE = """
    CREATE TABLE t (dt STRING, id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt)
    WITH ('bucket' = '-1', 'dynamic-bucket.target-row-num' = '10'{})
"""
QUERY = "SELECT id, dt, v FROM t"


WAYS = ["here", "records by Spark", "kept by Spark", "tasks"]


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    """How rows are routed: in this process, or partly or all by Spark."""
    if request.param == "records by Spark":
        monkeypatch.setattr("tablestore_engine.operation.write.cross_partition_keys.MAX_FILES", 0)
    elif request.param != "here":
        monkeypatch.setattr("tablestore_engine.spark.write.writer.SMALL_INPUT_BYTES", -1)
    if request.param == "tasks":
        monkeypatch.setattr("tablestore_engine.spark.write.cross_partition_joins.small_rows", lambda schema: -1)
    return request.param


@pytest.mark.parametrize(
    "way", ["here", "records by Spark", *(pytest.param(one, marks=pytest.mark.soak) for one in WAYS[2:])], indirect=True
)
def test_a_key_moves(store, way):
    store.execute(TABLE.format(""))
    store.execute("INSERT INTO t SELECT 'a', cast(id AS INT), 1 FROM range(30)")
    table = store.table("t")
    assert {e.bucket for e in table.live_files()} == {0, 1, 2}
    assert table.index_files() == []
    state = dict.fromkeys(range(30), ("a", 1))

    def check():
        assert rows(store, QUERY) == in_order((i, *one) for i, one in state.items())
        check_invariants(table)

    check()
    # Some stay, some move, some are new; one comes twice, and its last row counts.
    new = (
        "SELECT * FROM VALUES ('a', 1, 2), ('b', 2, 2), ('b', 3, 2), ('a', 3, 3), "
        "(NULL, 4, 2), ('b', 99, 2) AS x(dt, id, v)"
    )
    store.spark.sql(new).coalesce(1).createOrReplaceTempView("x")
    assert store.execute("INSERT INTO t SELECT * FROM x").rows_affected == 6, (
        "deletes of rows that move are not counted"
    )
    state |= {1: ("a", 2), 2: ("b", 2), 3: ("a", 3), 4: (None, 2), 99: ("b", 2)}
    check()
    # There and back again: old records of a key lie in several partitions now.
    for dt in ("b", "a"):
        store.execute(f"INSERT INTO t SELECT '{dt}', cast(id AS INT), 7 FROM range(10, 20)")
        state |= dict.fromkeys(range(10, 20), (dt, 7))
    check()
    store.execute("ALTER TABLE t COMPACT")
    check()
    store.execute("UPDATE t SET dt = 'c' WHERE id < 3")
    store.execute("DELETE FROM t WHERE id IN (3, 15)")
    state |= {i: ("c", state[i][1]) for i in range(3)}
    state = {i: one for i, one in state.items() if i not in (3, 15)}
    check()
    store.execute("INSERT INTO t (_row_kind, dt, id, v) VALUES ('-D', 'elsewhere', 20, 0), ('-D', 'c', 777, 0)")
    del state[20]
    check()
    store.execute("ALTER TABLE t SET TBLPROPERTIES ('dynamic-partition-overwrite' = 'false')")
    store.execute("INSERT OVERWRITE t VALUES ('z', 1, 1), ('y', 1, 2)")
    state = {1: ("y", 2)}
    check()


def test_a_key_moves_between_partitions_of_one_directory(store):
    """Null, blanks and the name that the directory has are four partitions."""
    store.execute(TABLE.format(", 'write-only' = 'true'"))
    partitions, state = [None, "", "  ", "__DEFAULT_PARTITION__"], {}
    for turn in range(5):
        state |= {key: (partitions[(turn + key) % 4], turn) for key in range(4)}
        values = ", ".join(f"({'NULL' if dt is None else repr(dt)}, {key}, {v})" for key, (dt, v) in state.items())
        store.execute(f"INSERT INTO t VALUES {values}")
        assert rows(store, QUERY) == in_order((key, *one) for key, one in state.items())
    store.execute("ALTER TABLE t COMPACT")
    assert rows(store, QUERY) == in_order((key, *one) for key, one in state.items())
    check_invariants(store.table("t"))


@pytest.mark.cover
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (", 'merge-engine' = 'partial-update'", [(1, "a", 5), (2, "b", 2), (3, "b", 4)]),
        (", 'merge-engine' = 'aggregation', 'fields.v.aggregate-function' = 'sum'",
         [(1, "a", 6), (2, "b", 4), (3, "b", 7)]),
        (", 'merge-engine' = 'first-row'", [(1, "a", 1), (2, "b", 2), (3, "b", 3)]),
    ],
    ids=["partial-update", "aggregation", "first-row"],
)  # fmt: skip
def test_other_merge_engines_keep_the_old_partition(store, way, options, expected):
    store.execute(TABLE.format(options))
    store.execute("INSERT INTO t VALUES ('a', 1, 1), ('b', 2, 2)")
    store.spark.sql("SELECT * FROM VALUES ('z', 1, 5), ('b', 2, 2), ('b', 3, 3), ('z', 3, 4) AS x(dt, id, v)").coalesce(
        1
    ).createOrReplaceTempView("x")
    store.execute("INSERT INTO t SELECT * FROM x")
    assert rows(store, QUERY) == expected
    check_invariants(store.table("t"))
    store.execute("ALTER TABLE t COMPACT")
    assert rows(store, QUERY) == expected


@pytest.mark.parametrize(
    ("options", "kind", "once", "twice"),
    [
        ("'merge-engine' = 'aggregation', 'fields.v.aggregate-function' = 'product'", "-U", 3, 15),
        (
            (
                "'merge-engine' = 'aggregation', 'fields.v.aggregate-function' = 'sum',"
                " 'aggregation.remove-record-on-delete' = 'true'"
            ),
            "-U",
            4,
            9,
        ),
        ("'merge-engine' = 'partial-update', 'fields.n.sequence-group' = 'v'", "-D", None, 5),
    ],
    ids=["stored retractions", "deletes of groups", "sequence group"],
)
def test_a_retraction_leaves_a_key_in_its_partition(store, options, kind, once, twice):
    store.execute(
        "CREATE TABLE t (dt INT, id INT, v INT, n INT, PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt)"
        f" WITH ('bucket' = '-1', {options})"
    )
    store.execute("INSERT INTO t VALUES (7, 1, 6, 0)")
    store.execute(f"INSERT INTO t (_row_kind, dt, id, v, n) VALUES ('{kind}', 7, 1, 2, 1)")
    assert rows(store, QUERY) == [(1, 7, once)]
    store.execute("INSERT INTO t VALUES (8, 1, 5, 2)")
    assert rows(store, QUERY) == [(1, 7, twice)]
    store.execute("ALTER TABLE t COMPACT")
    assert rows(store, QUERY) == [(1, 7, twice)]
    check_invariants(store.table("t"))


def test_a_retraction_of_a_key_that_is_nowhere(store):
    """It is a run by itself, with nothing above it."""
    store.execute(
        "CREATE TABLE t (dt INT, id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt)"
        " WITH ('bucket' = '-1', 'merge-engine' = 'aggregation', 'fields.v.aggregate-function' = 'product')"
    )
    store.execute("INSERT INTO t VALUES (7, 1, 6)")
    store.execute("INSERT INTO t (_row_kind, dt, id, v) VALUES ('-U', 7, 2, 2)")
    assert rows(store, QUERY) == [(1, 7, 6), (2, 7, None)]
    assert sorted(row["id"] for row in store.table("t").to_arrow().to_pylist()) == [1, 2]
    store.execute("ALTER TABLE t COMPACT")
    assert rows(store, QUERY) == [(1, 7, 6), (2, 7, None)]


def test_a_partition_column_is_no_value(store):
    options = "'bucket' = '-1', 'merge-engine' = 'aggregation', 'fields.default-aggregate-function' = 'sum'"
    columns = "(dt INT, id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt)"
    store.execute(f"CREATE TABLE t {columns} WITH ({options})")
    store.execute("INSERT INTO t VALUES (7, 1, 1)")
    store.execute("INSERT INTO t VALUES (7, 1, 1)")
    assert rows(store, QUERY) == [(1, 7, 2)]
    with pytest.raises(OptionError, match="'dt' says the partition"):
        store.execute(f"CREATE TABLE u {columns} WITH ({options}, 'fields.dt.aggregate-function' = 'max')")


def test_the_newest_records_of_keys_that_move(store):
    store.execute(TABLE.format(""))
    store.execute("INSERT INTO t VALUES ('a', 1, 1), ('a', 2, 1)")
    store.execute("INSERT INTO t VALUES ('b', 1, 2)")
    found = store.sql("SELECT rowkind, dt, id FROM t$audit_log").collect()
    assert sorted(map(tuple, found)) == [("+I", "a", 2), ("+I", "b", 1), ("-D", "a", 1)]


def test_created_as_select(store):
    store.execute(
        "CREATE TABLE t (PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt) WITH ('bucket' = '-1') "
        "AS SELECT * FROM VALUES ('a', 1, 1), ('b', 2, 1) AS x(dt, id, v)"
    )
    assert rows(store, QUERY) == [(1, "a", 1), (2, "b", 1)]
    with pytest.raises(DuplicateKeyError, match="id=1"):
        store.execute("INSERT INTO t VALUES ('c', 1, 1), ('d', 1, 2)", refuse_duplicates=True)
    with pytest.raises(UserError, match="Single partitions"):
        store.execute("INSERT OVERWRITE t PARTITION (dt = 'a') VALUES (2, 2)")
    assert rows(store, QUERY) == [(1, "a", 1), (2, "b", 1)]


def test_a_write_in_between_conflicts(store, monkeypatch):
    store.execute(TABLE.format(""))
    store.execute("INSERT INTO t VALUES ('a', 1, 1)")
    finish, runs = insert_overwrite.finish, []

    def late(*args, **kwargs):
        runs.append(args[-1].read_snapshot)
        if len(runs) == 1:
            store.execute("INSERT INTO t VALUES ('b', 1, 2)")
        return finish(*args, **kwargs)

    monkeypatch.setattr(insert_overwrite, "finish", late)
    store.execute("INSERT INTO t VALUES ('c', 1, 3)")
    assert runs == [1, 1, 2], "the one in between, and then once more"
    assert rows(store, QUERY) == [(1, "c", 3)]


@pytest.mark.cover
@pytest.mark.parametrize("way", [*WAYS[:3], pytest.param("tasks", marks=pytest.mark.soak)], indirect=True)
@pytest.mark.parametrize("refuse", [False, True])
def test_keys_of_several_columns_and_types(store, way, refuse):
    """Floats are equal as the table holds them, a null partition is one, and part of the key may be in the
    partition."""
    store.execute("""
        CREATE TABLE t (dt STRING, region STRING, f DOUBLE, at TIMESTAMP, d DECIMAL(20, 2), v INT,
            PRIMARY KEY (region, f, at, d) NOT ENFORCED)
        PARTITIONED BY (region, dt) WITH ('bucket' = '-1')
    """)
    row = (
        "SELECT {dt} AS dt, '{r}' AS region, double({f}) AS f, timestamp'2024-05-05 "
        "10:00:00Z' AS at, 1.50BD AS d, {v} AS v"
    )
    one = [("'a'", "x", 0, 1), ("'a'", "y", 0, 1), ("'a'", "x", "'NaN'", 1), ("NULL", "x", 7, 1)]
    two = [("'b'", "x", "'-0'", 2), ("NULL", "y", 1, 2), ("'b'", "x", "'NaN'", 2), ("NULL", "x", 7, 2)]
    for rows_ in (one, two):
        selects = (row.format(dt=dt, r=r, f=f, v=v) for dt, r, f, v in rows_)
        store.execute("INSERT INTO t " + " UNION ALL ".join(selects), refuse_duplicates=refuse)
    found = store.sql("SELECT region, dt, string(f), v FROM t").collect()
    assert sorted(map(tuple, found), key=repr) == sorted(
        [
            ("x", "b", "0.0", 2),
            ("x", "b", "NaN", 2),
            ("x", None, "7.0", 2),
            ("y", "a", "0.0", 1),
            ("y", None, "1.0", 2),
        ],
        key=repr,
    )


def test_rows_that_are_given_twice(store, way):
    store.execute(TABLE.format(""))
    store.execute("INSERT INTO t VALUES ('a', 1, 1), ('a', 2, 1)")
    with pytest.raises(DuplicateKeyError, match="id=2"):
        store.execute("INSERT INTO t VALUES ('a', 2, 2), ('b', 2, 2), ('b', 1, 2)", refuse_duplicates=True)
    with pytest.raises(PrimaryKeyError, match="'id'"):
        store.execute("INSERT INTO t VALUES ('a', 3, 2), ('b', NULL, 2)")
    store.execute("MERGE INTO t USING (VALUES ('b', 1, 5), ('c', 3, 5)) AS s(dt, id, v) ON t.id = s.id"
                  " WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *")  # fmt: skip
    assert rows(store, QUERY) == [(1, "b", 5), (2, "a", 1), (3, "c", 5)]
    check_invariants(store.table("t"))


ENGINES = {
    "deduplicate": ({}, ["+I", "+U", "-U", "-D"]),
    "deduplicate, no deletes": ({"ignore-delete": "true"}, ["+I", "+U", "-U", "-D"]),
    "deduplicate, no -U": ({"ignore-update-before": "true"}, ["+I", "+U", "-U"]),
    "first-row": ({}, ["+I", "+U"]),
    "partial-update": ({"partial-update.remove-record-on-delete": "true"}, ["+I", "+U", "+U", "-D"]),
    "aggregation": ({"fields.v.aggregate-function": "sum"}, ["+I", "+U", "-U", "-D"]),
}
BY_DEFAULT = ("deduplicate", "first-row", "partial-update")  # sums keep the partition as partial updates do


@pytest.mark.parametrize(
    "engine", [pytest.param(one, marks=() if one in BY_DEFAULT else pytest.mark.soak) for one in ENGINES]
)
def test_both_executions_route_alike(store, tmp_path, monkeypatch, engine):
    """The same random rows are routed in this process and by joins; changes too, which delete and add a key."""
    rng, (more, kinds) = random.Random(engine), ENGINES[engine]
    options = {"bucket": "-1", "dynamic-bucket.target-row-num": "2", "merge-engine": engine.partition(",")[0], **more}
    columns = {"p": "INT", "id": "INT", "v": "INT"}
    where, names = tmp_path / "warehouse", ("few", "many")
    tables = {name: make_table(where, columns, ["id"], ["p"], options, name=name) for name in names}
    schema = pa.schema([("p", pa.int32()), ("id", pa.int32()), ("v", pa.int32()), ("_row_kind", pa.string())])

    def played(play, apart=True):
        """Of each table, the rows and the newest records of its partitions afterwards."""
        for name, table in tables.items():
            with monkeypatch.context() as patch:
                if name == "many" and apart:
                    patch.setattr("tablestore_engine.spark.write.writer.SMALL_INPUT_BYTES", -1)
                    patch.setattr("tablestore_engine.spark.write.cross_partition_joins.small_rows", lambda schema: -1)
                play(name)
            check_invariants(table)
        logs = (f"SELECT '{name}' AS name, rowkind, id, p FROM {name}$audit_log" for name in tables)
        records = sorted(store.sql(" UNION ALL ".join(logs)).collect(), key=repr)
        return [
            (
                sorted(table.to_arrow().to_pylist(), key=lambda row: row["id"]),
                [tuple(record)[1:] for record in records if record.name == name],
            )
            for name, table in tables.items()
        ]

    for number in range(2):
        batch = [
            {"p": rng.choice([None, 0, 1]), "id": rng.randrange(9), "v": rng.choice([None, 1, 2]), "_row_kind": kind}
            for kind in rng.choices(kinds, k=12)
        ]
        frame = store.spark.createDataFrame(pa.Table.from_pylist(batch, schema)).coalesce(1)
        few, many = played(lambda name, frame=frame: store.write(name, frame), apart=number > 0)
        assert few == many
        assert few[0]
        assert len({row["id"] for row in few[0]}) == len(few[0]), "each key is in one partition"
    if engine == "deduplicate":
        few, many = played(lambda name: store.execute(f"UPDATE {name} SET p = 1 - p, v = 7 WHERE id < 5"))
        assert few == many


def test_files_without_the_keys_are_not_read(store, monkeypatch):
    """Of few rows, only files that may hold one of their keys are read, and no Spark job looks at any."""
    from tablestore_engine.operation.write import cross_partition_keys

    store.execute(TABLE.format(""))
    store.execute("INSERT INTO t SELECT string(id div 10), int(id), 0 FROM range(300)")
    read, looked = cross_partition_keys.read_rows_of_keys, []
    monkeypatch.setattr(
        cross_partition_keys,
        "read_rows_of_keys",
        lambda io, file, *args, **kwargs: looked.append(file.path) or read(io, file, *args, **kwargs),
    )
    monkeypatch.setattr("tablestore_engine.spark.scan.file_scan.FileScans.scan", None)
    store.execute("INSERT INTO t VALUES ('x', 15, 1), ('x', 213, 1), ('x', 999, 1)")
    assert sorted(path.split("/dt=")[1].split("/")[0] for path in looked) == ["1", "21"]


def test_a_key_has_one_row_if_deletes_are_ignored(store):
    """Its old row cannot be deleted, so the new one replaces it in the partition where it is."""
    store.execute("CREATE TABLE t (p INT, id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (p)"
                  " WITH ('bucket' = '-1', 'ignore-delete' = 'true')")  # fmt: skip
    store.execute("INSERT INTO t VALUES (1, 1, 1), (1, 2, 1)")
    store.execute("INSERT INTO t VALUES (2, 1, 2), (2, 3, 2)")
    assert sorted(map(tuple, store.sql("SELECT p, id, v FROM t").collect())) == [(1, 1, 2), (1, 2, 1), (2, 3, 2)]
    kinds = "SELECT * FROM VALUES (3, 4, 4, '+I'), (3, 4, 4, '-D'), (3, 2, 0, '-D') AS r(p, id, v, _row_kind)"
    store.execute(f"INSERT INTO t {kinds}")
    expected = [(1, 1, 2), (1, 2, 1), (2, 3, 2), (3, 4, 4)]
    assert sorted(map(tuple, store.sql("SELECT p, id, v FROM t").collect())) == expected


def test_rows_without_a_partition_are_looked_up_too(store, monkeypatch):
    monkeypatch.setattr("tablestore_engine.spark.read.merge_source_bounds.LARGE_FILES", 0)
    store.execute(TABLE.format(""))
    store.execute("INSERT INTO t VALUES ('a', 1, 1), (NULL, 2, 2), (NULL, 3, 3), ('b', 4, 4), (NULL, 5, 5)")
    assert store.execute("UPDATE t SET v = v * 10 WHERE v > 2").rows_affected == 3
    merge = "MERGE INTO t USING (SELECT 20 + 10 AS v) s ON t.v = s.v WHEN MATCHED THEN UPDATE SET v = -1"
    assert store.execute(f"{merge} WHEN NOT MATCHED BY SOURCE AND t.v < 3 THEN DELETE").rows_affected == 3
    assert rows(store, QUERY) == in_order([(3, None, -1), (4, "b", 40), (5, None, 50)])
    assert store.execute("DELETE FROM t WHERE v <> 40").rows_affected == 2
    assert rows(store, QUERY) == [(4, "b", 40)]
