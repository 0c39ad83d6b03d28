"""Messages of other tools as rows with kinds; those that cannot be read say why."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from tablestore_engine.kafka.decode_messages import FORMATS, Wanted, decode
from tablestore_engine.kafka.encode_messages import messages_of, texts_as_bytes
from tablestore_engine.kafka.from_json.json_convert import from_base64
from tablestore_engine.kafka.settings import LogSettings
from tablestore_engine.mergetree.arrow_kernels.keyed_changes import ChangelogRows

ROW = pa.schema([("id", pa.int32()), ("name", pa.string()), ("price", pa.decimal128(10, 2))])
WANTED = Wanted(ROW, keys=("id",))
NAMES = ("+I", "-U", "+U", "-D")


def rows(found):
    return [(NAMES[kind], *row.values()) for kind, row in zip(found.kinds, found.rows.to_pylist(), strict=True)]


def decoded(name, *messages, keys=None, wanted=WANTED):
    values = [one if isinstance(one, bytes) or one is None else json.dumps(one).encode() for one in messages]
    return decode(name, values, keys or [None] * len(values), wanted)


def row(number, name="a", price=1.5):
    return {"id": number, "name": name, "price": price}


A, B = (1, "a", Decimal("1.50")), (1, "b", Decimal("1.50"))

DEBEZIUM = [
    {"before": None, "after": row(1), "op": "c"},
    {"before": row(1), "after": row(1, "b"), "op": "u"},
    {"before": row(1, "b"), "after": None, "op": "d"},
]
OGG = [
    {"before": None, "after": row(1), "op_type": "I", "table": "t"},
    {"before": row(1), "after": row(1, "b"), "op_type": "U"},
    {"before": row(1, "b"), "after": None, "op_type": "D"},
]
TEXT = {"id": "1", "name": "a", "price": "1.50"}
CANAL = [
    {"data": [TEXT], "old": None, "type": "INSERT", "isDdl": False},
    {"data": [{**TEXT, "name": "b"}], "old": [{"name": "a"}], "type": "UPDATE"},
    {"data": [{**TEXT, "name": "b"}], "old": None, "type": "DELETE"},
    {"data": None, "type": "CREATE", "isDdl": True, "sql": "create table …"},
]
MAXWELL = [
    {"data": row(1), "type": "insert", "ts": 1},
    {"data": row(1, "b"), "old": {"name": "a"}, "type": "update"},
    {"data": row(1, "b"), "type": "delete"},
    {"type": "table-alter", "sql": "alter table …"},
]


@pytest.mark.parametrize(
    ("name", "messages"),
    [
        ("debezium-json", DEBEZIUM),
        ("debezium-json", [{"schema": {}, "payload": one} for one in DEBEZIUM]),
        ("ogg-json", OGG),
        ("canal-json", CANAL),
        ("maxwell-json", MAXWELL),
    ],
)
def test_each_format_has_inserts_updates_and_deletes(name, messages):
    found = decoded(name, *messages)
    assert (rows(found), found.bad) == ([("+I", *A), ("+U", *B), ("-D", *B)], ())
    assert found.positions.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("name", "messages"),
    [("debezium-json", DEBEZIUM), ("ogg-json", OGG), ("canal-json", CANAL), ("maxwell-json", MAXWELL)],
)
def test_a_table_without_key_gets_the_rows_before(name, messages):
    found = decoded(name, *messages, wanted=Wanted(ROW, every_before=True))
    assert rows(found) == [("+I", *A), ("-U", *A), ("+U", *B), ("-D", *B)]


@pytest.mark.parametrize("name", ["debezium-json", "maxwell-json", "canal-json", "ogg-json"])
def test_an_update_without_values_before_is_bad_for_a_table_without_key(name):
    messages = {"debezium-json": DEBEZIUM, "maxwell-json": MAXWELL, "canal-json": CANAL, "ogg-json": OGG}[name]
    field = "before" if "before" in messages[1] else "old"
    found = decoded(name, messages[0], {**messages[1], field: None}, wanted=Wanted(ROW, every_before=True))
    assert [kind for kind, *_ in rows(found)] == ["+I"]
    assert [(one.position, f"in '{field}'" in one.reason) for one in found.bad] == [(1, True)]


@pytest.mark.parametrize("every_before", [True, False])
def test_no_part_of_a_bad_message_is_taken(every_before):
    wanted = Wanted(ROW, () if every_before else ("id",), ("name",), every_before=every_before)
    nameless = {"id": 1, "price": 1.5}
    messages = [
        {"before": row(1), "after": nameless, "op": "u"},
        {"before": nameless, "after": row(1), "op": "u"},
        {"before": nameless, "after": None, "op": "d"},
        {"before": row(3), "after": nameless, "op": "u"},
    ]
    found = decoded("debezium-json", *messages, wanted=wanted)
    assert sorted(one.position for one in found.bad) == ([0, 1, 2, 3] if every_before else [0, 3])
    assert [kind for kind, *_ in rows(found)] == ([] if every_before else ["+U", "-D"])
    several = {"data": [TEXT, {"id": "7"}], "type": "INSERT"}
    assert rows(decoded("canal-json", several, CANAL[0], wanted=wanted)) == [("+I", *A)]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("debezium-json", {"before": row(1), "after": row(2), "op": "u"}),
        ("canal-json", {"data": [{**TEXT, "id": "2"}], "old": [{"id": "1"}], "type": "UPDATE"}),
        ("maxwell-json", {"data": row(2), "old": {"id": 1}, "type": "update"}),
    ],
)
def test_a_key_that_changes_leaves_no_row_behind(name, message):
    assert [(kind, number) for kind, number, *_ in rows(decoded(name, message))] == [("-U", 1), ("+U", 2)]


def test_several_rows_of_a_canal_message():
    message = {
        "data": [TEXT, {**TEXT, "id": "3"}],
        "old": [{"name": "x"}, {"id": "2"}],
        "type": "UPDATE",
    }
    found = decoded("canal-json", CANAL[0], message, CANAL[2])
    assert [(kind, number) for kind, number, *_ in rows(found)] == [
        ("+I", 1), ("+U", 1), ("-U", 2), ("+U", 3), ("-D", 1),
    ]  # fmt: skip
    assert found.positions.tolist() == [0, 1, 1, 1, 2]


def test_plain_json_inserts_and_with_a_key_replaces_and_deletes():
    assert rows(decoded("json", row(1), None, row(1, "b"))) == [("+I", *A), ("+I", *B)]
    keys = [b'{"id":1}'] * 3
    found = decoded("upsert-json", row(1), None, row(1, "b"), keys=keys)
    assert rows(found) == [("+I", *A), ("-D", 1, None, None), ("+I", *B)]
    assert [one.position for one in decoded("upsert-json", None, keys=[b"not json"]).bad] == [0]


def test_bad_messages_say_why_and_the_others_are_read():
    found = decoded(
        "debezium-json",
        DEBEZIUM[0],
        b"{no json",
        {"before": None, "after": row("x"), "op": "c"},
        {"after": None, "op": "c"},
        {"after": row(1), "op": "z"},
        {"after": {"name": "no key"}, "op": "c"},
        b'["a list"]',
        None,
        DEBEZIUM[2],
    )
    assert rows(found) == [("+I", *A), ("-D", *B)]
    reasons = {one.position: one.reason for one in found.bad}
    assert sorted(reasons) == [1, 2, 3, 4, 5, 6]
    for position, part in ((2, "x"), (3, "no row in 'after'"), (4, "none of c, r, u, d"), (5, "column 'id' is null")):
        assert part in reasons[position]


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (pa.date32(), "2024-02-29", dt.date(2024, 2, 29)),
        (pa.date32(), 19782, dt.date(2024, 2, 29)),
        (pa.timestamp("us"), "2024-02-29 01:02:03.000004", dt.datetime(2024, 2, 29, 1, 2, 3, 4)),
        (pa.timestamp("us"), "2024-02-29T01:02:03+01:00", dt.datetime(2024, 2, 29, 0, 2, 3)),
        (pa.timestamp("us"), 1709168523000, dt.datetime(2024, 2, 29, 1, 2, 3)),
        (pa.timestamp("us"), 1709168523000004, dt.datetime(2024, 2, 29, 1, 2, 3, 4)),
        (pa.timestamp("ms", "UTC"), "2024-02-29 01:02:03Z", dt.datetime(2024, 2, 29, 1, 2, 3, tzinfo=dt.timezone.utc)),
        (pa.timestamp("ms", "UTC"), "2024-02-29 01:02:03", dt.datetime(2024, 2, 29, 1, 2, 3, tzinfo=dt.timezone.utc)),
        (pa.time32("ms"), "01:02:03", dt.time(1, 2, 3)),
        (pa.int8(), "12", 12),
        (pa.int64(), 2**53 + 1, 2**53 + 1),
        (pa.float64(), "NaN", None),
        (pa.decimal128(20, 2), 12.5, Decimal("12.50")),
        (pa.decimal128(20, 2), "12.5", Decimal("12.50")),
        (pa.bool_(), True, True),
        (pa.bool_(), 1, True),
        (pa.string(), 12, "12"),
        (pa.string(), {"a": 1}, '{"a": 1}'),
        (pa.binary(), "AP9hYg==", b"\x00\xffab"),
        (pa.list_(pa.int32()), [1, None], [1, None]),
        (pa.list_(pa.date32()), ["2024-02-29"], [dt.date(2024, 2, 29)]),
        (pa.map_(pa.string(), pa.int32()), {"a": 1}, [("a", 1)]),
        (pa.struct({"x": pa.date32()}), {"x": "2024-02-29"}, {"x": dt.date(2024, 2, 29)}),
    ],
)
def test_values_by_type(kind, value, expected):
    schema = pa.schema([("id", pa.int32()), ("v", kind)])
    found = decoded("json", {"id": 1, "v": value}, {"id": 2, "v": None}, {"id": 3}, wanted=Wanted(schema, ("id",)))
    assert not found.bad
    first, *others = found.rows.column("v").to_pylist()
    assert str(first) == "nan" if expected is None else first == expected
    assert others == [None, None]


def test_the_unit_of_a_number_does_not_depend_on_other_messages():
    schema = pa.schema([("id", pa.int32()), ("at", pa.timestamp("us")), ("t", pa.time32("ms"))])
    values = [(50_000_000_000_000, 30_000_000), (1_709_168_523_000_004, 86_399_000_000), (1_709_168_523_000, 1000)]
    lines = [{"id": n, "at": at, "t": t} for n, (at, t) in enumerate(values)]
    wanted = Wanted(schema, ("id",))
    alone = [decoded("json", one, wanted=wanted).rows.to_pylist()[0] for one in lines]
    assert decoded("json", *lines, wanted=wanted).rows.to_pylist() == alone
    assert [one["t"].isoformat() for one in alone] == ["08:20:00", "23:59:59", "00:00:01"]
    assert [one["at"].year for one in alone] == [3554, 2024, 2024]
    assert decoded("json", {"id": 1, "t": -5}, wanted=wanted).bad[0].reason == "column 't': '-5' is no TIME(3)"


@pytest.mark.parametrize("name", ["x", 5])
def test_the_schema_of_a_debezium_message_names_the_units(name):
    kinds = {"at": "MicroTimestamp", "T": "MicroTime", "name": None}
    fields = [{"field": one, "name": kind and f"io.debezium.time.{kind}"} for one, kind in kinds.items()]
    schema = {"type": "struct", "fields": [{"type": "struct", "field": "after", "fields": fields}]}
    row = {"id": 1, "at": 50_000_000_000_000, "T": 30_000_000, "name": name}
    columns = [("id", pa.int32()), ("at", pa.timestamp("us")), ("t", pa.time32("ms")), ("name", pa.string())]
    lines = [{"schema": schema, "payload": {"after": one, "op": "c"}} for one in ({**row, "id": 2, "name": "x"}, row)]
    found = decoded("debezium-json", *lines, wanted=Wanted(pa.schema(columns), ("id",))).rows
    assert found.column("at").to_pylist() == [dt.datetime(1971, 8, 2, 16, 53, 20)] * 2
    assert found.column("t").to_pylist() == [dt.time(0, 0, 30)] * 2


def test_names_of_columns_may_have_other_cases():
    assert rows(decoded("json", {"ID": 1, "Name": "a", "PRICE": 1.5})) == [("+I", *A)]
    assert rows(decoded("ogg-json", {"after": {"ID": 1, "NAME": "a", "PRICE": 1.5}, "op_type": "I"})) == [("+I", *A)]


@pytest.mark.parametrize(
    "messages",
    [
        [{"id": 1, "Name": "a"}, {"id": 2, "Name": 5}],
        [{"id": 1, "Name": "a", "ok": True}, {"ID": 2, "NAME": "5", "OK": 1}],
        [{"id": 1, "Name": "a"}, {"id": 2, "NAME": "5", "name": None}],
    ],
)
def test_names_in_other_cases_lose_no_value_of_any_message(messages):
    wanted = Wanted(pa.schema([("id", pa.int32()), ("name", pa.string()), ("ok", pa.bool_())]), ("id",))
    for found in (
        decoded("json", *messages, wanted=wanted),
        decoded("debezium-json", *({"after": one, "op": "c"} for one in messages), wanted=wanted),
        decoded("debezium-json", *({"payload": {"after": one, "op": "c"}} for one in messages), wanted=wanted),
        decoded("canal-json", *({"data": [one], "type": "INSERT"} for one in messages), wanted=wanted),
    ):
        assert not found.bad
        assert [one["name"] for one in found.rows.to_pylist()] == ["a", "5"]
        assert [one["ok"] for one in found.rows.to_pylist()] == [messages[0].get("ok"), messages[0].get("ok")]


def test_names_may_change_their_case_late():
    found = decoded("json", *({"id": n, "name" if n < 200 else "Name": "a"} for n in range(400)))
    assert found.rows.column("name").null_count == 0


@pytest.mark.parametrize("map_too", [False, True])
def test_names_in_other_cases_count_in_structs_and_next_to_maps(map_too):
    kinds = [("id", pa.int32()), ("s", pa.struct({"x": pa.int32(), "y": pa.string()}))]
    schema = pa.schema([*kinds, ("m", pa.map_(pa.string(), pa.int32()))] if map_too else kinds)
    messages = [{"ID": n, "S": {"X": n, "Y": y}, "M": {"k": n}} for n, y in ((1, "a"), (2, "b"), (3, 7))]
    found = decoded("json", *messages, wanted=Wanted(schema, ("id",)))
    expected = [{"id": n, "s": {"x": n, "y": y}} for n, y in ((1, "a"), (2, "b"), (3, "7"))]
    assert found.rows.select(["id", "s"]).to_pylist() == expected
    assert not map_too or found.rows.column("m").to_pylist() == [[("k", 1)], [("k", 2)], [("k", 3)]]


@pytest.mark.parametrize("name", ["json", "debezium-json", "maxwell-json", "canal-json"])
def test_new_columns_are_named_with_their_types(name):
    new = {**row(1), "more": 7, "note": "x", "nothing": None}
    message = {
        "json": new,
        "debezium-json": {"after": new, "op": "c"},
        "maxwell-json": {"data": new, "type": "insert"},
        "canal-json": {"data": [new], "type": "INSERT"},
    }[name]
    found = decoded(name, message, wanted=Wanted(ROW, ("id",), new_columns=True))
    assert rows(found) == [("+I", *A)]
    assert dict(found.new_columns) == {"more": pa.int64(), "note": pa.string()}
    assert decoded(name, message).new_columns == {}


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([7, "x"], pa.string()),
        ([1, 1.5], pa.float64()),
        ([1 << 70], pa.float64()),
        ([True, 1], pa.string()),
        ([None, {"a": [1, None]}], pa.struct({"a": pa.list_(pa.int64())})),
        ([{"a": 1}, {"b": "x"}], pa.struct({"a": pa.int64(), "b": pa.string()})),
        ([[], [1]], pa.list_(pa.int64())),
        ([[], {}], pa.string()),
        ([{"a": None}], pa.string()),
        (["2024-01-01", "soon"], pa.string()),
    ],
)
@pytest.mark.parametrize("name", ["json", "debezium-json", "canal-json"])
@pytest.mark.parametrize("other", [{}, {"name": 1.5}], ids=["together", "one by one"])
@pytest.mark.parametrize("too", [[], [b"{bad"]], ids=["", "next to a bad one"])
def test_new_columns_have_a_type_for_all_values(name, values, kind, other, too):
    """Messages that Python's parser reads, because of others or of their own values, name their columns, too."""
    wrap = {
        "json": lambda new: new,
        "debezium-json": lambda new: {"after": new, "op": "c"},
        "canal-json": lambda new: {"data": [new], "type": "INSERT"},
    }[name]
    messages = [wrap({**row(1), **other, "more": value}) for value in values]
    found = decoded(name, *messages, *too, wanted=Wanted(ROW, ("id",), new_columns=True))
    assert dict(found.new_columns) == {"more": kind}
    wider = ROW.append(pa.field("more", kind))
    assert decoded(name, *messages, wanted=Wanted(wider, ("id",))).bad == ()


