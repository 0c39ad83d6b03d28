"""Rows of a table with deletion vectors whose write ended before their compaction: whatever comes next merges them."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from support.tables import commit_kinds, keyed_arrow, keyed_table, new_job, no_spark, read, rows

from tablestore_engine.catalog import Catalog
from tablestore_engine.operation.commit.commit import Change
from tablestore_engine.operation.commit.commit_identity import CommitIdentity
from tablestore_engine.operation.commit.consumed_positions import Consumed, Position
from tablestore_engine.operation.table_commands import arrow_write
from tablestore_engine.operation.write_job.write_intent import WriteIntent
from tablestore_engine.operation.write_job.write_job import WriteResult
from tablestore_engine.schema.table.schema_changes import AddColumn
from tablestore_engine.schema.types.types import parse_type
from tablestore_engine.spark.dml.insert_overwrite import finish
from tablestore_engine.sql.dataframe_writes.write_frame import write_frame
from tablestore_engine.sql.dataframe_writes.write_stream import StreamWrite
from tablestore_engine.sql.statements.statement import TableName
from tablestore_engine.sql.write_statements.statement_context import RowContext, was_sent_before

VECTORS = {"bucket": "1", "deletion-vectors.enabled": "true"}
SENT = CommitIdentity("loader", 1, check_duplicate=True)
BATCH = Consumed("query", Position(0), Position(1), streams=True)


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A table whose second write was killed right after its commit."""
    made = keyed_table(tmp_path, VECTORS)
    made.write(keyed_arrow(1, 1))
    monkeypatch.setattr(arrow_write, "follow", lambda done: done.snapshot)
    arrow_write.write_arrow(made.state, keyed_arrow(7, 1), WriteIntent(identity=SENT, consumed=(BATCH,)))
    monkeypatch.undo()
    assert read(made) == rows([1], 1)
    return made


def catalog_of(table):
    return Catalog(table.path.rpartition("/default.db")[0])


def sent_as_arrow(table):
    shown = arrow_write.write_arrow(table.state, keyed_arrow(7, 1), WriteIntent(identity=SENT))
    assert shown.commit_kind == "COMPACT", "the first snapshot with the rows"


def sent_as_statement(table):
    context = RowContext(catalog_of(table), "default", no_spark, lambda: 0, {}, WriteIntent(identity=SENT))
    assert was_sent_before(TableName(None, "t"), context)


def sent_as_frame(table):
    assert write_frame(None, lambda: table, None, intent=WriteIntent(identity=SENT)) == 0


def sent_by_stream(table):
    catalog = SimpleNamespace(load_table=lambda *name: table)
    StreamWrite(catalog, table.identifier, "append", {}).write("query", None, 0)


def no_rows(table):
    assert finish(None, table, new_job(table), WriteResult(), Change("APPEND")).snapshot is None


def no_rows_but_a_position(table):
    news = WriteIntent(consumed=(Consumed("shop.orders", None, Position(3)),))
    job = replace(new_job(table), intent=news)
    assert finish(None, table, job, WriteResult(), Change("APPEND")).snapshot.commit_kind == "APPEND"


def no_rows_as_arrow(table):
    table.write(keyed_arrow(8))


def sent_with_fewer_columns(table):
    catalog_of(table).alter_table("default", "t", [AddColumn("w", parse_type("INT"))])
    sent_as_arrow(table)


@pytest.mark.parametrize(
    "next_write",
    [
        sent_as_arrow,
        sent_as_statement,
        sent_as_frame,
        sent_by_stream,
        no_rows,
        no_rows_but_a_position,
        no_rows_as_arrow,
        sent_with_fewer_columns,
    ],
)
def test_the_next_write_makes_them_readable(table, next_write):
    next_write(table)
    assert read(table) == rows([1], 7)
    count = len(table.snapshots())
    if next_write in (sent_as_statement, sent_as_frame, sent_by_stream, no_rows):
        next_write(table)
        assert len(table.snapshots()) == count, "nothing is left to merge"


def test_other_tables_commit_nothing(tmp_path):
    table = keyed_table(tmp_path, {"bucket": "1"})
    for _ in range(2):
        table.write(keyed_arrow(1, 1), commit_user="loader", commit_identifier=1)
    assert commit_kinds(table) == ["APPEND"]
