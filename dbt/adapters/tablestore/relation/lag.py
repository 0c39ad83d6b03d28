"""How far a table that was computed from the changes of others is behind them: its *sources*.

The snapshots of the table say up to which snapshot of each source it was computed
(`operation.commit.consumed_positions`), by the *name of the source*: schema and table, of which a dot in either is
written as `%2e`, a colon as `%3a`. Names of topics have a colon; `models.kafka_changes_since_last_run` says how far the
table is behind a topic. Behind a `#` is what a snapshot compared (`models.snapshot_source`).
"""

from __future__ import annotations

import itertools
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dbt.adapters.tablestore.relation.kept_values import KeptValues
from tablestore_engine.errors import NotFoundError, SnapshotNotFound
from tablestore_engine.operation.commit.consumed_positions import COMPARED, KAFKA, Position, positions_of
from tablestore_engine.schema.casts.changed_columns import ChangedColumn, changed_columns, field_ids, replaced_columns

if TYPE_CHECKING:
    from tablestore_engine.catalog import Catalog
    from tablestore_engine.schema.table.table_schema import TableSchema
    from tablestore_engine.table import Table


@dataclass(frozen=True)
class Lag:
    """How far a model is behind a source: commits, and milliseconds between the snapshots; None when it is not known
    because snapshots have expired or the source was rebuilt. `latest` is None for a source that was dropped. `doubt`
    says of which column of it the values are others, which matters if the model reads it."""

    source: str
    consumed: int
    latest: int | None
    millis: int | None
    doubt: str = ""

    def __str__(self) -> str:
        if self.latest is None:
            return f"{self.source}: dropped (its snapshot {self.consumed} was the last one used)"
        if self.millis is None:
            return f"{self.source}: cannot go on after snapshot {self.consumed}; run the model with --full-refresh"
        doubt = f"; {self.doubt}: a model that reads it needs --full-refresh" if self.doubt else ""
        if self.consumed == self.latest:
            return f"{self.source}: up to date (snapshot {self.latest}){doubt}"
        commits = self.latest - self.consumed
        return (
            f"{self.source}: {commits:,} commit{'' if commits == 1 else 's'} behind, {self.millis / 1000:,.1f} s"
            f" (snapshot {self.consumed} of {self.latest}){doubt}"
        )


_ESCAPED = {"%": "%25", ".": "%2e", ":": "%3a", COMPARED: "%23"}


def source_name(schema: str, table: str, compared_as: str = "") -> str:
    """The name of a source; `compared_as`: of a snapshot, how it compares the rows."""
    escaped = ("".join(_ESCAPED.get(one, one) for one in part.lower()) for part in (schema, table))
    return ".".join(escaped) + (f"{COMPARED}{compared_as}" if compared_as else "")


def source_of(catalog: Catalog, name: str) -> Table:
    """The table of a source's name. Raises NotFoundError."""
    schema, _, table = name.partition(COMPARED)[0].partition(".")
    return catalog.load_table(_plain(schema), _plain(table))


def shown(name: str) -> str:
    """The name of a source for users."""
    return _plain(name.partition(COMPARED)[0])


def lags_of(catalog: Catalog, table: Table) -> list[Lag]:
    """How far a table is behind each of its sources that are, or were, tables; nothing for a table that has none."""
    found = []
    for name, position in sorted(positions_of(table.latest_snapshot()).items()):
        if name.startswith(KAFKA):
            continue
        source = _found(catalog, name)
        if source is None:
            found.append(Lag(shown(name), position.snapshot, None, None))
            continue
        latest = source.latest_snapshot()
        millis, doubt = None, ""
        if latest is not None and not why_lost(catalog, name, position, ()):
            at = source.snapshot(position.snapshot).time_millis if position.snapshot else latest.time_millis
            millis, doubt = max(latest.time_millis - at, 0), why_lost(catalog, name, position)
        found.append(Lag(shown(name), position.snapshot, latest.id if latest else 0, millis, doubt))
    return found


def why_lost(catalog: Catalog, name: str, position: Position, read: Collection[str] | None = None) -> str:
    """Why the changes of a source after a position cannot be read; empty when they can. `read` are the columns that
    count, in lower case; None for all."""
    source = _found(catalog, name)
    # The model may no longer read a table that was dropped; its query says so if it does.
    if source is None or position.snapshot == 0:
        return ""
    try:
        snapshot = source.snapshot(position.snapshot)
    except SnapshotNotFound:
        latest = source.latest_snapshot()
        rebuilt = latest is None or latest.id < position.snapshot
        return "it was built anew" if rebuilt else f"its snapshot {position.snapshot} has expired"
    latest = source.latest_snapshot()
    same_rows = latest is None or source.schemas.are_of_one_table(snapshot.schema_id, latest.schema_id)
    if Position.of(snapshot) != position or not same_rows:
        return "it was built anew"
    past, now = schema_read(source, position), source.schema
    steps = source.schemas.between(past.id, now.id) or [past, now]
    known = field_ids(past.fields)  # where these were renamed, the last run had the new names

    def is_read(one: ChangedColumn) -> bool:
        return read is None or one.name.lower() in read

    candidates = filter(is_read, changed_columns([one.fields for one in steps]))  # of others no statistics are read
    kept = KeptValues(source, snapshot, past)
    changed = (one for one in candidates if not kept.of(one))
    former = (replaced_columns(source.schemas.load(one).fields, now.fields, known) for one in position.former)
    found = itertools.chain(changed, filter(is_read, itertools.chain.from_iterable(former)))
    return next((one.why for one in found), "")


def position_after(source: Table, before: Position, after: Position) -> Position:
    """A position that follows another one: it says which of the schemas read before have columns that it lacks, because
    rows of earlier runs may keep their values. Raises SnapshotNotFound."""
    if before.snapshot == 0 or after.schema is None:
        return after
    ids = field_ids(source.schemas.load(after.schema).fields)
    read = {schema_read(source, before).id, *before.former}
    former = (one for one in sorted(read) if not field_ids(source.schemas.load(one).fields) <= ids)
    return replace(after, former=tuple(former))


def schema_read(source: Table, position: Position) -> TableSchema:
    """The schema with which a source was read up to a position. Raises SnapshotNotFound."""
    if position.schema is not None:
        return source.schemas.load(position.schema)
    return source.schema_of(source.snapshot(position.snapshot))


def _found(catalog: Catalog, name: str) -> Table | None:
    """The table of a source's name; None for a topic, and for a table that was dropped, maybe with its schema."""
    if name.startswith(KAFKA):
        return None
    try:
        return source_of(catalog, name)
    except NotFoundError:
        return None


def _plain(part: str) -> str:
    for one, escaped in reversed(_ESCAPED.items()):
        part = part.replace(escaped, one)
    return part
