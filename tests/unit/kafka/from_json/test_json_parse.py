"""Records that a table does not take say which column does not, and which value."""

from __future__ import annotations

import json
from decimal import Context, Decimal, localcontext

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


@pytest.mark.parametrize(("precision", "scale"), [(10, 2), (38, 2), (36, 2), (38, 0), (38, 38), (19, 19), (18, 4)])
@pytest.mark.parametrize("as_text", [True, False])
def test_decimals_are_exact_or_bad(precision, scale, as_text):
    """Python's decimals are the judge; Arrow takes some numbers with too many digits for others."""
    kind = pa.decimal128(precision, scale)
    limit = Decimal((0, (1,), precision - scale))
    small, big = Decimal((0, (9,) * precision, -scale)), str(1 << 130)
    texts = ["0", "-1.5", "1e3", "12345678", *("9" * n for n in (9, 10, 36, 38, 39)), str(1 << 127), big, "0.5"]
    texts += [f"{1 << 127}.00", f"{1 << 128}", f"{1 << 256}", "3" + "0" * 40, f"{small:f}", f"-{small:f}"]
    with localcontext(Context(prec=400)):
        good = [abs(Decimal(one)) < limit and not Decimal(one).scaleb(scale) % 1 for one in texts]
    values = [f'"{one}"' if as_text else one for one in texts]
    lines = [f'{{"id": {at}, "v": {value}}}'.encode() for at, value in enumerate(values)]
    wanted = Wanted(pa.schema([("id", pa.int32()), ("v", kind)]), ("id",))
    for batch in (lines, *([one] for one in lines)):
        found = decode("json", batch, [None] * len(batch), wanted)
        ids = found.rows.column("id").to_pylist()
        assert ids == [at for at in range(len(texts)) if good[at] and lines[at] in batch]
        assert found.rows.column("v").to_pylist() == [Decimal(texts[at]) for at in ids]
