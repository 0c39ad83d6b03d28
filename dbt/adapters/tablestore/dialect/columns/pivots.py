"""DuckDB's statement PIVOT with the values that become columns: a query that aggregates the rows of each value.

An aggregate without rows has the value of none here, as a count of 0 in DuckDB. Without GROUP BY, all other columns are
the groups, and must be known.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dbt.adapters.tablestore.dialect.columns.outputs import columns_of_star, keys_of
from dbt.adapters.tablestore.dialect.refusal import Columns, Untranslatable, about


def read_pivots(tree: exp.Expr, dialect: str, columns_of: Columns | None) -> exp.Expr:
    """The tree, in which each statement PIVOT is a query. Raises Untranslatable."""
    for node in reversed(list(tree.find_all(exp.Pivot))) if dialect == "duckdb" else ():
        if node.this is None:
            continue  # the clause of a table
        with about(node):
            query = _query(node)
            if node is tree:
                tree = query
            else:
                node.replace(query)
            _group(query, node, columns_of)
    return tree


def _query(node: exp.Expr) -> exp.Select:
    if node.args.get("unpivot"):
        raise Untranslatable("the statement UNPIVOT (write SELECT … FROM t UNPIVOT (…))")
    on = node.expressions[0] if len(node.expressions or []) == 1 else None
    values = on.expressions if isinstance(on, exp.In) else []
    if on is None or not values or not all(isinstance(one.unalias().unnest(), exp.Literal) for one in values):
        raise Untranslatable("the statement PIVOT without one column and its values (write ON c IN ('a', 'b'))")
    aggregates = node.args.get("using") or [exp.Count(this=exp.Star())]
    if len(aggregates) > 1 and not all(one.alias for one in aggregates):
        raise Untranslatable("the statement PIVOT with several aggregates, of which one has no alias")
    items = []
    for value in values:
        test = exp.NullSafeEQ(this=on.this.copy(), expression=value.unalias().copy())
        for one in aggregates:
            kept = exp.Filter(this=one.unalias().copy(), expression=exp.Where(this=test.copy()))
            name = "_".join([value.alias or value.name, *([one.alias] if one.alias else [])])
            items.append(exp.alias_(kept, exp.to_identifier(name, quoted=True)))
    query = exp.select(*items).from_(node.this.copy())
    if node.args.get("with_") is not None:
        query.set("with_", node.args["with_"].copy())
    return query


def _group(query: exp.Select, node: exp.Expr, columns_of: Columns | None) -> None:
    """Put the groups, which are columns, in front of the values."""
    given = node.args.get("group")
    keys: Sequence[exp.Expr] = given.expressions if given is not None else []
    if given is None:
        names = [name for _, name in columns_of_star(exp.Star(), query, columns_of, "PIVOT without GROUP BY")]
        used = [*node.expressions, *(node.args.get("using") or [])]
        without = set(keys_of(one.this for part in used for one in part.find_all(exp.Column)))
        keys = [exp.column(one.copy()) for one in names if one.name.lower() not in without]
    if keys:
        query.set("expressions", [*(one.copy() for one in keys), *query.expressions])
        query.set("group", exp.Group(expressions=[one.copy() for one in keys]))
