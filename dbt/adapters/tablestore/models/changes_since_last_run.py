"""Models that are computed from the changes of other tables: `{{ changes(ref('orders')) }}`.

While a model is compiled, each source is pinned to its snapshot of one time. The table of the model says, with its
latest snapshot, up to which snapshot of each source its rows were computed; the range between both is what is read. The
statement that writes the rows of the model records the new positions in the snapshot that it commits.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dbt.adapters.base import BaseRelation
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.connection.environment import builds_models
from dbt.adapters.tablestore.relation.lag import (
    Lag,
    lags_of,
    position_after,
    schema_read,
    shown,
    source_name,
    source_of,
    why_lost,
)
from dbt.adapters.tablestore.relation.relation import schema_of
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.commit.consumed_positions import COMPARED, KAFKA, Consumed, Position, positions_of
from tablestore_engine.schema.casts.changed_columns import Path, renamed_columns
from tablestore_engine.schema.types.sql_literals import quoted_text
from tablestore_engine.sql.query.bind import references
from tablestore_engine.storage.metadata_files.consumer_store import set_consumer

if TYPE_CHECKING:
    from dbt.adapters.tablestore.models.snapshot_source import SnapshotSource
    from tablestore_engine.catalog import Catalog
    from tablestore_engine.schema.table.table_schema import TableSchema
    from tablestore_engine.table import Table

ERROR, FULL_REFRESH = "error", "full_refresh"
STORED = ("incremental", "table")
"""The materializations whose rows can say what they were computed from."""
_LONGEST = 200
_CALL = re.compile(r"(\btable_changes\s*\([^()]*,)\s*(\d+)\s*,\s*(\d+)\s*\)", re.IGNORECASE)
_NONE_TAKEN = re.compile(
    r"\(\s*select\s+\*\s+from\s+(\(\s*select\s+\*\s+from\s+table_changes\s*\([^()]*\)\s*\))\s+where\s+false\s*\)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class _Pinned:
    """A source at one snapshot, which is read with the columns that the table has now, as changes are."""

    table: Table
    snapshot: Snapshot | None

    @property
    def position(self) -> Position:
        return Position.of(self.snapshot, self._schema.id)

    def position_after(self, before: Position | None) -> Position:
        """The position of a run that goes on from another one."""
        return self.position if before is None else position_after(self.table, before, self.position)

    def rows(self, source: BaseRelation) -> str:
        """All rows, as a part of a query."""
        if self.snapshot is None:
            return f"{source.render()} where false"
        if self._schema.fields == self.table.schema_of(self.snapshot).fields:
            return f"{source.render()} version as of {self.snapshot.id}"
        table = quoted_text(source.render())
        return f"(select * except (_row_kind) from table_changes({table}, 0, {self.snapshot.id}))"

    @property
    def _schema(self) -> TableSchema:
        """Whose columns are read: its own where another table has replaced it since."""
        return self.table.present_schema_of(self.snapshot)


@dataclass
class _Run:
    """One model in one dbt command: the snapshot of each source that it reads, and the changes that it uses.

    `reads`: the snapshots of tables that it reads without a macro, by database and name.
    `millis`: when it began. All sources are read as of this time, so that rows which were committed in order are seen
    in order: whatever comes later is read by the next run.
    `compared`: those of which no snapshot is kept for the next run, as by a dbt snapshot.
    """

    sources: dict[str, _Pinned] = field(default_factory=dict)
    consumed: dict[str, Consumed] = field(default_factory=dict)
    compared: tuple[Consumed, ...] = ()
    reads: dict[tuple[str, str], Snapshot | None] = field(default_factory=dict)
    millis: int = field(default_factory=lambda: time.time_ns() // 1_000_000)
    undone: str | None = None
    lost: str | None = None


class ModelChanges:
    """The changes of other tables that the models of one dbt command read."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._runs: dict[str, _Run] = {}

    def changes_sql(self, model: str, source: BaseRelation, before: Position | None) -> str:
        """The changes of a source after a position, or all of its rows as inserted ones, up to the pinned snapshot.

        A run of `--empty` takes none of them: a new table begins with all, and another one stays where it is. That of
        `--sample` takes all: what it left out would never come.
        """
        pinned = self._pinned(model, source, before.snapshot if before else 0)
        after = (before or Position(0)) if _takes_none(source) else pinned.position_after(before)
        name = _name(source)
        self._runs[model].consumed[name] = Consumed(name, before, after)
        if before is not None:
            table = quoted_text(source.render())
            rows = f"(select * from table_changes({table}, {before.snapshot}, {after.snapshot}))"
        else:
            rows = f"(select '+I' as _row_kind, * from {pinned.rows(source)})"
        return _taken(source, rows)

    def begin(self, model: str, sources: Sequence[BaseRelation]) -> None:
        """A model is built anew by a text that reads changes of these sources, some of them in later runs only.

        Of the latter this run reads, where it does, all rows of the pinned snapshot, from which the next one goes on.
        What a run of `--empty` or `--sample` reads is not all: it says nothing of them.
        """
        run = self._runs.setdefault(model, _Run())
        for source in sources:
            table = None if source.limit == 0 or source.event_time_filter else self._table_if_any(source)
            if table is not None and _name(source) not in run.consumed:
                pinned = self._pinned(model, source)
                run.consumed[_name(source)] = Consumed(_name(source), None, pinned.position)
                run.reads[table.identifier] = pinned.snapshot

    def sources_of(self, model: str) -> list[str]:
        """The names of the sources of which a model's compiled text reads changes."""
        return list(self._runs.get(model, _Run()).consumed)

    def reads_of(self, model: str) -> Mapping[tuple[str, str], Snapshot | None]:
        """The snapshots at which the statement that writes a model's rows reads tables."""
        return self._runs.get(model, _Run()).reads

    def unknown(self, this: BaseRelation, sources: Sequence[BaseRelation]) -> str:
        """That a table does not say up to where it was computed from one of these sources; empty when it does."""
        known = self.positions(this)
        new = (one for one in sources if self._table_if_any(one) is not None and _name(one) not in known)
        return next((_unknown(this, one) for one in new), "")

    def has_no_rows(self, this: BaseRelation) -> bool:
        """Whether nothing is lost when a table is built anew."""
        latest = self._table(this).latest_snapshot()
        return latest is None or latest.total_record_count == 0

    def pinned_sql(self, model: str, source: BaseRelation) -> str:
        """The rows of a source at the snapshot up to which the model reads its changes."""
        return _taken(source, f"(select * from {self._pinned(model, source).rows(source)})")

    def compared_sql(self, model: str, source: SnapshotSource, target: BaseRelation | None) -> str:
        """The query of a dbt snapshot, of the rows that may differ from those of its table, if there is one."""
        after, before, position = Position.of(source.table.latest_snapshot()), None, None
        if target is not None:
            table = self._table(target)
            before = positions_of(table.latest_snapshot()).get(source.name)
            position = source.compared_by(self._catalog, table)
        run = self._runs.setdefault(model, _Run())
        run.compared = (Consumed(source.name, before, after),)
        return source.query if position is None else source.changed_rows(position, after)

    def cloned_sql(self, model: str, source: BaseRelation) -> str:
        """All rows of another table of the model; the clone goes on from where that one is."""
        snapshot = self._table(source).latest_snapshot()
        run = self._runs[model] = _Run()
        for name, position in positions_of(snapshot).items():
            one = Consumed(name, None, position)
            if name.startswith(KAFKA) or COMPARED in name:
                run.compared += (one,)
            else:
                run.consumed[name] = one
        return _Pinned(self._table(source), snapshot).rows(source)

    def _pinned(self, model: str, source: BaseRelation, least: int = 0) -> _Pinned:
        run = self._runs.setdefault(model, _Run())
        name = _name(source)
        if name not in run.sources:
            table = self._read(source)
            run.sources[name] = _Pinned(table, _at(table, run.millis, least))
        return run.sources[name]

    def position(self, model: str, this: BaseRelation, source: BaseRelation) -> Position:
        """Up to where the rows of a model were computed from a source.

        Raises DbtRuntimeError when the model has rows that come from elsewhere.
        """
        self.undo_unfinished(model, this)
        found = positions_of(self._table(this).latest_snapshot()).get(_name(source))
        if found is None:
            raise DbtRuntimeError(
                f"{_unknown(this, source)} Run the model once with --full-refresh; later runs then read only changes."
                " Where `changes()` is called in `is_incremental()` only, it must name its source there:"
                " `changes(ref('…'))` or `changes(source('…', '…'))`."
            )
        return found

    def lost(self, model: str, this: BaseRelation, read: Collection[str] | None = None) -> str:
        """Why the changes of a source that a model reads cannot be continued; empty when they can.

        Decided once, so that the model's query and the way in which it is built agree. `read` are the columns of the
        sources that count; None for all.
        """
        run = self._runs.setdefault(model, _Run())
        if run.lost is None:
            run.lost = self.undo_unfinished(model, this) or self._lost(this, lambda _: read)
        return run.lost

    def lost_columns(self, model: str, this: BaseRelation, query: str | None) -> str:
        """Why a query cannot go on with the columns that it reads of its sources; empty when it can. None for what is
        no query."""
        if not self._went_on_from(model):
            return ""
        columns = None if query is None else self._columns_read(query, schema_of(this))
        return self._lost(this, lambda name: None if columns is None else columns.get(name, frozenset()))

    def _columns_read(self, query: str, schema: str) -> dict[str, frozenset[str] | None] | None:
        """The names of columns, in lower case, that a query may read of tables, by the name of the source; None where
        a view, or something else, may read others."""
        found: dict[str, frozenset[str] | None] = {}
        for one in references(query):
            database = one.database or schema
            if self._catalog.object_kind(database, one.name) != "table":
                return None
            found[source_name(database, one.name)] = one.columns  # those of the whole query
        return found

    def undo_unfinished(self, model: str, this: BaseRelation) -> str:
        """Take back what an earlier run wrote without its position, before it ended. Returns why that cannot be done,
        or nothing."""
        from tablestore_engine.operation.table_commands.write_group import undo_unfinished

        run = self._runs.setdefault(model, _Run())
        if run.undone is None:
            reason = undo_unfinished(self._table(this).state) if builds_models() else ""
            run.undone = f"The rows of {this.render()} are unfinished: {reason}." if reason else ""
        return run.undone

    def _lost(self, this: BaseRelation, read: Callable[[str], Collection[str] | None]) -> str:
        for name, position in positions_of(self._table(this).latest_snapshot()).items():
            reason = why_lost(self._catalog, name, position, read(name))
            if reason:
                return f"{this.render()} cannot go on with the changes of {shown(name)}: {reason}."
        return ""

    def positions(self, this: BaseRelation) -> dict[str, Position]:
        """The positions up to which the rows of a model were computed from all its sources."""
        return positions_of(self._table(this).latest_snapshot())

    def consumed_by(self, model: str) -> tuple[Consumed, ...]:
        """The changes used by the statement that writes a model's rows."""
        run = self._runs.get(model, _Run())
        return (*run.consumed.values(), *run.compared)

    def goes_on(self, model: str) -> bool:
        """Whether a model reads what changed in a table since rows of it were read."""
        return bool(self._went_on_from(model))

    def renamed_columns(self, model: str) -> list[tuple[str, Path, Path]]:
        """The columns of a model's sources that had another name when rows of earlier runs were read: source, path
        before and path now."""
        found = []
        for name, position in self._went_on_from(model).items():
            table = self._runs[model].sources[name].table
            past = schema_read(table, position)
            found += [(shown(name), *paths) for paths in renamed_columns(past.fields, table.schema.fields)]
        return found

    def earlier_rows(self, model: str, query: str) -> str | None:
        """A model's query of all rows of before, instead of what changed since; None where that is not known.

        Also in a run of `--empty`: the columns that it adds are those of the next run.
        """
        query = _NONE_TAKEN.sub(r"\1", query)
        ends = {
            (one.snapshot, self._runs[model].consumed[name].after.snapshot): one.snapshot
            for name, one in self._went_on_from(model).items()
        }

        def earlier(call: re.Match[str]) -> str:
            before = ends.get((int(call[2]), int(call[3])))
            return call[0] if before is None else f"{call[1]} 0, {before})"

        found = _CALL.sub(earlier, query)
        return None if found == query else found

    def _went_on_from(self, model: str) -> dict[str, Position]:
        """The positions from which a model reads changes of tables, by the name of the source."""
        consumed = self._runs.get(model, _Run()).consumed
        return {name: one.before for name, one in consumed.items() if one.before is not None and one.before.snapshot}

    def keep(self, model: str, this: BaseRelation) -> None:
        """After a model's rows were written: keep the snapshots from which its next run goes on.

        The consumer has the name of the model's table: each target of a project has one of its own.
        """
        run = self._runs.pop(model, _Run())
        for name, one in run.consumed.items():
            if one.after.snapshot:
                source = source_of(self._catalog, name)
                set_consumer(source.io, source.paths, consumer_of(this), one.after.snapshot)

    def lags(self, this: BaseRelation) -> list[Lag]:
        """How far a model is behind each of its sources."""
        return lags_of(self._catalog, self._table(this))

    def _table(self, relation: BaseRelation) -> Table:
        return self._catalog.load_table(schema_of(relation), str(relation.identifier))

    def _table_if_any(self, relation: BaseRelation) -> Table | None:
        """The table of a source; None before it is made. Raises DbtRuntimeError for a view."""
        if relation.is_cte or self._catalog.object_kind(schema_of(relation), str(relation.identifier)) is None:
            return None
        return self._read(relation)

    def _read(self, source: BaseRelation) -> Table:
        """The table of a source. Raises DbtRuntimeError for a view."""
        named = schema_of(source), str(source.identifier)
        if self._catalog.object_kind(*named) == "view":
            tables = references(self._catalog.load_view(*named).sql)
            read = ", ".join(dict.fromkeys(f"{one.database or named[0]}.{one.name}" for one in tables))
            raise DbtRuntimeError(
                f"{source.render()} is a view, which has no changes and no snapshots of its own. Use `changes(…)` of"
                f" the tables that it reads ({read or 'it reads none'}), or make it a table."
            )
        return self._table(source)


