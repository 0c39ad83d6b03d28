"""The values that UPDATE and MERGE assign to each column: a whole value, or fields of a struct at any depth.

A *path* is the names below a column that lead to a field; empty for the column itself. A struct of which fields are
assigned keeps the others; one that is null becomes a struct whose other fields are null, as in Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tablestore_engine.errors import ColumnNotFound, SchemaError, SqlError, did_you_mean
from tablestore_engine.schema.merge_engines.aggregate_functions import DEFAULT_FUNCTION
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.names import Names
from tablestore_engine.schema.types.sql_literals import literal, quoted_name
from tablestore_engine.schema.types.types import DataField, RowType
from tablestore_engine.spark.expressions.cast_old_columns_sql import null_sql
from tablestore_engine.spark.expressions.default_value import default_sql
from tablestore_engine.spark.expressions.spark_types import sql_type
from tablestore_engine.sql.parse.parse_merge_update_delete import refuse_hidden_name
from tablestore_engine.sql.row_level.clauses.named_side import NamedSide
from tablestore_engine.sql.row_level.row_level_target import RowLevelTarget
from tablestore_engine.sql.statements.row import Merge
from tablestore_engine.sql.statements.statement import Assignment, TableName
from tablestore_engine.sql.tokens.default_clause import is_default

Path = tuple[str, ...]


def assigned_values(
    target: RowLevelTarget,
    assignments: Sequence[Assignment],
    bound: Callable[[str], str],
    from_sql: Callable[[], str],
    sides: Sequence[NamedSide],
) -> dict[str, str]:
    """Bound SQL of the new values by column. `from_sql` makes the FROM clause in which they are read, which has
    the relations `sides`.

    Raises:
        SchemaError: a column or field that is assigned twice, or is part of no struct. ColumnNotFound
        SqlError: NULL for a column whose merge engine keeps the value that it has.
    """
    found: dict[Path, tuple[DataField, str]] = {}
    for one in assignments:
        column = target.table.schema.field(one.column)
        leaf, path = field_at(column, one.path)
        target.resolver.check_spelling(".".join((one.column, *one.path)), ".".join(path))
        check_conflicts(found, path)
        _check_null(target, column.name, one)
        found[path] = leaf, _value(one, leaf, bound)
    fitted = target.fitted({".".join(path): value for path, value in found.items()}, from_sql, sides)
    values = {path: fitted[".".join(path)] for path in found}
    return {name: _column_sql(target, name, values) for name in dict.fromkeys(path[0] for path in found)}


def of_columns(
    assignments: Iterable[Assignment], schema: TableSchema, name: TableName, alias: str | None
) -> tuple[Assignment, ...]:
    """The assignments, where `t.x` may be the field x of a column t of table t, which has no column x.

    Raises SqlError: the name of the table, which its alias hides, is in front of a column.
    """
    assignments = tuple(assignments)
    for one in assignments:
        if alias is not None and not schema.has_field(one.column):
            refuse_hidden_name((one.column, *one.path), name, alias)
    return tuple(
        replace(one, column=one.qualifier, path=(one.column, *one.path), qualifier=None)
        if one.qualifier and not schema.has_field(one.column) and schema.has_field(one.qualifier)
        else one
        for one in assignments
    )


def merge_of_columns(statement: Merge, schema: TableSchema) -> Merge:
    """A MERGE with the assignments of `of_columns`."""
    matched, alone = (
        tuple(
            replace(one, assignments=of_columns(one.assignments, schema, statement.table, statement.target_alias))
            for one in clauses
        )
        for clauses in (statement.matched, statement.not_matched_by_source)
    )
    return replace(statement, matched=matched, not_matched_by_source=alone)


def _check_null(target: RowLevelTarget, column: str, assignment: Assignment) -> None:
    """Raise a SqlError for a NULL that would change nothing."""
    engine = target.table.schema.merge_engine
    keeps = any(f.column == column and f.function == DEFAULT_FUNCTION and not f.sequence for f in engine.folds)
    if keeps and not assignment.path and assignment.value_sql.strip().upper() == "NULL":
        raise SqlError(
            f"Column '{column}' cannot be set to NULL: with 'merge-engine' = '{engine.name}' a null keeps the value.",
            hint="DELETE the row and insert it again, or give the column a sequence group, in which nulls are values.",
        )


def _value(assignment: Assignment, leaf: DataField, bound: Callable[[str], str]) -> str:
    if is_default(assignment.value_sql):
        return null_sql(leaf.type) if assignment.path else default_sql(leaf)
    return bound(assignment.value_sql)


def field_at(column: DataField, path: Path) -> tuple[DataField, Path]:
    """The field at a path of a column, and the whole path as its names are stored. Raises SchemaError,
    ColumnNotFound."""
    found, name, stored = column, column.name, [column.name]
    for step in path:
        if not isinstance(found.type, RowType):
            raise SchemaError(
                f"'{name}' has no field '{step}' that can be assigned: its type is {found.type}.",
                hint=f"Assign {name} as a whole.",
            )
        names = Names(one.name for one in found.type.fields)
        at = names.position(step)
        if at is None:
            raise ColumnNotFound(f"'{name}' has no field '{step}'.", hint=did_you_mean(step, [*names]))
        found = found.type.fields[at]
        name = f"{name}.{found.name}"
        stored.append(found.name)
    return found, tuple(stored)


def check_conflicts(known: Mapping[Path, Any], path: Path) -> None:
    """Raise a SchemaError if a path, or a part of it, is assigned already."""
    name = ".".join(path)
    for other in known:
        if other == path:
            raise SchemaError(f"{'Field' if len(path) > 1 else 'Column'} '{name}' is assigned twice.")
        if other[: len(path)] == path or path[: len(other)] == other:
            raise SchemaError(
                f"'{'.'.join(other)}' and '{name}' are both assigned, and one is a part of the other.",
                hint="Assign the whole struct, or only fields of it.",
            )


def _column_sql(target: RowLevelTarget, name: str, values: Mapping[Path, str]) -> str:
    if (name,) in values:
        return values[(name,)]
    field = target.table.schema.field(name)
    return _struct_sql(f"{quoted_name(target.alias)}.{quoted_name(field.name)}", field, (name,), values)


def _struct_sql(source: str, field: DataField, path: Path, values: Mapping[Path, str]) -> str:
    """SQL of a struct with the values of some of its fields, and the others from `source`."""
    assert isinstance(field.type, RowType)
    parts: list[str] = []
    for one in field.type.fields:
        inner, below = f"{source}.{quoted_name(one.name)}", (*path, one.name)
        if below in values:
            inner = f"CAST({values[below]} AS {sql_type(one.type)})"
        elif any(other[: len(below)] == below for other in values):
            inner = _struct_sql(inner, one, below, values)
        parts += [literal(one.name), inner]
    return f"named_struct({', '.join(parts)})"
