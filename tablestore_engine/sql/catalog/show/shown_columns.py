"""The columns of a table as statements show them: the stored ones, and the computed ones at their indices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tablestore_engine.catalog import Catalog
from tablestore_engine.schema.table.computed_columns import ComputedColumn, all_columns, computed_columns
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.default_values import declared_default
from tablestore_engine.schema.types.sql_literals import quoted_text, spark_type
from tablestore_engine.schema.types.types import DataField, parse_type


@dataclass(frozen=True)
class ShownColumn:
    """A column with the texts of its type, comment and default value."""

    name: str
    type_text: str
    comment: str | None
    nullable: bool = True
    default: str | None = None
    computed_sql: str | None = None

    @property
    def description(self) -> str | None:
        """The comment that DESCRIBE shows: of a computed column, its expression, too."""
        if self.computed_sql is None:
            return self.comment
        comment = "" if self.comment is None else f" COMMENT {quoted_text(self.comment)}"
        return f"AS {self.computed_sql}{comment}"


def shown_fields(fields: Iterable[DataField]) -> list[ShownColumn]:
    """Columns that are stored, or those of a view."""
    return [
        ShownColumn(one.name, spark_type(one.type), one.description, one.type.nullable, declared_default(one))
        for one in fields
    ]


def shown_columns(schema: TableSchema) -> list[ShownColumn]:
    """All columns of a table."""
    return all_columns(shown_fields(schema.fields), computed_columns(schema.options), _computed)


def columns_of(catalog: Catalog, database: str, name: str, kind: str) -> list[ShownColumn]:
    """The columns of a table, or those that a view had when it was created."""
    if kind == "view":
        return shown_fields(catalog.load_view(database, name).columns)
    return shown_columns(catalog.load_table(database, name).schema)


def computed_type(column: ComputedColumn) -> str:
    """The text of the type of a computed column; empty if it is not known."""
    plain = column.type_text and "<" not in column.type_text
    return spark_type(parse_type(column.type_text)) if plain else column.type_text


def _computed(column: ComputedColumn) -> ShownColumn:
    return ShownColumn(column.name, computed_type(column), column.comment, computed_sql=column.sql)
