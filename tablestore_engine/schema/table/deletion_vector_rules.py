"""Which tables with deletion vectors are written here. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from tablestore_engine.errors import OptionError
from tablestore_engine.options import ChangelogOptions, FileOptions
from tablestore_engine.schema.merge_engines.engine_rules import Kept
from tablestore_engine.schema.table.table_schema import TableSchema

_NAMED = f"Option '{FileOptions.deletion_vectors.key}' = 'true' is not supported"


def check_vectors_written(schema: TableSchema) -> None:
    """Raise an OptionError if the table keeps deletion vectors, and this engine cannot write them with its options."""
    if not schema.core_options.deletion_vectors:
        return
    for reason, hint in _reasons(schema):
        raise OptionError(f"{_NAMED} {reason}.", hint=hint)


_RECORDING = ("changelog_producer", "change_tracking", "row_deduplicate", "row_deduplicate_ignore_fields")


def check_recorded_as_stored(stored: TableSchema, given: TableSchema) -> None:
    """Raise an OptionError if the options of one statement change what compactions of new rows record.

    Such a compaction merges what waits, also of other writers, and another process may make it.
    """
    # Once the table has the producer lookup, a compaction records rows that the table left unrecorded before.
    twice = given.reads_files_alone and given.records_when_written and not stored.records_when_written
    if not (stored.records_when_compacted or given.records_when_compacted or twice):
        return
    for name in _RECORDING:
        if getattr(stored.core_options, name) != getattr(given.core_options, name):
            raise OptionError(
                f"Option '{getattr(ChangelogOptions, name).key}' cannot be set for one statement: with deletion "
                "vectors and 'changelog-producer' = 'lookup', now or later, compactions of new rows record changes, "
                "also those of other statements.",
                hint="Set it by ALTER TABLE.",
            )


_LEAVE_ONE = "Leave one of these two options out."
_LOOKUP = "Leave one of these two options out, or use 'changelog-producer' = 'lookup'."
_OTHER_ENGINE = (
    "Leave the option out, or use another merge engine: with a primary key 'deduplicate', 'partial-update' or "
    "'aggregation'."
)
_WHOLE_KEY = "Leave the option out, or add the partition columns to the primary key."


def _reasons(schema: TableSchema) -> Iterator[tuple[str, str]]:
    """Why the table cannot be written, each with what to do."""
    options, engine = schema.core_options, schema.merge_engine
    keyed = bool(schema.primary_keys)
    if engine.rules.is_multiset:
        yield f"for writing with 'merge-engine' = '{engine.name}'", _OTHER_ENGINE
    if keyed and engine.rules.kept is Kept.OLDEST:
        yield f"for writing with 'merge-engine' = '{engine.name}', which replaces no row, nor by Paimon", _OTHER_ENGINE
    if schema.crosses_partitions:
        yield "for writing with a primary key that leaves a partition column out (Paimon has it)", _WHOLE_KEY
    if options.changelog_producer == "full-compaction":
        yield "for writing with 'changelog-producer' = 'full-compaction', nor by Paimon", _LOOKUP
    if options.log_system != "none":
        yield f"for writing with 'log.system' = '{options.log_system}', which Paimon does not have", _LEAVE_ONE
    if options.compaction_schedule_enabled:
        yield "for writing with 'compaction.schedule.enabled' = 'true', which Paimon does not have", _LEAVE_ONE
