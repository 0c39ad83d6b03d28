"""What the words of a format say, and which messages are of no use because of them."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from tablestore_engine.kafka.decode_messages import Wanted, decode
from tablestore_engine.kafka.message_formats import ENVELOPES

ROW = {"id": 1}
WANTED = Wanted(pa.schema([("id", pa.int64())]), ("id",))


def taken(name, *messages):
    found = decode(name, [json.dumps(one).encode() for one in messages], [None] * len(messages), WANTED)
    return found.rows.column("id").to_pylist(), {one.position: one.reason for one in found.bad}


def message(name, word, row=None):
    form = ENVELOPES[name]
    return {form.after: [row] if form.in_list and row else row, form.kind: word}


WORDS = {
    "debezium-json": ("c", "m", "t"),
    "ogg-json": ("I", None, "T"),
    "canal-json": ("INSERT", "ALTER", "TRUNCATE"),
    "maxwell-json": ("insert", "table-alter", "table-drop"),
}


@pytest.mark.parametrize("name", ENVELOPES)
def test_statements_that_remove_rows_are_bad_and_others_are_passed_over(name):
    insert, other, removal = WORDS[name]
    messages = [message(name, insert, ROW), message(name, removal), *([message(name, other)] if other else [])]
    assert taken(name, *messages) == ([1], {1: f"'{removal}' removes rows that the message does not name"})


@pytest.mark.parametrize("name", ENVELOPES)
@pytest.mark.parametrize("word", ["xyz", "5", None, "Insert"])
@pytest.mark.parametrize("row", [ROW, None])
def test_words_of_no_meaning_are_bad(name, word, row):
    known = [message(name, WORDS[name][0], {"id": at}) for at in range(2)]
    ids, bad = taken(name, known[0], message(name, int(word) if word == "5" else word, row), known[1])
    assert (ids, [*bad]) == ([0, 1], [1])
    assert (f"is '{word}'" if word else "there is no") in bad[1]


@pytest.mark.parametrize("name", ENVELOPES)
def test_messages_of_another_format_are_bad(name):
    others = [message(one, WORDS[one][0], ROW) for one in ENVELOPES if ENVELOPES[one].kind != ENVELOPES[name].kind]
    ids, bad = taken(name, *others, {"id": 1})
    assert (ids, [*bad]) == ([], [*range(len(others) + 1)])


@pytest.mark.parametrize("rows", [None, [], [None]])
def test_a_change_without_rows_is_bad(rows):
    ids, bad = taken("canal-json", {"data": rows, "type": "INSERT"}, {"data": [ROW], "type": "INSERT"})
    assert (ids, bad) == ([1], {0: "there is no row in 'data'"})
