"""Tables of every file format through SQL: the values at the edges, changes, compaction, and a change of the format."""

from __future__ import annotations

import pytest
from support.spark_rows import rows

pytestmark = pytest.mark.spark

FORMATS = ["orc", "avro"]
COLUMNS = """bo BOOLEAN, ti TINYINT, sm SMALLINT, i INT, bi BIGINT, fl FLOAT, d DOUBLE, de DECIMAL(38, 10),
  sd DECIMAL(5, 2), ch CHAR(3), vc VARCHAR(5), s STRING, b BINARY, da DATE, nt TIMESTAMP_NTZ, lt TIMESTAMP,
  a ARRAY<STRUCT<x: INT, y_z: TIMESTAMP_NTZ>>, m MAP<INT, ARRAY<DATE>>,
  r STRUCT<q: BINARY, r: STRUCT<t: DECIMAL(20, 1)>>"""
VALUES = """
  (1, true, -128Y, -32768S, -2147483648, -9223372036854775808, float('NaN'), -0D,
   -9999999999999999999999999999.9999999999BD,
   -999.99BD, 'a', '', '', X'', DATE'0001-01-01', TIMESTAMP_NTZ'1969-12-31 23:59:59.5',
   TIMESTAMP'1969-12-31 23:59:59.000001Z',
   array(), map(), named_struct('q', X'00', 'r', null)),
  (2, false, 127Y, 32767S, 2147483647, 9223372036854775807, float('-Infinity'), double('NaN'), 1e-10BD,
   0.01BD, 'ü😀x', 'ü😀xyz', 'ü\\n😀', X'00FF', DATE'9999-12-31',
   TIMESTAMP_NTZ'1883-11-18 12:03:57.999999', TIMESTAMP'1890-01-01 00:00:00.123456Z',
   array(null, named_struct('x', null, 'y_z', TIMESTAMP_NTZ'1960-01-01 00:00:00.000001')),
   map(1, null, 2, array(null, DATE'1582-10-04')),
   named_struct('q', null, 'r', named_struct('t', 1.5BD))),
  (3, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null),
  (4, true, 0Y, 0S, 0, 0, float('1.5'), double('Infinity'), 0BD, 0BD, 'abc', 'abc', 'abc', X'61', DATE'1970-01-01',
   TIMESTAMP_NTZ'2024-03-31 02:30:00', TIMESTAMP'2024-03-31 02:30:00.123456', array(named_struct('x', 1, 'y_z', null)),
   map(0, array()),
   named_struct('q', X'', 'r', named_struct('t', null)))"""
QUERY = "SELECT * EXCEPT (d, fl), CAST(d AS STRING) AS d, CAST(fl AS STRING) AS fl, hex(b) AS hb FROM {0}"


TABLES = ("p", "t")


def of_each(store, statement):
    for table in TABLES:
        store.sql(statement.format(table))


def answered(store, query=QUERY):
    """What the table of Parquet files answers, as the other one does."""
    wanted = rows(store, query.format("p"))
    assert rows(store, query.format("t")) == wanted
    return wanted


def formats(store):
    found = rows(store, " UNION ALL ".join(f"SELECT DISTINCT '{one}', file_format FROM {one}$files" for one in TABLES))
    return [{kind for name, kind in found if name == table} for table in TABLES]


# Of Avro files, Arrow makes the rows, which unit tests compare.
@pytest.mark.parametrize("file_format", ["orc", pytest.param("avro", marks=pytest.mark.soak)])
@pytest.mark.parametrize("key", [pytest.param(False, marks=pytest.mark.soak), True], ids=["no key", "key"])
def test_tables_answer_as_one_of_parquet(store, key, file_format):
    """Every statement on two tables: one of Parquet files, and one of the other format."""
    primary, options = (", PRIMARY KEY (id) NOT ENFORCED", ", 'bucket' = '1'") if key else ("", "")
    for table, one in zip(TABLES, ("parquet", file_format), strict=True):
        store.sql(f"CREATE TABLE {table} (id INT, {COLUMNS}{primary}) WITH ('file.format' = '{one}'{options})")
    of_each(store, f"INSERT INTO {{}} VALUES {VALUES}")
    assert len(answered(store)) == 4
    assert answered(store, "SELECT id FROM {} WHERE d > 1 AND nt IS NOT NULL") == [(2,), (4,)], "NaN is the greatest"
    conditions = ("lt < '1969-12-31 23:59:59.5Z'", "nt = '1969-12-31 23:59:59.5'", "ch = 'a'", "da < '1000-01-01'",
                  "sd = 0.01", "b = X''", "s = ''", "fl < 0", "r.r.t = 1.5", "get(a, 0).x = 1")  # fmt: skip
    # Each is a scan with a filter of its own; one query of them is planned and started once.
    scans = (f"SELECT {n} AS n, id FROM {{0}} WHERE {one}" for n, one in enumerate(conditions))
    assert {row[0] for row in answered(store, " UNION ALL ".join(scans))} == set(range(len(conditions)))
    of_each(store, "UPDATE {} SET i = 7, s = 'new' WHERE id IN (2, 3)")
    of_each(store, "DELETE FROM {} WHERE id = 4")
    of_each(
        store,
        "MERGE INTO {} t USING (SELECT id + 1 AS id FROM range(3)) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET bi = 5 WHEN NOT MATCHED THEN INSERT (id, s) VALUES (s.id, 'merged')",
    )
    answered(store)
    assert answered(store, "SELECT count(*) FROM {}") == [(3,)]
    of_each(store, "CALL sys.compact(table => '{}')")
    answered(store)
    assert formats(store) == [{"parquet"}, {file_format}]
    if key:
        _change_the_format(store, file_format)


