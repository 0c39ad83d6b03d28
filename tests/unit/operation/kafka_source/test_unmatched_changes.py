"""Which messages are left out because they take away rows that a table without a key does not have."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from support.tables import DELETE, PUT, arrow_rows, compact, make_table, reload

from tablestore_engine.kafka.decode_messages import Decoded
from tablestore_engine.kafka.message_formats import AFTER, BEFORE, INSERT
from tablestore_engine.kafka.message_formats import DELETE as REMOVED
from tablestore_engine.operation.kafka_source.unmatched_changes import with_unmatched_as_bad

COLUMNS = {"p": "STRING", "id": "INT", "f": "DOUBLE"}


def decoded(table, messages):
    """Messages as lists of (kind, row)."""
    rows = [(position, kind, row) for position, one in enumerate(messages) for kind, row in one]
    table_rows = arrow_rows(table.schema, [dict(zip(COLUMNS, row, strict=True)) for _, _, row in rows])
    kinds = np.array([kind for _, kind, _ in rows], np.int8)
    return Decoded(table_rows, kinds, np.array([position for position, _, _ in rows], np.int64))


def apply(table, found):
    retracts = np.isin(found.kinds, (BEFORE, REMOVED))
    rows = found.rows.to_pylist()
    if rows:
        reload(table).write(arrow_rows(table.schema, rows, [DELETE if one else PUT for one in retracts]))


def content(table):
    return Counter(tuple(one.values()) for one in reload(table).to_arrow().to_pylist())


@pytest.mark.parametrize("partitions", [[], ["p"]], ids=["", "partitioned"])
@pytest.mark.parametrize("options", [{}, {"bucket": "2", "bucket-key": "id"}, {"file.format": "avro"}], ids=str)
def test_the_table_has_what_the_good_messages_say(tmp_path, partitions, options):
    rng = random.Random(str((partitions, options)))
    table = make_table(tmp_path, COLUMNS, (), partitions, options)
    held = Counter()
    for _ in range(12):
        messages = [list(some_changes(rng, held)) for _ in range(rng.randrange(1, 15))]
        found = with_unmatched_as_bad(reload(table).state, decoded(table, messages))
        bad = {one.position for one in found.bad}
        for position, message in enumerate(messages):
            for kind, row in message if position not in bad else ():
                held[row] += -1 if kind in (BEFORE, REMOVED) else 1
        assert min(held.values(), default=0) >= 0
        kept = {position for position in range(len(messages)) if position not in bad}
        assert set(found.positions.tolist()) == kept, "a message is wholly there or not at all"
        assert all("does not have" in one.reason for one in found.bad)
        apply(table, found)
        held = +held
        assert content(table) == held
        if rng.random() < 0.3:
            compact(reload(table))


def some_changes(rng, held):
    def row():
        return (rng.choice("ab"), rng.randrange(4), rng.choice([None, 0.5]))

    def present():
        return rng.choice([*held, row()]) if rng.random() < 0.8 else row()

    kind = rng.randrange(4)
    if kind <= 1:
        yield INSERT, row()
    elif kind == 2:
        yield REMOVED, present()
    else:
        yield BEFORE, present()
        yield AFTER, row()


def test_no_good_message_is_left_out(tmp_path):
    table = make_table(tmp_path, COLUMNS)
    a, b, c = (("a", number, None) for number in (1, 2, 3))
    apply(table, decoded(table, [[(INSERT, a)], [(INSERT, a)]]))
    messages = [
        [(REMOVED, b)],  # added behind it
        [(REMOVED, a)],
        [(BEFORE, a), (AFTER, c)],
        [(REMOVED, a)],  # the third of two
        [(INSERT, b)],
        [(REMOVED, c)],
    ]
    found = with_unmatched_as_bad(reload(table).state, decoded(table, messages))
    assert [one.position for one in found.bad] == [3]
    assert len(found.rows) == 6


def test_rows_that_the_batch_itself_adds_are_not_looked_up(tmp_path, monkeypatch):
    table = make_table(tmp_path, COLUMNS)
    monkeypatch.delattr("tablestore_engine.operation.kafka_source.unmatched_changes.copies_of")
    messages = [[(INSERT, ("a", 1, None))], [(REMOVED, ("a", 1, None))]]
    given = decoded(table, messages)
    assert with_unmatched_as_bad(table.state, given) is given
    keyed = make_table(tmp_path, COLUMNS, ["id"], name="keyed")
    lone = decoded(keyed, messages[1:])
    assert with_unmatched_as_bad(keyed.state, lone) is lone


def test_long_chains_end(tmp_path):
    table = make_table(tmp_path, COLUMNS)
    chain = [[(BEFORE, ("a", n, None)), (AFTER, ("a", n + 1, None))] for n in range(20_000)]
    found = with_unmatched_as_bad(table.state, decoded(table, chain))
    assert (len(found.bad), found.rows.num_rows) == (20_000, 0)


def test_equal_values_are_equal_rows(tmp_path):
    table = make_table(tmp_path, COLUMNS)
    apply(table, decoded(table, [[(INSERT, ("a", None, 0.0))], [(INSERT, ("a", None, float("nan")))]]))
    messages = [[(REMOVED, ("a", None, -0.0))], [(REMOVED, ("a", None, float("nan")))], [(REMOVED, ("a", 0, 0.0))]]
    found = with_unmatched_as_bad(reload(table).state, decoded(table, messages))
    assert [one.position for one in found.bad] == [2]
    assert pa.compute.is_null(found.rows.column("id")).to_pylist() == [True, True]
