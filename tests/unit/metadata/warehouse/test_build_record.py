"""When the owner of a build counts as dead, and what is stored of a build."""

from __future__ import annotations

import json

import pytest

from tablestore_engine.metadata.warehouse.build_record import BuildRecord, Process

MINUTE = 60_000
NOW = 10 * MINUTE
RECORD = BuildRecord("b", "default", "tä", Process("here", 1, 2), "u", 1, 8 * MINUTE, MINUTE)


@pytest.mark.parametrize(
    ("running", "seen", "now", "abandoned"),
    [
        # Its process is seen, and decides alone.
        (True, None, NOW, False),
        (True, 0, 1000 * MINUTE, False),
        (False, NOW, NOW, True),
        # Elsewhere its lease of a minute counts, from the last heartbeat or from the start.
        (None, None, NOW, True),
        (None, None, 9 * MINUTE, False),
        (None, None, 9 * MINUTE + 1, True),
        (None, 9 * MINUTE, NOW, False),
        (None, 9 * MINUTE - 1, NOW, True),
        (None, NOW, NOW, False),
        (None, 1, 9 * MINUTE, False),  # a heartbeat of another clock, before the start
    ],
)
def test_an_owner_is_dead_if_it_neither_runs_nor_was_seen(running, seen, now, abandoned):
    assert RECORD.is_abandoned(running, seen, now) is abandoned


def test_a_stored_record_is_read():
    assert json.loads(RECORD.to_json())["owner"] == {"machine": "here", "number": 1, "started": 2}
    assert BuildRecord.from_json(RECORD.to_json()) == RECORD


@pytest.mark.parametrize("text", ["{}", "[]", "{", '{"owner": {}}', '{"owner": {"machine": "m"}, "more": 1}'])
def test_text_that_is_no_record_is_refused(text):
    with pytest.raises((ValueError, KeyError, TypeError)):
        BuildRecord.from_json(text.encode())
