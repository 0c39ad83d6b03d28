"""Materialized views: tables that remember their query, and what a run does to one whose model has changed.

The query is a property of the table, so it is copied, renamed and dropped with it. A table that is made anew as
something else has none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.config.option_changes import STORED_QUERY, OptionChanges, option_changes
from dbt.adapters.tablestore.config.table_layout import TableLayout
from tablestore_engine.schema.table.table_schema import TableSchema

MATERIALIZED_VIEW = "materialized_view"
CREATE, REPLACE, ALTER, REFRESH = "CREATE", "REPLACE", "ALTER", "REFRESH"


_RELATION = r"((?:`[^`]*`|[^\s`()])+)"
_NONE_TAKEN = re.compile(rf"\(select \* from {_RELATION} where false limit 0\)")
_WINDOW = re.compile(rf"\(select \* from {_RELATION} where (.+?) (?:>= '[^']*'(?: and \2 < '[^']*')?|< '[^']*')\)")


@dataclass(frozen=True)
class ViewStep:
    """The step that a run takes with a materialized view.

    Attributes:
        name: create, replace, alter or refresh.
        changes: what differs between the view and its model; empty when nothing does.
        query: the query that the view has; None when there is no view.
        options: those that differ, as changes of the schema.
    """

    name: str
    changes: str = ""
    query: str | None = None
    options: OptionChanges = field(default_factory=OptionChanges)


def is_materialized_view(schema: TableSchema) -> bool:
    """Whether a table is a materialized view."""
    return STORED_QUERY in schema.options


def of_all_rows(query: str) -> str:
    """The query of a run with `--empty` or `--sample` as other runs have it: without the filters that dbt puts around
    each `ref` and `source`."""
    return _WINDOW.sub(r"\1", _NONE_TAKEN.sub(r"\1", query))


def view_step(schema: TableSchema | None, wanted: TableLayout, query: str, *, same_columns: bool) -> ViewStep:
    """The step by which a table becomes the materialized view of a model.

    Args:
        schema: that of the table; None when there is none.
        wanted: what the model asks for.
        query: the model's query.
        same_columns: whether the query still gives the columns of the table.
    """
    if schema is None:
        return ViewStep(CREATE)
    if not is_materialized_view(schema):
        return ViewStep(REPLACE)
    stored = schema.options[STORED_QUERY]
    differ = [
        name
        for name, has, asked in (
            ("primary key", schema.primary_keys, wanted.primary_key),
            ("partition columns", schema.partition_keys, wanted.partition_by),
        )
        if [one.lower() for one in has] != [one.lower() for one in asked]
    ]
    if stored.strip() != query.strip():
        differ.append("query")
    elif not same_columns:
        differ.append("columns")
    try:
        options = option_changes(schema.options, wanted.options)
    except DbtRuntimeError:  # of a fixed option
        return ViewStep(REPLACE, ", ".join([*differ, "options"]), stored)
    if differ:
        return ViewStep(REPLACE, ", ".join(differ), stored)
    return ViewStep(ALTER, options.text, stored, options) if options.text else ViewStep(REFRESH, "", stored)


def is_view_config(config: Mapping[str, object]) -> bool:
    """Whether a model with this config is a materialized view."""
    return config.get("materialized") == MATERIALIZED_VIEW
