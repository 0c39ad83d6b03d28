"""Models that are computed from the changes of other tables: `{{ changes(ref('orders')) }}`.

While a model is compiled, each source is pinned to one snapshot. The model's table says, with its own latest snapshot,
up to which snapshot of each source its rows were computed; the range between both is what the model reads. The
statement that writes the model's rows records the new positions in the snapshot that it commits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dbt.adapters.base import BaseRelation
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.relation.relation import schema_of
from tablestore_engine.errors import SnapshotNotFound, TableNotFound
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.commit.consumed import Consumed, Position, positions_of
from tablestore_engine.schema.types.sql_literals import quoted_text
from tablestore_engine.storage.stores.consumers import set_consumer

if TYPE_CHECKING:
    from tablestore_engine.catalog import Catalog
    from tablestore_engine.table import Table

ERROR, FULL_REFRESH = "error", "full_refresh"
STORED = ("incremental", "table")
"""The materializations whose rows can say what they were computed from."""
CHANGES = re.compile(r"\bchanges\s*\(")


@dataclass
class _Run:
    """One model in one dbt command: the snapshot of each source that it reads, and the changes that it uses."""

    snapshots: dict[str, Snapshot | None] = field(default_factory=dict)
    consumed: dict[str, Consumed] = field(default_factory=dict)
    lost: str | None = None


@dataclass(frozen=True)
class Lag:
    """How far a model is behind a source: commits, and milliseconds between the snapshots; None when it is not known
    because snapshots have expired or the source was rebuilt."""

    source: str
    consumed: int
    latest: int
    millis: int | None

    def __str__(self) -> str:
        if self.millis is None:
            return f"{self.source}: cannot go on after snapshot {self.consumed}; run the model with --full-refresh"
        if self.consumed == self.latest:
            return f"{self.source}: up to date (snapshot {self.latest})"
        commits = self.latest - self.consumed
        return (
            f"{self.source}: {commits:,} commit{'' if commits == 1 else 's'} behind, {self.millis / 1000:,.1f} s"
            f" (snapshot {self.consumed} of {self.latest})"
        )


class ModelChanges:
    """What the models of one dbt command read of other tables."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._runs: dict[str, _Run] = {}

    def changes_sql(self, model: str, source: BaseRelation, before: Position | None) -> str:
        """The changes of a source after a position, or all of its rows as inserted ones, up to the pinned snapshot."""
        snapshot = self._pinned(model, source)
        after = Position.of(snapshot)
        name = _name(source)
        self._runs[model].consumed[name] = Consumed(name, before, after)
        if before is not None:
            table = quoted_text(source.render())
            return f"(select * from table_changes({table}, {before.snapshot}, {after.snapshot}))"
        return f"(select '+I' as _row_kind, * from {self._version(source, snapshot)})"

    def pinned_sql(self, model: str, source: BaseRelation) -> str:
        """The rows of a source at the snapshot up to which the model reads its changes."""
        return f"(select * from {self._version(source, self._pinned(model, source))})"

    def _version(self, source: BaseRelation, snapshot: Snapshot | None) -> str:
        return f"{source.render()} " + ("where false" if snapshot is None else f"version as of {snapshot.id}")

    def _pinned(self, model: str, source: BaseRelation) -> Snapshot | None:
        run = self._runs.setdefault(model, _Run())
        name = _name(source)
        if name not in run.snapshots:
            run.snapshots[name] = self._table(source).latest_snapshot()
        return run.snapshots[name]

    def position(self, this: BaseRelation, source: BaseRelation) -> Position:
        """Up to where the rows of a model were computed from a source.

        Raises DbtRuntimeError when the model has rows that come from elsewhere.
        """
        found = positions_of(self._table(this).latest_snapshot()).get(_name(source))
        if found is None:
            raise DbtRuntimeError(
                f"{this.render()} has rows, but does not say up to which snapshot of {source.render()} they were"
                " computed. Run the model once with --full-refresh; later runs then read only changes."
            )
        return found

    def lost(self, model: str, this: BaseRelation) -> str:
        """Why the changes of a source that a model reads cannot be continued; empty when they can.

        Decided once, so that the model's query and the way in which it is built agree.
        """
        run = self._runs.setdefault(model, _Run())
        if run.lost is None:
            run.lost = self._lost(this)
        return run.lost

    def _lost(self, this: BaseRelation) -> str:
        for name, position in positions_of(self._table(this).latest_snapshot()).items():
            reason = self._why_lost(name, position)
            if reason:
                return f"{this.render()} cannot go on with the changes of {name}: {reason}."
        return ""

    def _why_lost(self, name: str, position: Position) -> str:
        try:
            source = self._source(name)
        except TableNotFound:
            return ""  # the model may no longer read it; its query says so if it does
        if position.snapshot == 0:
            return ""
        try:
            snapshot = source.snapshot(position.snapshot)
        except SnapshotNotFound:
            latest = source.latest_snapshot()
            rebuilt = latest is None or latest.id < position.snapshot
            return "it was built anew" if rebuilt else f"its snapshot {position.snapshot} has expired"
        latest = source.latest_snapshot()
        same_rows = latest is None or source.schemas.descends(latest.schema_id, snapshot.schema_id)
        return "" if Position.of(snapshot) == position and same_rows else "it was built anew"

    def consumed_by(self, model: str) -> tuple[Consumed, ...]:
        """What the statement that writes the rows of a model uses, unless its sources have nothing new."""
        run = self._runs.get(model)
        return tuple(c for c in run.consumed.values() if c.before != c.after) if run else ()

    def keep(self, model: str) -> None:
        """After a model's rows were written: keep the snapshots from which its next run goes on."""
        run = self._runs.pop(model, _Run())
        for name, one in run.consumed.items():
            if one.after.snapshot:
                source = self._source(name)
                set_consumer(source.io, source.paths, f"dbt-{model}"[-200:], one.after.snapshot)

    def lags(self, this: BaseRelation) -> list[Lag]:
        """How far a model is behind each of its sources."""
        found = []
        for name, position in sorted(positions_of(self._table(this).latest_snapshot()).items()):
            try:
                source = self._source(name)
            except TableNotFound:
                continue
            latest = source.latest_snapshot()
            millis = None
            if latest is not None and not self._why_lost(name, position):
                at = source.snapshot(position.snapshot).time_millis if position.snapshot else latest.time_millis
                millis = max(latest.time_millis - at, 0)
            found.append(Lag(name, position.snapshot, latest.id if latest else 0, millis))
        return found

    def _source(self, name: str) -> Table:
        """The table of a source's name, see `_name`."""
        database, _, table = name.partition(".")
        return self._catalog.load_table(database, table)

    def _table(self, relation: BaseRelation) -> Table:
        return self._catalog.load_table(schema_of(relation), str(relation.identifier))


def on_expired_of(config: Mapping[str, object]) -> str:
    """The config `on_expired`: what happens when the changes of a source cannot be continued. Raises
    DbtRuntimeError."""
    value = str(config.get("on_expired") or ERROR)
    if value not in (ERROR, FULL_REFRESH):
        raise DbtRuntimeError(f"Config `on_expired: {value}` is unknown. It is `{ERROR}` or `{FULL_REFRESH}`.")
    return value


def _name(relation: BaseRelation) -> str:
    return f"{schema_of(relation)}.{relation.identifier}".lower()
