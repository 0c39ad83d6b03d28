"""Procedures on the files of a table: merge its manifests, leave out missing files, remove all files."""

from __future__ import annotations

from tablestore_engine.operation.table_commands.metadata_commands import (
    merge_manifests,
    missing_files,
    purge,
    remove_missing_files,
)
from tablestore_engine.operation.transaction.transaction import with_retry
from tablestore_engine.sql.procedures.procedure import Arguments, Procedure, Rows, flag
from tablestore_engine.sql.write_statements.statement_context import RowContext
from tablestore_engine.table import Table


def _compact_manifest(table: Table, arguments: Arguments, context: RowContext) -> Rows:
    """Merges the small manifests of the latest snapshot, as a new snapshot. A commit does so by itself when there are
    `manifest.merge-min-count` of them."""
    merge_manifests(table.state)
    return [(True,)]


def _remove_unexisting(table: Table, arguments: Arguments, context: RowContext) -> Rows:
    """Removes from the table the data files that are missing in storage, and returns their paths.

    Queries of the other rows then work again; the rows of the missing files are lost. `dry_run` only lists them.
    """
    paths = missing_files if flag("dry_run", arguments) else remove_missing_files
    return [(path,) for path in with_retry(lambda: paths(table.state))]


def _purge(table: Table, arguments: Arguments, context: RowContext) -> Rows:
    """Empties the table, and removes its tags, consumers and earlier snapshots with their files; the schema stays.

    There is no way back. Files that no snapshot names stay for `remove_orphan_files`, because young ones may belong to
    a running commit.
    """
    purge(table.state, context.now_millis())
    return [("Success",)]


PROCEDURES: dict[str, Procedure] = {
    "compact_manifest": Procedure(
        _compact_manifest,
        ("table",),
        1,
        {"result": "boolean"},
        "CALL sys.compact_manifest(table => 'db.t').",
    ),
    "remove_unexisting_files": Procedure(
        _remove_unexisting,
        ("table", "dry_run"),
        1,
        {"path": "string"},
        "CALL sys.remove_unexisting_files(table => 'db.t', dry_run => true).",
    ),
    "purge_files": Procedure(
        _purge,
        ("table",),
        1,
        {"result": "string"},
        "CALL sys.purge_files(table => 'db.t').",
    ),
}
