"""SHOW CREATE TABLE: a statement that creates an equal table or view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tablestore_engine.catalog import View
from tablestore_engine.metadata.warehouse.view import TYPE_EVOLUTION
from tablestore_engine.schema.table.check_constraints import check_constraints, without_checks
from tablestore_engine.schema.table.computed_columns import (
    ComputedColumn,
    all_columns,
    computed_columns,
    other_options,
    watermark_of,
)
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.default_values import declared_default
from tablestore_engine.schema.types.sql_literals import declared_column, quoted_name, quoted_text
from tablestore_engine.sql.catalog.execute_context import CatalogContext, answer
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.statements.show import ShowCreateTable


def show_create_table(statement: ShowCreateTable, context: CatalogContext) -> StatementResult:
    """SHOW CREATE TABLE of a table or view."""
    database, name = context.identifier(statement.table)
    if context.kind(statement.table) == "view":
        text = create_view_text(database, name, context.catalog.load_view(database, name))
    else:
        table = context.catalog.load_table(database, name)
        text = create_table_text(*table.identifier, table.schema)
    return answer("SHOW CREATE TABLE", {"createtab_stmt": "string"}, [(text,)])


def create_table_text(database: str, name: str, schema: TableSchema) -> str:
    """The CREATE TABLE of a schema."""
    stored = [declared_column(one, declared_default(one)) for one in schema.fields]
    elements = all_columns(stored, computed_columns(schema.options), _computed)
    watermark = watermark_of(schema.options)
    if watermark is not None:
        elements.append(f"WATERMARK FOR {quoted_name(watermark.column)} AS {watermark.sql}")
    if schema.primary_keys:
        elements.append(f"PRIMARY KEY ({_names(schema.primary_keys)}) NOT ENFORCED")
    elements += [f"CONSTRAINT {quoted_name(one.name)} CHECK ({one.sql})" for one in check_constraints(schema.options)]
    lines = [
        f"CREATE TABLE {quoted_name(database)}.{quoted_name(name)} (",
        ",\n".join(f"  {one}" for one in elements),
    ]
    clauses = [f"PARTITIONED BY ({_names(schema.partition_keys)})"] if schema.partition_keys else []
    clauses += _common(schema.comment, without_checks(other_options(schema.options)))
    return "\n".join(lines) + ")" + "".join(f"\n{one}" for one in clauses)


def _computed(column: ComputedColumn) -> str:
    comment = "" if column.comment is None else f" COMMENT {quoted_text(column.comment)}"
    return f"{quoted_name(column.name)} AS {column.sql}{comment}"


def create_view_text(database: str, name: str, view: View) -> str:
    """The CREATE VIEW of a view. Bare names in its query mean `view.database`."""
    columns = [
        quoted_name(one.name) + ("" if one.description is None else f" COMMENT {quoted_text(one.description)}")
        for one in view.columns
    ]
    head = f"CREATE VIEW {quoted_name(database)}.{quoted_name(name)}"
    if columns:
        head += " (\n" + ",\n".join(f"  {one}" for one in columns) + ")"
    mode = [] if view.mode == TYPE_EVOLUTION else [f"WITH SCHEMA {view.mode}"]
    return "\n".join([head, *_common(view.comment, view.options), *mode, f"AS {view.sql}"])


def _common(comment: str | None, options: Mapping[str, str]) -> list[str]:
    clauses = [] if comment is None else [f"COMMENT {quoted_text(comment)}"]
    if options:
        pairs = (f"  {quoted_text(key)} = {quoted_text(value)}" for key, value in sorted(options.items()))
        clauses.append("TBLPROPERTIES (\n" + ",\n".join(pairs) + ")")
    return clauses


def _names(names: Sequence[str]) -> str:
    return ", ".join(quoted_name(one) for one in names)
