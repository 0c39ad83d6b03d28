"""Files of many schemas are read by few scans, and each column by the names that it had."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest
from support.spark_rows import rows

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro"])
def test_columns_of_many_names_are_read_by_few_scans(store, file_format):
    """Each file has another name of `a`; a later `c` is another column than that of the first five files."""
    options = f"'write-only' = 'true', 'file.format' = '{file_format}'"
    store.execute(f"CREATE TABLE t (id INT, a INT, c INT) WITH ({options})")
    for n in range(12):
        name = store.table("t").schema.field_names[1]
        values = {key: pa.array([n], pa.int32()) for key in ("id", name, "c")}
        store.table("t").write(pa.table(values))
        again = ", DROP COLUMN c, ADD COLUMN c INT" if n == 4 else ""
        store.execute(f"ALTER TABLE t RENAME COLUMN {name} TO a{n}{again}")
    query = "SELECT id, a11, c FROM t"
    assert rows(store, query) == [(n, n, None if n < 5 else n) for n in range(12)]
    assert rows(store, f"{query} WHERE a11 IN (3, 7)") == [(3, 3, None), (7, 7, 7)]
    assert rows(store, f"{query} WHERE c = 7 OR id = 1") == [(1, 1, None), (7, 7, 7)]
    plan = store.sql(f"EXPLAIN FORMATTED {query}").collect()[0][0]
    scans = set(re.findall(r"\((\d+)\) (?:Scan (?:parquet|orc)|\w*MapInArrow)", plan))
    assert len(scans) == 2, "one scan of the files with the first column c, one of the others"
