"""Folds that take the records of a key one after the other, as Spark's higher-order functions.

These are the functions in which a retraction takes back what earlier records contributed: products, lists, maps and
nested rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from tablestore_engine.schema.merge_engines.merge_engine import Fold
from tablestore_engine.schema.types.types import DataField
from tablestore_engine.spark.expressions.spark_types import to_spark_type
from tablestore_engine.spark.folds.nested_rows_sql import by_time_sql, keyed_sql, nested_sql, others, rows_sql, there


def in_order_sql(
    fold: Fold, field: DataField, column: str, number: str, takes_back: str, effect: str | None = None
) -> str:
    """SQL for the fold of a column, of the column's own type, where some records are retractions.

    `number` orders the records, `takes_back` says which are retractions. In a sequence group, `effect` is negative
    where a record comes late, and null where it has no sequence.
    """
    if fold.function == "product":
        return _product(field, column, number, takes_back)
    late = "false" if effect is None else f"{effect} < 0"
    if fold.function == "merge_map":
        entries = f"CASE WHEN {column} IS NOT NULL THEN map_entries({column}) END"
        records = _records(entries, number, takes_back, late)
        joined = f"concat({others('acc', 'one.v', ('key',))}, one.v)"
        before = f"concat({others('one.v', 'acc', ('key',))}, acc)"
        left = others("acc", "one.v", ("key",))
        return f"map_from_entries({_reduced(records, _Steps('one.v', joined, before, left))})"
    if fold.function == "merge_map_with_keytime":
        records = _records(f"CASE WHEN {column} IS NOT NULL THEN map_entries({column}) END", number, takes_back, late)
        joined, before = by_time_sql(fold, "acc", "one.v"), by_time_sql(fold, "one.v", "acc")
        return f"map_from_entries({_reduced(records, _Steps('one.v', joined, before, 'acc'))})"
    records = _records(column, number, takes_back, late, "true" if effect is None else f"{effect} IS NOT NULL")
    if fold.function in ("last_value", "last_non_null_value", "primary-key"):
        return _last(fold, records)
    if fold.function == "collect":
        first = "array_distinct(one.v)" if fold.distinct else "one.v"
        joined = "array_distinct(concat(acc, one.v))" if fold.distinct else "concat(acc, one.v)"
        left = "reduce(one.v, acc, (had, removed) -> " + _without_first() + ")"
        reduced = _reduced(records, _Steps(first, joined, joined, left))
        return only_as_given(reduced, column, takes_back)
    joined, before = nested_sql(fold, "acc", "one.v"), nested_sql(fold, "one.v", "acc")
    left = others(keyed_sql(there("acc"), fold.nested_key), there("one.v"), fold.nested_key)
    if not fold.cleans:
        return _reduced(records, _Steps("one.v", joined, before, left))
    reduced = _reduced(records, _Steps(rows_sql(fold, there("one.v")), joined, before, left))
    return only_as_given(reduced, column, takes_back)


def only_as_given(folded: str, column: str, takes_back: str) -> str:
    """SQL for a folded list, but that of a key's only record as it is."""
    return f"CASE WHEN count(1) = 1 AND NOT bool_or({takes_back}) THEN max({column}) ELSE {folded} END"


def first_non_null_sql(column: str, effect: str) -> str:
    """SQL for `first_non_null_value` in a sequence group; see `mergetree.merge.late_records.first_non_null`."""
    records = f"collect_list(named_struct('n', abs({effect}), 'late', {effect} < 0, 'v', {column}))"
    records = _SORTED.format(f"{records} FILTER (WHERE {effect} IS NOT NULL)")
    begun = "named_struct('begun', true, 'v', {})"
    once_begun = "named_struct('begun', acc.begun, 'v', one.v)"
    late = f"CASE WHEN NOT acc.begun AND acc.v IS NOT NULL THEN {begun.format('acc.v')} ELSE {once_begun} END"
    in_time = f"CASE WHEN NOT acc.begun AND one.v IS NOT NULL THEN {begun.format('one.v')} ELSE acc END"
    start = f"named_struct('begun', false, 'v', get({records}, -1).v)"
    return f"reduce({records}, {start}, (acc, one) -> CASE WHEN one.late THEN {late} ELSE {in_time} END, acc -> acc.v)"


def _last(fold: Fold, records: str) -> str:
    if fold.function == "last_value":
        step = "CASE WHEN one.back THEN NULL WHEN one.late THEN acc ELSE one.v END"
    elif fold.function == "primary-key":
        step = "CASE WHEN one.late AND NOT one.back THEN acc ELSE one.v END"
    else:
        joined = "WHEN one.late THEN coalesce(acc, one.v) ELSE one.v"
        step = f"CASE WHEN one.v IS NULL THEN acc WHEN one.back THEN NULL {joined} END"
    return f"reduce({records}, get({records}, -1).v, (acc, one) -> {step})"


def _without_first() -> str:
    """The array `had` without the first element that equals `removed`."""
    at = "array_position(transform(had, each -> each <=> removed), true)"
    return (
        f"CASE WHEN {at} > 0 THEN concat(slice(had, 1, cast({at} as int) - 1), slice(had, "
        f"cast({at} as int) + 1, size(had))) ELSE had END"
    )


_SORTED = "array_sort({}, (a, b) -> CASE WHEN a.n < b.n THEN -1 WHEN a.n > b.n THEN 1 ELSE 0 END)"


def _records(value: str, number: str, takes_back: str, late: str = "false", where: str = "true") -> str:
    """The records as an array of structs in order: `v` is the value, `back` whether it is taken back, `late` whether it
    comes late."""
    fields = f"'n', {number}, 'back', {takes_back}, 'late', {late}, 'v', {value}"
    return _SORTED.format(f"collect_list(named_struct({fields})) FILTER (WHERE {where})")


@dataclass(frozen=True)
class _Steps:
    """SQL of what a value `one.v` makes of the values `acc` before it.

    They are none, or others that it follows (`joined`), or comes before, or of which those are `left` that it does not
    take back.
    """

    first: str
    joined: str
    before: str
    left: str


def _reduced(records: str, steps: _Steps) -> str:
    """Nulls are skipped, and nothing can be taken from a null."""
    step = (
        f"CASE WHEN one.v IS NULL THEN acc WHEN acc IS NULL AND one.back THEN acc WHEN acc IS NULL THEN {steps.first} "
        f"WHEN one.back THEN {steps.left} WHEN one.late THEN {steps.before} ELSE {steps.joined} END"
    )
    return f"reduce({records}, get({records}, -1).v, (acc, one) -> {step})"


def _product(field: DataField, column: str, number: str, takes_back: str) -> str:
    kind = to_spark_type(field.type).simpleString()
    wide = {"float": "double", "double": "double"}.get(kind, kind if kind.startswith("decimal") else "bigint")
    records = _records(f"cast({column} as {wide})", number, takes_back)
    divided = "acc div one.v" if wide == "bigint" else f"cast(acc / one.v as {wide})"
    joined = f"cast(acc * one.v as {wide})"
    return f"cast({_reduced(records, _Steps('one.v', joined, joined, divided))} as {kind})"
