"""The columns of the target that a statement sees of the rows which it looks up by key: no others are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from tablestore_engine.schema.table.computed_columns import computed_columns
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.names import Names
from tablestore_engine.spark.read.lookup_rows import key_names
from tablestore_engine.sql.query.joined_keys import names_others
from tablestore_engine.sql.statements.row import Merge, MergeClause
from tablestore_engine.sql.statements.statement import Assignment
from tablestore_engine.sql.tokens.lexer import Token, tokenize

Columns = Sequence[str] | None
"""Names of columns; None for all of them."""
Seen = Callable[[str | None], Columns]
"""The columns that a statement sees of rows, by what of WHERE is left to test of them."""


def seen_by_delete(schema: TableSchema) -> Seen:
    """The columns that a DELETE sees."""
    return lambda where_sql: _seen(schema, [where_sql], schema.removing_columns)


def seen_by_update(schema: TableSchema, assignments: Sequence[Assignment]) -> Seen:
    """The columns that an UPDATE sees: those that it leaves as they are, too."""
    values, left = [one.value_sql for one in assignments], _left(schema, assignments)
    return lambda where_sql: _seen(schema, [where_sql, *values], left)


def seen_by_merge(statement: Merge, schema: TableSchema, source_columns: Sequence[str]) -> Columns:
    """The columns that a MERGE sees."""
    written: set[str] = set()
    texts: list[str | None] = [statement.on_sql]
    for clause in (*statement.matched, *statement.not_matched_by_source):
        kept = _kept(clause, schema, Names(source_columns))
        if kept is None:
            return None
        written.update(kept)
        texts += [clause.condition_sql, *(one.value_sql for one in clause.assignments)]
    return _seen(schema, texts, written, _source_name(statement, schema))


def _kept(clause: MergeClause, schema: TableSchema, given: Names) -> Columns:
    """The columns whose values a row keeps, or is removed with."""
    if clause.action == "DELETE":
        return schema.removing_columns
    if clause.star:
        return [*schema.required_columns, *(name for name in schema.field_names if name not in given)]
    return _left(schema, clause.assignments)


def _left(schema: TableSchema, assignments: Sequence[Assignment]) -> list[str]:
    """The columns that keep their values or parts of them, and those that cannot be null."""
    names = Names(one.column for one in assignments if not one.path)
    return [*schema.required_columns, *(name for name in schema.field_names if name not in names)]


def _seen(
    schema: TableSchema, texts: Sequence[str | None], written: Iterable[str] | None, source: str | None = None
) -> Columns:
    """The columns of the key, those that expressions name, and those whose values are `written` again."""
    if written is None or computed_columns(schema.options):
        return None
    found = {name.lower() for name in (*key_names(schema), *written)}
    for tokens in (tokenize(text) for text in texts if text is not None):
        if any(one.key == "*" or names_others(tokens, i) for i, one in enumerate(tokens)):
            return None
        found.update(one.name.lower() for i, one in enumerate(tokens) if one.is_name and not _is_of(source, tokens, i))
    return [name for name in schema.field_names if name.lower() in found]


def _is_of(source: str | None, tokens: Sequence[Token], i: int) -> bool:
    """Whether a name is a column of the source, as `s.c` is."""
    if source is None or i < 2 or tokens[i - 1].key != "." or tokens[i - 2].name.lower() != source:
        return False
    return i == 2 or tokens[i - 3].key != "."


def _source_name(statement: Merge, schema: TableSchema) -> str | None:
    """The name by which the source's columns are qualified, in lower case; None where it may mean anything else."""
    alias = (statement.source_alias or "").lower()
    others = {name.lower() for name in (*schema.field_names, *schema.nested_names)}
    return alias if alias and alias not in others and alias != (statement.target_alias or "").lower() else None
