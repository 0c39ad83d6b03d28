"""Arrow schemas of data files: types, and field ids on every level."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tablestore_engine.errors import UnsupportedTypeError
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.types.arrow import arrow_schema, from_arrow_type, to_arrow_type
from tablestore_engine.schema.types.types import ArrayType, DataField, MapType, RowType, parse_type

INT_MAX = 2**31 - 1


@pytest.mark.parametrize(
    ("text", "arrow"),
    [
        ("BOOLEAN", pa.bool_()),
        ("TINYINT", pa.int8()),
        ("SMALLINT", pa.int16()),
        ("INT", pa.int32()),
        ("BIGINT", pa.int64()),
        ("FLOAT", pa.float32()),
        ("DOUBLE", pa.float64()),
        ("DECIMAL(10, 2)", pa.decimal128(10, 2)),
        ("STRING", pa.string()),
        ("BYTES", pa.binary()),
        ("DATE", pa.date32()),
        ("TIMESTAMP(3)", pa.timestamp("ms")),
        ("TIMESTAMP(6)", pa.timestamp("us")),
        ("TIMESTAMP(9)", pa.timestamp("ns")),
        ("TIMESTAMP(6) WITH LOCAL TIME ZONE", pa.timestamp("us", tz="UTC")),
    ],
)
def test_atomic_types_both_ways(text, arrow):
    assert to_arrow_type(parse_type(text)) == arrow
    assert from_arrow_type(arrow) == parse_type(text)


@pytest.mark.parametrize(
    ("arrow", "text"),
    [
        (pa.large_string(), "STRING"),
        (pa.string_view(), "STRING"),
        (pa.dictionary(pa.int32(), pa.string()), "STRING"),
        (pa.large_binary(), "BYTES"),
        (pa.binary(4), "BINARY(4)"),
        (pa.uint8(), "SMALLINT"),
        (pa.uint32(), "BIGINT"),
        (pa.uint64(), "DECIMAL(20, 0)"),
        (pa.date64(), "DATE"),
        (pa.timestamp("us", tz="Europe/Berlin"), "TIMESTAMP(6) WITH LOCAL TIME ZONE"),
    ],
)
def test_other_arrow_types_are_widened(arrow, text):
    assert from_arrow_type(arrow) == parse_type(text)


@pytest.mark.parametrize("arrow", [pa.null(), pa.duration("s"), pa.decimal256(50, 2)], ids=str)
def test_arrow_types_without_an_equivalent(arrow):
    with pytest.raises(UnsupportedTypeError):
        from_arrow_type(arrow)


def test_nested_types_both_ways():
    arrow = pa.struct(
        [
            pa.field("a", pa.list_(pa.int32()), nullable=False),
            ("m", pa.map_(pa.string(), pa.list_(pa.int64()))),
        ]
    )
    kind = from_arrow_type(arrow)
    assert [field.type.nullable for field in kind.fields] == [False, True]
    # Fields of a struct that is null are null, whatever they may be in others.
    assert to_arrow_type(kind) == pa.struct([arrow[0].with_nullable(True), arrow[1]])


SCHEMA = create_schema(
    [
        ("id", parse_type("BIGINT"), None),
        ("deep", ArrayType(MapType(parse_type("INT"), ArrayType(parse_type("INT")))), None),
        ("r", RowType((DataField(0, "x", parse_type("INT")),)), None),
    ],
    ["id"],
)


def test_keyed_files_carry_the_system_columns():
    schema = arrow_schema(SCHEMA.fields, SCHEMA.trimmed_key_fields)
    assert schema.names == ["_KEY_id", "_SEQUENCE_NUMBER", "_VALUE_KIND", "id", "deep", "r"]
    ids = [int(one.metadata[b"PARQUET:field_id"]) for one in schema]
    assert ids == [INT_MAX // 2, INT_MAX - 1, INT_MAX - 2, 0, 1, 2]
    assert not any(schema.field(name).nullable for name in schema.names[:4])
    assert arrow_schema(SCHEMA.fields).names == ["id", "deep", "r"]


def test_field_ids_reach_the_file_on_every_level(tmp_path):
    # The ids of elements, keys and values as Paimon derives them: a base of MAX_INT / 4, 1,024 depths per column.
    base = INT_MAX // 4 + 1024
    pq.write_table(arrow_schema(SCHEMA.fields).empty_table(), tmp_path / "f.parquet")
    read = pq.read_schema(tmp_path / "f.parquet")

    def field_id(field):
        return int(field.metadata[b"PARQUET:field_id"])

    element = read.field("deep").type.value_field
    inner = element.type.item_field.type.value_field
    assert field_id(element) == base + 1
    assert field_id(element.type.key_field) == INT_MAX // 4 - 1024 - 2
    assert field_id(element.type.item_field) == base + 2
    assert field_id(inner) == base + 3
    assert field_id(read.field("r").type.field("x")) == 3
