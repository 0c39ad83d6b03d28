"""Corrections of a parsed query, where sqlglot would write SQL that Spark refuses, or that gives other values.

Each correction takes one node of the tree and the dialect, and returns the node's replacement, or None to keep it. It
raises Untranslatable for what Spark cannot say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from sqlglot import exp
from sqlglot.errors import SqlglotError

from dbt.adapters.tablestore.dialect import aggregates, casts, dates, functions, lists, patterns, texts
from dbt.adapters.tablestore.dialect.refusal import Untranslatable

_Correction = Callable[[exp.Expr, str], "exp.Expr | None"]


def corrected(tree: exp.Expr, dialect: str) -> exp.Expr:
    """The tree with all corrections, inner nodes first."""
    known = _corrections()
    aggregates.refuse_orders(tree)
    for node in reversed(list(tree.dfs())):
        correct = known.get(type(node))
        new = correct(node, dialect) if correct else None
        if new is not None and new is not node:
            node.replace(new)
    patterns.quote_patterns(tree, dialect)
    _refuse_lost_arguments(tree)
    return tree


def _refuse_lost_arguments(tree: exp.Expr) -> None:
    """Raise Untranslatable for an argument that may have any value and Spark's text of its function stays the same."""
    for node in tree.find_all(exp.Func):
        for name, value in node.args.items():
            if node.arg_types.get(name, True) or name in _OF_NO_EFFECT or not isinstance(value, _GIVEN):
                continue
            other = node.copy()
            other.set(name, _another(value))
            try:
                same = other.sql("spark") == node.sql("spark")
            except (AttributeError, TypeError, ValueError, SqlglotError):
                continue
            if same:
                raise Untranslatable(f"the {name} {value.sql()} of {node.sql_name()}")


def _another(value: exp.Expr) -> exp.Expr:
    if not isinstance(value, exp.Literal):
        return exp.column("another")
    return exp.Literal.string(f"{value.name}1") if value.is_string else exp.Literal.number(int(float(value.name)) + 7)


@lru_cache(maxsize=1)
def _corrections() -> Mapping[type, _Correction]:
    return {
        **dates.CORRECTIONS,
        **casts.CORRECTIONS,
        **lists.CORRECTIONS,
        **functions.CORRECTIONS,
        **texts.CORRECTIONS,
        **aggregates.CORRECTIONS,
        exp.Star: _star,
        exp.Parameter: _by_number,
        **{kind: _refuse(name) for kind, name in _REFUSED.items()},
    }


_OF_NO_EFFECT = frozenset(["default_year"])
"""Arguments that sqlglot adds."""
_GIVEN = (exp.Literal, exp.Column, exp.Cast, exp.Func)

_REFUSED: Mapping[type, str] = {
    exp.MatchRecognize: "MATCH_RECOGNIZE",
    exp.Connect: "CONNECT BY (write a recursive CTE)",
    exp.Command: "a statement that is not a query",
    exp.Slice: "a slice such as a[1:3] (write SUBSTRING for a text, spark__slice for a list)",
    exp.TsOrDsToTime: "TO_TIME (keep the time as a text)",
}


def _refuse(name: str) -> _Correction:
    def refuse(node: exp.Expr, dialect: str) -> None:
        raise Untranslatable(name)

    return refuse


def _star(node: exp.Expr, dialect: str) -> None:
    for word in ("rename", "replace"):
        if node.args.get(word):
            raise Untranslatable(f"{word.upper()} in SELECT * (name the columns)")


def _by_number(node: exp.Expr, dialect: str) -> None:
    raise Untranslatable(f"the column number ${node.name}")
