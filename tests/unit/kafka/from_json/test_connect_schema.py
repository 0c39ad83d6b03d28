"""The schema inside of a message says which types new columns have, and what their values mean."""

from __future__ import annotations

import base64
import datetime as dt
import json
from decimal import Decimal

import pyarrow as pa
import pytest

from tablestore_engine.kafka.decode_messages import Wanted, decode

NONE = pa.schema([("id", pa.int32())])
TIME, DATA, CONNECT = "io.debezium.time.", "io.debezium.data.", "org.apache.kafka.connect.data."
NOON = 1709208000


def raw(number):
    """The bytes of Java's BigInteger in Base64."""
    size = (number + (number < 0)).bit_length() // 8 + 1
    return base64.b64encode(number.to_bytes(size, "big", signed=True)).decode()


def decimal(scale, precision=None):
    parameters = {"scale": str(scale), **({"connect.decimal.precision": str(precision)} if precision else {})}
    return {"type": "bytes", "name": CONNECT + "Decimal", "parameters": parameters}


def message(at, kinds, values, **envelope):
    fields = [{"field": "id", "type": "int32"}, *({**kind, "field": name} for name, kind in kinds.items())]
    rows = [{"field": name, "type": "struct", "fields": fields} for name in ("before", "after")]
    schema = {"type": "struct", "fields": [*rows, {"field": "op", "type": "string"}]}
    payload = {"before": None, "after": {"id": at, **values}, "op": "c", **envelope}
    return json.dumps({"schema": schema, "payload": payload}).encode()


def taken(*messages, schema=NONE):
    """The new columns, and the rows of a table that has got them."""
    new = decode(
        "debezium-json", messages, [None] * len(messages), Wanted(schema, ("id",), new_columns=True)
    ).new_columns
    wider = pa.schema([*schema, *new.items()])
    found = decode("debezium-json", messages, [None] * len(messages), Wanted(wider, ("id",)))
    assert not found.bad
    return new, found.rows.to_pylist()


