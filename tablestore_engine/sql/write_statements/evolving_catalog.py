"""The catalog as one statement sees it that changes the schema of a table together with its rows.

The new schema counts once the snapshot of the statement is committed. Until then only this statement sees it: in its
target, and wherever its query names the table.
"""

from __future__ import annotations

from collections.abc import Callable

from tablestore_engine.catalog import Catalog
from tablestore_engine.operation.table_commands.alter_table import evolving
from tablestore_engine.operation.write_job.write_intent import Evolution
from tablestore_engine.table import Table


class EvolvingCatalog(Catalog):
    """A catalog in which one table has its next schema."""

    def __init__(self, catalog: Catalog, evolution: Evolution, now_millis: Callable[[], int]) -> None:
        self.__dict__.update(catalog.__dict__)
        self._evolution = evolution
        self._now = now_millis

    def load_table(self, database: str, name: str) -> Table:
        """A table with its current schema, or the next one. Raises, besides, what `evolving` raises."""
        found = super().load_table(database, name)
        if not is_of(self._evolution, *found.identifier):
            return found
        return Table(evolving(found.state, self._evolution.changes, self._now()))


def is_of(evolution: Evolution, database: str, name: str) -> bool:
    """Whether an evolution is that of a table."""
    return [one.lower() for one in evolution.table] == [database.lower(), name.lower()]
