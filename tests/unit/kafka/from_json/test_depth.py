"""Messages that are nested too deep are bad by themselves, and no parser sees them."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from tablestore_engine.kafka.decode_messages import FORMATS, Wanted, decode
from tablestore_engine.kafka.from_json.depth import DEEPEST, too_deep
from tablestore_engine.kafka.message_formats import ENVELOPES, INSERT

WANTED = Wanted(pa.schema([("id", pa.int64())]), ("id",), new_columns=True)


def lists(levels):
    return b"[" * levels + b"]" * levels


@pytest.mark.parametrize(
    ("text", "deep"),
    [
        (lists(DEEPEST), False),
        (lists(DEEPEST + 1), True),
        (b'{"a":' * DEEPEST + b"1" + b"}" * DEEPEST, False),
        (b'{"a":' * DEEPEST + b"[]" + b"}" * DEEPEST, True),
        (b"[" * 100_000, True),
        (b"[" + b"[]," * 100_000 + b"1]", False),
        (json.dumps("[" * 1000).encode(), False),
        (json.dumps('"[\\' + "[" * 1000).encode() + lists(DEEPEST + 1), True),
        (b"", False),
    ],
)
def test_only_lists_and_objects_that_are_open_at_once_count(text, deep):
    assert too_deep([b"{}", text]).tolist() == ([1] if deep else [])


def of_format(name, row):
    form = ENVELOPES.get(name)
    if form is None:
        return row
    word = next(word for word, kind in form.words.items() if kind == INSERT).encode()
    row = b"[%s]" % row if form.in_list else row
    return b'{"%s":%s,"%s":"%s"}' % (form.after.encode(), row, form.kind.encode(), word)


@pytest.mark.parametrize("name", FORMATS)
def test_the_others_are_taken(name):
    deep = [of_format(name, b'{"id":1,"n":%s}' % lists(5000)), b"[" * 100_000, of_format(name, b'{"id":2,"n":[[7]]}')]
    found = decode(name, [*deep, None], [None, None, None, b"[" * 100_000], WANTED)
    assert found.rows.to_pylist() == [{"id": 2}]
    assert found.new_columns == {"n": pa.list_(pa.list_(pa.int64()))}
    expected = [0, 1, 3] if name == "upsert-json" else [0, 1]
    assert {one.position: one.reason for one in found.bad} == dict.fromkeys(
        expected, f"it is nested deeper than {DEEPEST} levels"
    )
