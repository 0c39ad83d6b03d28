"""Variants whose parts another writer stored in columns of their own: Spark puts them together, Arrow refuses them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import types as T
from support.spark_rows import rows

from tablestore_engine.errors import UnsupportedTypeError

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(not hasattr(T, "TimeType"), reason="Spark shreds variants from 4.1 on"),
]

SHREDDING = {
    "spark.sql.variant.writeShredding.enabled": "true",
    "spark.sql.variant.forceShreddingSchemaForTest": "a int, b string, c array<int>",
}
VALUES = """
SELECT id, CASE WHEN text IS NOT NULL THEN parse_json(text) END AS v, array(parse_json('{"a": 5}')) AS l FROM VALUES
  (1, '{"a": 1, "b": "x", "c": [1, 2]}'), (2, '{"a": "no number", "d": {"e": [null]}}'), (3, '7'), (4, NULL),
  (5, 'null'), (6, '{"a": 9, "c": [1, "x"]}') AS t(id, text)
"""


@pytest.fixture
def shredded(store, tmp_path):
    """A table whose one file was rewritten with shredded variants."""
    store.execute("CREATE TABLE v (id INT, v VARIANT, l ARRAY<VARIANT>) WITH ('write-only' = 'true')")
    store.execute(f"INSERT INTO v {VALUES}")
    (entry,) = store.table("v").live_files()
    path = next(Path(store.table("v").path).rglob(entry.file.file_name))
    before = {key: store.spark.conf.get(key, None) for key in SHREDDING}
    for key, value in SHREDDING.items():
        store.spark.conf.set(key, value)
    store.spark.sql(VALUES).coalesce(1).write.parquet(str(tmp_path / "theirs"))
    for key, value in before.items():
        store.spark.conf.unset(key) if value is None else store.spark.conf.set(key, value)
    (theirs,) = (tmp_path / "theirs").glob("*.parquet")
    assert "typed_value" in str(pq.read_schema(theirs)), "the file has shredded variants"
    shutil.copy(theirs, path)
    return store


def test_spark_reads_them_whole(shredded):
    query = "SELECT id, to_json(v), try_variant_get(v, '$.a', 'int'), v:b::string, to_json(l[0]) FROM v"
    one = '{"a":5}'
    assert rows(shredded, query) == [
        (1, '{"a":1,"b":"x","c":[1,2]}', 1, "x", one), (2, '{"a":"no number","d":{"e":[null]}}', None, None, one),
        (3, "7", None, None, one), (4, None, None, None, one), (5, "null", None, None, one),
        (6, '{"a":9,"c":[1,"x"]}', 9, None, one),
    ]  # fmt: skip
    assert rows(shredded, "SELECT id FROM v WHERE v IS NULL") == [(4,)]
    shredded.execute("ALTER TABLE v RENAME COLUMN v TO w, ADD COLUMN v INT")
    shredded.execute("UPDATE v SET v = 1 WHERE w:a::string = '9'")
    assert rows(shredded, "SELECT id, w:b::string FROM v WHERE w:a::string IN ('1', '9')") == [(1, "x"), (6, None)]


def test_readers_without_spark_refuse_them_by_name(shredded):
    with pytest.raises(UnsupportedTypeError) as raised:
        shredded.table("v").to_arrow()
    assert "Column 'v' has a file with shredded variants, which only Spark puts together." in str(raised.value)
    assert shredded.table("v").to_arrow(["id"]).num_rows == 6
