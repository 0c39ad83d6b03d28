"""The bucket that Spark computes is the bucket of the format, for every type a key can have."""

from __future__ import annotations

from datetime import datetime, timezone
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from support.tables import schema_of

from tablestore_engine.metadata.bucket_hash import bucket_of
from tablestore_engine.spark.expressions.bucket_hash_column import bucket_column, task_column
from tablestore_engine.spark.expressions.spark_types import to_spark_schema

pytestmark = pytest.mark.spark

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.sampled_from(
    ["", "1234567", "12345678", "ü" * 3, "ü" * 4, "\U0001f600", "a\0b", "x" * 300]
)
STRATEGIES = {
    "TINYINT": st.integers(-128, 127),
    "SMALLINT": st.integers(-(2**15), 2**15 - 1),
    "INT": st.integers(-(2**31), 2**31 - 1),
    "BIGINT": st.integers(-(2**63), 2**63 - 1),
    "BOOLEAN": st.booleans(),
    "DATE": st.dates(),
    "STRING": TEXTS,
    "VARCHAR(400)": TEXTS,
    "DECIMAL(4, 2)": st.decimals(Decimal("-99.99"), Decimal("99.99"), places=2),
    "DECIMAL(18, 0)": st.integers(-(10**18) + 1, 10**18 - 1).map(Decimal),
    "DECIMAL(18, 18)": st.integers(-(10**18) + 1, 10**18 - 1).map(lambda n: Decimal(n).scaleb(-18)),
    "DECIMAL(30, 5)": st.integers(-(10**24), 10**24).map(lambda n: Decimal(n).scaleb(-5)),
    "TIMESTAMP(6)": st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)),
    "TIMESTAMP(6) WITH LOCAL TIME ZONE": st.datetimes(
        datetime(1900, 1, 1), datetime(2100, 1, 1), timezones=st.just(timezone.utc)
    ),
    "BYTES": st.binary(max_size=20),
    "DOUBLE": st.floats(allow_nan=False),
    "FLOAT": st.floats(width=32, allow_nan=False),
}
PYTHON_PATH = (
    "DECIMAL(30, 5)",
    "TIMESTAMP(6)",
    "TIMESTAMP(6) WITH LOCAL TIME ZONE",
    "BYTES",
    "DOUBLE",
    "FLOAT",
)


def compare(spark, kinds, rows, buckets, each=None):
    """The bucket of all columns, and with `each` also that of each column, of so many; one query finds them all."""
    fields = schema_of({f"c{i}": kind for i, kind in enumerate(kinds)}).fields
    keys = [(range(len(kinds)), buckets), *(([i], each) for i in range(len(kinds)) if each)]
    frame = spark.createDataFrame(rows, to_spark_schema(fields))
    found = frame.select(*(bucket_column([fields[i] for i in key], of) for key, of in keys)).collect()
    for number, (key, of) in enumerate(keys):
        types = [fields[i].type for i in key]
        expected = [bucket_of(tuple(row[i] for i in key), types, of) for row in rows]
        assert [row[number] for row in found] == expected, types


@settings(max_examples=4, phases=[Phase.generate], deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_every_type_that_spark_hashes_itself(spark, data):
    kinds = [k for k in STRATEGIES if k not in PYTHON_PATH]
    rows = data.draw(
        st.lists(st.tuples(*(st.none() | STRATEGIES[k] for k in kinds)), min_size=40, max_size=60),
        label="rows",
    )
    compare(spark, kinds, rows, 7, each=97)


@settings(max_examples=2, phases=[Phase.generate], deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_types_that_python_hashes(spark, data):
    rows = data.draw(st.lists(st.tuples(*(st.none() | STRATEGIES[k] for k in PYTHON_PATH)), min_size=20, max_size=30))
    compare(spark, PYTHON_PATH, rows, 13)


def test_two_long_texts_have_two_offsets(spark):
    rows = [("a" * n, "b" * m) for n in (0, 7, 8, 9, 16) for m in (0, 7, 8, 15, 33)]
    compare(spark, ["STRING NOT NULL", "STRING NOT NULL"], rows, 64)


def test_one_bucket_needs_no_hash(spark):
    compare(spark, ["STRING"], [("a",), (None,)], 1)


def test_odd_names(spark):
    schema = schema_of({"a`b.c d": "STRING", "select": "INT"})
    frame = spark.createDataFrame([("x", 1)], to_spark_schema(schema.fields))
    types = [f.type for f in schema.fields]
    assert frame.select(bucket_column(schema.fields, 50)).first()[0] == bucket_of(("x", 1), types, 50)


@pytest.mark.parametrize(("kind", "buckets"), [("INT", 5), ("STRING", 2), ("DOUBLE", 2)])
def test_each_bucket_is_one_task(spark, kind, buckets):
    from pyspark.sql import functions as F

    fields = schema_of({"id": kind}).fields
    frame = spark.range(200).select(F.col("id").cast(to_spark_schema(fields)["id"].dataType).alias("id"))
    spread = frame.repartition(buckets, task_column(fields, buckets))
    pairs = {tuple(r) for r in spread.select(F.spark_partition_id(), bucket_column(fields, buckets)).collect()}
    assert len(pairs) == buckets
    assert len({task for task, _ in pairs}) == buckets
