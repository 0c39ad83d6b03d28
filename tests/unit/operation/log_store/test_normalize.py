"""Upserts as complete changes."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
from support.tables import schema_of

from tablestore_engine.operation.log_store import held_rows
from tablestore_engine.operation.log_store.normalize import Normalizer

SCHEMA = schema_of({"id": "INT", "v": "INT"}, ["id"])
NAMES = ("+I", "-U", "+U", "-D")


def batch(rows):
    ids, values = zip(*rows, strict=True) if rows else ((), ())
    arrays = [pa.array(ids, pa.int32()), pa.array(values, pa.int32())]
    return pa.RecordBatch.from_arrays(arrays, names=["id", "v"])


def normalized(normalizer, *changes):
    """Changes (kind, id, v) as complete ones."""
    kinds = np.array([NAMES.index(kind) for kind, _, _ in changes], np.int8)
    rows, found = normalizer.normalized(batch([one[1:] for one in changes]), kinds)
    return [(NAMES[kind], *row.values()) for kind, row in zip(found, rows.to_pylist(), strict=True)]


def test_the_row_before_is_added():
    held = Normalizer(SCHEMA)
    held.hold(batch([(1, 1), (2, 2)]))
    assert normalized(held, ("+U", 1, 10), ("+U", 3, 3), ("-D", 2, 2)) == [
        ("-U", 1, 1), ("+U", 1, 10), ("+I", 3, 3), ("-D", 2, 2),
    ]  # fmt: skip
    assert normalized(held, ("-D", 2, 2)) == [], "it is deleted already"
    assert normalized(held) == []


def test_a_key_may_change_several_times_in_a_batch():
    held = Normalizer(SCHEMA)
    assert normalized(held, ("+U", 1, 1), ("+U", 1, 2), ("-D", 1, 2), ("+U", 1, 3), ("+U", 2, 2)) == [
        ("+I", 1, 1), ("-U", 1, 1), ("+U", 1, 2), ("-D", 1, 2), ("+I", 1, 3), ("+I", 2, 2),
    ]  # fmt: skip
    assert normalized(held, ("+U", 1, 4)) == [("-U", 1, 3), ("+U", 1, 4)]


def test_random_changes_lead_from_one_state_to_the_next():
    chance, held, rows = random.Random(7), Normalizer(SCHEMA), {}
    expected = {}
    for _ in range(200):
        changes = []
        for _ in range(chance.randrange(6)):
            number, value = chance.randrange(5), chance.randrange(100)
            if chance.random() < 0.3:
                changes.append(("-D", number, expected.pop(number, 0)))
            else:
                changes.append(("+U", number, value))
                expected[number] = value
        for kind, number, value in normalized(held, *changes):
            if kind in ("-U", "-D"):
                assert rows.pop(number) == value
            else:
                assert (number in rows) is False
                rows[number] = value
        assert rows == expected


def test_a_batch_costs_its_own_rows(monkeypatch):
    """However many rows are held."""
    made, run = [], held_rows._Run
    monkeypatch.setattr(held_rows, "_Run", lambda *parts: made.append(len(parts[0])) or run(*parts))
    held = Normalizer(SCHEMA)
    held.hold(batch([(number, 0) for number in range(10_000)]))
    for number in range(200):
        changes = [("+U", number * 5 + one, 1) for one in range(5)]
        assert [kind for kind, *_ in normalized(held, *changes)] == ["-U", "+U"] * 5
    assert sum(made) < 30_000
    assert normalized(held, ("-D", 999, 1), ("-D", 9_999, 0), ("-D", 10_000, 0)) == [("-D", 999, 1), ("-D", 9_999, 0)]


def test_keys_with_the_same_hash(monkeypatch):
    monkeypatch.setattr(held_rows, "row_hashes", lambda arrays, types: np.zeros(len(arrays[0]), np.int32))
    held = Normalizer(SCHEMA)
    held.hold(batch([(number, number) for number in range(5)]))
    assert normalized(held, ("+U", 3, 9), ("-D", 1, 1), ("+U", 7, 7)) == [
        ("-U", 3, 3), ("+U", 3, 9), ("-D", 1, 1), ("+I", 7, 7),
    ]  # fmt: skip
