"""Snapshots say up to where the changes of other tables were used: by one commit, and by every later one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.tables import PUT, arrow_rows, compact, identity, new_job, write

from tablestore_engine.errors import ConflictError, ConsumedElsewhereError
from tablestore_engine.operation.commit.commit import Change, Committer
from tablestore_engine.operation.commit.consumed_positions import (
    COMPARED,
    PREFIX,
    Consumed,
    Position,
    batches_of,
    positions_of,
    with_consumed,
    with_news,
)
from tablestore_engine.operation.commit.replace_table import replace_all
from tablestore_engine.operation.transaction.transaction import with_retry
from tablestore_engine.operation.write.write_task import write_table

ORDERS = "shop.orders"
FIRST, NEXT = Position(3, "three"), Position(5, "five/5")


def commit(table, *consumed, number=1, identifier=None):
    entries = write_table(new_job(table), arrow_rows(table.schema, [{"id": number, "v": number}])).entries
    change = Change("APPEND", added=tuple(entries), consumed=consumed)
    return Committer(table.state).commit(change, identifier or identity(number))


def positions(table):
    return positions_of(table.latest_snapshot())


def test_a_position_is_read_as_it_was_written():
    assert Position.parse(str(NEXT)) == NEXT
    assert Position.parse(str(Position.of(None, 4))) == Position(0)
    reread = Position(5, "five@5/5", 7, (3, 0))
    parsed = Position.parse(str(reread))
    assert (parsed, parsed.schema, parsed.former) == (reread, 7, (3, 0))
    assert reread == Position(5, "five@5/5"), "the same rows, whichever columns they are read with"
    assert Position.parse("of others") is None


def test_rows_and_position_come_by_one_commit(table):
    snapshot = commit(table, Consumed("Shop.Orders", None, FIRST))
    assert snapshot.properties == {PREFIX + ORDERS: "3/three"}
    commit(table, Consumed(ORDERS, FIRST, NEXT), number=2)
    assert positions(table) == {ORDERS: NEXT}


def test_another_write_that_used_the_changes_wins(table):
    commit(table, Consumed(ORDERS, None, FIRST))
    commit(table, Consumed(ORDERS, FIRST, NEXT), number=2)
    calls = []

    def late():
        calls.append(1)
        commit(table, Consumed(ORDERS, FIRST, NEXT), number=3)

    with pytest.raises(
        ConsumedElsewhereError, match=r"changes of shop\.orders after snapshot 3.* up to its snapshot 5"
    ):
        with_retry(late)
    assert len(calls) == 1
    assert table.latest_snapshot().id == 2
    with pytest.raises(ConflictError, match="none of them"):
        commit(table, Consumed("shop.others", FIRST, NEXT), number=4)


def test_another_write_that_used_changes_of_a_source_without_news_wins(table):
    """Rows of a join follow from both sources: those of the one that had no news are another write's now."""
    customers = "shop.customers"
    commit(table, Consumed(ORDERS, None, FIRST), Consumed(customers, None, FIRST))
    read = with_news([Consumed(ORDERS, FIRST, FIRST), Consumed(customers, FIRST, NEXT)])
    commit(table, Consumed(ORDERS, FIRST, NEXT), number=2)
    with pytest.raises(ConsumedElsewhereError, match=r"changes of shop\.orders after snapshot 3"):
        commit(table, *read, number=3)
    assert positions(table) == {ORDERS: NEXT, customers: FIRST}
    assert with_news([Consumed(ORDERS, NEXT, NEXT), Consumed(customers, FIRST, FIRST)]) == ()


def test_the_same_write_sent_again_is_found(table):
    commit(table, Consumed(ORDERS, None, FIRST))
    sent = replace(identity(2), check_duplicate=True)
    first = commit(table, Consumed(ORDERS, FIRST, NEXT), number=2, identifier=sent)
    again = commit(table, Consumed(ORDERS, FIRST, NEXT), number=2, identifier=sent)
    assert again == first


def test_later_commits_carry_positions_on(table):
    commit(table, Consumed(ORDERS, None, FIRST), Consumed("shop.others", None, NEXT))
    write(table, [{"id": 7, "v": 7}], [PUT])
    assert compact(table) is not None
    assert positions(table) == {ORDERS: FIRST, "shop.others": NEXT}
    commit(table, Consumed(ORDERS, FIRST, NEXT), number=9)
    assert positions(table) == {ORDERS: NEXT, "shop.others": NEXT}


def test_a_rollback_restores_positions_with_the_rows(table):
    commit(table, Consumed(ORDERS, None, FIRST))
    commit(table, Consumed(ORDERS, FIRST, NEXT), Consumed("shop.others", None, NEXT), number=2)
    table.roll_back(1)
    assert positions(table) == {ORDERS: FIRST}


def test_a_position_of_compared_rows_is_carried_on_with_the_same_rows_only(table):
    compared = f"{ORDERS}{COMPARED}abc"
    write(table, [{"id": 7, "v": 6}], [PUT])
    commit(table, Consumed(ORDERS, None, FIRST), Consumed(compared, None, FIRST))
    assert compact(table) is not None
    assert positions(table) == {ORDERS: FIRST, compared: FIRST}
    write(table, [{"id": 7, "v": 7}], [PUT])
    assert positions(table) == {ORDERS: FIRST}
    table.roll_back(2)
    assert positions(table) == {ORDERS: FIRST, compared: FIRST}, "its rows are those that were compared"


def test_a_table_that_holds_other_rows_begins_anew():
    class Latest:
        properties = {PREFIX + ORDERS: "3/three", "other": "x"}  # noqa: RUF012

    assert with_consumed(None, None, ()) is None
    assert with_consumed({"a": "b"}, None, ()) == {"a": "b"}
    assert with_consumed(None, Latest, ()) == {PREFIX + ORDERS: "3/three"}


def test_a_table_that_replaces_another_one_has_none_of_its_positions(table):
    commit(table, Consumed(ORDERS, None, FIRST), Consumed("query", None, Position(2), streams=True))
    Committer(table.state).commit(replace_all(table.schema, table.schema), identity(2))
    assert positions(table) == {}
    assert batches_of(table.latest_snapshot(), "query") == 2, "its stream goes on"
