"""INFORMATION_SCHEMA: the content of the catalog as rows of a few views of the SQL standard.

dbt packages look relations up here. Names of schemas and tables are the stored ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import TableNotFound, TableStoreError, did_you_mean
from tablestore_engine.sql.catalog.show.shown_columns import columns_of
from tablestore_engine.sql.tokens.cursor import OWN_CATALOGS

NAME: Final = "information_schema"
_CATALOG: Final = OWN_CATALOGS[-1]

Rows = list[tuple[Any, ...]]


def _schemata(catalog: Catalog) -> Rows:
    return [(_CATALOG, name) for name in catalog.list_databases()]


def _relations(catalog: Catalog) -> Iterator[tuple[str, str, str]]:
    for database in catalog.list_databases():
        for table in catalog.list_tables(database):
            yield database, table, "BASE TABLE"
        for view in catalog.list_views(database):
            yield database, view, "VIEW"


def _tables(catalog: Catalog) -> Rows:
    return [(_CATALOG, *relation) for relation in _relations(catalog)]


def _views(catalog: Catalog) -> Rows:
    found = [(database, name) for database, name, kind in _relations(catalog) if kind == "VIEW"]
    return [(_CATALOG, database, name, catalog.load_view(database, name).sql) for database, name in found]


def _columns(catalog: Catalog) -> Rows:
    rows: Rows = []
    for database, name, kind in _relations(catalog):
        try:
            found = columns_of(catalog, database, name, "view" if kind == "VIEW" else "table")
        except TableStoreError:
            continue  # dropped meanwhile, or another program's
        for position, one in enumerate(found, 1):
            nullable = "YES" if one.nullable else "NO"
            rows.append((_CATALOG, database, name, one.name, position, nullable, one.type_text, one.comment))
    return rows


_VIEWS: Final[dict[str, tuple[str, Callable[[Catalog], Rows]]]] = {
    "schemata": ("catalog_name string, schema_name string", _schemata),
    "tables": ("table_catalog string, table_schema string, table_name string, table_type string", _tables),
    "views": ("table_catalog string, table_schema string, table_name string, view_definition string", _views),
    "columns": (
        (
            "table_catalog string, table_schema string, table_name string, column_name string, "
            "ordinal_position int, is_nullable string, data_type string, comment string"
        ),
        _columns,
    ),
}


def rows_of(catalog: Catalog, view: str) -> tuple[str, Rows]:
    """Spark's schema text and the rows of a view. Raises TableNotFound, whose message lists the views."""
    if view.lower() not in _VIEWS:
        raise TableNotFound(f"'{NAME}.{view}' does not exist.", hint=did_you_mean(view, _VIEWS))
    schema, rows = _VIEWS[view.lower()]
    return schema, rows(catalog)