@pytest.mark.parametrize(
    ("kind", "values", "parsed", "parses"),
    [
        (pa.map_(pa.string(), pa.int32()), [{"a": 1}] * 4096, 4096, 0),
        (pa.string(), [12, *["x"] * 4095], 16, 18),
        (pa.string(), [12, "x"] * 2048, 4096, 511),
        (pa.string(), [12] * 4096, 0, 1),
        (pa.string(), [*["x"] * 4095, True], 16, 18),
    ],
)
def test_few_messages_are_parsed_one_by_one_and_none_twice(monkeypatch, kind, values, parsed, parses):
    lines, alone, together = [{"id": n, "v": value} for n, value in enumerate(values)], [], []
    read, loads = pa.json.read_json, json.loads
    monkeypatch.setattr(pa.json, "read_json", lambda *given, **more: together.append(1) or read(*given, **more))
    monkeypatch.setattr(json, "loads", lambda *given, **more: (alone.append(more), loads(*given, **more))[1])
    found = decoded("json", *lines, wanted=Wanted(pa.schema([("id", pa.int32()), ("v", kind)]), ("id",)))
    assert found.rows.num_rows == 4096 and not found.bad
    assert sum(bool(one) for one in alone) == parsed, "without the samples"
    assert len(together) <= parses, "halves of halves, down to a few"
    expected = [
        list(one.items()) if isinstance(one, dict) else one if one == "x" else json.dumps(one) for one in values
    ]
    assert found.rows.column("v").to_pylist() == expected