def _unknown(this: BaseRelation, source: BaseRelation) -> str:
    return f"{this.render()} has rows, but does not say up to which snapshot of {source.render()} they were computed."


def _takes_none(source: BaseRelation) -> bool:
    """Whether a run takes no rows of a source (`--empty`)."""
    return source.limit == 0


def _taken(source: BaseRelation, rows: str) -> str:
    """The rows of a source that a run takes."""
    return f"(select * from {rows} where false)" if _takes_none(source) else rows


def _at(table: Table, millis: int, least: int) -> Snapshot | None:
    """The snapshot of a table at a time, if it is there and at least of this number; else the latest one."""
    latest, snapshots = table.latest_snapshot(), table.state.snapshots
    if latest is None or latest.time_millis <= millis:
        return latest
    found = snapshots.at_or_before(millis)
    known = found is not None or snapshots.earliest_id() == 1
    return found if known and (found.id if found else 0) >= least else latest


def consumer_of(this: BaseRelation) -> str:
    """The name by which a model's table is a consumer of others, of at most 200 bytes."""
    name = f"dbt-{_name(this)}"
    if len(name.encode()) <= _LONGEST:
        return name
    return f"dbt-{hashlib.sha256(name.encode()).hexdigest()}"


def on_expired_of(config: Mapping[str, object]) -> str:
    """The config `on_expired`: what happens when the changes of a source cannot be continued. Raises
    DbtRuntimeError."""
    value = str(config.get("on_expired") or ERROR)
    if value not in (ERROR, FULL_REFRESH):
        raise DbtRuntimeError(f"Config `on_expired: {value}` is unknown. It is `{ERROR}` or `{FULL_REFRESH}`.")
    return value


def _name(relation: BaseRelation) -> str:
    return source_name(schema_of(relation), str(relation.identifier))
