"""The types of recursive common table expressions: those of their first query, to which the later rows are cast.

Spark wants the same types of both. A type is known where the first query casts, is a number, or takes a column of a
known table. Of other fractions, and where decimals have any number of digits, both queries are cast to a wide type.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.column_kinds import Kind, is_surely
from dbt.adapters.tablestore.dialect.columns.number_kinds import number_kind
from dbt.adapters.tablestore.dialect.refusal import Columns
from dbt.adapters.tablestore.dialect.rules.casts import SPARKS, number_type
from dbt.adapters.tablestore.dialect.rules.numbers.kinds import FRACTION, has_fraction

_ANY_FRACTION: Final = "DECIMAL(38, 10)"
_EXACT: Final = ("duckdb", "trino")
"""Dialects in which the digits of literals and columns are those of all rows."""
_CAST: Final = ("decimal", "double", "float", "int", "bigint", "smallint", "tinyint", "date", "timestamp",
                "timestamptz", "timestampntz", "timestampltz")  # fmt: skip


def cast_recursive_rows(tree: exp.Expr, dialect: str, columns_of: Columns | None) -> None:
    """Cast the columns of recursive queries."""
    for cte in tree.find_all(exp.CTE) if dialect != "databricks" else ():
        queries = list(_united(cte.this))
        steps = [one for one in queries if any(t.name.lower() == cte.alias.lower() for t in one.find_all(exp.Table))]
        if not steps or len(steps) == len(queries) or not all(isinstance(one, exp.Select) for one in queries):
            continue
        first = next(one for one in queries if one not in steps)
        names = [one.name.lower() for one in cte.args["alias"].columns]
        names = names or [one.alias_or_name.lower() for one in first.expressions]
        widths = {len(one.expressions) for one in queries}
        if len(widths) == 1 and widths == {len(names)} and not any(one.is_star for one in queries):
            for at, name in enumerate(names):
                _cast(first, [one for one in queries if one is not first], at, name, dialect, columns_of)


def _united(query: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(query, (exp.SetOperation, exp.Subquery)) and not query.args.get("with_"):
        yield from _united(query.this)
        yield from _united(query.expression) if isinstance(query, exp.SetOperation) else ()
    else:
        yield query


def _cast(
    first: exp.Expr, others: list[exp.Expr], at: int, name: str, dialect: str, columns_of: Columns | None
) -> None:
    value = first.expressions[at].unalias()
    values = [one.expressions[at].unalias() for one in others]
    wanted = [one for one in values if not _is_same(one, name)]
    kind = _type(value, dialect, columns_of)
    wanted = [one for one in wanted if kind is None or _type(one, dialect, columns_of) != kind]
    if not wanted:
        return
    exact = dialect in _EXACT or isinstance(value, exp.Cast)
    if number_kind(value, dialect, columns_of) == FRACTION and (kind is None or not exact) and not _is_float(kind):
        kind = exp.DataType.build("DOUBLE" if dialect == "bigquery" and value.is_number else _ANY_FRACTION)
        _wrap(value, kind)
    if kind is None or not kind.is_type(*_CAST):
        return
    whole = bool(kind.is_type(*exp.DataType.INTEGER_TYPES))
    for one in wanted:
        rounded = whole and has_fraction([number_kind(one, dialect, columns_of)])
        _wrap(_wrap(one, exp.DataType.build("DECIMAL(38, 0)")) if rounded else one, kind)


def _is_float(kind: exp.DataType | None) -> bool:
    return kind is not None and bool(kind.is_type("float", "double"))


def _is_same(value: exp.Expr, name: str) -> bool:
    """Whether a value is the column itself, or a whole number more or less."""
    while isinstance(value, (exp.Add, exp.Sub)) and isinstance(value.expression, exp.Literal):
        if not value.expression.is_int:
            return False
        value = value.this.unnest()
    return isinstance(value, exp.Column) and value.name.lower() == name


def _type(value: exp.Expr, dialect: str, columns_of: Columns | None) -> exp.DataType | None:
    found: list[exp.DataType] = []

    def of_value(one: exp.Expr) -> bool:
        kind = _own_type(one, dialect)
        found.extend([] if kind is None else [kind])
        return kind is not None

    def of_type(text: str) -> bool:
        found.append(exp.DataType.build(text, dialect="spark"))
        return True

    return found[0] if is_surely(Kind(of_value, of_type), value, columns_of) and found else None


def _own_type(value: exp.Expr, dialect: str) -> exp.DataType | None:
    if isinstance(value, exp.Cast) and isinstance(value.to, exp.DataType):
        kind = number_type(value.to.copy(), dialect)
        return kind if isinstance(kind, exp.DataType) else None
    if not isinstance(value, exp.Literal) or value.is_string or not value.name.replace(".", "").isdigit():
        return None
    whole, _, behind = value.name.partition(".")
    if "." in value.name:
        digits = max(len(whole.lstrip("0")) + len(behind), 1)
        return exp.DataType.build(f"DECIMAL({digits}, {len(behind)})")
    return exp.DataType.build("INT" if int(whole) < 2**31 else "BIGINT")


def _wrap(value: exp.Expr, kind: exp.Expr) -> exp.Expr:
    """A cast of Spark's around a value, where it is."""
    made = exp.Cast(this=value.copy(), to=kind.copy())
    made.meta[SPARKS] = True
    output = value.parent if isinstance(value, exp.Column) and not isinstance(value.parent, exp.Alias) else None
    value.replace(made if output is None else exp.alias_(made, value.name))
    return made
