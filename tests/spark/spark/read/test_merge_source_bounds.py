"""MERGE reads the files of its target that it can change: by what ON says, and by what the rows of the source are.

A file that must not be read is damaged, so that reading it fails.
"""

from __future__ import annotations

import random

import pytest
from support.files import live_paths
from support.invariants import check_invariants
from support.tables import arrow_rows

from tablestore_engine.spark.read import merge_source_bounds
from tablestore_engine.sql.row_level import row_level_target

pytestmark = [pytest.mark.spark, pytest.mark.cover("days")]

DAYS = "abcdef"


@pytest.fixture(params=["append", "keyed", "multiset", "crossing"])
def days(request, store, monkeypatch):
    """A table with a file for each of six days, ids 0 to 9 in the first, 10 to 19 in the second, and so on."""
    monkeypatch.setattr(merge_source_bounds, "LARGE_FILES", 6)
    key = {"keyed": ", PRIMARY KEY (day, id) NOT ENFORCED", "crossing": ", PRIMARY KEY (id) NOT ENFORCED"}
    options = {
        "multiset": " TBLPROPERTIES ('merge-engine' = 'tablestore-count')",
        "crossing": " WITH ('bucket' = '-1')",
    }
    store.execute(
        f"CREATE TABLE t (day STRING, id INT, v INT{key.get(request.param, '')}) PARTITIONED BY (day)"
        + options.get(request.param, "")
    )
    table = store.table("t")
    for i, day in enumerate(DAYS):
        rows = arrow_rows(table.schema, [{"day": day, "id": 10 * i + k, "v": 0} for k in range(10)])
        if request.param == "crossing":
            store.write("t", store.spark.createDataFrame(rows))
            continue
        table.write(rows)
        if request.param == "keyed":
            table.write(rows.slice(3, 5))  # a second run
    return store


def damage(store, days):
    """Make the files of some days unreadable. Returns how to mend them."""
    kept = {}
    for path in live_paths(store.table("t")):
        if path.split("/day=")[1][0] in days:
            with open(path, "rb") as file:
                kept[path] = file.read()
            with open(path, "r+b") as file:
                file.truncate(20)

    def mend():
        for path, content in kept.items():
            with open(path, "wb") as file:
                file.write(content)

    assert len(kept) >= len(days)
    return mend


def by_id(store):
    return {r.id: (r.day, r.v) for r in store.sql("SELECT * FROM t").collect()}


