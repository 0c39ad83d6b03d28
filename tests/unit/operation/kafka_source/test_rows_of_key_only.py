"""Messages whose row before holds only the key, where whole rows are asked for."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from tablestore_engine.kafka.decode_messages import Wanted, decode
from tablestore_engine.operation.kafka_source.rows_of_key_only import with_key_only_as_bad, with_unordered_as_bad

WANTED = Wanted(pa.schema([("id", pa.int32()), ("v", pa.int32())]), every_before=True)
ROW = {"id": 1, "v": 1}


def bad(*messages, name="debezium-json", keys=None):
    values = [json.dumps(one).encode() for one in messages]
    keys = keys or [b'{"id": 1}'] * len(values)
    found = with_key_only_as_bad(name, decode(name, values, keys, WANTED), values, keys)
    assert set(found.positions.tolist()).isdisjoint(one.position for one in found.bad)
    return [one.position for one in found.bad]


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_row_of_the_key_s_columns_is_a_part_of_one(wrapped):
    messages = [
        {"before": None, "after": ROW, "op": "c"},
        {"before": {"id": 1}, "after": {"id": 1, "v": 2}, "op": "u"},
        {"before": {"ID": 1, "other": 5}, "after": None, "op": "d"},
        {"before": {"id": 1, "v": None}, "after": None, "op": "d"},
        {"before": ROW, "after": None, "op": "d"},
        {"before": None, "after": {"id": 1}, "op": "c"},
    ]
    keys = [b'{"id": 1}'] * 6
    if wrapped:
        messages = [{"schema": None, "payload": one} for one in messages]
        keys = [b'{"schema": null, "payload": {"id": 1}}'] * 6
    assert bad(*messages, keys=keys) == [1, 2]


def test_a_key_must_say_what_it_is():
    delete = {"before": {"id": 1}, "after": None, "op": "d"}
    assert bad(delete, keys=[None]) == bad(delete, keys=[b"text"]) == bad(delete, keys=[b'{"x": 1}']) == []
    assert bad(delete, delete, keys=[None, b'{"id": 1}']) == [1]
    assert bad(delete, keys=[b'{"id": 1, "v": 2}']) == [], "all columns are the key"


@pytest.mark.parametrize(("name", "expected"), [("ogg-json", [0]), ("maxwell-json", []), ("json", [])])
def test_formats_with_a_row_before(name, expected):
    message = {
        "ogg-json": {"before": {"id": 1}, "op_type": "D"},
        "maxwell-json": {"data": {"id": 1}, "type": "delete"},
        "json": {"id": 1},
    }[name]
    assert bad(message, name=name) == expected


DELETES = {
    "upsert-json": ([None, b'{"id": 2, "v": 5}'], [0]),
    "debezium-json": ([{"before": {"id": 1}, "op": "d"}, {"before": {"id": 1, "V": None}, "op": "d"}], [0]),
    "ogg-json": ([{"before": {"id": 1}, "op_type": "D"}, {"before": ROW, "op_type": "D"}], [0]),
    "canal-json": ([{"data": [{"id": 1}], "type": "DELETE"}], []),
}


@pytest.mark.parametrize("name", DELETES)
def test_a_delete_without_its_order_would_remove_nothing(name):
    messages, expected = DELETES[name]
    values = [json.dumps(one).encode() if isinstance(one, dict) else one for one in messages]
    found = decode(name, values, [b'{"id": 1}'] * len(values), Wanted(WANTED.schema, ("id",)))
    assert with_unordered_as_bad(name, found, values, ()) is found
    ordered = with_unordered_as_bad(name, found, values, ("v",))
    assert [one.position for one in ordered.bad] == expected
    assert ordered.rows.num_rows == len(values) - len(expected)
    assert all("'v'" in one.reason for one in ordered.bad)
