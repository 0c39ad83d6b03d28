"""ORC and Avro files of every type: Java Paimon reads ours and we read Java's, before and after compactions of both."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest
from support.interop.compare import assert_same
from support.interop.ours import OurTable
from support.interop.shapes import EVERYTHING, TIMES, value_rows

from tablestore_engine.schema.types.types import parse_type


def _kept(value):
    """Not: what ORC files cannot hold, what Java cannot read from those of Arrow, and maps, whose order is free."""
    if isinstance(value, datetime):
        return value.year < 2262 and (value.year >= 1970 or not value.microsecond)
    return not (isinstance(value, list) and len(value) > 1 and isinstance(value[0], tuple))


SAMPLES = {name: replace(one, values=tuple(filter(_kept, one.values))) for name, one in {**EVERYTHING, **TIMES}.items()}


@pytest.mark.parametrize("key", [(), ("int", "string", "date")], ids=["append", "keyed"])
@pytest.mark.parametrize("file_format", ["orc", "avro"])
def test_all_types(java, java_reads, catalog, name, file_format, key):
    options = {"file.format": file_format, **({"bucket": "1", "write-only": "true"} if key else {})}
    columns = {n: one.type.as_nullable(n not in key) for n, one in SAMPLES.items()}
    ours = OurTable.create(catalog, name, columns, key=key, options=options)
    values = [row for row in value_rows(40, SAMPLES) if all(row[one] is not None for one in key)]
    if key:
        values = list({tuple(row[one] for one in key): row for row in values}.values())
    ours.write(values[:20])
    java_reads(ours)
    ours.write(values[10:] if key else values[20:])
    wanted = java_reads(ours)
    theirs = OurTable.create(catalog, f"{name}_theirs", columns, key=key, options=options)
    java.ask("copy", theirs.table.path, ours.table.path)
    assert {e.file.format for e in theirs.table.live_files()} == {file_format}
    assert_same(theirs.read(), wanted, "Java's files")
    theirs.write(values[:5])
    after = java_reads(theirs)
    if key:
        java.ask("alter", theirs.table.path, "set", "write-only", "false")
        java.ask("compact", theirs.table.path)
        assert_same(theirs.read(), after, "Java's compaction")
        ours.compact(full=True)
        assert_same(java_reads(ours), wanted, "our compaction")


VARIANTS = (
    {"metadata": b"\x01\x00\x00", "value": b"\x0c\x05"},  # 5
    {"metadata": b"\x01\x01\x00\x01a", "value": b"\x02\x01\x00\x00\x02\x0c\x01"},  # {"a": 1}
    {"metadata": b"\x01\x00\x00", "value": b"\x09hi"},  # "hi"
    {"metadata": b"\x01\x00\x00", "value": b"\x00"},  # a null inside
    None,
)


def test_variants(java, catalog, name):
    """Java takes the variants of our files, and writes them so that we find the same bytes."""
    columns = {"id": parse_type("INT"), "v": parse_type("VARIANT")}
    ours = OurTable.create(catalog, name, columns)
    ours.write([{"id": number, "v": one} for number, one in enumerate(VARIANTS)])
    wanted = ours.read()
    assert wanted.column("v").to_pylist() == list(VARIANTS)
    theirs = OurTable.create(catalog, f"{name}_theirs", columns)
    java.ask("copy", theirs.table.path, ours.table.path)
    assert_same(theirs.read(), wanted, "Java's file")