BEFORE = {i: (DAYS[i // 10], 0) for i in range(60)}


def test_files_without_keys_of_the_source_are_not_read(days):
    mend = damage(days, "adf")
    result = days.execute(
        "MERGE INTO t USING (SELECT * FROM VALUES ('b', 12), ('c', 25), ('c', 99) AS x(day, id)) s"
        " ON t.day = s.day AND t.id = s.id WHEN MATCHED AND t.day = 'b' THEN DELETE"
        " WHEN MATCHED THEN UPDATE SET v = 1 WHEN NOT MATCHED THEN INSERT (day, id, v) VALUES (s.day, s.id, 2)"
    )
    mend()
    assert result.rows_affected == 3
    expected = {**BEFORE, 25: ("c", 1), 99: ("c", 2)}
    del expected[12]
    assert by_id(days) == expected
    check_invariants(days.table("t"))


@pytest.mark.parametrize("days", ["append", "crossing"], indirect=True)
def test_ranges_of_many_rows(days):
    mend = damage(days, "abef")
    source = "(SELECT 20 + id % 20 AS wanted FROM range(400)) s"
    assert days.execute(f"MERGE INTO t USING {source} ON wanted = id WHEN MATCHED THEN DELETE").rows_affected == 20
    mend()
    assert by_id(days) == {i: row for i, row in BEFORE.items() if not 20 <= i < 40}


@pytest.mark.parametrize("days", ["keyed", "multiset"], indirect=True)
def test_nothing_matches_no_row_and_null(days):
    mend = damage(days, DAYS)
    source = "(SELECT CAST(NULL AS INT) AS id, 'x' AS day) s"
    insert = "WHEN NOT MATCHED THEN INSERT (day, id, v) VALUES (s.day, 77, 7)"
    assert (
        days.execute(f"MERGE INTO t USING {source} ON t.id = s.id WHEN MATCHED THEN DELETE {insert}").rows_affected == 1
    )
    empty = "(SELECT id FROM range(0)) s"
    assert days.execute(f"MERGE INTO t USING {empty} ON t.id = s.id WHEN MATCHED THEN DELETE").rows_affected == 0
    mend()
    assert by_id(days) == {**BEFORE, 77: ("x", 7)}


def test_rows_that_the_source_does_not_match(days):
    mend = damage(days, "bcf")
    source = "(SELECT * FROM VALUES ('d', 31), ('d', 32) AS x(day, id)) s"
    result = days.execute(
        f"MERGE INTO t USING {source} ON t.day = s.day AND t.id = s.id WHEN MATCHED THEN UPDATE SET v = 1"
        " WHEN NOT MATCHED BY SOURCE AND t.day = 'a' THEN DELETE"
        " WHEN NOT MATCHED BY SOURCE AND day = 'e' AND id < 42 THEN UPDATE SET v = 3"
    )
    mend()
    assert result.rows_affected == 2 + 10 + 2
    expected = {i: row for i, row in BEFORE.items() if row[0] != "a"}
    assert by_id(days) == expected | dict.fromkeys((31, 32), ("d", 1)) | dict.fromkeys((40, 41), ("e", 3))
    result = days.execute(
        f"MERGE INTO t USING {source} ON t.day = s.day AND t.id = s.id"
        " WHEN NOT MATCHED BY SOURCE AND day = 'e' THEN DELETE WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = 9"
    )
    assert result.rows_affected == 48
    assert {v for _, v in by_id(days).values()} == {9, 1}


@pytest.mark.parametrize("days", ["append", "keyed"], indirect=True)
def test_a_source_is_computed_once(days):
    """Or a row whose key was looked for would not be the one that is joined."""
    chance = "abs(hash(reflect('java.util.UUID', 'randomUUID'))) % 60"
    source = f"(SELECT DISTINCT {chance} AS id FROM range(4)) s"
    days.execute(
        f"MERGE INTO t USING {source} ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = v + 1"
        " WHEN NOT MATCHED THEN INSERT (day, id, v) VALUES ('z', s.id, -1)"
    )
    assert {day for day, _ in by_id(days).values()} == set(DAYS)


@pytest.mark.cover
@pytest.mark.parametrize("seed", range(2))
def test_the_same_with_and_without_a_look_at_the_source(days, monkeypatch, seed):
    chance = random.Random(seed)
    given = [(chance.choice(DAYS[:3] + "y"), chance.randrange(8, 34), chance.randrange(3)) for _ in range(12)]
    values = ", ".join(map(str, {(day, i): (day, i, v) for day, i, v in given}.values()))
    on = "t.day = s.day AND t.id = s.id" + chance.choice(["", " AND t.v < 2", " AND s.v > 0"])
    rest = " WHEN NOT MATCHED BY SOURCE AND t.v = 0 AND t.day = 'b' THEN UPDATE SET v = 50"
    merge = (
        f"MERGE INTO t USING (SELECT * FROM VALUES {values} AS x(day, id, v)) s ON {on}"
        f" WHEN MATCHED AND s.v = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET v = s.v + 10{rest if seed else ''}"
    )
    before = days.table("t").latest_snapshot().id
    results = []
    for files in (6, 10**9):
        monkeypatch.setattr(merge_source_bounds, "LARGE_FILES", files)
        affected = days.execute(merge).rows_affected
        results.append((affected, by_id(days)))
        if files == 6:
            days.execute(f"CALL sys.rollback(table => 't', version => '{before}')")
    assert results[0] == results[1]
    assert affected


@pytest.mark.parametrize("days", ["keyed"], indirect=True)
def test_bounds_of_a_small_target_are_not_computed(days, monkeypatch):
    monkeypatch.setattr(merge_source_bounds, "LARGE_FILES", 13)
    monkeypatch.setattr("tablestore_engine.sql.row_level.merge_source.bounds_of", lambda *given: pytest.fail("looked"))
    source = "(SELECT 'b' AS day, 12 AS id) s"
    merge = f"MERGE INTO t USING {source} ON t.day = s.day AND t.id = s.id WHEN MATCHED THEN DELETE"
    assert days.execute(merge).rows_affected == 1


@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (day, id) NOT ENFORCED"])
def test_merge_reads_what_on_says(store, monkeypatch, key):
    store.execute(f"CREATE TABLE t (day STRING, id INT, v INT{key}) PARTITIONED BY (day)")
    store.execute("INSERT INTO t SELECT day, id, 0 FROM range(3) CROSS JOIN VALUES ('a'), ('b'), ('c') AS d(day)")
    read = []
    for name in ("read_plan", "read_positions"):
        real = getattr(row_level_target, name)

        def noting(spark, table, plan, *rest, real=real, **how):
            read.append({b.partition[0] for b in plan.buckets})
            return real(spark, table, plan, *rest, **how)

        monkeypatch.setattr(row_level_target, name, noting)
    source = "(SELECT id, 'b' AS day FROM range(2) UNION ALL SELECT 7, 'c') s"
    merge = f"MERGE INTO t USING {source} ON t.id = s.id AND t.day = s.day AND {{}} WHEN MATCHED THEN UPDATE SET v = 1"
    store.execute(merge.format("t.day = 'b'") + " WHEN NOT MATCHED THEN INSERT (day, id, v) VALUES (s.day, s.id, 9)")
    store.execute(merge.format("t.day IN ('b', 'c')"))
    store.execute(merge.format("t.day = 'b'") + " WHEN NOT MATCHED BY SOURCE AND t.day = 'a' THEN UPDATE SET v = 2")
    looked_up = 2 if key else 0  # by the key, the rows of the source alone are
    assert read == [{"b"}, {"b", "c"}, {"a", "b"}][looked_up:]
    found = {(r.day, r.id): r.v for r in store.sql("SELECT * FROM t").collect()}
    assert found == {
        **{("a", i): 2 for i in range(3)}, ("b", 0): 1, ("b", 1): 1, ("b", 2): 0,
        **{("c", i): 0 for i in range(3)}, ("c", 7): 1,
    }  # fmt: skip
    check_invariants(store.table("t"))