HALF = dt.datetime(2024, 2, 29, 12)
RECORD = {"type": "struct", "fields": [{"field": "d", **decimal(1, 5)}, {"field": "t", "type": "string"}]}
CASES = {
    "int8": ({"type": "int8"}, pa.int8(), {7: 7}),
    "int16": ({"type": "int16"}, pa.int16(), {-7: -7}),
    "int32": ({"type": "int32"}, pa.int32(), {7: 7}),
    "int64": ({"type": "int64"}, pa.int64(), {1 << 60: 1 << 60}),
    "float32": ({"type": "float"}, pa.float32(), {1.5: 1.5, 2: 2.0}),
    "float64": ({"type": "double"}, pa.float64(), {1: 1.0, 0.1: 0.1}),
    "boolean": ({"type": "boolean"}, pa.bool_(), {True: True}),
    "string": ({"type": "string"}, pa.string(), {"2024-01-01": "2024-01-01"}),
    "bytes": ({"type": "bytes"}, pa.binary(), {"AAEC": b"\x00\x01\x02"}),
    "Json": ({"type": "string", "name": DATA + "Json"}, pa.string(), {'{"a": 1}': '{"a": 1}'}),
    "Year": ({"type": "int32", "name": TIME + "Year"}, pa.int32(), {2024: 2024}),
    "Date": ({"type": "int32", "name": TIME + "Date"}, pa.date32(), {19782: HALF.date(), -1: dt.date(1969, 12, 31)}),
    "Connect's Date": ({"type": "int32", "name": CONNECT + "Date"}, pa.date32(), {19782: HALF.date()}),
    "Time": ({"type": "int32", "name": TIME + "Time"}, pa.time32("ms"), {45_000_001: dt.time(12, 30, 0, 1000)}),
    "MicroTime": ({"type": "int64", "name": TIME + "MicroTime"}, pa.time32("ms"), {45 * 10**9: dt.time(12, 30)}),
    "NanoTime": ({"type": "int64", "name": TIME + "NanoTime"}, pa.time32("ms"), {45 * 10**12: dt.time(12, 30)}),
    "Connect's Time": ({"type": "int32", "name": CONNECT + "Time"}, pa.time32("ms"), {0: dt.time(0)}),
    "Timestamp": (
        {"type": "int64", "name": TIME + "Timestamp"},
        pa.timestamp("ms"),
        {NOON * 1000: HALF, -1: dt.datetime(1969, 12, 31, 23, 59, 59, 999000)},
    ),
    "MicroTimestamp": (
        {"type": "int64", "name": TIME + "MicroTimestamp"},
        pa.timestamp("us"),
        {NOON * 10**6: HALF, 5: dt.datetime(1970, 1, 1, 0, 0, 0, 5)},
    ),
    "NanoTimestamp": (
        {"type": "int64", "name": TIME + "NanoTimestamp"},
        pa.timestamp("us"),
        {NOON * 10**9: HALF, 5000: dt.datetime(1970, 1, 1, 0, 0, 0, 5)},
    ),
    "Connect's Timestamp": ({"type": "int64", "name": CONNECT + "Timestamp"}, pa.timestamp("ms"), {NOON * 1000: HALF}),
    "ZonedTimestamp": (
        {"type": "string", "name": TIME + "ZonedTimestamp"},
        pa.timestamp("us", "UTC"),
        dict.fromkeys(("2024-02-29T12:00:00Z", "2024-02-29T14:00:00+02:00"), HALF.replace(tzinfo=dt.timezone.utc)),
    ),
    "Decimal": (
        decimal(2, 10),
        pa.decimal128(10, 2),
        {raw(n): Decimal(n).scaleb(-2) for n in (0, 1, -1, 127, 128, -128, -129, 1250, 9_999_999_999, -9_999_999_999)},
    ),
    "Decimal as a number": (decimal(2, 10), pa.decimal128(10, 2), {12.5: Decimal("12.50"), 3: Decimal("3.00")}),
    "Decimal without precision": (decimal(4), pa.decimal128(38, 4), {raw(10**37): Decimal(10**33)}),
    "Decimal with many digits": (
        decimal(2, 50),
        pa.string(),
        {raw(10**45 + 1): f"1{'0' * 42}0.01", raw(-5): "-0.05", raw(1234): "12.34"},
    ),
    "Decimal with a scale below 0": (decimal(-2, 5), pa.string(), {raw(12): "1200"}),
    "List": ({"type": "array", "items": {"type": "int32"}}, pa.list_(pa.int32()), {(1, 2): [1, 2], (): []}),
    "List of dates": (
        {"type": "array", "items": {"type": "int32", "name": TIME + "Date"}},
        pa.list_(pa.date32()),
        {(19782,): [HALF.date()]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("alone", [False, True], ids=["together", "one by one"])
def test_new_columns_have_the_declared_type(case, alone):
    """A map makes Python's parser read each message by itself."""
    kind, expected, values = CASES[case]
    kinds = {
        "v": kind,
        **({"m": {"type": "map", "keys": {"type": "string"}, "values": decimal(1, 3)}} if alone else {}),
    }
    more = {"m": {"a": raw(15)}} if alone else {}
    messages = [message(at, kinds, {"v": value, **more}) for at, value in enumerate(values)]
    new, rows = taken(*messages, message(99, kinds, {"v": None, **more}))
    assert new["v"] == expected
    assert [row["v"] for row in rows] == [*values.values(), None]
    if alone:
        assert new["m"] == pa.map_(pa.string(), pa.decimal128(3, 1))
        assert rows[0]["m"] == [("a", Decimal("1.5"))]


def test_a_record_and_a_decimal_with_its_own_scale():
    varying = {"type": "struct", "name": DATA + "VariableScaleDecimal", "fields": []}
    kinds = {"v": varying, "r": RECORD}
    pairs = [(2, 1250, "12.50"), (0, 7, "7"), (9, 1, "0.000000001"), (1, 10**40, f"1{'0' * 39}.0"), (2, -5, "-0.05")]
    messages = [
        message(at, kinds, {"v": {"scale": scale, "value": raw(n)}, "r": {"d": raw(n % 99), "t": "x"}})
        for at, (scale, n, _) in enumerate(pairs)
    ]
    new, rows = taken(*messages)
    assert new == {"v": pa.string(), "r": pa.struct({"d": pa.decimal128(5, 1), "t": pa.string()})}
    assert [row["v"] for row in rows] == [text for *_, text in pairs]
    assert [row["r"] for row in rows] == [{"d": Decimal(n % 99).scaleb(-1), "t": "x"} for _, n, _ in pairs]
    (row,) = taken(messages[0], schema=NONE.append(pa.field("v", pa.decimal128(20, 3))))[1]
    assert row["v"] == Decimal("12.500")


@pytest.mark.parametrize(
    ("kind", "value"), [(pa.decimal128(8, 3), Decimal("12.500")), (pa.float64(), 12.5), (pa.string(), "12.50")]
)
def test_columns_that_there_are_get_declared_decimals_in_their_type(kind, value):
    schema = NONE.append(pa.field("v", kind))
    new, rows = taken(message(1, {"v": decimal(2, 10)}, {"v": raw(1250)}), schema=schema)
    assert (new, rows) == ({}, [{"id": 1, "v": value}])


def test_a_column_that_has_only_nulls_is_added_with_its_declared_type():
    kinds = {"v": {"type": "int16"}, "_row_kind": {"type": "string"}, "odd": {"type": "unheard"}}
    new, rows = taken(message(1, kinds, {"v": None, "_row_kind": None, "odd": 5}))
    assert (new, rows) == ({"v": pa.int16(), "odd": pa.int64()}, [{"id": 1, "v": None, "odd": 5}])


def test_schemas_that_differ_have_a_type_for_both():
    number, date = {"type": "int32"}, {"type": "int32", "name": TIME + "Date"}
    longer = message(2, {"v": {"type": "int64"}}, {"v": 1 << 40})
    assert taken(message(1, {"v": number}, {"v": 1}), longer)[0] == {"v": pa.int64()}
    text = message(2, {"v": {"type": "string"}}, {"v": "x"})
    assert taken(message(1, {"v": date}, {"v": 1}), text)[0] == {"v": pa.string()}
    assert taken(message(1, {"v": {"type": "bytes"}}, {"v": "AAEC"}), text)[0] == {"v": pa.string()}


@pytest.mark.parametrize("value", ["", "x", raw(10**10), raw(1 << 127), raw(1 << 130)])
def test_bytes_that_are_no_decimal_of_the_column_are_bad(value):
    schema = NONE.append(pa.field("v", pa.decimal128(10, 2)))
    values = [message(1, {"v": decimal(2, 10)}, {"v": value}), message(2, {"v": decimal(2, 10)}, {"v": raw(5)})]
    found = decode("debezium-json", values, [None] * 2, Wanted(schema, ("id",)))
    assert found.rows.to_pylist() == [{"id": 2, "v": Decimal("0.05")}]
    assert [(one.position, "'after.v'" in one.reason) for one in found.bad] == [(0, True)]
