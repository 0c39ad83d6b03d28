"""The answer of a query that counts rows, where metadata has it.

The number of rows of a whole table is that of its files, unless they have to be merged. With a condition, it is known
only where no file can hold a row that fulfils it: the usual answer of a test that looks for nulls.
"""

from __future__ import annotations

from typing import Final

from tablestore_engine.operation.scan.scan_plan import exact_row_count
from tablestore_engine.schema.table.computed_columns import computed_columns
from tablestore_engine.sql.counts.count_query import CountQuery, count_query
from tablestore_engine.sql.pinned_queries.pinned_query import Frames
from tablestore_engine.sql.pinned_queries.table_frames import TableRead
from tablestore_engine.sql.result import StatementResult

_MOST_VIEWS: Final = 20  # each reads the next one; views may be nested more deeply, and read themselves


def known_counts(sql: str, frames: Frames) -> StatementResult | None:
    """The result of a query that counts rows; None where rows have to be read, where something of it is not certain,
    and for any other query.

    Raises:
        TableStoreError: the table cannot be read.
    """
    query = count_query(sql)
    for _ in range(_MOST_VIEWS):
        read = None if query is None else frames.read_of(query.reference)
        if query is None or read is None:
            return None
        if isinstance(read, TableRead):
            return _result(query, read)
        query = query.through(read)
    return None


def _result(query: CountQuery, read: TableRead) -> StatementResult | None:
    if read.table.state.evolving or not _fits(query, read):
        return None
    rows = _row_count(query, read)
    if rows is None:
        return None
    names, types = tuple(one.name for one in query.counts), tuple(one.type for one in query.counts)
    return StatementResult("SELECT", columns=names, types=types, rows=[tuple(one.value(rows) for one in query.counts)])


def _fits(query: CountQuery, read: TableRead) -> bool:
    schema = read.schema
    if schema.names.alike or computed_columns(schema.options):
        return False
    return query.fits({field.name: field.type for field in schema.fields})


def _row_count(query: CountQuery, read: TableRead) -> int | None:
    read.table.options.check_readable()
    if not query.filters:
        return exact_row_count(read.table.state, read.plan())
    return 0 if read.predicate is not None and not read.plan().buckets else None
