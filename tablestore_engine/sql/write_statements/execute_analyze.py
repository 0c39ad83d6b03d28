"""ANALYZE TABLE: statistics of the rows, stored with a snapshot that changes no row.

`t$statistics` and DESCRIBE EXTENDED show them, and other readers of the format plan with them. Row counts, sizes and
the bounds by which files are skipped are recorded by every commit and need no ANALYZE.
"""

from __future__ import annotations

from functools import partial

from tablestore_engine.errors import CommitOutcomeUnknownError, SqlError, TableStoreError
from tablestore_engine.metadata.analyze_statistics import Statistics
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.commit.commit import Change
from tablestore_engine.operation.commit.commit_identity import new_identity
from tablestore_engine.operation.table_commands.after_commit import follow
from tablestore_engine.operation.transaction.transaction import publish_change
from tablestore_engine.operation.write_job.write_intent import WriteIntent
from tablestore_engine.schema.types.types import DataField
from tablestore_engine.spark.dml.analyze import analyze, known
from tablestore_engine.spark.errors.failed_statements import failing
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.statements.layout import AnalyzeTable, AnalyzeTables
from tablestore_engine.sql.statements.statement import TableName
from tablestore_engine.sql.write_statements.statement_context import RowContext
from tablestore_engine.table import Table


def execute_analyze(statement: AnalyzeTable, context: RowContext) -> StatementResult:
    """ANALYZE TABLE … COMPUTE STATISTICS [NOSCAN | FOR COLUMNS … | FOR ALL COLUMNS].

    Raises:
        SqlError: a column of a nested type.
        ColumnNotFound: a column that the table does not have.
    """
    return StatementResult(
        "ANALYZE TABLE", columns=("result",), types=("string",), rows=[(_analyzed(statement, context),)]
    )


def _analyzed(statement: AnalyzeTable, context: RowContext) -> str:
    """Carry the statement out, and say what it did."""
    table = context.table(statement.table)
    columns = _columns(table, statement)
    snapshot = table.latest_snapshot()
    if snapshot is None:
        return "The table is empty."
    found = known(table, snapshot) if statement.no_scan else analyze(context.spark, table, snapshot, columns)
    _commit(table, found)
    return _said(found)


def execute_analyze_tables(statement: AnalyzeTables, context: RowContext) -> StatementResult:
    """ANALYZE TABLES [IN schema] COMPUTE STATISTICS [NOSCAN]: one row for each table of the schema."""
    database = context.catalog.require_database(statement.database or context.database)
    rows = []
    for name in context.catalog.list_tables(database):
        one = AnalyzeTable(sql=statement.sql, table=TableName(database, name), no_scan=statement.no_scan)
        with failing("ANALYZE TABLE", partial("{}.{}".format, database, name)):
            rows.append((name, _analyzed(one, context)))
    return StatementResult("ANALYZE TABLES", columns=("table", "result"), types=("string", "string"), rows=rows)


def _columns(table: Table, statement: AnalyzeTable) -> list[DataField]:
    if statement.columns is None:
        return []
    if not statement.columns:
        return [field for field in table.schema.fields if field.type.is_atomic]
    fields = [table.schema.field(name) for name in statement.columns]
    for field in fields:
        if not field.type.is_atomic:
            raise SqlError(f"Column '{field.name}' has type {field.type}, of which no statistics are kept.")
    return fields


def _commit(table: Table, found: Statistics) -> Snapshot:
    store = table.state.statistics
    name = store.write(found)
    change = Change("ANALYZE", statistics=name)
    try:
        intent = WriteIntent(identity=new_identity(table.options, "analyze"))
        return follow(publish_change(table.state, change, intent))
    except CommitOutcomeUnknownError:
        raise  # the snapshot may be there, and then it names the file
    except TableStoreError:
        store.delete(name)
        raise


def _said(found: Statistics) -> str:
    rows = "an unknown number of rows" if found.row_count is None else f"{found.row_count:,} rows"
    columns = len(found.columns)
    return (
        f"{rows}, {found.row_size or 0:,} bytes, {columns} "
        f"column{'' if columns == 1 else 's'} of snapshot {found.snapshot_id}."
    )
