"""Writes of a table without a key that read topics: what they take away must be there."""

from __future__ import annotations

import pytest
from support.tables import DELETE, PUT, arrow_rows, make_table, reload

from tablestore_engine.errors import NegativeCountError
from tablestore_engine.operation.commit.consumed_positions import Consumed, Position
from tablestore_engine.operation.table_commands.arrow_write import write_arrow
from tablestore_engine.operation.write_job.write_intent import WriteIntent

ROWS = [{"id": 1, "v": 1}, {"id": 1, "v": 1}, {"id": 2, "v": 2}]


@pytest.fixture
def table(tmp_path):
    made = make_table(tmp_path, {"id": "INT", "v": "INT"})
    made.write(arrow_rows(made.schema, ROWS))
    return made


def write(table, rows, kinds, source="kafka:orders@x", **more):
    consumed = (Consumed(source, None, Position(1)),)
    return write_arrow(
        reload(table).state, arrow_rows(table.schema, rows, kinds), WriteIntent(consumed=consumed, **more)
    )


def held(table):
    return sorted((one["id"], one["v"]) for one in reload(table).to_arrow().to_pylist())


def test_a_row_that_is_not_there_cannot_be_taken_away(table, tmp_path):
    before = reload(table).latest_snapshot().id
    with pytest.raises(NegativeCountError, match=r"messages of orders@x take away a row .*\{'id': 2, 'v': None\}"):
        write(table, [{"id": 2, "v": None}, {"id": 1, "v": 1}], [DELETE, DELETE])
    assert reload(table).latest_snapshot().id == before
    assert len(list(tmp_path.rglob("data-*"))) == 1, "the files of the write are left"
    with pytest.raises(NegativeCountError):
        write(table, [ROWS[0]] * 3, [DELETE] * 3)
    assert held(table) == [(1, 1), (1, 1), (2, 2)]


def test_rows_that_are_there_are_taken_away(table):
    write(table, [ROWS[0], {"id": 3, "v": 3}, ROWS[2]], [DELETE, PUT, DELETE])
    assert held(table) == [(1, 1), (3, 3)]


def test_changes_of_tables_and_checked_ones_are_not_looked_up(table):
    write(table, [{"id": 9, "v": 9}], [DELETE], source="default.orders")
    write(table, [{"id": 8, "v": 8}], [DELETE], retractions_checked=True)
    reload(table).write(arrow_rows(table.schema, [{"id": 8, "v": 8}, {"id": 9, "v": 9}]))
    assert held(table) == [(1, 1), (1, 1), (2, 2)]


def test_a_key_is_enough(tmp_path):
    keyed = make_table(tmp_path, {"id": "INT", "v": "INT"}, ["id"], name="keyed")
    write(keyed, [{"id": 1, "v": None}], [DELETE])
    assert held(keyed) == []