def _change_the_format(store, file_format):
    """Files stay as they are; the next compaction stores them anew."""
    of_each(store, "ALTER TABLE {} SET TBLPROPERTIES ('file.format' = 'parquet')")
    late = "(2, 'late', TIMESTAMP_NTZ'1969-12-31 23:59:59.5'), (9, 'late', null)"
    of_each(store, f"INSERT INTO {{}} (id, s, nt) VALUES {late}")
    assert formats(store) == [{"parquet"}, {file_format, "parquet"}]
    of_each(store, "ALTER TABLE {} ADD COLUMN more STRING")
    of_each(store, "ALTER TABLE {} RENAME COLUMN s TO was_s")
    of_each(store, "INSERT INTO {} (id, more) VALUES (9, 'more')")
    answered(store)
    of_each(store, "CALL sys.compact(table => '{}')")
    assert formats(store) == [{"parquet"}, {"parquet"}]
    answered(store)


@pytest.mark.parametrize("file_format", FORMATS)
def test_positions_in_files(store, file_format):
    store.sql(f"CREATE TABLE t (id INT, p STRING) PARTITIONED BY (p) WITH ('file.format' = '{file_format}')")
    store.sql("INSERT INTO t VALUES (1, 'a é%'), (2, 'a é%'), (3, 'b')")
    found = rows(store, "SELECT id, __paimon_row_index, __paimon_file_path FROM t")
    assert [row[:2] for row in found] == [(1, 0), (2, 1), (3, 0)]
    folder = store.table("t").path
    assert all(row[2].startswith((f"file://{folder}/p=", f"file:{folder}/p=")) for row in found)
    store.sql(f"CREATE TABLE m (id INT) WITH ('file.format' = '{file_format}', 'merge-engine' = 'tablestore-count')")
    store.sql("INSERT INTO m VALUES (1), (2), (3), (3)")
    store.sql("DELETE FROM m WHERE id = 2")
    assert rows(store, "SELECT id, count(*) FROM m GROUP BY id") == [(1, 1), (3, 2)]


def test_orc_files_are_read_as_parquet_files_are(store):
    """Filters are pushed down into Spark's own reader where it reads a file."""
    columns = "id INT, lt TIMESTAMP, fl FLOAT, s STRING, c CHAR(3), sd DECIMAL(9, 2), a ARRAY<STRUCT<x: TIMESTAMP>>"
    for table, one in (("p", "parquet"), ("t", "orc")):
        store.sql(f"CREATE TABLE {table} ({columns}) WITH ('file.format' = '{one}')")
        store.sql(
            f"INSERT INTO {table} VALUES (1, TIMESTAMP'1969-12-31 23:59:59.5Z', float('NaN'), 'a', 'x', 1.5, array()), "
            "(2, TIMESTAMP'1890-01-01 00:00:00.000001Z', 1, 'ü', 'xyz', -1, "
            "array(null, struct(TIMESTAMP'2024-03-31 01:30:00Z'))), "
            "(3, null, null, null, null, null, null), "
            "(4, TIMESTAMP'1969-12-31 23:59:59.000001Z', -0D, '', 'ab', 0, array(struct(null)))"
        )
    conditions = ("true", "fl > 1", "lt < '1969-12-31 23:59:59.1Z'", "lt = '1969-12-31 23:59:59.5Z'", "s = ''",
                  "c = 'x'", "sd = 1.5", "fl = 1", "lt IS NULL")  # fmt: skip
    query = "SELECT {} AS n, id, lt, CAST(fl AS STRING), s, c, sd, a FROM {{0}} WHERE {}"
    found = answered(store, " UNION ALL ".join(query.format(n, one) for n, one in enumerate(conditions)))
    assert {row[0] for row in found} == set(range(len(conditions)))
    # Java's reader fails at some timestamps that Arrow wrote, so only other columns are its own.
    for query, by_workers in (("SELECT * FROM t", True), ("SELECT * FROM n", False)):
        store.sql("CREATE TABLE IF NOT EXISTS n (id INT, s STRING) WITH ('file.format' = 'orc')")
        store.sql("INSERT INTO n VALUES (1, 'a')")
        assert ("MapInArrow" in store.sql(f"EXPLAIN {query}").collect()[0][0]) is by_workers
    assert rows(store, "SELECT * FROM n WHERE s > ''") == [(1, "a"), (1, "a")]


def test_old_dates_of_orc_files(store):
    """Spark takes old dates of ORC files for dates of the Julian calendar, so files that hold some are not for it."""
    store.sql("CREATE TABLE t (id INT, da DATE) WITH ('file.format' = 'orc')")
    days = [(1, "0001-01-01"), (2, "1582-10-04"), (3, "1582-10-10"), (4, "1582-10-15"), (5, "9999-12-31"), (6, None)]
    values = ", ".join(f"({number}, {f'DATE{day!r}' if day else 'NULL'})" for number, day in days)
    store.sql(f"INSERT INTO t VALUES {values}")
    store.sql("INSERT INTO t VALUES (7, DATE'2024-02-29'), (8, NULL)")
    found = rows(store, "SELECT id, CAST(da AS STRING) FROM t")
    assert found == [*days, (7, "2024-02-29"), (8, None)]
    assert rows(store, "SELECT id FROM t WHERE da < '1582-10-15'") == [(1,), (2,), (3,)]
    for query, by_workers in (("SELECT * FROM t", True), ("SELECT * FROM t WHERE id > 6", False)):
        assert ("MapInArrow" in store.sql(f"EXPLAIN {query}").collect()[0][0]) is by_workers
