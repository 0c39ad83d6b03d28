"""Which changes of other tables the rows of a table were computed from: properties of its latest snapshot.

A write that uses the changes of a source says up to which snapshot of the source it did so. That becomes visible with
its rows, by the same commit, so each change is used once, whatever fails and however often the write is sent. Commits
that use no changes carry the properties on: compactions, and changes of rows by hand. So do the batches of streams.

Several writes to one table can count together (`operation.table_commands.write_group`). Until the last of them, each
snapshot of the table has the *unfinished mark* of their group.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tablestore_engine.errors import ConsumedElsewhereError
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.storage.metadata_files.schema_store import SchemaStore

PREFIX = "tablestore.consumed."
STREAM_PREFIX = "tablestore.stream."
"""Of the streaming queries that write to the table: how many batches of each are in it, however old its commit is."""

UNFINISHED = "tablestore.unfinished"
"""Of a table that a group of writes fills, of which the last one is not committed: the name of the group."""

KAFKA = "kafka:"
"""Begins the name of a source that is no table but a topic."""

COMPARED = "#"
"""In the name of a source, behind that of its table: the rows of the next write follow from those that are there now,
and from the changes of the source. So only commits that change no row carry such a position on."""


@dataclass(frozen=True)
class Position:
    """A snapshot of a source, and what distinguishes it from one of the same number in a table of the same name.

    `schema`: the id of the schema with whose columns its rows were read; None where that is the snapshot's own.
    `former`: the ids of those with which rows of earlier runs were read, where they have columns that it lacks.
    """

    snapshot: int
    mark: str = ""
    schema: int | None = field(default=None, compare=False)
    former: tuple[int, ...] = field(default=(), compare=False)

    @classmethod
    def of(cls, snapshot: Snapshot | None, schema: int | None = None) -> Position:
        """The position of a snapshot; that of the empty table for None."""
        return cls(0) if snapshot is None else cls(snapshot.id, snapshot.mark, schema)

    @classmethod
    def parse(cls, text: str) -> Position | None:
        """The position that a property holds; None for one that this engine did not write."""
        numbers, _, mark = text.partition("/")
        number, _, schemas = numbers.partition("@")
        ids = [int(one) for one in schemas.split(",") if one.isdigit()]
        return cls(int(number), mark, ids[0] if ids else None, tuple(ids[1:])) if number.isdigit() else None

    def __str__(self) -> str:
        schemas = () if self.schema is None else (self.schema, *self.former)
        return f"{self.snapshot}{'@' if schemas else ''}{','.join(map(str, schemas))}/{self.mark}"


NO_MARK = Position(0)


@dataclass(frozen=True)
class Consumed:
    """The changes of a source that a write uses: those after `before`, up to `after`.

    `source`: `schema.table`, or `kafka:topic@cluster`.
    `before` None: the write does not go on from an earlier one, it replaces what that had used; with `first`, no write
    may have used any.
    `streams`: the source is a streaming query, of which a position is the number of its batches.
    `marks`: it is no source, but the unfinished mark of the table of this name; a write to any other table ignores it.
    """

    source: str
    before: Position | None
    after: Position
    streams: bool = False
    first: bool = False
    marks: bool = False

    @property
    def key(self) -> str:
        """The property that holds the position."""
        if self.marks:
            return UNFINISHED
        return (STREAM_PREFIX if self.streams else PREFIX) + folded(self.source)


def with_news(consumed: Iterable[Consumed]) -> tuple[Consumed, ...]:
    """All of them, if a source has changes after `before`; else none.

    The rows follow from all sources: another write that used changes of one without news has used them before.
    """
    found = tuple(consumed)
    return found if any(one.before != one.after for one in found) else ()


def folded(source: str) -> str:
    """The name of a source in properties: the case counts for topics, and not for tables."""
    return source if source.startswith(KAFKA) else source.lower()


def positions_of(snapshot: Snapshot | None) -> dict[str, Position]:
    """The position up to which each source's changes were used, by the source's name."""
    found: dict[str, Position] = {}
    for key, text in carried(snapshot).items():
        position = Position.parse(text) if key.startswith(PREFIX) else None
        if position is not None:
            found[key.removeprefix(PREFIX)] = position
    return found


def mark_of(snapshot: Snapshot | None) -> Position:
    """The unfinished mark of a table; NO_MARK when its groups of writes are finished."""
    return Position.parse(carried(snapshot).get(UNFINISHED, "")) or NO_MARK


def concerning(table: str, consumed: Iterable[Consumed]) -> tuple[Consumed, ...]:
    """Those that a write to a table is about: not the marks of other tables."""
    return tuple(one for one in consumed if not one.marks or one.source.lower() == table.lower())


def batches_of(snapshot: Snapshot | None, query: str) -> int:
    """How many batches of a streaming query are in a table."""
    position = Position.parse(carried(snapshot).get(STREAM_PREFIX + query.lower(), ""))
    return position.snapshot if position else 0


def check_consumed(
    table: str, latest: Snapshot | None, consumed: Sequence[Consumed], *, adds_rows: bool = False
) -> None:
    """Raise a ConsumedElsewhereError when another write used changes since this one read its sources.

    adds_rows: the write keeps all rows of the table. Then one that does not go on from an earlier write (`before` None)
        must be the first that uses the source: its rows would come a second time.
    """
    now = positions_of(latest)
    for one in consumed:
        if one.streams:
            _check_batches(table, batches_of(latest, one.source), one)
            continue
        if one.marks:
            _check_mark(table, mark_of(latest), one)
            continue
        found = now.get(folded(one.source))
        if (one.before is not None or one.first or adds_rows) and found != one.before:
            at = "none of them" if found is None else f"those up to its snapshot {found.snapshot}"
            after = f"snapshot {one.before.snapshot}" if one.before else "none"
            raise ConsumedElsewhereError(
                f"Table {table} was to take the changes of {one.source} after {after}, but meanwhile another write left"
                f" it with {at}. Nothing was written.",
                hint="Run it again.",
            )


def _check_batches(table: str, written: int, one: Consumed) -> None:
    if one.before is not None and written != one.before.snapshot:
        raise ConsumedElsewhereError(
            f"Table {table} has {written} batches of the streaming query {one.source}: another process writes them,"
            " too. Nothing was written.",
            hint="Stop one of them: only one may run from a checkpoint location.",
        )


def _check_mark(table: str, found: Position, one: Consumed) -> None:
    if one.before is not None and found != one.before:
        raise ConsumedElsewhereError(
            f"Table {table} was to be built by several writes, but meanwhile another run of its model began to write it"
            " or undid them.",
            hint="Run it again: the rows that the unfinished run wrote are removed first.",
        )


def keeps_rows(schemas: SchemaStore, latest: Snapshot | None, schema: TableSchema) -> bool:
    """Whether a table still has its rows under the next schema; one that was replaced has columns with other ids."""
    if latest is None or schema.id <= latest.schema_id or not carried(latest):
        return latest is not None
    past = {one.id for one in schemas.load(latest.schema_id).fields}
    return any(one.id in past for one in schema.fields)


def with_consumed(
    given: Mapping[str, str] | None,
    before: Snapshot | None,
    consumed: Sequence[Consumed],
    *,
    new_table: bool = False,
    same_rows: bool = False,
) -> dict[str, str] | None:
    """The properties of the next snapshot. `before` is the one whose rows, or columns, it keeps; None for a table that
    is new. `new_table`: another one that has its columns, and no rows that come from its sources; unless it is made by
    a group of writes, which says so at its end. `same_rows`: no row changes."""
    added = {one.key: str(one.after) for one in consumed}
    forgets = new_table and not any(one.marks and one.after != NO_MARK for one in consumed)
    kept = {
        key: text
        for key, text in carried(before).items()
        if not key.startswith(PREFIX) or not (forgets or (COMPARED in key and not same_rows))
    }
    found = {**kept, **(given or {}), **added}
    if found.get(UNFINISHED) == str(NO_MARK):
        del found[UNFINISHED]
    return found or (None if given is None else {})


def carried(snapshot: Snapshot | None) -> dict[str, str]:
    """The properties by which a snapshot says what was consumed."""
    properties = (snapshot.properties if snapshot else None) or {}
    return {key: text for key, text in properties.items() if key.startswith((PREFIX, STREAM_PREFIX, UNFINISHED))}
