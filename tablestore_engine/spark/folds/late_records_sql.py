"""The order in which the records of sequence groups take effect, as SQL; see `mergetree.merge.late_records`."""

from __future__ import annotations

from collections.abc import Sequence

from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.system_columns import KEY_PREFIX, SEQUENCE_NUMBER
from tablestore_engine.spark.expressions.format_braces import formatted

_NUMBER = SEQUENCE_NUMBER.name


def effect_columns(groups: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], str]:
    """A name, one that no column may have, for the order of effect in each group."""
    return {group: f"{KEY_PREFIX}effect{i}" for i, group in enumerate(groups)}


def with_effects_sql(rows: str, groups: Sequence[tuple[str, ...]], keys: str) -> str:
    """Query for the rows with their `effect_columns`: the number of a record, negative where it comes late, and null
    where it has no sequence. `keys` name what the records of a row have in common, as columns of `r`."""
    names = effect_columns(groups)
    before = f"OVER (PARTITION BY {keys} ORDER BY r.{_NUMBER} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    reached = ", ".join(f"max({sequence_sql(group)}) {before} AS {names[group]}_before" for group in groups)
    effects = ", ".join(f"{_effect_sql(group, f'{names[group]}_before')} AS {names[group]}" for group in groups)
    return f"SELECT r.*, {effects} FROM (SELECT r.*, {reached} FROM ({rows}) r) r"


def in_positions_sql(rows: str, schema: TableSchema, keys: str, columns: str) -> str:
    """Query for the rows with their position in the order that the sequence fields say, instead of their number.

    `columns` are those of the query besides the number, as columns of `r`.
    """
    options = schema.core_options
    direction = "DESC" if options.sequence_field_descending else "ASC"
    order = ", ".join(f"r.{formatted(name)} {direction} NULLS FIRST" for name in options.sequence_field)
    position = f"row_number() OVER (PARTITION BY {keys} ORDER BY {order}, r.{_NUMBER})"
    return f"SELECT cast({position} AS bigint) AS {_NUMBER}, {columns} FROM ({rows}) r"


def sequence_sql(group: Sequence[str]) -> str:
    """A record's sequence as a struct, which compares field by field with nulls first; null where it has none."""
    given = " OR ".join(f"r.{formatted(name)} IS NOT NULL" for name in group)
    fields = ", ".join(f"'c{i}', r.{formatted(name)}" for i, name in enumerate(group))
    return f"CASE WHEN {given} THEN named_struct({fields}) END"


def _effect_sql(group: Sequence[str], reached: str) -> str:
    given = " OR ".join(f"r.{formatted(name)} IS NOT NULL" for name in group)
    late = f"coalesce({sequence_sql(group)} < r.{reached}, false)"
    return f"CASE WHEN {given} THEN CASE WHEN {late} THEN -r.{_NUMBER} ELSE r.{_NUMBER} END END"
