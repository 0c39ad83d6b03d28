"""Messages that are decoded together: each means what it means by itself."""

from __future__ import annotations

import datetime as dt
import json
import random

import pyarrow as pa
import pytest

from tablestore_engine.kafka.decode_messages import FORMATS, Wanted, decode


def spelled(name, at):
    """A message of each format in which the row has the names of its fields in other cases."""
    inner = {"A": at} if at % 7 == 4 else {"a": at}
    row = {"id": at, "NAME" if at % 7 == 1 else "name": f"n{at}", "st": inner, "Li" if at == 150 else "li": [inner]}
    envelopes = {
        "debezium-json": {"before": None, "after": row, "op": "c"},
        "ogg-json": {"after": row, "op_type": "I"},
        "canal-json": {"data": [row], "type": "INSERT"},
        "maxwell-json": {"data": row, "type": "insert"},
    }
    return json.dumps(envelopes.get(name, row)).encode()


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("rare", [False, True])
def test_names_in_another_case_count_where_no_sample_has_them(name, rare):
    """Of 300 messages every third is a sample."""
    kind = pa.struct([("a", pa.int64())])
    schema = pa.schema([("id", pa.int64()), ("name", pa.string()), ("st", kind), ("li", pa.list_(kind))])
    numbers = [700 * at for at in range(300)]  # of the usual spelling
    changed = {1: 1, 5: 4, 100: 150} if rare else {at: at for at in range(300)}
    for at, number in changed.items():
        numbers[at] = number
    values = [spelled(name, at) for at in numbers]
    found = decode(name, values, [b'{"id":1}'] * 300, Wanted(schema, ("id",)))
    assert not found.bad
    assert found.rows.column("name").to_pylist() == [f"n{at}" for at in numbers]
    assert found.rows.column("st").to_pylist() == [{"a": at} for at in numbers]
    assert found.rows.column("li").to_pylist() == [[{"a": at}] for at in numbers]


def test_names_in_other_alphabets():
    schema = pa.schema([("id", pa.int64()), ("größe", pa.string())])
    values = [json.dumps({"id": at, "größe": "g"}, ensure_ascii=False).encode() for at in range(300)]
    values[1] = json.dumps({"id": 1, "GRÖSSE": "no", "GRÖßE": "yes"}, ensure_ascii=False).encode()
    values[2] = json.dumps({"id": 2, "x": "größe"}, ensure_ascii=False).encode()
    found = decode("json", values, [None] * 300, Wanted(schema))
    assert found.rows.column("größe").to_pylist()[:4] == ["g", "yes", None, "g"]


POOL = (
    b"null", b" null ", b"{bad", b"5", b"[]", b'{"id":null}', b'{"x":1}',
    *(json.dumps({"id": at, **more}).encode() for at, more in enumerate([
        {"amt": 2}, {"amt": 3.5}, {"amt": "4"}, {"amt": True}, {"x": 1152921504606846976}, {"x": "1.5"}, {"l": 5},
        {"l": [1, None]}, {"l": "no"}, {"L": [2]}, {"AMT": 7}, {"Id": 3}, {"name": "n"}, {"name": 5},
        {"name": {"a": 1}}, {"b": -1}, {"b": 1}, {"b": "no"},
    ])),
)  # fmt: skip


def in_envelope(name, text):
    """A row's text as a message of a format."""
    if name in ("json", "upsert-json") or not text.startswith(b"{") or text == b"{bad":
        return text
    row = json.loads(text)
    envelopes = {
        "debezium-json": {"before": None, "after": row, "op": "c"},
        "ogg-json": {"after": row, "op_type": "I"},
        "canal-json": {"data": [row], "type": "INSERT"},
        "maxwell-json": {"data": row, "type": "insert"},
    }
    return json.dumps(envelopes[name]).encode()


def of_schema(kind, value, wrapped=True):
    """A message of Debezium with a number that is a time in a unit."""
    payload = {"before": None, "after": {"id": 1, "ts": value}, "op": "c"}
    row = {
        "type": "struct",
        "field": "after",
        "fields": [{"field": "ts", "type": "int64", "name": "io.debezium.time." + kind}],
    }
    schema = {"type": "struct", "fields": [row, {"field": "payload", "type": "string"}]}
    return json.dumps({"schema": schema, "payload": payload} if wrapped else payload).encode()


