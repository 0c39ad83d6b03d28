"""A table knows which batches of a streaming query it has, whatever was committed, and expired, since."""

from __future__ import annotations

import pytest
from support.tables import compact, keyed_arrow, keyed_table, rows, write

from tablestore_engine.errors import ConsumedElsewhereError
from tablestore_engine.operation.commit.commit_identity import CommitIdentity
from tablestore_engine.operation.commit.consumed_positions import Consumed, Position, batches_of, positions_of
from tablestore_engine.operation.expiration.snapshot_expire import Retention
from tablestore_engine.operation.table_commands.arrow_write import write_arrow
from tablestore_engine.operation.write_job.write_intent import WriteIntent

QUERY = "8f14e45f-ceea"


def send(table, number, *, before=None):
    """Write a batch of the query."""
    before = batches_of(table.latest_snapshot(), QUERY) if before is None else before
    batch = Consumed(QUERY, Position(before), Position(number + 1), streams=True)
    intent = WriteIntent(identity=CommitIdentity(QUERY, number), consumed=(batch,))
    return write_arrow(table.state, keyed_arrow(number, number), intent)


def known(table):
    return batches_of(table.latest_snapshot(), QUERY)


def test_every_later_commit_says_which_batches_there_are(tmp_path):
    table = keyed_table(tmp_path)
    assert known(table) == 0
    first = send(table, 0)
    assert (first.commit_user, first.commit_identifier, known(table)) == (QUERY, 0, 1)
    send(table, 1)
    write(table, rows([5]))
    compact(table)
    write(table, rows([6]), kind="OVERWRITE", replaces=lambda entry: True)
    table.expire_snapshots(Retention(1, 1, 0, 100))
    assert [one.id for one in table.snapshots()] == [5]
    assert known(table) == 2
    assert batches_of(table.latest_snapshot(), "another") == 0
    assert positions_of(table.latest_snapshot()) == {}, "a stream is no source of changes"
    send(table, 4)
    assert known(table) == 5, "batches without rows were not committed"


def test_two_processes_of_a_query_do_not_write_the_same_batch(tmp_path):
    table = keyed_table(tmp_path)
    send(table, 0)
    latest = table.latest_snapshot()
    with pytest.raises(ConsumedElsewhereError, match=f"1 batches of the streaming query {QUERY}"):
        send(table, 0, before=0)
    assert table.latest_snapshot() == latest


def test_a_rollback_takes_batches_back(tmp_path):
    table = keyed_table(tmp_path)
    first = send(table, 0)
    send(table, 1)
    table.roll_back(first.id)
    assert known(table) == 1


def test_a_batch_without_rows_needs_no_commit():
    batch = Consumed(QUERY, Position(0), Position(1), streams=True)
    assert WriteIntent(consumed=(batch,)).commits_nothing
    assert not WriteIntent(consumed=(Consumed("s.t", None, Position(1)),)).commits_nothing
