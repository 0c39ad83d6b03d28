"""Schema changes of a table: one new schema file, created exclusively; data files stay as they are.

Four kinds of changes take effect by a snapshot. That a column becomes NOT NULL is checked on the rows of one, and
counts with the next; a write between the two wins, and the check is made again. So is a CHECK constraint, which the
caller checked, and that no row waits for a full compaction to record it where that would be of no use any more. Other
partition columns are for files that were written with them. A write that began before and commits later gets a
conflict, as with a replaced table. So does one to a table without a snapshot, which is given one.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import replace

from tablestore_engine.errors import ConflictError, OptionError, SchemaError
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.changelog.unrecorded_rows import check_recorded
from tablestore_engine.operation.commit.change import Change
from tablestore_engine.operation.scan.plan_scan import live_entries
from tablestore_engine.operation.table_commands.after_commit import follow
from tablestore_engine.operation.table_commands.not_null_check import check_no_nulls
from tablestore_engine.operation.transaction.transaction import publish_change
from tablestore_engine.schema.alter.apply_changes import apply_changes, forbidden_nulls
from tablestore_engine.schema.alter.partition_fields import layout_of
from tablestore_engine.schema.table.check_constraints import check_constraints
from tablestore_engine.schema.table.schema_changes import AddCheckConstraint, RetypeColumn, SchemaChange
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.table_state import TableState

_ATTEMPTS = 20


def alter_table(state: TableState, changes: Sequence[SchemaChange], now_millis: int) -> TableState:
    """Apply changes to the current schema, all or none. Returns the table with what it has become.

    Raises:
        SchemaError, OptionError, ColumnNotFound, UnsupportedTypeError: a change is not possible.
        ConflictError: others keep changing the schema, or the rows that have to be checked.
        TableNotFound: others dropped or renamed the table.
    """
    for attempt in range(_ATTEMPTS):
        state.schemas.check_same_table(state.name)
        # Listed before the current schema is chosen: a version created in between makes the create fail.
        newest = state.schemas.list_ids()[-1]
        snapshot = state.snapshots.latest()
        current = state.schemas.latest(snapshot.schema_id if snapshot else None) or state.schema
        _require_checked(changes, snapshot, current)
        changed = apply_changes(
            current, changes, now_millis, has_data=snapshot is not None, earlier=_earlier(state, current, changes)
        )
        if _is_same(changed, current):
            return state.with_schema(current)
        if changed.holds_whole_records and not current.holds_whole_records and snapshot is not None:
            _require_one_upper_run(state, snapshot)
        check_recorded(state, current, changed, snapshot)
        done = _publish(state.with_schema(current), replace(changed, id=newest + 1), newest, snapshot)
        if done is not None:
            return done
        time.sleep(random.uniform(0, 0.01 * 2 ** min(attempt, 5)))  # noqa: S311 - spreads retries
    raise ConflictError(f"The schema of '{state.name}' is being changed by others.", hint="Try again.")


def evolving(state: TableState, changes: Sequence[SchemaChange], now_millis: int) -> TableState:
    """The table with a next schema, which the commit of its next write stores; itself if nothing changes. The changes
    forbid no rows that exist; what `check_recorded` refuses, that commit does, too.

    Raises:
        SchemaError, OptionError, ColumnNotFound, UnsupportedTypeError: a change is not possible.
    """
    newest, snapshot, current = state.schemas.list_ids()[-1], state.snapshots.latest(), state.schema
    earlier = _earlier(state, current, changes)
    changed = apply_changes(current, changes, now_millis, has_data=snapshot is not None, earlier=earlier)
    if _is_same(changed, current):
        return state
    if changed.holds_whole_records and not current.holds_whole_records and snapshot is not None:
        _require_one_upper_run(state, snapshot)
    check_recorded(state, current, changed, snapshot)
    refuse_nulls_of_casts(state, current, changed)
    schema = replace(changed, id=newest + 1, replaces=str(current.id), base=current.id)
    return replace(state, schema=schema, evolving=True)


def refuse_nulls_of_casts(state: TableState, current: TableSchema, changed: TableSchema) -> None:
    """Raise a SchemaError if casts of a schema, which a write is to store, may make null in a column that is NOT NULL:
    rows that others write meanwhile are not checked."""
    forbidden = _forbidden(state, current, changed)
    if forbidden:
        raise SchemaError(
            f"A write cannot give column '{'.'.join(forbidden[0])}' another type: it is NOT NULL, and a value that "
            "cannot be cast would be null ('schema.evolution.cast' = 'explicit-null').",
            hint="Change the type by ALTER TABLE, which looks at the rows, and then write.",
        )


def _forbidden(state: TableState, current: TableSchema, changed: TableSchema) -> list[tuple[str, ...]]:
    earlier = [] if changed.cast_rules.fails else _before(state, current)
    return forbidden_nulls(current, changed, earlier)


def _is_same(changed: TableSchema, current: TableSchema) -> bool:
    back = replace(changed, id=current.id, time_millis=current.time_millis, base=current.base)
    return back == replace(current, replaces=None)


def _require_checked(changes: Sequence[SchemaChange], snapshot: Snapshot | None, current: TableSchema) -> None:
    """Raise a ConflictError when a constraint was checked on the rows of another snapshot, or under another schema."""
    checked = (0 if snapshot is None else snapshot.id, current.id)
    if any((one.snapshot_id, one.schema_id) != checked for one in changes if isinstance(one, AddCheckConstraint)):
        raise ConflictError("The table was changed while its rows were checked.", hint="Run the statement again.")


def _require_one_upper_run(state: TableState, snapshot: Snapshot) -> None:
    """Raise an OptionError when records above level 0 hold a part of their key's row each: from then on, readers take
    one of them for the whole."""
    levels: dict[tuple[bytes, int], set[int]] = {}
    for entry in live_entries(state.manifests, snapshot):
        levels.setdefault((entry.partition, entry.bucket), set()).add(entry.file.level)
    if any(len(one - {0}) > 1 for one in levels.values()):
        raise OptionError(
            f"'{state.name}' has files that must be merged before its compactions look records up "
            "('changelog-producer' = 'lookup' or 'force-lookup').",
            hint=f"Call sys.compact(table => '{state.name}') first.",
        )


def _publish(state: TableState, changed: TableSchema, newest: int, snapshot: Snapshot | None) -> TableState | None:
    """The table with a next schema; None when others were faster."""
    forbidden = _forbidden(state, state.schema, changed)
    checked = set(check_constraints(changed.options)) - set(check_constraints(state.schema.options))
    now, before = (layout_of(one.partition_fields) for one in (changed, state.schema))
    repartitioned = snapshot is not None and now != before
    records_otherwise = changed.recorded_level != state.schema.recorded_level
    if forbidden or checked or repartitioned or records_otherwise:
        if snapshot is not None and (forbidden or checked):
            check_no_nulls(state, changed, snapshot, forbidden)
        return _with_snapshot(state, changed, snapshot)
    # Versions derived from a void version are void, too; `base` names the version to derive from.
    direct = state.schema.id == newest and state.schema.base is None
    published = replace(changed, base=None if direct else state.schema.id)
    return state.with_schema(published) if state.schemas.try_create(published) else None


def _with_snapshot(state: TableState, changed: TableSchema, snapshot: Snapshot | None) -> TableState | None:
    """The table with a schema that takes effect by the snapshot after the given one (None: by the first); None when
    others were faster."""
    checked = None if snapshot is None else snapshot.id

    def guard() -> None:
        latest = state.snapshots.latest()
        if (None if latest is None else latest.id) != checked:
            raise ConflictError("The table was changed meanwhile.", hint="Run the statement again.")

    schema = replace(changed, replaces=str(state.schema.id))
    try:
        follow(publish_change(state, Change("ANALYZE", guard=guard), schema=schema))
    except ConflictError:
        return None
    return state.with_schema(schema)


def _earlier(state: TableState, current: TableSchema, changes: Sequence[SchemaChange]) -> list[TableSchema]:
    """The versions of the schema before the current one, if a change needs to know the types that columns had."""
    if not any(isinstance(one, RetypeColumn) for one in changes):
        return []
    return _before(state, current)


def _before(state: TableState, current: TableSchema) -> list[TableSchema]:
    return [state.schemas.load(one) for one in state.schemas.list_ids() if one < current.id]