@pytest.mark.parametrize("name", FORMATS)
def test_a_message_means_the_same_among_others(name):
    """Rows and reasons of a batch are those of its messages one by one."""
    schema = pa.schema(
        [
            ("id", pa.int64()),
            ("amt", pa.decimal128(10, 2)),
            ("x", pa.float64()),
            ("l", pa.list_(pa.int32())),
            ("b", pa.bool_()),
        ]
    )
    wanted = Wanted(schema.append(pa.field("name", pa.string())), ("id",))
    alone = {text: decode(name, [in_envelope(name, text)], [b'{"id":1}'], wanted) for text in POOL}
    draw = random.Random(name)
    batches = [[text] * 40 for text in POOL] + [draw.choices(POOL, k=draw.choice((2, 3, 9, 300))) for _ in range(25)]
    for batch in batches:
        found = decode(name, [in_envelope(name, text) for text in batch], [b'{"id":1}'] * len(batch), wanted)
        expected = [(at, alone[text]) for at, text in enumerate(batch)]
        assert found.positions.tolist() == [at for at, one in expected for _ in one.positions], batch
        assert found.rows.to_pylist() == [row for _, one in expected for row in one.rows.to_pylist()], batch
        assert sorted({one.position for one in found.bad}) == [at for at, one in expected if one.bad], batch


def test_each_message_of_debezium_has_the_units_of_its_schema():
    noon = 1709208000
    messages = [
        of_schema("MicroTimestamp", noon * 10**6),
        of_schema("Timestamp", noon * 1000),
        of_schema("Timestamp", noon * 1000, wrapped=False),
        of_schema("NanoTimestamp", noon * 10**9),
        b'{"payload":' + of_schema("Timestamp", noon * 1000)[:-1].partition(b'"payload": ')[2] + b"}",
        of_schema("Timestamp", noon * 1000 + 1000),
    ]
    wanted = Wanted(pa.schema([("id", pa.int64()), ("ts", pa.timestamp("us"))]), every_before=True)
    found = decode("debezium-json", messages, [None] * 6, wanted)
    first = dt.datetime(2024, 2, 29, 12)
    assert found.rows.column("ts").to_pylist() == [*[first] * 5, first + dt.timedelta(seconds=1)]
    assert found.positions.tolist() == [*range(6)]
    assert not found.bad


def test_a_payload_that_is_null_is_bad_alone():
    noon = 1709208000
    good = of_schema("Timestamp", noon * 1000)
    empty = good[: good.index(b'"payload": {')] + b'"payload": null}'
    wanted = Wanted(pa.schema([("id", pa.int64()), ("ts", pa.timestamp("us"))]), every_before=True)
    for first in (empty, b'{"schema":null,"payload":null}', b"{}", b"null"):
        found = decode("debezium-json", [first, *[good] * 20], [None] * 21, wanted)
        assert [one.position for one in found.bad] == [0], first
        assert found.rows.column("ts").to_pylist() == [dt.datetime(2024, 2, 29, 12)] * 20


def test_new_columns_have_a_type_for_all_envelopes():
    of_number, of_text = (
        json.dumps({"schema": {"version": at}, "payload": {"after": {"id": at, name: value}, "op": "c"}}).encode()
        for at, (name, value) in enumerate([("x", 1), ("X", "abc")])
    )
    found = decode(
        "debezium-json", [of_number, of_text], [None] * 2, Wanted(pa.schema([("id", pa.int64())]), new_columns=True)
    )
    assert found.new_columns == {"x": pa.string()}


def test_names_of_the_envelope_are_none_of_the_row():
    values = [
        json.dumps({"after": {"id": at, "NAME": "n"}, "op": "c", "source": {"name": "shop"}}).encode()
        for at in range(300)
    ]
    values[1] = json.dumps({"after": {"id": 1, "name": "n"}, "op": "c", "source": {"name": "shop"}}).encode()
    found = decode(
        "debezium-json", values, [None] * 300, Wanted(pa.schema([("id", pa.int64()), ("name", pa.string())]))
    )
    assert found.rows.column("name").to_pylist() == ["n"] * 300
