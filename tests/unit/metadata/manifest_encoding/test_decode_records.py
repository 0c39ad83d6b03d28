"""Manifests of ORC and Parquet, as tools with another `manifest.format` write them."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc
from support.tables import make_table, read, write

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import OptionError
from tablestore_engine.metadata.manifest_encoding import avro_container, decode_records
from tablestore_engine.schema.table.schema_changes import SetOption


def columnar(data, kind):
    """The Avro file of a manifest in another format, with the types that Paimon's schema gives it."""
    rows = pa.Table.from_pylist(avro_container.decode(data))
    rows = rows.cast(pa.schema([_typed(field) for field in rows.schema]))
    sink = io.BytesIO()
    if kind == "orc":
        orc.write_table(rows, sink)
    else:
        pq.write_table(rows, sink)
    return sink.getvalue()


def _typed(field):
    """What is null in all records has the type of a text."""
    if field.name == "_CREATION_TIME":
        return field.with_type(pa.timestamp("ms"))
    if pa.types.is_struct(field.type):
        return field.with_type(pa.struct([_typed(one) for one in field.type]))
    if pa.types.is_list(field.type) and field.type.value_type == pa.null():
        return field.with_type(pa.list_(pa.string()))
    return field.with_type(pa.string()) if field.type == pa.null() else field


@pytest.mark.parametrize("kind", ["orc", "parquet"])
def test_a_table_of_another_tool(tmp_path, kind):
    table = make_table(tmp_path, {"id": "INT", "v": "STRING"}, ["id"], options={"bucket": "1"})
    write(table, [{"id": 1, "v": "a"}])
    write(table, [{"id": 2, "v": "b"}])
    before = [e.file for e in table.live_files()]
    folder = table.paths.manifest_dir
    for one in table.io.list(folder):
        data = table.io.read(one.path)
        table.io.write(one.path, columnar(data, kind))
        assert decode_records.decode(table.io.read(one.path)) == avro_container.decode(data)
    again = Catalog(tmp_path).load_table("default", "t")
    assert [e.file for e in again.live_files()] == before
    assert sorted(row["v"] for row in read(again)) == ["a", "b"]
    with pytest.raises(OptionError, match=f"'manifest.format' = '{kind}' is not supported"):
        Catalog(tmp_path).alter_table("default", "t", [SetOption("manifest.format", kind)])


@pytest.mark.parametrize("start", [b"ORC", b"PAR1"])
def test_damaged_ones(start):
    with pytest.raises(ValueError, match=r"\w"):
        decode_records.decode(start + b" and nothing else")
