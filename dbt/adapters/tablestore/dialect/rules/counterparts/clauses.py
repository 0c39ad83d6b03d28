"""The clauses of an aggregate: DISTINCT, FILTER, OVER, and those that only some aggregates have.

Where a warehouse's aggregate is an expression of Spark's aggregates, they go to each of these: Spark has them behind
an aggregate, not behind an expression.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.refusal import Untranslatable
from dbt.adapters.tablestore.dialect.rules.json_parts import call

_CLAUSES: Final = (exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup, exp.Filter, exp.Window)
_BY_NAME: Final = frozenset(
    ["COLLECT_LIST", "COLLECT_SET", "PERCENTILE", "PERCENTILE_APPROX", "PERCENTILE_CONT", "PERCENTILE_DISC", "MAX_BY",
     "MIN_BY", "BOOL_AND"]
)  # fmt: skip
_SAME_OF_DISTINCT: Final = (exp.Max, exp.Min, exp.ApproxDistinct, exp.LogicalAnd, exp.LogicalOr)


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a node itself is an aggregate of Spark's."""
    return isinstance(node, exp.AggFunc) or (isinstance(node, exp.Anonymous) and node.name.upper() in _BY_NAME)


def around(node: exp.Expr) -> tuple[exp.Expr, list[exp.Expr]]:
    """An aggregate with its clauses, and these, inner ones first: IGNORE NULLS, WITHIN GROUP, FILTER, OVER."""
    whole: exp.Expr = node
    outer: list[exp.Expr] = []
    while isinstance(whole.parent, _CLAUSES) and whole.arg_key == "this":
        whole = whole.parent
        outer.append(whole)
    return whole, outer


def put(made: exp.Expr, node: exp.Expr) -> None:
    """Replace an aggregate, or another node, by the expression that it is. Raises Untranslatable for a clause that the
    aggregates in the expression cannot have."""
    whole, outer = around(node)
    found = list(_outermost(made)) if outer else []
    if not found or found == [made]:
        node.replace(made)
        return
    for clause in outer:
        if not isinstance(clause, (exp.Filter, exp.Window)):
            words = "WITHIN GROUP" if isinstance(clause, exp.WithinGroup) else "IGNORE NULLS or RESPECT NULLS"
            raise Untranslatable(f"{_name(node)} with {words}")
    for one in found:
        one.replace(_with_clauses(one, outer))
    whole.replace(exp.paren(made, copy=False) if isinstance(made, exp.Binary) else made)


def _outermost(node: exp.Expr) -> Iterator[exp.Expr]:
    """The aggregates in an expression that are in no other one."""
    if is_aggregate(node) or isinstance(node, exp.WithinGroup):
        yield node
    elif not isinstance(node, exp.Window):
        for one in list(node.iter_expressions()):
            yield from _outermost(one)


def _with_clauses(aggregate: exp.Expr, outer: list[exp.Expr]) -> exp.Expr:
    made = aggregate.copy()
    value = made.this
    counted = isinstance(value, exp.Distinct) and isinstance(made, exp.Count)
    if isinstance(value, exp.Distinct) and any(isinstance(one, exp.Window) for one in outer):
        made = call("COLLECT_SET", value.expressions[0].copy())  # a window has no DISTINCT
    for one in outer:
        clause = one.copy()
        clause.set("this", made)
        made = clause
    return call("SIZE", made) if counted and isinstance(made, exp.Window) else made


def of_distinct(made: exp.Expr, name: str) -> exp.Expr:
    """The expression of an aggregate of distinct values."""
    for one in list(_outermost(made)):
        if isinstance(one, _SAME_OF_DISTINCT):
            continue
        if not isinstance(one, (exp.Count, exp.ArrayAgg, exp.Sum, exp.Avg)):
            raise Untranslatable(f"{name}(DISTINCT …)")
        one.set("this", exp.Distinct(expressions=[one.this.copy()]))
    return made


def _name(node: exp.Expr) -> str:
    return (node.name if isinstance(node, exp.Anonymous) else getattr(node, "sql_name", lambda: node.key)()).upper()
