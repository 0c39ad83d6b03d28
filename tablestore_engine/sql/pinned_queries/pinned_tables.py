"""The tables that one statement reads: each is looked up once, and read at the snapshot that it had then."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping

from tablestore_engine.catalog import Catalog
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.sql.pinned_queries.table_frames import read_state
from tablestore_engine.table import Table

Identifier = tuple[str, str]


class PinnedTables:
    """Tables by their names, with their snapshots."""

    def __init__(self, catalog: Catalog, reads: Mapping[Identifier, Snapshot | None]) -> None:
        """`reads`: snapshots that are known already, see WriteIntent."""
        self._catalog = catalog
        self._reads = reads
        self._pinned: dict[Identifier, tuple[Table, Snapshot | None]] = {}
        self._known: dict[Identifier, Table] = {}  # by database, and name in lower case

    def __contains__(self, identifier: Identifier) -> bool:
        return identifier in self._pinned

    def __iter__(self) -> Iterator[tuple[Table, Snapshot | None]]:
        return iter(self._pinned.values())

    def pin(self, table: Table) -> Snapshot | None:
        """The snapshot at which the statement reads a table."""
        key = table.identifier
        if key not in self._pinned:
            self._pinned[key] = (table, self._reads[key] if key in self._reads else table.latest_snapshot())
            self._known[key[0], key[1].lower()] = table
        return self._pinned[key][1]

    def load(self, database: str, name: str) -> Table:
        """A table, pinned. Raises TableNotFound."""
        table = self._known.get((database, name.lower()))
        if table is None:
            table = self._catalog.load_table(database, name)
            self.pin(table)
        return table

    def state_of(self, database: str, name: str) -> Hashable:
        """The state on which the rows of a table depend in this statement, for comparison."""
        table = self.load(database, name)
        return read_state(table, self.pin(table))
