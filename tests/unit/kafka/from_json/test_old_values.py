"""The row before an update of canal-json and maxwell-json, from the row after and the old values of what changed."""

from __future__ import annotations

import json
import random

import pyarrow as pa
import pytest

from tablestore_engine.kafka.decode_messages import Wanted, decode
from tablestore_engine.kafka.from_json import old_values
from tablestore_engine.kafka.from_json.old_values import nulls_in
from tablestore_engine.kafka.message_formats import BEFORE

INNER = pa.struct({"x": pa.int32(), "name": pa.string()})
ROW = pa.schema(
    [("id", pa.int32()), ("name", pa.string()), ("n", pa.int32()), ("s", INNER), ("tags", pa.list_(pa.string())),
     ("m", pa.map_(pa.string(), pa.int32()))]
)  # fmt: skip
FLAT = pa.schema(list(ROW)[:3])
TEXTS = [None, "a", "b", 'say "old": {', "x, \\", '"n":null', "é\n"]


def befores(name, messages, schema):
    found = decode(name, messages, [None] * len(messages), Wanted(schema, every_before=True))
    assert found.bad == ()
    return [row for kind, row in zip(found.kinds, found.rows.to_pylist(), strict=True) if kind == BEFORE]


def wrapped(name, updates):
    """Messages of updates, given as rows before and after; a message of canal-json may hold several."""
    changes = [({k: v for k, v in old.items() if new[k] != v}, new) for old, new in updates]
    if name == "maxwell-json":
        return [{"data": new, "old": changed, "type": "update", "ts": 1, "note": None} for changed, new in changes]
    halves = [changes[start : start + 2] for start in range(0, len(changes), 2)]
    return [
        {"data": [new for _, new in part], "old": [old for old, _ in part], "type": "UPDATE", "sqlType": {"n": 4}}
        for part in halves
    ]


def random_row(rng, nested):
    row = {"id": rng.randrange(3), "name": rng.choice(TEXTS), "n": rng.choice([None, 1, 2])}
    if nested:
        row["s"] = rng.choice([None, {"x": 1, "name": None}, {"x": None, "name": "q"}])
        row["tags"] = rng.choice([None, [], ["a", None]])
        row["m"] = rng.choice([None, {}, {"name": None, "k": 1}])
    return row


@pytest.mark.parametrize("name", ["maxwell-json", "canal-json"])
@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_the_row_before_is_the_one_that_was_changed(name, nested, ascii_only):
    rng = random.Random(f"{name}{nested}")
    updates = [(random_row(rng, nested), random_row(rng, nested)) for _ in range(400)]
    messages = [json.dumps(one, ensure_ascii=ascii_only).encode() for one in wrapped(name, updates)]
    expected = [{**old, "m": list(old["m"].items()) if old.get("m") is not None else None} if nested else old
                for old, _ in updates]  # fmt: skip
    assert befores(name, messages, ROW if nested else FLAT) == expected


@pytest.mark.parametrize(
    ("old", "expected"),
    [
        ('{"NAME": null}', {"id": 1, "name": None, "n": 5}),
        ('{"n\\u0061me" :null , "N":7}', {"id": 1, "name": None, "n": 7}),
        ('{"doc": {"name": null}}', {"id": 1, "name": "a", "n": 5}),
        ('{"doc": "{\\"name\\": null}"}', {"id": 1, "name": "a", "n": 5}),
        ('{"name": null, "Name": "b"}', {"id": 1, "name": "b", "n": 5}),
        ("{}", {"id": 1, "name": "a", "n": 5}),
    ],
)
@pytest.mark.parametrize("spaces", [" ", ""])
def test_names_of_columns_are_found_as_they_are_written(old, expected, spaces):
    text = '{"data":{"id":1,"name":"a","n":5},"old":' + spaces + old + ',"type":"update"}'
    assert befores("maxwell-json", [text.encode()], FLAT) == [expected]


def test_a_list_of_old_values_that_does_not_fit_names_no_other_row():
    first = {"data": [{"id": 1, "name": "a"}], "old": [{"n": 1}, {"name": None}], "type": "UPDATE"}
    other = {"data": [{"id": 2, "name": "b"}], "old": [{"id": 7}], "type": "UPDATE"}
    found = befores("canal-json", [json.dumps(one).encode() for one in (first, other)], FLAT)
    assert [(one["id"], one["name"]) for one in found] == [(1, "a"), (7, "b")]


def test_only_messages_with_a_null_before_are_read_by_python(monkeypatch):
    read = []
    monkeypatch.setattr(old_values, "_parsed", lambda record, inside: read.append(record) or json.loads(record))
    plain = [b'{"data":{"n":null},"old":{"n":%d,"name":"x \\"}"},"ts":null}' % number for number in range(5)]
    nulls = b'{"old":{"n":null}}'
    found = nulls_in([*plain, nulls, b'{"data":{"old":{"n":1}},"old":{"name":null}}'], "old", ["n", "name"])
    assert (found, read[:1], len(read)) == ({"n": [(5, 0)], "name": [(6, 0)]}, [nulls], 2)
    assert nulls_in([], "old", ["n"]) == {}
