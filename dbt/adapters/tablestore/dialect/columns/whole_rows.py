"""The alias of a table as a value is the row, as in `array_agg(t order by n limit 1)`: a struct.

A column of this name counts first. Where the columns of a table are not known, an alias that the query gives counts,
but not the name of a table.
"""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.aliases import columns_of_sources
from dbt.adapters.tablestore.dialect.refusal import Columns

_DIALECTS: Final = ("bigquery", "duckdb", "postgres")
_TAKING: Final = (exp.ArrayAgg, exp.JSONArrayAgg, exp.AnyValue, exp.JSONFormat, exp.First, exp.Last)
_TAKING_BY_NAME: Final = ("TO_JSON", "TO_JSONB", "JSONB_AGG", "JSON_GROUP_ARRAY")
_BETWEEN: Final = (exp.Order, exp.Limit, exp.HavingMax, exp.IgnoreNulls)


def read_whole_rows(tree: exp.Expr, dialect: str, columns_of: Columns | None) -> None:
    """Replace such aliases in all queries."""
    for select in list(tree.find_all(exp.Select)) if dialect in _DIALECTS else ():
        first = select.args.get("from_")
        sources = [first.this] if first is not None else []
        sources += [one.this for one in select.args.get("joins") or []]
        rows = {one.alias_or_name.lower(): one for one in sources if isinstance(one, (exp.Table, exp.Subquery))}
        used = [
            one
            for one in select.find_all(exp.Column)
            if not one.table and one.name.lower() in rows and _is_taken(one) and one.find_ancestor(exp.Select) is select
        ]
        known = columns_of_sources(select, columns_of) if used else None
        for one in used:
            name = one.name.lower()
            if name in known if known is not None else not rows[name].alias:
                continue
            _name_groups(select)
            fields = exp.Column(this=exp.Star(), table=exp.to_identifier(rows[name].alias_or_name))
            one.replace(exp.Anonymous(this="STRUCT", expressions=[fields]))


def _name_groups(select: exp.Select) -> None:
    """Write the items of a list for their numbers in GROUP BY, which Spark refuses with a star in the list."""
    group = select.args.get("group")
    for one in list(group.expressions) if group is not None else ():
        if isinstance(one, exp.Literal) and one.is_int and 0 < int(one.name) <= len(select.expressions):
            one.replace(select.expressions[int(one.name) - 1].unalias().copy())


def _is_taken(column: exp.Expr) -> bool:
    """Whether a function takes the value that may be a whole row."""
    node, above = column, column.parent
    while isinstance(above, _BETWEEN) and node.arg_key == "this":
        node, above = above, above.parent
    named = isinstance(above, exp.Anonymous) and above.name.upper() in _TAKING_BY_NAME
    return named or (isinstance(above, _TAKING) and node.arg_key == "this")
