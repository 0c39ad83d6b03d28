"""The rows of a view in a query: a DataFrame of its own, or a part of the query's text.

As a part of the text, a view is a common table expression, which Spark analyses once, however deep views are nested and
however often they are named. A DataFrame of its own is analysed for each view, and again wherever it is named; but it
shows which view is broken.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tablestore_engine.metadata.warehouse.view import View
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.sql.query.view_columns import positions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Spark evaluates such a common table expression once for all that name it, and a view each time.
_BY_CHANCE = re.compile(
    r"\b(rand|randn|random|randstr|uniform|uuid|shuffle|monotonically_increasing_id|spark_partition_id|java_method|"
    r"reflect|tablesample)\b",
    re.IGNORECASE,
)


def columns_of_view(view: View, full: str, frame: DataFrame) -> DataFrame:
    """The rows of a view's query with the view's columns. Raises BrokenViewError when the query lost one."""
    names = [c.name for c in view.columns]
    if view.query_columns:
        chosen = positions(full, view.query_columns, frame.columns)
        if chosen != tuple(range(len(frame.columns))):
            numbered = frame.toDF(*map(str, range(len(frame.columns))))
            return numbered.select(*[quoted_name(str(i)) for i in chosen]).toDF(*names)
    if not names or [n.lower() for n in names] == [n.lower() for n in frame.columns]:
        return frame
    if len(names) == len(frame.columns):
        return frame.toDF(*names)
    by_name = {c.lower() for c in frame.columns}
    return frame.select(*map(quoted_name, names)) if all(n.lower() in by_name for n in names) else frame


def text_of_view(view: View, sql: str) -> str | None:
    """The query of a view's columns, given the bound text of its query; None if that cannot be said by names, or the
    view's rows differ each time."""
    names = [name.lower() for name in view.query_columns]
    if not names or len(set(names)) < len(names) or len(names) != len(view.columns) or _BY_CHANCE.search(sql):
        return None
    items = [
        f"{quoted_name(name)} AS {quoted_name(column.name)}"
        for name, column in zip(view.query_columns, view.columns, strict=True)
    ]
    return f"SELECT {', '.join(items)} FROM (\n{sql}\n)"


def with_views(texts: Mapping[str, str], query: str) -> str:
    """A query with the texts of the views that it names, each behind those that it needs itself."""
    named = ",\n".join(f"{quoted_name(name)} AS (\n{text}\n)" for name, text in texts.items())
    return f"WITH {named}\n(\n{query}\n)"
