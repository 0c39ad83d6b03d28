"""Times of day, which the format holds as milliseconds, and variants, through SQL and as Arrow."""

from __future__ import annotations

from datetime import time

import pyarrow as pa
import pytest
from pyspark.sql import types as T
from support.spark_rows import rows

from tablestore_engine.errors import UnsupportedTypeError

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(not hasattr(T, "TimeType"), reason="Spark has times of day from 4.1 on"),
]

FIRST, LAST = time(0), time(23, 59, 59, 999_000)
NOON = time(12, 0, 0, 1000)


@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro"])
def test_times_of_day(store, file_format):
    store.execute(
        "CREATE TABLE t (id INT, k TIME(3), t TIME, a ARRAY<TIME>, r STRUCT<x: TIME(0), y: INT>, "
        "m MAP<TIME, TIME>, PRIMARY KEY (id, k) NOT ENFORCED) "
        f"WITH ('file.format' = '{file_format}', 'bucket' = '2', 'schema.evolution.cast' = 'explicit-error')"
    )
    store.execute(
        "INSERT INTO t VALUES (1, TIME'00:00:00', TIME'23:59:59.999', array(TIME'12:00:00.001', null), "
        "named_struct('x', TIME'12:00:00.999', 'y', 1), map(TIME'00:00:00', TIME'23:59:59.999')), "
        "(2, TIME'12:00:00.001', null, null, null, null)"
    )
    first = (1, FIRST, LAST, (NOON, None), (time(12), 1), ((FIRST, LAST),))
    assert [_plain(row) for row in rows(store, "SELECT * FROM t")] == [first, (2, NOON, None, None, None, None)]
    assert rows(store, "SELECT id FROM t WHERE k = TIME'12:00:00.001'") == [(2,)]
    assert rows(store, "SELECT id FROM t WHERE t > '23:59:59'") == [(1,)]
    store.execute("UPDATE t SET t = k + INTERVAL '1' HOUR, r.x = TIME'01:00:00' WHERE k > TIME'10:00:00'")
    shape = store.table("t").to_arrow().schema
    store.table("t").write(pa.Table.from_pylist([{"id": 3, "k": LAST, "t": NOON, "a": [FIRST]}], shape))
    assert rows(store, "SELECT id, t FROM t") == [(1, LAST), (2, time(13, 0, 0, 1000)), (3, NOON)]
    store.execute("CALL sys.compact(table => 't')")
    store.execute("ALTER TABLE t ALTER COLUMN t TYPE STRING")
    assert rows(store, "SELECT id, t FROM t") == [(1, "23:59:59.999"), (2, "13:00:00.001"), (3, "12:00:00.001")]
    store.execute("ALTER TABLE t ALTER COLUMN t TYPE TIME(0)")
    assert rows(store, "SELECT max(t), min(k) FROM t") == [(time(23, 59, 59), FIRST)]


def test_variants(store):
    for key in ("", ", PRIMARY KEY (id) NOT ENFORCED"):
        store.execute(f"CREATE OR REPLACE TABLE v (id INT, v VARIANT, l ARRAY<VARIANT>{key})")
        store.execute("""INSERT INTO v SELECT 1, parse_json('{"a": 1, "b": ["x", null]}'), array(parse_json('2'), null)
                         UNION ALL SELECT 2, null, null""")
        store.execute("INSERT INTO v (id, v) VALUES (3, CAST(DATE'2024-01-02' AS VARIANT))")
        query = "SELECT id, v:a::int, v:b[0]::string, to_json(v), to_json(l[0]) FROM v"
        assert rows(store, query) == [(1, 1, "x", '{"a":1,"b":["x",null]}', "2"), (2, *[None] * 4),
                                      (3, None, None, '"2024-01-02"', None)]  # fmt: skip
        if key:
            store.execute("UPDATE v SET v = parse_json('[7]') WHERE id = 2")
            store.execute("DELETE FROM v WHERE v:a::int = 1")
            store.execute("ALTER TABLE v RENAME COLUMN v TO w")
            store.execute("CALL sys.compact(table => 'v')")
            assert rows(store, "SELECT id, to_json(w) FROM v") == [(2, "[7]"), (3, '"2024-01-02"')]
    for columns in ("v VARIANT, PRIMARY KEY (v) NOT ENFORCED", "v VARIANT) PARTITIONED BY (v"):
        with pytest.raises(Exception, match=r"(?i)VARIANT"):
            store.execute(f"CREATE TABLE n ({columns})")
    with pytest.raises(UnsupportedTypeError, match="files of the format orc cannot"):
        store.execute("CREATE TABLE n (v VARIANT) WITH ('file.format' = 'orc')")
    store.execute("CREATE TABLE n (t TIMESTAMP_NTZ(3))")
    store.execute(
        "INSERT INTO n VALUES (TIMESTAMP_NTZ'1969-12-31 23:59:59.9999'), (TIMESTAMP_NTZ'2024-01-01 00:00:00.0015')"
    )
    assert [str(one) for (one,) in rows(store, "SELECT * FROM n")] == [
        "1969-12-31 23:59:59.999000", "2024-01-01 00:00:00.001000"]  # fmt: skip
    assert "`t` TIMESTAMP_NTZ(3)" in rows(store, "SHOW CREATE TABLE n")[0][0]
    with pytest.raises(UnsupportedTypeError, match=r"TIMESTAMP\(9\)"):
        store.execute("CREATE TABLE n (t TIMESTAMP(9))")


def _plain(value):
    """Rows, lists and maps as tuples."""
    if isinstance(value, dict):
        return tuple(value.items())
    return tuple(_plain(one) for one in value) if isinstance(value, (tuple, list)) else value
