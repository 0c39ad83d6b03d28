"""The intent of a write, given by its caller besides the rows: one value, from the SQL or API call to the write job."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.commit.commit_identity import CommitIdentity
from tablestore_engine.operation.commit.consumed_positions import Consumed
from tablestore_engine.schema.table.schema_changes import SchemaChange
from tablestore_engine.schema.table.table_schema import TableSchema


@dataclass(frozen=True)
class Evolution:
    """Changes of the schema of a table, database and name, that its next write commits with the rows."""

    table: tuple[str, str]
    changes: tuple[SchemaChange, ...]


@dataclass(frozen=True)
class WriteIntent:
    """How rows are written, and what the snapshot says of it.

    Attributes:
        refuse_duplicates: a key that occurs twice in the rows is an error instead of an update.
        row_kinds: whether the rows of a new table must say their kind (`_row_kind`), or must not; None for either.
        properties: stored with the snapshot.
        identity: the committing user and identifier; None for an identity that no other commit has.
        consumed: the changes of other tables that the rows were computed from, and the mark of a build.
        reads: the snapshots at which the query reads tables, by database and name; None: as empty ones. It reads the
            latest ones of others, and those of VERSION AS OF.
        retractions_checked: the rows that topics take away from a table without a key are known to be there.
        describe: the comments of a new table, as changes of the schema that follows from its query.
        evolution: what becomes of the schema of an existing table by the write. A query sees it, too.
    """

    refuse_duplicates: bool = False
    row_kinds: bool | None = None
    properties: Mapping[str, str] | None = None
    identity: CommitIdentity | None = None
    consumed: tuple[Consumed, ...] = ()
    reads: Mapping[tuple[str, str], Snapshot | None] = field(default_factory=dict)
    retractions_checked: bool = False
    describe: Callable[[TableSchema], Sequence[SchemaChange]] | None = None
    evolution: Evolution | None = None

    @property
    def commits_nothing(self) -> bool:
        """Whether a write without any rows needs no commit. A write of a chosen identity is known by its commit; that
        of a stream by what it consumed; a schema that changes needs one, too."""
        known_again = self.identity is not None and self.identity.check_duplicate and not self.consumed
        needed = known_again or self.properties is not None or self.evolution is not None
        return not needed and all(one.streams or one.marks for one in self.consumed)

    @property
    def buffers(self) -> bool:
        """Whether Spark's tasks collect rows in the write buffer, as those of a stream do, instead of Spark's sort."""
        return any(one.streams for one in self.consumed)

    def of_statement(self, number: int) -> WriteIntent:
        """The intent of one of several statements, from 0: each commits under an identity of its own."""
        if self.identity is None or not number:
            return self
        return replace(self, identity=replace(self.identity, user=f"{self.identity.user}-{number}"))


PLAIN = WriteIntent()
