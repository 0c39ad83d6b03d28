"""Folds that take the records of a key one after the other, as Spark's higher-order functions.

These are the functions in which a retraction takes back what earlier records contributed: products, lists, maps and
nested rows.
"""

from __future__ import annotations

from tablestore_engine.schema.merge.merge_engine import Fold
from tablestore_engine.schema.types.types import DataField
from tablestore_engine.spark.expressions.names import formatted
from tablestore_engine.spark.expressions.types import to_spark_type


def in_order_sql(fold: Fold, field: DataField, column: str, number: str, takes_back: str) -> str:
    """SQL for the fold of a column, of the column's own type, where some records are retractions.

    `number` orders the records, `takes_back` says which are retractions.
    """
    if fold.function == "product":
        return _product(field, column, number, takes_back)
    if fold.function == "merge_map":
        entries = f"CASE WHEN {column} IS NOT NULL THEN map_entries({column}) END"
        records = _records(entries, number, takes_back)
        joined = f"concat({_others('acc', 'one.v', ('key',))}, one.v)"
        return f"map_from_entries({_reduced(records, 'one.v', joined, _others('acc', 'one.v', ('key',)))})"
    records = _records(column, number, takes_back)
    if fold.function == "collect":
        first = "array_distinct(one.v)" if fold.distinct else "one.v"
        joined = "array_distinct(concat(acc, one.v))" if fold.distinct else "concat(acc, one.v)"
        return _reduced(records, first, joined, "reduce(one.v, acc, (had, removed) -> " + _without_first() + ")")
    rows = "filter(one.v, item -> item IS NOT NULL)"
    given = keyed_sql(rows, fold.nested_key)
    left = _others("acc", rows, fold.nested_key)
    return _reduced(records, given, f"concat({left if fold.nested_key else 'acc'}, {given})", left)


def keyed_sql(elements: str, keys: tuple[str, ...]) -> str:
    """SQL for an array of structs with the last one of each key only; all of them without keys."""
    if not keys:
        return elements
    # As the element of an array, the expression is evaluated once for all that the lambda does with it.
    last = f"NOT exists(slice(items, nth + 2, size(items)), later -> {_same('item', 'later', keys)})"
    return f"get(transform(array({elements}), items -> filter(items, (item, nth) -> {last})), 0)"


def _same(one: str, other: str, keys: tuple[str, ...]) -> str:
    if not keys:
        return f"{one} <=> {other}"
    return " AND ".join(f"{one}.{formatted(key)} <=> {other}.{formatted(key)}" for key in keys)


def _others(elements: str, taken: str, keys: tuple[str, ...]) -> str:
    """The elements that none of others is the same as (of the same key, or else equal)."""
    return f"filter({elements}, item -> NOT exists({taken}, removed -> {_same('item', 'removed', keys)}))"


def _without_first() -> str:
    """The array `had` without the first element that equals `removed`."""
    at = "array_position(transform(had, each -> each <=> removed), true)"
    return (
        f"CASE WHEN {at} > 0 THEN concat(slice(had, 1, cast({at} as int) - 1), slice(had, "
        f"cast({at} as int) + 1, size(had))) ELSE had END"
    )


def _records(value: str, number: str, takes_back: str) -> str:
    """The records as an array of structs in order: `v` is the value, `back` whether it is taken back."""
    records = f"collect_list(named_struct('n', {number}, 'back', {takes_back}, 'v', {value}))"
    return f"array_sort({records}, (a, b) -> CASE WHEN a.n < b.n THEN -1 WHEN a.n > b.n THEN 1 ELSE 0 END)"


def _reduced(records: str, first: str, joined: str, left: str) -> str:
    """Nulls are skipped, and nothing can be taken from a null."""
    step = (
        f"CASE WHEN one.v IS NULL THEN acc WHEN acc IS NULL AND one.back THEN acc WHEN acc IS NULL THEN {first} "
        f"WHEN one.back THEN {left} ELSE {joined} END"
    )
    return f"reduce({records}, get({records}, -1).v, (acc, one) -> {step})"


def _product(field: DataField, column: str, number: str, takes_back: str) -> str:
    kind = to_spark_type(field.type).simpleString()
    wide = {"float": "double", "double": "double"}.get(kind, kind if kind.startswith("decimal") else "bigint")
    records = _records(f"cast({column} as {wide})", number, takes_back)
    divided = "acc div one.v" if wide == "bigint" else f"cast(acc / one.v as {wide})"
    return f"cast({_reduced(records, 'one.v', f'cast(acc * one.v as {wide})', divided)} as {kind})"
