"""Changes between two snapshots through SQL and DataFrames."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.spark_rows import rows

from tablestore_engine.errors import ChangesNotFound, DatabaseNotFound, OptionError, SqlError, TableNotFound, UserError
from tablestore_engine.spark.changelog import change_frame

pytestmark = pytest.mark.spark


def changes(store, arguments, what="*", more=""):
    return sorted(
        (tuple(row) for row in store.sql(f"SELECT {what} FROM table_changes({arguments}) {more}").collect()), key=repr
    )


@pytest.fixture
def keyed(store):
    store.execute(
        "CREATE TABLE k (p STRING, id INT, v STRING, m MAP<STRING, INT>, PRIMARY KEY (p, id) NOT ENFORCED)"
        " PARTITIONED BY (p)"
    )
    store.execute("INSERT INTO k VALUES ('a', 1, 'a', map('x', 1, 'y', 2)), ('a', 2, 'b', null), ('b', 3, 'c', null)")
    store.execute("INSERT INTO k VALUES ('a', 2, 'B', null), ('b', 4, 'd', null), ('a', 1, 'a', map('y', 2, 'x', 1))")
    store.execute("DELETE FROM k WHERE id = 3")
    store.execute("CALL sys.compact('k')")
    store.table("k").create_tag("first", 1)
    return store


def test_changes_of_a_keyed_table(keyed):
    updated = [("+U", "a", 2, "B"), ("-U", "a", 2, "b")]
    inserted, deleted = ("+I", "b", 4, "d"), ("-D", "b", 3, "c")
    shown = "_row_kind, p, id, v"
    assert changes(keyed, "'k', 1", shown) == [inserted, updated[0], deleted, updated[1]], "a map is equal in any order"
    assert changes(keyed, "'default.k', 'first', 2", shown) == [inserted, *updated]
    assert changes(keyed, "'k', 2, 3", shown) == [deleted]
    assert changes(keyed, "'k', 3", shown) == [], "a compaction changes nothing"
    assert changes(keyed, "'k', 1", "c.id", "c WHERE c.p = 'b' AND _row_kind = '-D'") == [(3,)]
    assert changes(keyed, "'k', current_timestamp() - INTERVAL 1 DAY", "count(*)") == [(3,)]
    joined = keyed.sql("SELECT c._row_kind, k.id FROM table_changes('k', 1, 2) c JOIN k ON k.id = c.id WHERE k.id = 4")
    assert [tuple(row) for row in joined.collect()] == [("+I", 4)]


def test_a_bucket_without_changes_between_others(keyed):
    same = ", ".join(f"('{p}', 9, '{p}', map())" for p in "cde")
    keyed.execute(f"INSERT INTO k VALUES {same}")
    keyed.execute("INSERT INTO k VALUES ('c', 9, 'C', map()), ('d', 9, 'd', map()), ('e', 9, 'E', map())")
    last = keyed.table("k").latest_snapshot().id
    found = changes(keyed, f"'k', {last - 1}", "_row_kind, v")
    assert found == [("+U", "C"), ("+U", "E"), ("-U", "c"), ("-U", "e")]


def test_dataframes_and_arrow_agree(keyed):
    frame = keyed.changes("k", 1)
    assert frame.columns == ["_row_kind", "p", "id", "v", "m"]
    arrow = keyed.table("k").changes(1)
    assert sorted(tuple(row)[:4] for row in frame.collect()) == sorted(
        (row["_row_kind"], row["p"], row["id"], row["v"]) for row in arrow.to_pylist()
    )


def test_dataframes_of_what_is_asked_for(keyed):
    """Files of other partitions are not read, even if they are lost."""
    keyed.execute("INSERT INTO k VALUES ('q', 1, 'q', map()), ('q', 2, 'r', map())")
    after = keyed.table("k").latest_snapshot().id - 1
    for file in Path(keyed.table("k").path).glob("p=[!q]*/*/data-*"):
        file.rename(file.with_suffix(".away"))
    frame = keyed.changes("k", after, columns=["v", "_row_kind"], where="p = 'q' AND id > 1")
    assert frame.columns == ["_row_kind", "v"]
    assert frame.collect() == [("+I", "r")]
    with pytest.raises(SqlError, match="nosuch"):
        keyed.changes("k", after, where="nosuch = 1")


def test_read_options(keyed):
    def ids(**options):
        named = {f"incremental-between{key and '-'}{key.replace('_', '-')}": value for key, value in options.items()}
        return sorted(row.id for row in keyed.read("k", options=named).collect())

    times = {one.id: one.time_millis for one in keyed.table("k").snapshots()}
    assert ids(**{"": "1,3"}) == ids(**{"": "first,3", "scan_mode": "diff"}) == [2, 4]
    assert ids(**{"": "1,3", "scan_mode": "delta"}) == [1, 2, 4], "rows that were written, changed or not"
    assert ids(timestamp=f"{times[1] - 1},{times[4]}") == [1, 2, 4]
    for wrong, message in (
        ({"": "1"}, "two snapshots"),
        ({"": "1,2", "scan_mode": "x"}, "auto, diff"),
        ({"scan_mode": "diff"}, "range"),
    ):
        with pytest.raises(OptionError, match=message):
            ids(**wrong)


def test_changes_of_an_append_table(store):
    store.execute("CREATE TABLE a (id INT, d STRING) PARTITIONED BY (d)")
    store.execute("INSERT INTO a VALUES (1, 'x'), (1, 'x'), (2, 'y')")
    store.execute("INSERT INTO a VALUES (1, 'x')")
    store.execute("DELETE FROM a WHERE id = 2")
    store.execute("INSERT OVERWRITE a PARTITION (d = 'x') VALUES (1), (5)")
    assert changes(store, "'a', 0, 2") == [("+I", 1, "x")] * 3 + [("+I", 2, "y")]
    assert changes(store, "'a', 1, 2") == [("+I", 1, "x")]
    assert changes(store, "'a', 2") == [("+I", 5, "x"), *[("-D", 1, "x")] * 2, ("-D", 2, "y")]
    assert changes(store, "'a', 2", more="WHERE d = 'y'") == [("-D", 2, "y")]
    store.execute("ALTER TABLE a ADD COLUMNS (n INT)")
    store.execute("INSERT INTO a VALUES (7, 'z', 1)")
    assert changes(store, "'a', 3", "_row_kind, id, n") == [("+I", 5, None), ("+I", 7, 1), *[("-D", 1, None)] * 2]


def test_changes_of_rows_that_are_marked_as_deleted(store, monkeypatch):
    store.execute("CREATE TABLE a (id INT, d CHAR(2), x ARRAY<INT>) WITH ('deletion-vectors.enabled' = 'true')")
    store.execute("INSERT INTO a SELECT id % 4, 'x', array(id % 4) FROM range(8)")
    store.execute("DELETE FROM a WHERE id = 1")
    store.execute("UPDATE a SET id = 5 WHERE id = 2")
    expected = [("+I", 5, "x ", "[2]")] * 2 + [("-D", 2, "x ", "[2]")] * 2
    for most in (100, 3):  # the last one is too few to look the rows up
        monkeypatch.setattr(change_frame, "MOST_KEYS", most)
        assert changes(store, "'a', 2", "_row_kind, id, d, string(x)") == expected


def test_changes_of_a_keyed_table_whose_rows_vectors_delete(store, tmp_path, monkeypatch):
    store.execute(
        "CREATE TABLE k (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED)"
        " WITH ('bucket' = '1', 'deletion-vectors.enabled' = 'true')"
    )
    store.execute("INSERT INTO k SELECT id, 0 FROM range(20000)")
    table, states = store.table("k"), []
    states.append(table.latest_snapshot().id)
    (large,) = [e.file.file_name for e in table.live_files()]
    store.execute("MERGE INTO k USING (VALUES (2, 'd'), (5, 'u')) s(id, o) ON k.id = s.id"
                  " WHEN MATCHED AND o = 'd' THEN DELETE WHEN MATCHED THEN UPDATE SET v = 7")  # fmt: skip
    states.append(table.latest_snapshot().id)
    store.execute("DELETE FROM k WHERE id = 3")
    states.append(table.latest_snapshot().id)
    assert large in [e.file.file_name for e in table.live_files()], "only its rows were marked"
    steps = [[("+U", 5, 7), ("-D", 2, 0), ("-U", 5, 0)], [("-D", 3, 0)]]
    table.create_tag("before", states[0])
    for most in (1_000_000, 3):  # the last one is too few to look the rows up
        monkeypatch.setattr(change_frame, "MOST_KEYS", most)
        for start, end, expected in zip(states, states[1:], steps, strict=False):
            assert changes(store, f"'k', {start}, {end}") == expected
        assert changes(store, "'k', 'before'") == sorted(steps[0] + steps[1])
    for start, end, expected in zip(states, states[1:], steps, strict=False):
        assert sorted(map(tuple, store.changes("k", start, end).collect())) == expected
        hint = f"/*+ OPTIONS('incremental-between' = '{start},{end}') */"
        assert rows(store, f"SELECT * FROM k$audit_log {hint}") == expected
    binlog = "SELECT * FROM k$binlog /*+ OPTIONS('incremental-between' = 'before,{}') */"
    assert rows(store, binlog.format(states[1])) == [("+U", [5, 5], [0, 7]), ("-D", [2], [0])]
    options = {"scan.mode": "from-snapshot", "scan.snapshot-id": states[0] + 1}
    stream = store.read_stream("k", options=options).writeStream.format("memory").queryName("arrived")
    stream.trigger(availableNow=True).option("checkpointLocation", str(tmp_path / "c")).start().awaitTermination()
    assert sorted(map(tuple, store.spark.table("arrived").collect())) == sorted(steps[0] + steps[1])
    store.execute(f"CALL sys.rollback(table => 'k', snapshot => {states[0]})")
    assert changes(store, f"'k', {states[2]}") == [("+I", 2, 0), ("+I", 3, 0), ("+U", 5, 0), ("-U", 5, 7)]


def test_impossible_ranges_are_refused(keyed):
    store = keyed
    store.execute("CREATE VIEW w AS SELECT * FROM k")
    store.execute("CALL sys.expire_snapshots(table => 'k', retain_max => 2)")
    for arguments, error, message in (
        ("'k', 2", ChangesNotFound, r"no snapshot 2 .* There are snapshots 3 to 4, and the tags first \(1\)"),
        ("'k', 'second'", SqlError, "neither a snapshot nor a tag nor a time"),
        ("'k', 4, 3", UserError, "ends before it begins"),
        ("'w', 1", SqlError, "is a view"),
        ("'k$files', 1", SqlError, "system table"),
        ("'k', 1 - 2", SqlError, "^1 - 2 is no snapshot of table default.k. The id of a snapshot is a whole number"),
        ("'k', 1.5", SqlError, "^1.5 is no snapshot of table"),
        ("'none', 1", TableNotFound, "^Table .default.none. does not exist"),
        ("'none.k', 1", DatabaseNotFound, "none"),
        ("'k'", SqlError, "^table_changes takes the name of a table, as a text, and one or two bounds"),
        ("'k', 1, 2, 3", SqlError, "^table_changes takes the name"),
        ("'odd name', 1", SqlError, "has backticks in the text: '`odd name`'"),
    ):
        with pytest.raises(error, match=message):
            changes(store, arguments)
    assert changes(store, "'k', 2 + 1, 4") == changes(store, "'k', 3, 4")
    # Between the ends everything may be removed.
    assert changes(store, "'k', 'first'", "count(*)") == [(4,)]
    store.execute("CREATE OR REPLACE TABLE k AS SELECT 1 AS one")
    with pytest.raises(ChangesNotFound, match="was replaced by another one"):
        changes(store, "'k', 4")
    assert changes(store, "'k', 0") == [("+I", 1)]


@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (id) NOT ENFORCED"])
def test_changes_lead_over_constraints_and_layouts(store, key):
    more = "" if key else ", 'bucket-key' = 'id'"
    store.execute(f"CREATE TABLE t (id INT, v INT, p INT{key}) WITH ('bucket' = '2'{more})")
    store.execute("INSERT INTO t SELECT id, 1, id % 2 FROM range(6)")
    steps = [
        "ALTER TABLE t ALTER COLUMN v SET NOT NULL",
        "ALTER TABLE t ADD CONSTRAINT positive CHECK (v > 0)",
        "ALTER TABLE t CLUSTERED INTO 3 BUCKETS",
        *([] if key else ["ALTER TABLE t ADD PARTITION FIELD p", "ALTER TABLE t DROP PARTITION FIELD p"]),
    ]
    expected = []
    for number, step in enumerate(steps, 10):
        before = store.table("t").latest_snapshot().id
        store.execute(step)
        store.execute(f"INSERT INTO t VALUES ({number}, {number}, 0)")
        if number == 11:
            store.execute("DELETE FROM t WHERE id = 3")
            expected += [("-D", 3, 1)]
        expected += [("+I", number, number)]
        assert changes(store, f"'t', {before}", "_row_kind, id, v")[0] == ("+I", number, number)
    store.execute("CALL sys.compact('t')")
    assert changes(store, "'t', 1", "_row_kind, id, v") == sorted(expected, key=repr)
    read = store.sql("SELECT id, v FROM t /*+ OPTIONS('incremental-between' = '1,2') */")
    assert read.collect() == []


@pytest.mark.cover
@pytest.mark.parametrize("bucket", ["2", "-1"])
@pytest.mark.parametrize("more", ["", ", 'deletion-vectors.enabled' = 'true'"])
def test_rows_that_an_overwrite_put_into_other_buckets(store, monkeypatch, bucket, more):
    small = ", 'dynamic-bucket.target-row-num' = '2'" if bucket == "-1" else ""
    store.execute(
        "CREATE TABLE k (p INT, id INT, v INT, PRIMARY KEY (p, id) NOT ENFORCED) PARTITIONED BY (p)"
        f" WITH ('bucket' = '{bucket}'{small}{more})"
    )
    store.execute("INSERT INTO k SELECT 1, id, 1 FROM range(9)")
    if bucket == "2":
        store.execute("ALTER TABLE k SET TBLPROPERTIES ('bucket' = '5')")
    store.execute("INSERT OVERWRITE k SELECT p, id, if(id % 3 = 0, 7, v) FROM k ORDER BY id DESC")
    store.execute("INSERT INTO k VALUES (1, 1, 5), (1, 20, 7)")
    updated = [(n, 7) for n in (0, 3, 6)] + [(1, 5)]
    expected = [("+I", 20, 7), *[("+U", n, v) for n, v in updated], *[("-U", n, 1) for n, _ in updated]]
    for most in (1_000_000, 0):  # the last one is too few to look the rows up
        monkeypatch.setattr(change_frame, "MOST_KEYS", most)
        conditions = [(column, value) for column, values in ((1, (0, 1, 2, 20)), (2, (1, 5, 7))) for value in values]
        query = "SELECT {} AS n, _row_kind, id, v FROM table_changes('k', 1){}"
        texts = [query.format(n, f" WHERE {('', 'id', 'v')[i]} = {value}") for n, (i, value) in enumerate(conditions)]
        wanted = [(n, *one) for n, (i, value) in enumerate(conditions) for one in sorted(expected) if one[i] == value]
        assert rows(store, " UNION ALL ".join([*texts, query.format(-1, "")])) == sorted(
            [*wanted, *((-1, *one) for one in expected)]
        )


def test_changes_in_table(keyed):
    found = keyed.sql("SELECT c.id FROM TABLE(table_changes('k', 2)) AS c JOIN k ON k.id <> c.id WHERE k.id = 1")
    assert [tuple(row) for row in found.collect()] == [(3,)]


@pytest.mark.parametrize("value", [pytest.param("INT", marks=pytest.mark.soak), "STRING", "STRUCT<x: INT>"])
def test_maps_with_nulls_without_a_key(store, value):
    """Spark's own GROUP BY gives a null among the values of a map the value of another key, or fails."""
    store.execute(f"CREATE TABLE maps (id INT, m MAP<STRING, {value}>) WITH ('merge-engine' = 'tablestore-count')")
    one = "named_struct('x', 1)" if value.startswith("STRUCT") else f"cast(1 AS {value})"
    none = f"cast(null AS {value})"
    row = f"map('a', {one}, 'b', {none}), map('b', {none}), null, map()"
    store.execute(f"INSERT INTO maps SELECT id, m FROM range(3) LATERAL VIEW explode(array({row})) AS m")
    before = {repr(one) for one in rows(store, "SELECT m FROM maps")}
    assert len(before) == 4
    store.execute("DELETE FROM maps WHERE id = 1")
    assert {repr(one) for one in rows(store, "SELECT m FROM maps")} == before
    assert store.sql("SELECT count(*) FROM maps").collect()[0][0] == 8
    deleted = changes(store, "'maps', 1", "_row_kind, m")
    assert {repr(one[1:]) for one in deleted} == before
    assert [one[0] for one in deleted] == ["-D"] * 4


def test_two_ranges_are_refused(store):
    store.execute("CREATE TABLE t (id INT)")
    both = "'incremental-between' = '0,1', 'incremental-between-timestamp' = '0,1'"
    with pytest.raises(OptionError, match="are two ranges"):
        store.sql(f"SELECT * FROM t /*+ OPTIONS({both}) */")
    for bound in ("true", "map(1, 2)", "array(1)"):
        with pytest.raises(SqlError, match="is neither a snapshot nor a tag nor a time"):
            store.sql(f"SELECT * FROM table_changes('t', {bound})")
