"""The answer of a query that counts rows, where metadata has it.

The number of rows of a whole table is that of its files, unless they have to be merged. With a condition, it is known
only where no file can hold a row that fulfils it: the usual answer of a test that looks for nulls. That no two rows
have the same primary key is known, too: the answer of a test that it is unique.
"""

from __future__ import annotations

from typing import Final

from tablestore_engine.operation.scan.scan_plan import exact_row_count, returns_keys_once
from tablestore_engine.schema.table.computed_columns import computed_columns
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.types import AtomicType, DataType
from tablestore_engine.sql.counts.count_query import CountQuery, count_query
from tablestore_engine.sql.pinned_queries.pinned_query import Frames
from tablestore_engine.sql.pinned_queries.table_frames import TableRead
from tablestore_engine.sql.result import StatementResult

_EXACT: Final = frozenset(["BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "DECIMAL", "VARCHAR", "STRING", "DATE"])
"""Not those of which Spark takes several stored values for one: 0.0 and -0.0, padded texts, nanoseconds."""
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
    return not schema.names.alike and not computed_columns(schema.options) and query.fits(_columns(schema))


def _columns(schema: TableSchema) -> dict[str, DataType]:
    return {field.name: field.type for field in schema.fields}


def _row_count(query: CountQuery, read: TableRead) -> int | None:
    read.table.options.check_readable()
    if query.is_grouped:
        return 0 if _are_unique(query.repeated(_columns(read.schema)), read) else None
    if not query.filters:
        return exact_row_count(read.table.state, read.plan())
    return 0 if read.predicate is not None and not read.plan().buckets else None


def _are_unique(columns: frozenset[str], read: TableRead) -> bool:
    """Whether no two rows have the same values of some columns: they hold the key, of whose types Spark and the merge
    know the same values as equal."""
    keys = [read.schema.field(name) for name in read.schema.primary_keys]
    if not columns.issuperset(field.name for field in keys):
        return False
    plain = all(isinstance(field.type, AtomicType) and field.type.root in _EXACT for field in keys)
    return plain and returns_keys_once(read.plan())
