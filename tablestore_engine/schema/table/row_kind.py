"""Row kinds: what a row of a changelog does. Shared by rows in memory, data files and SQL.

`ROW_KIND` is the column by which rows that are given to a write say their kind, as text. A table may have an ordinary
column of that name; then it is only that. Or one of a table's own columns says it (`rowkind.field`).
"""

from __future__ import annotations

from tablestore_engine.schema.table.table_schema import TableSchema

ROW_KIND = "_row_kind"
KINDS = ("+I", "-U", "+U", "-D")
"""The text of each kind, at the number that files store."""
UPDATE_BEFORE_KIND, DELETE_KIND = KINDS.index("-U"), KINDS.index("-D")

NO_ROW_KINDS = f"The query has no column {ROW_KIND} to say what each row does to the table."
NO_ROW_KINDS_HINT = (
    "Add it to the query, with '+I' for a row that is there. Or use neither row_kind=true nor the strategy `changelog`."
)
UNKNOWN_KIND = "Unknown row kind: "
KINDS_HINT = f"It is one of {', '.join(KINDS)}: insert, update before, update after, delete."


def row_kind_column(columns: list[str], schema: TableSchema) -> str | None:
    """The column among those given that says the kind of each row and is not one of the table, None without one."""
    if schema.has_field(ROW_KIND) or own_kind_column(schema) is not None:
        return None
    return next((name for name in columns if name.lower() == ROW_KIND), None)


def own_kind_column(schema: TableSchema) -> str | None:
    """The column of the table that says the kind of each row; None when none does."""
    name = schema.core_options.rowkind_field
    return schema.field(name).name if name and schema.has_field(name) else None
