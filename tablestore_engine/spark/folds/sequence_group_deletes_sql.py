"""Idle retractions, and deletes of rows where sequence groups decide whether a delete is late, as SQL; see
`mergetree.merge.sequence_group_deletes`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.sql_literals import literal
from tablestore_engine.schema.types.system_columns import KEY_PREFIX, SEQUENCE_NUMBER, VALUE_KIND
from tablestore_engine.spark.expressions.format_braces import formatted
from tablestore_engine.spark.folds.late_records_sql import sequence_sql

# Names that no column may have.
_RECORDS, _GROUP_DELETE, _FIRST = f"{KEY_PREFIX}records", f"{KEY_PREFIX}group_delete", f"{KEY_PREFIX}first"
_NUMBER = SEQUENCE_NUMBER.name


def apply_group_deletes_sql(rows: str, schema: TableSchema, keys: str, system: Sequence[str]) -> str:
    """Query for the rows from the last delete of each key on; of a delete only the kind, key and sequences are set.

    `rows` is a query of rows with the table's columns and those of `system`; `keys` name what the records of a row have
    in common, as columns of `r`.
    """
    record = ", ".join(
        [
            f"'n', r.{_NUMBER}",
            f"'removes', r.{VALUE_KIND.name} = 3Y, 'back', r.{VALUE_KIND.name} IN (1Y, 3Y)",
            *(f"'g{i}', {sequence_sql(group)}" for i, group in enumerate(schema.merge_engine.removing_groups)),
        ]
    )
    collected = f"collect_list(named_struct({record})) OVER (PARTITION BY {keys})"
    cleared = {f.column for f in schema.merge_engine.folds if f.column not in f.sequence}
    columns = [
        f"CASE WHEN r.{_NUMBER} = r.{_GROUP_DELETE} THEN NULL ELSE r.{formatted(name)} END AS {formatted(name)}"
        if name in cleared
        else f"r.{formatted(name)}"
        for name in schema.field_names
    ]
    columns = [*(f"r.{name}" for name in system), *columns]
    group_delete = _last_group_delete_sql(len(schema.merge_engine.removing_groups))
    with_records = f"SELECT r.*, {collected} AS {_RECORDS} FROM ({rows}) r"
    with_group_delete = f"SELECT r.*, {group_delete} AS {_GROUP_DELETE} FROM ({with_records}) r"
    later = f"r.{_GROUP_DELETE} IS NULL OR r.{_NUMBER} >= r.{_GROUP_DELETE}"
    return f"SELECT {', '.join(columns)} FROM ({with_group_delete}) r WHERE {later}"


def without_idle_sql(rows: str, keys: str) -> str:
    """Query for the rows without the retractions before the first ordinary record of a key, if it has one."""
    ordinary = f"CASE WHEN r.{VALUE_KIND.name} NOT IN (1Y, 3Y) THEN r.{_NUMBER} END"
    first = f"min({ordinary}) OVER (PARTITION BY {keys}) AS {_FIRST}"
    return f"SELECT * FROM (SELECT r.*, {first} FROM ({rows}) r) r WHERE {_FIRST} IS NULL OR r.{_NUMBER} >= {_FIRST}"


def _last_group_delete_sql(groups: int) -> str:
    """The number of the last record that removes the row; null without one."""
    names = [f"g{i}" for i in range(groups)]
    by_number = "(a, b) -> CASE WHEN a.n < b.n THEN -1 WHEN a.n > b.n THEN 1 ELSE 0 END"
    # Nulls of the right types: no record precedes the first one.
    nothing = {name: f"get(r.{_RECORDS}, -1).{name}" for name in ("n", *names)}
    start = _struct({"there": "false", **nothing})
    in_time = " OR ".join(f"coalesce(one.{g} >= acc.{g}, one.{g} IS NOT NULL)" for g in names)
    removed = _struct({"there": "false", **nothing, "n": "one.n"})
    reached = _struct({"there": "true", "n": "acc.n", **{g: f"greatest(acc.{g}, one.{g})" for g in names}})
    idle = "one.back AND NOT acc.there"
    step = f"CASE WHEN {idle} THEN acc WHEN one.removes AND ({in_time}) THEN {removed} ELSE {reached} END"
    return f"reduce(array_sort(r.{_RECORDS}, {by_number}), {start}, (acc, one) -> {step}, acc -> acc.n)"


def _struct(values: Mapping[str, str]) -> str:
    fields = ", ".join(f"{literal(name)}, {value}" for name, value in values.items())
    return f"named_struct({fields})"
