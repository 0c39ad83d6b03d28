"""Retractions that are the newest records of their key: Java Paimon and this engine show the same rows of the same
files, compacted by one of them or not at all."""

from __future__ import annotations

import pyarrow as pa
import pytest
from support.interop.java_paimon import multiset_of
from support.interop.ours import OurTable, rows_of

from tablestore_engine.operation.write_job.write_job import ROW_KIND_COLUMN
from tablestore_engine.schema.types.types import AtomicType

INT = AtomicType("INT")
STATES = ("as written", "our compaction", "their compaction")
BEFORE, DELETE = 1, 3


@pytest.fixture
def same(java):
    """The rows of a table, after checking that Java finds the same."""

    def check(table):
        own = table.read()
        assert java.read(table.table.path)[1] == multiset_of(own, table.table.schema)
        return [tuple(row.values()) for row in own.to_pylist()]

    return check


def write(table, kind, row):
    rows = rows_of(table.table.schema, [row])
    table.write(rows.append_column(ROW_KIND_COLUMN, pa.array([kind], pa.int8())))


def bring_to(java, table, state):
    if state == "our compaction":
        table.compact(full=True)
    elif state == "their compaction":
        java.ask("compact", table.table.path, "write-only=false")


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("kind", [BEFORE, DELETE])
@pytest.mark.parametrize("order", ["ascending", "descending"])
def test_the_newest_record_in_the_order_of_a_column(java, same, catalog, name, order, kind, state):
    """The column shows null, and forgets the sequence of the retraction once it is merged."""
    options = {"merge-engine": "aggregation", "fields.v.aggregate-function": "sum", "sequence.field": "at"}
    options |= {"sequence.field.sort-order": order, "bucket": "1", "write-only": "true"}
    table = OurTable.create(catalog, name, {"id": INT, "at": INT, "v": INT}, key=["id"], options=options)
    sign = 1 if order == "ascending" else -1
    write(table, 0, {"id": 1, "at": sign, "v": 4})
    write(table, kind, {"id": 1, "at": 2 * sign, "v": 2})
    bring_to(java, table, state)
    assert same(table) == [(1, None, 2)]
    write(table, 0, {"id": 1, "at": 3 * sign, "v": 1})
    assert same(table) == [(1, 3 * sign, 3)], "what comes in order has one answer"
    write(table, kind, {"id": 1, "at": 4 * sign, "v": 1})
    bring_to(java, table, state)
    write(table, 0, {"id": 1, "at": 0, "v": 5})
    assert same(table) == [(1, None if state == "as written" else 0, 7)], "a late record has two, in Java, too"
