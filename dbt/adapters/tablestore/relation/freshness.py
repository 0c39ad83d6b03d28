"""The newest value of a column, read from a table's files without Spark.

`dbt source freshness` asks for `max(loaded_at_field)`. If that is a plain date or time column of a table of moderate
size, this module reads the one column from its files. For anything else (a view, an expression, a filter, a large
table) dbt runs a query. A date means the beginning of its day in UTC.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timezone
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tablestore_engine.catalog import Catalog

MAX_ROWS = 20_000_000
"""Above this number of rows a query in Spark is faster."""

_NAME = re.compile(r"^\s*`?(\w+)`?\s*$")


@dataclass(frozen=True)
class Newest:
    """The greatest value, with a time zone or else in UTC; None when the table has no rows or only nulls."""

    value: datetime | None


def newest(catalog: Catalog, schema: str, name: str, field: str) -> Newest | None:
    """The greatest value of a date or time column; None when a query is needed."""
    match = _NAME.match(field)
    if match is None or catalog.object_kind(schema, name) != "table":
        return None
    table = catalog.load_table(schema, name)
    if not table.schema.has_field(match[1]):
        return None
    column = table.schema.field(match[1])
    if getattr(column.type, "root", "") not in ("TIMESTAMP", "TIMESTAMP_LTZ", "DATE"):
        return None
    if table.scan().row_count > MAX_ROWS:
        return None
    import pyarrow.compute as pc

    data = table.to_arrow(columns=[column.name])
    return Newest(_as_time(pc.max(data.column(column.name)).as_py()) if data.num_rows else None)


def _as_time(value: date | None) -> datetime | None:
    if value is None or isinstance(value, datetime):
        return value
    return datetime(value.year, value.month, value.day, tzinfo=timezone.utc)
