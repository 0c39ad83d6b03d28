"""The rows that a dbt snapshot compares: of a table with a key, those that changed since its last run.

A run compares each row of its source with the current row of the snapshot. For a row that did not change the answer is
that of the last run, which the snapshot already has. So such rows are left out, where all of this is certain:

- the query is a plain selection of one table, and `unique_key` has the whole key of it: no other row matters;
- rows that were removed do not count (`hard_deletes: ignore`);
- the last run had the same query, config and columns, and nothing else wrote to the snapshot since;
- the source still has the snapshot that the last run began from, and was not built anew.

Otherwise all rows are compared. How far a run was is a position in the snapshot that it commits
(`operation.commit.consumed_positions`, which says when later ones still have it), read before its rows: rows that come
in between are compared twice, which changes nothing.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dbt.adapters.tablestore.relation.lag import source_name, why_lost
from tablestore_engine.errors import NotFoundError
from tablestore_engine.operation.commit.consumed_positions import Position, positions_of
from tablestore_engine.schema.table.computed_columns import computed_columns
from tablestore_engine.schema.table.row_kind import ROW_KIND
from tablestore_engine.schema.types.sql_literals import quoted_name, quoted_text
from tablestore_engine.sql.query.updatable_views import PlainSelection, plain_selection

if TYPE_CHECKING:
    from tablestore_engine.catalog import Catalog
    from tablestore_engine.table import Table

_SELECTION = re.compile(r"\s*select\b", re.IGNORECASE)
_STRATEGIES = ("timestamp", "check")
_DECIDING = (
    "unique_key", "strategy", "updated_at", "check_cols", "dbt_valid_to_current", "snapshot_meta_column_names",
    "snapshot_table_column_names",
)  # fmt: skip


@dataclass(frozen=True)
class SnapshotSource:
    """The table that a snapshot is taken of.

    Attributes:
        table: the table.
        sql: its name, as a query has it.
        columns: what the snapshot's query selects of it, as a query has it.
        query: the snapshot's query, a selection of all its rows.
        name: by which the snapshot says how far it was; another query or config has another one.
    """

    table: Table
    sql: str
    columns: str
    query: str
    name: str

    def changed_rows(self, before: Position, after: Position) -> str:
        """The rows of the query that are new or changed between two positions."""
        changes = f"table_changes({quoted_text(self.sql)}, {before.snapshot}, {after.snapshot})"
        return f"select {self.columns} from {changes} where {ROW_KIND} in ('+I', '+U')"

    def compared_by(self, catalog: Catalog, target: Table) -> Position | None:
        """The position from which the next run of a snapshot may go on; None if it compares all rows."""
        position = positions_of(target.latest_snapshot()).get(self.name)
        if position is None or why_lost(catalog, self.name, position):
            return None
        return position if position.snapshot == 0 or self._has_columns_of(position) else None

    def _has_columns_of(self, position: Position) -> bool:
        now, then = self.table.schema, self.table.schemas.load(self.table.snapshot(position.snapshot).schema_id)
        return (now.fields, now.primary_keys) == (then.fields, then.primary_keys)


def snapshot_source(catalog: Catalog, query: str, config: Mapping[str, Any]) -> SnapshotSource | None:
    """The source of a snapshot whose unchanged rows need not be compared; None where they must be."""
    selection = plain_selection(query) if _SELECTION.match(query) else None
    if selection is None or selection.table.database is None or not _ignores_deletes(config):
        return None
    named = (selection.table.database, selection.table.name)
    try:
        table = catalog.load_table(*named)
    except NotFoundError:
        return None  # a view, or no table of this warehouse
    if not _has_key(table, selection, config.get("unique_key")) or not _shows_latest(table.schema.options):
        return None
    decided = json.dumps([query, *(config.get(one) for one in _DECIDING)], default=str, sort_keys=True)
    fingerprint = hashlib.sha256(decided.encode()).hexdigest()[:16]
    sql, columns = ".".join(map(quoted_name, named)), _columns(table, selection)
    return SnapshotSource(table, sql, columns, query, source_name(*named, compared_as=fingerprint))


def _ignores_deletes(config: Mapping[str, Any]) -> bool:
    deletes = config.get("hard_deletes") or ("invalidate" if config.get("invalidate_hard_deletes") else "ignore")
    return config.get("strategy") in _STRATEGIES and deletes == "ignore"


def _shows_latest(options: Mapping[str, str]) -> bool:
    """Whether a query of a table gives the stored columns of its latest snapshot."""
    return not computed_columns(options) and not any(key.startswith("scan.") for key in options)


def _selected(table: Table, selection: PlainSelection) -> list[tuple[str, str]]:
    """The columns of a selection, and the name that it gives to each."""
    columns = selection.columns or [field.name for field in table.schema.fields]
    return list(zip(columns, selection.names or columns, strict=True))


def _columns(table: Table, selection: PlainSelection) -> str:
    return ", ".join(f"{quoted_name(column)} as {quoted_name(name)}" for column, name in _selected(table, selection))


def _has_key(table: Table, selection: PlainSelection, unique_key: object) -> bool:
    """Whether rows of the selection with one value of the unique key are one row of the table."""
    names = {column.lower(): name.lower() for column, name in _selected(table, selection)}
    given = unique_key if isinstance(unique_key, list) else [unique_key]
    keys = [one.lower() for one in table.schema.primary_keys]
    return bool(keys) and all(names.get(one) in {str(one).lower() for one in given} for one in keys)
