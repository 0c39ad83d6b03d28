"""ORC files as Paimon writes them: ids of columns, codecs, stripes."""

from __future__ import annotations

from datetime import datetime
from io import BytesIO

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import orc
from support.files import path_of
from support.tables import make_table, read, write

from tablestore_engine.errors import UserError
from tablestore_engine.operation.formats.file_format import FileLayout
from tablestore_engine.operation.formats.orc_file import OrcWriter
from tablestore_engine.options import CoreOptions

NESTED = {"type": "MAP", "key": "STRING NOT NULL", "value": {"type": "ARRAY", "element": "INT"}}


def orc_file(table):
    (entry,) = table.live_files()
    return orc.ORCFile(path_of(table, entry))


def test_columns_have_their_ids(tmp_path):
    row = {"type": "ROW", "fields": [{"id": 9, "name": "x", "type": "TIME(3)"}]}
    table = make_table(tmp_path, {"id": "INT", "m": NESTED, "r": row}, ["id"], options={"file.format": "orc"})
    write(table, [{"id": 1, "m": {"a": [1]}, "r": {"x": None}}])
    schema = orc_file(table).schema
    ids = {f.name: int(f.metadata[b"paimon.id"]) for f in schema}
    assert ids == {
        "_KEY_id": 2**30 - 1, "_SEQUENCE_NUMBER": 2**31 - 2, "_VALUE_KIND": 2**31 - 3, "id": 0, "m": 1, "r": 2,
    }  # fmt: skip
    assert str(schema.field("r").type.field("x").type) == "int32", "milliseconds"
    assert schema.field("r").type.field("x").metadata == {b"paimon.id": b"3"}


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("zstd", "ZSTD"),
        ("snappy", "SNAPPY"),
        ("lz4", "LZ4"),
        ("gzip", "ZLIB"),
        ("none", "UNCOMPRESSED"),
        ("brotli", "ZSTD"),
    ],
)
def test_compression(tmp_path, asked, found):
    options = {"file.format": "orc", "file.compression": asked}
    table = make_table(tmp_path, {"v": "STRING"}, options=options)
    write(table, [{"v": "a"}])
    assert orc_file(table).compression == found


def size_of(folder, **options):
    table = make_table(folder, {"v": "STRING"}, options={"file.format": "orc", **options})
    write(table, [{"v": f"{n * n % 9973} and {n % 7}"} for n in range(20_000)])
    (entry,) = table.live_files()
    return entry.file.file_size


@pytest.mark.parametrize("codec", ["zstd", "brotli", "snappy", "lz4", "gzip", "none"])
def test_the_level_is_that_of_zstd(tmp_path, codec):
    first, last = (
        size_of(tmp_path / level, **{"file.compression": codec, "file.compression.zstd-level": level})
        for level in ("1", "9")
    )
    assert last < first if codec in ("zstd", "brotli") else last == first


@pytest.mark.parametrize("codec", ["zstd", "snappy", "lz4", "gzip"])
def test_files_are_smaller_with_each_compression(tmp_path, codec):
    sizes = [size_of(tmp_path / one, **{"file.compression": one}) for one in ("none", codec)]
    assert sizes[1] < 0.8 * sizes[0]


def test_stripes_have_the_size_of_a_block(tmp_path):
    stripes = []
    for size in ("64 kb", "64 mb"):
        options = {"file.format": "orc", "file.block-size": size, "file.compression": "none"}
        table = make_table(tmp_path / size[:4], {"id": "INT", "v": "STRING"}, options=options)
        write(table, [{"id": n, "v": f"{n:0100}"} for n in range(5_000)])
        stripes.append(orc_file(table).nstripes)
    assert stripes[1] == 1
    assert stripes[0] > 3


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("year", [1, 1600, 2300, 9999])
def test_timestamps_that_arrow_does_not_read(tmp_path, nested, year):
    kind = {"type": "ARRAY", "element": "TIMESTAMP(6)"} if nested else "TIMESTAMP(6)"
    table = make_table(tmp_path, {"at": kind}, options={"file.format": "orc"})
    at = datetime(year, 1, 1)
    with pytest.raises(UserError, match="'at' has a timestamp that an ORC file cannot hold"):
        write(table, [{"at": [None, at] if nested else at}])
    assert read(table) == []


def test_rows_in_rows_that_are_null(tmp_path):
    row = {"type": "ROW", "fields": [{"id": 8, "name": "x", "type": "FLOAT"}]}
    outer = {"type": "ROW", "fields": [{"id": 9, "name": "r", "type": row}]}
    given = [{"id": 1, "a": {"r": None}}, {"id": 2, "a": {"r": {"x": 0.25}}}]
    table = make_table(tmp_path, {"id": "INT", "a": outer}, options={"file.format": "orc"})
    write(table, given)
    assert read(table) == given


LEAVES = {pa.int32(): st.integers(0, 9), pa.string(): st.sampled_from(["", "a", "bcd"]), pa.bool_(): st.booleans()}
SHAPES = st.recursive(
    st.sampled_from(list(LEAVES)),
    lambda kinds: st.one_of(
        *(kinds.map(lambda kind: pa.struct([("x", kind), ("y", pa.int32())])),) * 3,
        kinds.map(pa.list_),
        kinds.map(lambda kind: pa.map_(pa.string(), kind)),
    ),
    max_leaves=4,
)


def values_of(kind):
    if pa.types.is_struct(kind):
        found = st.fixed_dictionaries({one.name: values_of(one.type) for one in kind})
    elif pa.types.is_list(kind):
        found = st.lists(values_of(kind.value_type), max_size=2)
    elif pa.types.is_map(kind):
        found = st.dictionaries(st.sampled_from("ab"), values_of(kind.item_type)).map(lambda of: list(of.items()))
    else:
        found = LEAVES[kind]
    return st.one_of(found, found, found, st.none())


@given(st.data())
def test_any_nested_values(data):
    kind = data.draw(SHAPES)
    values = pa.array(data.draw(st.lists(values_of(kind), min_size=1, max_size=6)), kind)
    values = values.slice(data.draw(st.integers(0, len(values) - 1)))
    rows, sink = pa.table({"a": values}), BytesIO()
    layout = FileLayout(rows.schema, (), "zstd", CoreOptions.parse({}, keyed=False))
    writer = OrcWriter(pa.PythonFile(sink, "w"), layout)
    writer.write(rows)
    writer.close()
    assert orc.read_table(BytesIO(sink.getvalue())).column("a").to_pylist() == values.to_pylist()
