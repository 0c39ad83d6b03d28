"""The days from 1582-10-05 to 1582-10-14, which Java's older calendar does not have, are days as any other ones.

The tables have files of these days only, so that a constant which became another day finds none of their rows.
"""

from __future__ import annotations

import operator
from datetime import date, timedelta

import pytest
from support.spark_rows import answers, ids_of, rows, stored

from tablestore_engine.spark.session.session import new_session, prepare_session
from tablestore_engine.store import TableStore

pytestmark = pytest.mark.spark

FORMATS = ("parquet", "orc", "avro")
LAYOUTS = {
    "plain": "WITH ('file.format' = '{}')",
    "marked": "WITH ('file.format' = '{}', 'deletion-vectors.enabled' = 'true')",
    "partitioned": "PARTITIONED BY (da) WITH ('file.format' = '{}')",
    "by day": "WITH ('file.format' = '{}', 'primary-key' = 'da', 'bucket' = '1')",
    "by time": "WITH ('file.format' = '{}', 'primary-key' = 'ltz,ntz', 'bucket' = '2')",
}
LOOKED_UP = ("marked", "by day", "by time")
FIRST = date(1582, 9, 30)
DAYS = {number: FIRST + timedelta(days=number) for number in range(1, 30)}
WRITES = ((1, 5), (5, 10), (10, 15), (15, 30))  # the days of each file; the second and third are those of the gap
OPERATORS = {"=": "eq", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
COLUMNS = {"da": "DATE'{}'", "ltz": "TIMESTAMP'{} 12:00:00'", "ntz": "TIMESTAMP_NTZ'{} 12:00:00'"}


# The days of partitions are in no file, and ORC files hold no times of these days.
KINDS = [
    (one, layout)
    for one in FORMATS
    for layout in LAYOUTS
    if (one, layout) != ("orc", "by time") and (one == "parquet" or layout != "partitioned")
]


def columns_of(file_format):
    """The columns and their constants; an ORC file holds no timestamps of these days."""
    return {name: one for name, one in COLUMNS.items() if name == "da" or file_format != "orc"}


def create(store, layout, file_format):
    clauses, constants = LAYOUTS[layout].format(file_format), columns_of(file_format).values()
    times = "" if file_format == "orc" else "ltz TIMESTAMP, ntz TIMESTAMP_NTZ, "
    store.sql(f"CREATE TABLE t (id INT, da DATE, {times}v INT) {clauses}")
    for first, last in WRITES:
        days = [", ".join(one.format(DAYS[number]) for one in constants) for number in range(first, last)]
        store.sql(f"INSERT INTO t VALUES {', '.join(f'({n}, {day}, 0)' for n, day in enumerate(days, first))}")


def chosen(cases, by_default):
    """The cases, of which these are in the default suite: each layout but the plain one is, compared or changed."""
    return [pytest.param(*one, marks=() if one in by_default else pytest.mark.soak) for one in cases]


COMPARED = (("parquet", "partitioned"), ("orc", "by day"))


@pytest.mark.parametrize(("file_format", "layout"), chosen(KINDS, COMPARED))
def test_comparisons_find_their_rows(store, layout, file_format):
    create(store, layout, file_format)
    for column, constant in columns_of(file_format).items():
        one, two, three = (constant.format(DAYS[number]) for number in (3, 7, 12))
        conditions = {f"{column} IN ({one}, {two}, {three})": [3, 7, 12]}
        conditions[f"{column} BETWEEN {two} AND {three}"] = list(range(7, 13))
        conditions[f"{column} <> {two}"] = [number for number in DAYS if number != 7]
        conditions[f"{column} IN (SELECT {two} UNION ALL SELECT {three})"] = [7, 12]
        for number in (9,) if file_format == "avro" else (5, 9, 14):  # each is a job of Python workers
            for sign, name in OPERATORS.items():
                found = [day for day in DAYS if getattr(operator, name)(day, number)]
                conditions[f"{column} {sign} {constant.format(DAYS[number])}"] = found
        texts = [f"SELECT {at} AS at, id FROM t WHERE {text}" for at, text in enumerate(conditions)]
        expected = [(at, number) for at, found in enumerate(conditions.values()) for number in found]
        assert rows(store, " UNION ALL ".join(texts)) == expected, list(enumerate(conditions))
    assert ids_of(store, "SELECT id FROM t WHERE da = '1582-10-10'") == [10]


CHANGED = (("orc", "marked"), ("large", "by time"))
WAYS = [*(kind for kind in KINDS if kind[0] != "avro"), *(("large", one) for one in LOOKED_UP)]


@pytest.mark.parametrize(("way", "layout"), chosen(WAYS, CHANGED))
def test_changes_find_their_rows(store, monkeypatch, layout, way):
    """The values are those of Parquet and ORC files, and of files that are so large that a source is looked at."""
    file_format = "parquet" if way == "large" else way
    if way == "large":
        monkeypatch.setattr("tablestore_engine.spark.read.merge_source_bounds.LARGE_FILES", 0)
    create(store, layout, file_format)
    expected = dict.fromkeys(DAYS, 0)
    for at, (column, constant) in enumerate(columns_of(file_format).items(), 1):
        one, two, three, four, new = (constant.format(DAYS[4 * step + at]) for step in (1, 2, 3, 4, 5))
        assert store.execute(f"UPDATE t SET v = v + 1 WHERE {column} = {one}").rows_affected == 1
        expected[4 + at] += 1
        assert store.execute(f"UPDATE t SET v = v + 10 WHERE {column} IN ({one}, {two}, {new})").rows_affected == 3
        for step in (1, 2, 5):
            expected[4 * step + at] += 10
        assert store.execute(f"DELETE FROM t WHERE {column} = {two}").rows_affected == 1
        del expected[8 + at]
        merged = store.execute(
            f"MERGE INTO t USING (VALUES ({one}, true), ({three}, false), ({four}, false) AS s (x, removed)) s "
            f"ON t.{column} = s.x WHEN MATCHED AND s.removed THEN DELETE WHEN MATCHED THEN UPDATE SET v = v + 100"
        )
        assert merged.rows_affected == 3
        del expected[4 + at]
        for step in (3, 4):
            expected[4 * step + at] += 100
    assert rows(store, "SELECT id, v FROM t") == sorted(expected.items())
    assert [(found[0], found[-1]) for found in stored(store)] == sorted(expected.items())


@pytest.mark.parametrize(
    "file_format", ["parquet", *(pytest.param(one, marks=pytest.mark.soak) for one in FORMATS[1:])]
)
def test_partitions_of_these_days(store, file_format):
    create(store, "partitioned", file_format)
    shown = [found[0] for found in answers(store, "SHOW PARTITIONS t")]
    assert shown == [f"da={day}" for day in DAYS.values()]
    plan = store.sql("EXPLAIN SELECT * FROM t WHERE da = DATE'1582-10-10'").first()[0]
    assert "partitions: 1 of 29" in plan
    store.sql("INSERT OVERWRITE t PARTITION (da = DATE'1582-10-10') SELECT * EXCEPT (da) FROM t WHERE id = 12")
    store.sql("ALTER TABLE t DROP PARTITION (da = DATE'1582-10-11')")
    store.sql("DELETE FROM t WHERE da BETWEEN DATE'1582-10-12' AND DATE'1582-10-14'")
    assert ids_of(store, "SELECT id FROM t WHERE da > DATE'1582-10-08' AND da < DATE'1582-10-16'") == [9, 12, 15]


@pytest.mark.parametrize("file_format", FORMATS)
def test_files_are_skipped_by_these_days(store, file_format):
    create(store, "plain", file_format)
    plan = store.sql("EXPLAIN SELECT * FROM t WHERE da = DATE'1582-10-12'").first()[0]
    assert "1 of 4 files" in plan


def test_every_session_compares_them(spark, tmp_path):
    """One of the user's own gets the setting when a store takes it, and keeps it."""
    theirs, setting = spark.newSession(), "spark.sql.datetime.java8API.enabled"
    theirs.conf.set(setting, "false")
    store = TableStore(tmp_path / "w", theirs)
    create(store, "plain", "parquet")
    query = "SELECT id FROM t WHERE da = DATE'1582-10-10'"
    assert ids_of(store, query) == [10]
    for text in ("RESET", f"RESET {setting}"):
        store.execute(text)
        assert ids_of(store, query) == [10], text
    assert new_session(spark).conf.get(setting) == "true"
    assert prepare_session(spark.newSession(), {"spark.sql.shuffle.partitions": "3"}).conf.get(setting) == "true"
