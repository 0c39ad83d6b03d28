"""File indexes and thin files: Java Paimon skips rows by our indexes, makes the same ones, and reads our thin files."""

from __future__ import annotations

from random import Random

import pyarrow.parquet as pq
import pytest
from support.interop.java_paimon import multiset_of
from support.interop.ours import OurTable
from support.interop.random_values import random_rows

from tablestore_engine.metadata.file_index.bitmap_lookup import BitmapLookup
from tablestore_engine.metadata.file_index.byte_source import BytesInMemory
from tablestore_engine.metadata.file_index.container import read_heads
from tablestore_engine.metadata.file_index.index_values import index_values
from tablestore_engine.operation.files.file_index_read import opened_index
from tablestore_engine.operation.files.file_index_writer import FileIndexBuilder
from tablestore_engine.schema.types.arrow import arrow_schema
from tablestore_engine.schema.types.types import parse_type

COLUMNS = {
    "id": "BIGINT", "n": "INT", "little": "TINYINT", "text": "STRING", "code": "VARCHAR(10)", "at": "TIMESTAMP(3)",
    "moment": "TIMESTAMP(6)", "due": "DATE", "ratio": "DOUBLE", "part": "FLOAT", "ok": "BOOLEAN",
}  # fmt: skip
OURS = {name: parse_type(kind) for name, kind in COLUMNS.items()}
BLOOM = {"file-index.bloom-filter.columns": ",".join(one for one in COLUMNS if one != "ok")}
BITMAP = {"file-index.bitmap.columns": ",".join(COLUMNS)}
WHERE = {
    "files": {"file-index.in-manifest-threshold": "0 b"},
    "manifests": {"file-index.in-manifest-threshold": "9 mb"},
}
CASES = {
    "bloom-files": BLOOM | WHERE["files"],
    "bitmap-files": BITMAP | WHERE["files"],
    "both-manifests": BLOOM | BITMAP | WHERE["manifests"],
    "first-version": BITMAP | {f"file-index.bitmap.{one}.version": "1" for one in COLUMNS} | WHERE["files"],
    "blocks": BITMAP | {f"file-index.bitmap.{one}.index-block-size": "200 b" for one in COLUMNS} | WHERE["files"],
}


def few(rng, schema, count):
    """Rows of which many share values."""
    rows = random_rows(rng, schema, count)
    return [{**row, "n": row["id"] % 9, "text": rng.choice(rows)["text"]} for row in rows]


def looked_up(java, table, rows):
    """Java finds every row by its values. Returns the fewest rows that it read for one."""
    read = []
    for row in rows[:6]:
        for name in ("id", "n", "text", "due", "little"):
            if (
                row[name] is None
                or "\t" in str(row[name])
                or "\n" in str(row[name])
                or str(row[name]) != str(row[name]).strip()
            ):
                continue
            came, fits = map(int, java.ask("lookup", table.table.path, name, str(row[name])).split())
            assert fits == sum(one[name] == row[name] for one in rows), name
            read.append(came)
    return min(read)


@pytest.mark.parametrize("case", CASES)
def test_java_reads_by_our_indexes(java, java_reads, catalog, name, case):
    rng = Random(case)
    table = OurTable.create(catalog, name, OURS, options={"write-only": "true", **CASES[case]})
    for _ in range(4):
        table.write(few(rng, table.table.schema, 30))
    rows = java_reads(table).to_pylist()
    assert looked_up(java, table, rows) < len(rows)
    table.compact(full=True)
    java_reads(table)
    least = looked_up(java, table, rows)
    assert least < len(rows) or "bitmap" not in str(CASES[case]), "only bitmaps say which rows of one file"


@pytest.mark.parametrize("case", CASES)
def test_java_makes_the_same_indexes(java, catalog, name, case):
    path = f"{catalog.warehouse}/db.db/{name}"
    catalog.create_database("db", if_not_exists=True)
    java.create(path, COLUMNS, options=CASES[case])
    more = OurTable.create(catalog, f"{name}_more", OURS)
    more.overwrite(few(Random(case), more.table.schema, 200))
    java.ask("copy", path, more.table.path)
    table = catalog.load_table("db", name)
    for file in table.scan().files:
        schema = table.schema
        rows = pq.read_table(f"{path}/bucket-0/{file.file_name}", partitioning=None)
        rows = rows.select(schema.field_names).cast(arrow_schema(schema.fields))
        builder = FileIndexBuilder.of(schema)
        builder.add(rows)
        ours = BytesInMemory(builder.close())
        with opened_index(table.io, f"{path}/bucket-0", file) as theirs:
            own, other = read_heads(ours), read_heads(theirs)
            assert {n: set(kinds) for n, kinds in own.items()} == {n: set(kinds) for n, kinds in other.items()}
            for column, kinds in own.items():
                if "bloom-filter" in kinds:
                    mine, his = kinds["bloom-filter"], other[column]["bloom-filter"]
                    assert theirs.read_at(his.start, his.length) == ours.read_at(mine.start, mine.length), column
                if "bitmap" in kinds:
                    kind = schema.field(column).type
                    assert other[column]["bitmap"].length == kinds["bitmap"].length
                    mine, his = (BitmapLookup(s, h[column]["bitmap"], kind) for s, h in ((ours, own), (theirs, other)))
                    assert his.null_rows().tolist() == mine.null_rows().tolist()
                    for value in (
                        index_values(rows.column(column).combine_chunks(), kind).unique().drop_null().to_pylist()
                    ):
                        assert his.rows_of(value).tolist() == mine.rows_of(value).tolist(), (column, value)


def test_thin_files(java, java_reads, catalog, name):
    rng = Random(1)
    options = {"data-file.thin-mode": "true", "bucket": "1"}
    table = OurTable.create(catalog, name, OURS, key=["text", "id"], options=options)
    for _ in range(3):
        table.write([{**row, "text": row["text"] or ""} for row in random_rows(rng, table.table.schema, 30)])
    own = java_reads(table)
    java.ask("compact", table.table.path, "write-only=false")
    assert multiset_of(table.read(), table.table.schema) == multiset_of(own, table.table.schema)
