"""Records that a table does not take say which column does not, and which value."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from tablestore_engine.kafka.decode_messages import Wanted, decode


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"id": "x"}, "column 'id': 'x' is no INT"),
        ({"id": 1 << 31}, "column 'id': '2147483648' is no INT"),
        ({"id": 1 << 70}, f"column 'id': '{1 << 70}' is no INT"),
        ({"id": [1]}, "column 'id': '[1]' is no INT"),
        ({"price": 1.234}, "column 'price': '1.234' is no DECIMAL(10, 2)"),
        ({"s": {"x": {"y": "é" * 60}}}, f"column 's.x.y': '{'é' * 50}…' is no DATE"),
        ({"s": 5}, "column 's': '5' is no ROW"),
        ({"l": [1, "no"]}, "column 'l': 'no' is no BOOLEAN"),
        ({"name": "\ud800"}, "column 'name': it is no Unicode text"),
        ({"id": "\ud800"}, "column 'id': '\\ud800' is no INT"),
        (b'{"id": "\xff"}', "it is no UTF-8 text"),
    ],
)
def test_a_reason_names_the_column_and_the_value(values, reason):
    inner = pa.struct({"x": pa.struct({"y": pa.date32()})})
    plain = [("id", pa.int32()), ("name", pa.string()), ("price", pa.decimal128(10, 2))]
    wanted = Wanted(pa.schema([*plain, ("s", inner), ("l", pa.list_(pa.bool_()))]), ("id",))
    bad = values if isinstance(values, bytes) else {"id": 1, **values}
    texts = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in ({"id": 1}, bad, {"id": 2})]
    found = decode("json", texts, [None] * 3, wanted)
    assert found.rows.num_rows == 2
    assert [(one.position, one.reason[: len(reason)]) for one in found.bad] == [(1, reason)]
