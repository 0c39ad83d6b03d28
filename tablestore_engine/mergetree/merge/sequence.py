"""The order of records of one key, as a table's options give it. Pure."""

from __future__ import annotations

from tablestore_engine.mergetree.merge.merge import SortColumn
from tablestore_engine.schema.table.table_schema import TableSchema


def sequence_columns(schema: TableSchema) -> list[SortColumn]:
    """The user's sequence fields, by which the last row of a key is found."""
    options = schema.core_options
    return [SortColumn(name, options.sequence_field_descending) for name in options.sequence_field]
