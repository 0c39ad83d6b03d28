"""Functions of nested rows and of the entries of maps, as SQL; see `mergetree.merge.nested_kernels`.

Each array is an expression that may be long: as the element of another array it is evaluated once for all that a lambda
does with it.
"""

from __future__ import annotations

from collections.abc import Iterable

from tablestore_engine.mergetree.merge.nested_kernels import null_in_key
from tablestore_engine.schema.merge_engines.merge_engine import Fold
from tablestore_engine.spark.expressions.format_braces import formatted, formatted_literal


def there(rows: str) -> str:
    """SQL for the elements that are not null."""
    return f"filter({rows}, item -> item IS NOT NULL)"


def nested_sql(fold: Fold, had: str, given: str) -> str:
    """SQL for the nested rows of a list and those of a later one."""
    if fold.count_limit is not None and not fold.cleans:
        return limited_sql(fold, had, given)
    return rows_sql(fold, f"concat({there(had)}, {there(given)})")


def limited_sql(fold: Fold, had: str, given: str) -> str:
    """SQL for the nested rows of a list and as many of another one as there is room for."""
    room = f"slice({there(given)}, 1, {fold.count_limit} - size({had}))"
    joined = keyed_sql(f"concat({there(had)}, {room})", fold.nested_key)
    return f"CASE WHEN size({had}) >= {fold.count_limit} THEN {had} ELSE {joined} END"


def rows_sql(fold: Fold, elements: str) -> str:
    """SQL for nested rows, none of which is null, merged by their key."""
    if fold.null_keys != "merge":
        elements = _with_keys(fold, elements)
    if fold.function == "nested_partial_update":
        return _once(elements, f"transform({_last_of('items', fold.nested_key)}, item -> {_updated(fold)})")
    if not fold.cleans:
        return keyed_sql(elements, fold.nested_key)
    if fold.count_limit is not None:
        same = _same("item", "earlier", fold.nested_key)
        firsts = f"filter(items, (item, nth) -> NOT exists(slice(items, 1, nth), earlier -> {same}))"
        same = _same("item", "first", fold.nested_key)
        elements = _once(
            elements, f"filter(items, item -> exists(slice({firsts}, 1, {fold.count_limit}), first -> {same}))"
        )
    if not fold.nested_sequence:
        return keyed_sql(elements, fold.nested_key)
    later, earlier = (_same("item", name, fold.nested_key) for name in ("later", "earlier"))
    item_at, later_at, earlier_at = (_sequence(fold, name) for name in ("item", "later", "earlier"))
    replaced = f"exists(slice(items, nth + 2, size(items)), later -> {later} AND {later_at} >= {item_at})"
    late = f"exists(slice(items, 1, nth), earlier -> {earlier} AND {earlier_at} > {item_at})"
    return _once(elements, f"filter(items, (item, nth) -> NOT ({replaced} OR {late}))")


def keyed_sql(elements: str, keys: tuple[str, ...]) -> str:
    """SQL for an array of structs with the last one of each key only; all of them without keys."""
    return _once(elements, _last_of("items", keys)) if keys else elements


def others(elements: str, taken: str, keys: tuple[str, ...]) -> str:
    """The elements that none of others is the same as (of the same key, or else equal)."""
    return f"filter({elements}, item -> NOT exists({taken}, removed -> {_same('item', 'removed', keys)}))"


def by_time_sql(fold: Fold, had: str, given: str) -> str:
    """SQL for the entries of a map and those of a later one, of each key the one of the greatest time."""
    time = formatted(fold.time_field)
    newer = f"item.value.{time} IS NULL OR later.value.{time} > item.value.{time}"
    replaces = f"later.value IS NULL OR (later.value.{time} IS NOT NULL AND ({newer}))"
    left = f"filter({had}, item -> NOT exists({given}, later -> later.key <=> item.key AND ({replaces})))"
    in_the_way = "exists(had, item -> item.key <=> later.key)"
    added = f"filter({given}, later -> later.value.{time} IS NOT NULL AND NOT {in_the_way})"
    return f"get(transform(array({left}), had -> concat(had, {added})), 0)"


def _once(elements: str, expression: str) -> str:
    """SQL for an expression of `items`, which are evaluated once."""
    return f"get(transform(array({elements}), items -> {expression}), 0)"


def _last_of(items: str, keys: tuple[str, ...]) -> str:
    later = f"slice({items}, nth + 2, size({items}))"
    return f"filter({items}, (item, nth) -> NOT exists({later}, later -> {_same('item', 'later', keys)}))"


def _updated(fold: Fold) -> str:
    """SQL for the last values that are not null, of all rows with the key of `item`."""
    same = _same("item", "other", fold.nested_key)

    def last(name: str) -> str:
        values = f"transform(filter(items, other -> {same}), other -> other.{formatted(name)})"
        return f"try_element_at(filter({values}, one -> one IS NOT NULL), -1)"

    return _named({name: last(name) for name in fold.nested_fields}.items())


def _with_keys(fold: Fold, elements: str) -> str:
    """SQL for the nested rows that have no null in their key; an error for others, where they are one."""
    without = " OR ".join(f"item.{formatted(name)} IS NULL" for name in fold.nested_key)
    if fold.null_keys == "ignore":
        return f"filter({elements}, item -> NOT ({without}))"
    text = formatted_literal("{}. {}".format(*null_in_key(fold)))
    return f"transform({elements}, item -> CASE WHEN {without} THEN raise_error({text}) ELSE item END)"


def _sequence(fold: Fold, row: str) -> str:
    """SQL for the sequence of a nested row, as a struct, which compares field by field with nulls first."""
    return _named((f"c{i}", f"{row}.{formatted(name)}") for i, name in enumerate(fold.nested_sequence))


def _named(fields: Iterable[tuple[str, str]]) -> str:
    return f"named_struct({', '.join(f'{formatted_literal(name)}, {value}' for name, value in fields)})"


def _same(one: str, other: str, keys: tuple[str, ...]) -> str:
    if not keys:
        return f"{one} <=> {other}"
    return " AND ".join(f"{one}.{formatted(key)} <=> {other}.{formatted(key)}" for key in keys)
