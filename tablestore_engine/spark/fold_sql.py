"""The functions of the merge engines as Spark aggregates: what reading several runs does.

Each expression folds the values of one column over the records of a key. Records are told apart and ordered by their
sequence number, which stands once per key and run.
"""

from __future__ import annotations

from collections.abc import Callable

from tablestore_engine.mergetree.kernels import NOT_BLANK
from tablestore_engine.schema.merge_engine import Fold
from tablestore_engine.schema.system import SEQUENCE_NUMBER
from tablestore_engine.schema.types import DataField
from tablestore_engine.spark.names import formatted
from tablestore_engine.spark.types import to_spark_type

_NUMBER = SEQUENCE_NUMBER.name


def fold_sql(fold: Fold, field: DataField, alias: str) -> str:
    """Spark SQL for the fold of a column of `alias`, of the column's own type.

    A sum or product that does not fit raises as Spark's arithmetic does (an error, unless ANSI mode is off).
    """
    column = f"{alias}.{formatted(fold.column)}"
    if fold.function not in ("sum", "product"):
        return _EXPRESSIONS[fold.function](fold, column, alias)
    kind = to_spark_type(field.type).simpleString()
    if fold.function == "product":
        column = f"cast({column} as {'double' if kind in ('float', 'double') else 'bigint'})"
    return f"cast({_EXPRESSIONS[fold.function](fold, column, alias)} as {kind})"


def literal(text: str) -> str:
    """A text as SQL that no setting of the session reads in another way."""
    return f"cast(X'{text.encode().hex()}' as string)"


def _in_order(column: str, alias: str, where: str) -> str:
    """The values of a column that a condition holds for, as an array in the order of their records."""
    pairs = f"collect_list(named_struct('n', {alias}.{_NUMBER}, 'v', {column})) FILTER (WHERE {where})"
    by_number = "(a, b) -> CASE WHEN a.n < b.n THEN -1 WHEN a.n > b.n THEN 1 ELSE 0 END"
    return f"transform(array_sort({pairs}, {by_number}), one -> one.v)"


def _product(_fold: Fold, column: str, alias: str) -> str:
    values = _in_order(column, alias, f"{column} IS NOT NULL")
    return f"reduce(slice({values}, 2, greatest(size({values}) - 1, 0)), get({values}, 0), (a, b) -> a * b)"


def _listagg(fold: Fold, column: str, alias: str) -> str:
    delimiter = literal(fold.delimiter)
    shown = literal(NOT_BLANK)
    parts = _in_order(column, alias, f"{column} RLIKE {shown}")
    if fold.distinct and fold.delimiter:
        # The first text stays as it is; of the others come the parts that are new.
        pattern = literal("".join(f"\\x{{{ord(c):x}}}" for c in fold.delimiter))
        first = f"split(get({parts}, 0), {pattern})"
        others = f"flatten(transform(slice({parts}, 2, greatest(size({parts}) - 1, 0)), one -> split(one, {pattern})))"
        parts = f"concat({first}, array_except(filter({others}, one -> one RLIKE {shown}), {first}))"
    return f"nullif(array_join({parts}, {delimiter}), '')"


def _collect(fold: Fold, column: str, alias: str) -> str:
    lists = _in_order(column, alias, f"{column} IS NOT NULL")
    flat = f"flatten({lists})"
    if fold.distinct:
        flat = f"array_distinct({flat})"
    return f"CASE WHEN count({column}) > 0 THEN {flat} END"


_EXPRESSIONS: dict[str, Callable[[Fold, str, str], str]] = {
    "last_value": lambda _f, column, alias: f"max_by({column}, {alias}.{_NUMBER})",
    "first_value": lambda _f, column, alias: f"min_by({column}, {alias}.{_NUMBER})",
    "last_non_null_value": lambda _f, column, alias: (
        f"max_by({column}, {alias}.{_NUMBER}) FILTER (WHERE {column} IS NOT NULL)"
    ),
    "first_non_null_value": lambda _f, column, alias: (
        f"min_by({column}, {alias}.{_NUMBER}) FILTER (WHERE {column} IS NOT NULL)"
    ),
    "max": lambda _f, column, _alias: f"max({column})",
    "min": lambda _f, column, _alias: f"min({column})",
    "sum": lambda _f, column, _alias: f"sum({column})",
    "product": _product,
    "bool_and": lambda _f, column, _alias: f"bool_and({column})",
    "bool_or": lambda _f, column, _alias: f"bool_or({column})",
    "listagg": _listagg,
    "collect": _collect,
}