def test_a_text_that_is_no_unicode_is_bad_by_itself():
    wanted = Wanted(pa.schema([("id", pa.int32()), ("m", pa.map_(pa.string(), pa.int8()))]), ("id",))
    lines = [b'{"id": %d, "m": {"%s": 1}}' % (n, rb"\ud800" if n == 5 else b"a") for n in range(9)]
    found = decoded("json", *lines, b"{", b'{"id": 10, "m": {"a": 300}}', wanted=wanted)
    assert sorted(one.position for one in found.bad) == [5, 9, 10]
    assert found.rows.column("id").to_pylist() == [0, 1, 2, 3, 4, 6, 7, 8]


def test_published_rows_are_read_again():
    values = {
        "id": pa.array([1, 2], pa.int32()),
        "f": pa.array([0.1, float("inf")]),
        "raw": pa.array([b"\x00\xff", None], pa.binary()),
        "at": pa.array([dt.datetime(2024, 1, 1), None], pa.timestamp("us")),
        "zoned": pa.array([dt.datetime(2024, 1, 1), None], pa.timestamp("ms", "UTC")),
        "text": pa.array(['a "b"\n', ""]),
        "tags": pa.array([["x"], []], pa.list_(pa.string())),
        "m": pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int32())),
    }
    table = pa.table(values)
    log = LogSettings("t", "", primary_keys=("id",))
    (part,) = messages_of(ChangelogRows(table, np.zeros(2, np.int8)), log)
    found = decode("debezium-json", texts_as_bytes(part.values), [None, None], Wanted(table.schema, ("id",)))
    assert not found.bad
    assert found.rows.to_pylist() == table.to_pylist()


def test_base64_of_slices():
    values = [b"", b"a", b"ab", b"abc", None, b"abcd"]
    import base64

    texts = pa.array([None if one is None else base64.b64encode(one).decode() for one in values])
    assert from_base64(texts).to_pylist() == values
    assert from_base64(texts[2:]).to_pylist() == values[2:]
    with pytest.raises(pa.ArrowInvalid, match="Base64"):
        from_base64(pa.array(["a"]))


def test_there_are_six_formats():
    assert set(FORMATS) == {"debezium-json", "canal-json", "maxwell-json", "ogg-json", "json", "upsert-json"}
    for name in FORMATS:
        assert decoded(name).rows.num_rows == 0
