"""Procedures on consumers: readers that record in the table the next snapshot that they read."""

from __future__ import annotations

from tablestore_engine.sql.procedures.procedure import Arguments, Procedure, Rows, count, pattern
from tablestore_engine.sql.write_statements.statement_context import RowContext
from tablestore_engine.storage.metadata_files.consumer_store import consumers, delete_consumer, set_consumer
from tablestore_engine.table import Table


def _reset(table: Table, arguments: Arguments, context: RowContext) -> Rows:
    """Sets the next snapshot of a consumer, which then does not expire; without one the consumer is removed."""
    name = str(arguments["consumer_id"])
    if "next_snapshot_id" in arguments:
        set_consumer(table.io, table.paths, name, count("next_snapshot_id", arguments, 1))
        return [(True,)]
    return [(delete_consumer(table.io, table.paths, name),)]


def _clear(table: Table, arguments: Arguments, context: RowContext) -> Rows:
    """Removes consumers, so that the snapshots they keep may expire.

    All of them, or those whose whole name the regular expression `including_consumers` matches and
    `excluding_consumers` does not.
    """
    including = pattern("including_consumers", arguments, ".*")
    excluding = pattern("excluding_consumers", arguments, "")
    for name in consumers(table.io, table.paths):
        if including.fullmatch(name) and not excluding.fullmatch(name):
            delete_consumer(table.io, table.paths, name)
    return [(True,)]


PROCEDURES: dict[str, Procedure] = {
    "reset_consumer": Procedure(
        _reset,
        ("table", "consumer_id", "next_snapshot_id"),
        2,
        {"result": "boolean"},
        "CALL sys.reset_consumer(table => 'db.t', consumer_id => 'nightly', next_snapshot_id => 7).",
    ),
    "clear_consumers": Procedure(
        _clear,
        ("table", "including_consumers", "excluding_consumers"),
        1,
        {"result": "boolean"},
        "CALL sys.clear_consumers(table => 'db.t', including_consumers => 'test.*').",
    ),
}
