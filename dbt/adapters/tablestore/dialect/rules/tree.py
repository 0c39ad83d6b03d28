"""All corrections of a parsed query, inner nodes first.

A correction takes one node of the tree and the dialect, and returns the node's replacement, or None to keep it. It
raises Untranslatable for what Spark cannot say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from sqlglot import ErrorLevel, exp
from sqlglot.errors import SqlglotError

from dbt.adapters.tablestore.dialect.refusal import Untranslatable, about
from dbt.adapters.tablestore.dialect.rules import (
    aggregates,
    casts,
    dates,
    functions,
    intervals,
    json_parts,
    lists,
    matches,
    patterns,
    rows,
    texts,
)
from dbt.adapters.tablestore.dialect.rules.counterparts import arrays, clauses, times, tried
from dbt.adapters.tablestore.dialect.rules.counterparts.lookup import counterpart
from dbt.adapters.tablestore.dialect.rules.json_values import collected, operators, structures
from dbt.adapters.tablestore.dialect.rules.numbers import quotients
from dbt.adapters.tablestore.dialect.rules.numbers.interval_texts import write_differences, write_intervals_as_texts

IGNORE: Final = ErrorLevel.IGNORE
_Correction = Callable[[exp.Expr, str], "exp.Expr | None"]


def corrected(tree: exp.Expr, dialect: str) -> exp.Expr:
    """The tree with all corrections. Untranslatable has the node that it is about."""
    known = _corrections()
    operators.mark_operators(tree, dialect)
    aggregates.refuse_orders(tree)
    write_intervals_as_texts(tree, dialect)
    matches.write_for_java(tree, dialect)
    for node in reversed(list(tree.dfs())):
        correct = known.get(type(node)) or (_by_its_name if isinstance(node, exp.Func) else None)
        correct = operators.of_json if node.meta.get("of_json") else correct
        if correct is None or (node.parent is None and node is not tree):
            continue  # without a parent, another correction has replaced it
        with about(node):
            try:
                new = correct(node, dialect)
            except (AttributeError, TypeError, ValueError, LookupError):
                raise Untranslatable("a form that the translation does not know") from None
        if new is not None and new is not node:
            _keep_position(node, new)
            clauses.put(new, node)
    patterns.quote_patterns(tree, dialect)
    write_differences(tree, dialect)
    rows.name_pivoted_columns(tree, dialect)
    if dialect != "databricks":
        rows.filter_by_subqueries(tree)
    rows.filter_by_windows(tree)
    lists.explode_outside(tree, dialect)
    _refuse_lost_arguments(tree)
    return tree


def _keep_position(node: exp.Expr, new: exp.Expr) -> None:
    """Messages about what was made of a node show the node."""
    if node.meta.get("start") is not None and new.meta.get("start") is None:
        new.meta.update({key: node.meta[key] for key in _POSITION if key in node.meta})


def _refuse_lost_arguments(tree: exp.Expr) -> None:
    """Raise Untranslatable for an argument that may have any value and Spark's text of its function stays the same."""
    for node in tree.find_all(exp.Func):
        for name, value in node.args.items():
            if node.arg_types.get(name, True) or name in _OF_NO_EFFECT or not isinstance(value, _GIVEN):
                continue
            other = node.copy()
            other.set(name, _another(value))
            try:
                same = other.sql("spark", unsupported_level=IGNORE) == node.sql("spark", unsupported_level=IGNORE)
            except (AttributeError, TypeError, ValueError, LookupError, SqlglotError):
                continue
            if same:
                with about(node):
                    raise Untranslatable(f"the {name} {value.sql()} of {node.sql_name()}")


def _another(value: exp.Expr) -> exp.Expr:
    if not isinstance(value, exp.Literal):
        return exp.column("another")
    return exp.Literal.string(f"{value.name}1") if value.is_string else exp.Literal.number(int(float(value.name)) + 7)


def _by_its_name(node: exp.Expr, dialect: str) -> exp.Expr | None:
    return None if dialect == "databricks" else counterpart(node, dialect)


@lru_cache(maxsize=1)
def _corrections() -> Mapping[type, _Correction]:
    return {
        **intervals.CORRECTIONS,
        **dates.CORRECTIONS,
        **casts.CORRECTIONS,
        **json_parts.CORRECTIONS,
        **lists.CORRECTIONS,
        **arrays.CORRECTIONS,
        **times.CORRECTIONS,
        **tried.CORRECTIONS,
        **functions.CORRECTIONS,
        **quotients.CORRECTIONS,
        **matches.CORRECTIONS,
        **texts.CORRECTIONS,
        **aggregates.CORRECTIONS,
        **collected.CORRECTIONS,
        **structures.CORRECTIONS,
        **rows.CORRECTIONS,
        exp.Parameter: _parameter,
        exp.Slice: _bounds,
        **{kind: _refuse(name) for kind, name in _REFUSED.items()},
    }


_OF_NO_EFFECT = frozenset(["default_year"])
"""Arguments that sqlglot adds."""
_POSITION: Final = ("line", "col", "start", "end")
_GIVEN = (exp.Literal, exp.Column, exp.Cast, exp.Func)

_REFUSED: Mapping[type, str] = {
    exp.MatchRecognize: "MATCH_RECOGNIZE",
    exp.PivotAny: "PIVOT … IN (ANY), whose columns come from the data (list the values)",
    exp.Connect: "CONNECT BY (write a recursive CTE)",
    exp.Command: "a statement that is not a query",
    exp.TsOrDsToTime: "TO_TIME (keep the time as a text)",
    exp.Kurtosis: "KURTOSIS, which is of a sample there (write spark__kurtosis for that of all values)",
    exp.Skewness: "SKEWNESS, which is of a sample there (write spark__skewness for that of all values)",
    exp.MatchAgainst: "a search in a text by @@",
}


def _refuse(name: str) -> _Correction:
    def refuse(node: exp.Expr, dialect: str) -> None:
        if dialect != "databricks":
            raise Untranslatable(name)

    return refuse


def _bounds(node: exp.Expr, dialect: str) -> None:
    """The bounds of a slice, which a rule of arrays knows in some dialects."""
    if dialect not in ("databricks", "duckdb", "postgres"):
        with about(node.parent):
            raise Untranslatable("a slice such as a[1:3] (write SUBSTRING for a text, spark__slice for a list)")


def _parameter(node: exp.Expr, dialect: str) -> exp.Expr | None:
    if node.name.isdigit() and dialect == "snowflake":
        raise Untranslatable(f"the column number ${node.name}")
    mark = "@" if dialect == "bigquery" else "$"
    raise Untranslatable(f"the parameter {mark}{node.name}, which a model is not given (write {{{{ var('…') }}}})")
