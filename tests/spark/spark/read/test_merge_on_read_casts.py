"""From each type to each other: what is read of files that were written before a column's type changed, against Spark's
own cast of the same values; by Spark, in this process, and after a compaction."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest
from support.evolve import EDGES, change
from support.soak import cover
from support.tables import compact, make_table, write

from tablestore_engine.schema.casts.cast_old_columns import is_castable
from tablestore_engine.schema.types.types import parse_type
from tablestore_engine.spark.expressions.spark_types import sql_type
from tablestore_engine.spark.read.merge_on_read import read_table

pytestmark = pytest.mark.spark
TARGETS = (*EDGES, "DECIMAL(4, 1)", "DECIMAL(38, 0)", "DECIMAL(20, 0)", "VARCHAR(3)", "TIMESTAMP(1)", "VARBINARY(2)")
PAIRS = [(a, b) for a in EDGES for b in TARGETS if is_castable(parse_type(a), parse_type(b))]
# An ORC file holds the times of 1678 to 2261 only; and Spark itself reads files without old dates.
OF_ORC = [(a, b) for a, b in PAIRS if a != "DATE" and not a.startswith("TIMESTAMP") and not b.startswith("TIMESTAMP")]
PAIRS_OF = {"parquet": PAIRS, "orc": OF_ORC, "avro": PAIRS}
ZONE = "Europe/Berlin"


@pytest.fixture
def zone(spark):
    """Sets the time zone of the session."""
    before = spark.conf.get("spark.sql.session.timeZone")
    yield lambda name: spark.conf.set("spark.sql.session.timeZone", name)
    spark.conf.set("spark.sql.session.timeZone", before)


def own_cast(column, past, current):
    """SQL of Spark's cast; the rule for lengths is that of a write, the one for digits of a second Paimon's, and a
    decimal out of range is no timestamp."""
    kind = parse_type(current)
    if past.startswith("DECIMAL") and kind.root == "TIMESTAMP_LTZ":
        return f"CASE WHEN {column} BETWEEN -9223372036853 AND 9223372036853 THEN cast({column} as timestamp) END"
    if kind.root in ("CHAR", "VARCHAR"):
        fits = f"length(rtrim(cast({column} as string))) <= {kind.precision}"
        text = f"left(cast({column} as string), {kind.precision})"
        return f"CASE WHEN {fits} THEN {f'rpad({text}, {kind.precision})' if kind.root == 'CHAR' else text} END"
    if kind.root == "VARBINARY":
        return f"CASE WHEN length(cast({column} as binary)) <= {kind.precision} THEN cast({column} as binary) END"
    return f"{'cast' if kind.root == 'STRING' else 'try_cast'}({column} as {sql_type(kind)})"


def rows_of(table):
    """Columns of rows in the order of their ids; times as numbers, since Python has none beyond the year 9999."""
    table = table.sort_by("id")
    return pa.table([_numbers(c) for c in table.columns], names=table.schema.names).to_pydict()


def _numbers(column):
    if pa.types.is_timestamp(column.type):
        return column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64())
    return column.cast(pa.int32()) if column.type == pa.date32() else column


def tenths(micros):
    return None if micros is None else micros // 100_000 * 100_000


def each_type(pairs):
    """Pairs in which each type is one that was, and one that is."""
    return [pairs[number] for number in cover(pairs)]


@pytest.mark.parametrize(
    ("file_format", "chosen"),
    [
        ("parquet", list),
        *((one, each_type) for one in ("orc", "avro")),
        *(pytest.param(one, list, marks=pytest.mark.soak) for one in ("orc", "avro")),
    ],
    ids=["parquet", "orc", "avro", "orc, all pairs", "avro, all pairs"],
)
def test_each_type_as_each_other(spark, zone, tmp_path, file_format, chosen):
    pairs = chosen(PAIRS_OF[file_format])
    columns = {"id": "INT", **{f"c{i}": past for i, (past, _) in enumerate(pairs)}}
    options = {"file.format": file_format, "schema.evolution.cast": "explicit-null", "schema.evolution.time-zone": ZONE}
    table = make_table(tmp_path, columns, ["id"], options={**options, "bucket": "1", "write-only": "true"})
    count = max(map(len, EDGES.values())) + 1
    values = [[*EDGES[past], *[None] * count][:count] for past, _ in pairs]
    rows = [{"id": i, **{f"c{k}": one[i] for k, one in enumerate(values)}} for i in range(count)]
    write(table, rows[: count // 2])
    write(table, rows[count // 2 :])
    zone(ZONE)
    casts = [f"{own_cast(f'c{i}', *pair)} as c{i}" for i, pair in enumerate(pairs)]
    expected = rows_of(read_table(spark, table).selectExpr("id", *casts).toArrow())
    fields = [
        f if f.name == "id" else replace(f, type=parse_type(pairs[int(f.name[1:])][1])) for f in table.schema.fields
    ]
    table = change(table, fields)
    zone("America/New_York")

    def check(found, where):
        found = rows_of(found)
        for i, (past, current) in enumerate(pairs):
            want = expected[f"c{i}"]
            if current == "TIMESTAMP(1)":
                want = [tenths(one) for one in want]
            for given, one, other in zip(values[i], found[f"c{i}"], want, strict=True):
                if repr(one) != repr(other):
                    wrong.append(f"{past} -> {current}, {where}: {given!r} is {one!r}, and not {other!r}")

    wrong = []
    check(read_table(spark, table).toArrow(), "read by Spark")
    check(table.to_arrow(), "read here")
    assert compact(table) is not None
    check(read_table(spark, table).toArrow(), "compacted")
    assert not wrong, "\n".join(wrong)
