"""Taking the messages of a topic into a table, some at a time, each batch by one commit that holds its offsets.

A process that dies loses what it had not committed, and the next one begins at the committed offsets: nothing is lost
and nothing counts twice. Of two that run at the same time, one gets a ConsumedElsewhereError and writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tablestore_engine.errors import OptionError, SchemaError, UnsupportedTypeError
from tablestore_engine.kafka.decode_messages import Decoded, Wanted, decode
from tablestore_engine.kafka.message_formats import BEFORE, DELETE
from tablestore_engine.kafka.settings import settings_of
from tablestore_engine.kafka.topic_reader import read_between
from tablestore_engine.kafka.topics import first_offsets, last_stable_offsets
from tablestore_engine.mergetree.arrow_kernels.compare_values import one_array
from tablestore_engine.mergetree.arrow_kernels.row_ids import rows_differ
from tablestore_engine.operation.commit.consumed_positions import Consumed, Position, check_consumed, positions_of
from tablestore_engine.operation.kafka_source.dead_letters import letters_of, refuse_letters, write_dead_letters
from tablestore_engine.operation.kafka_source.refused_messages import REFUSED, with_refused_as_bad
from tablestore_engine.operation.kafka_source.rows_of_key_only import with_unordered_as_bad
from tablestore_engine.operation.kafka_source.source import (
    KafkaSource,
    check_format,
    check_start,
    consumed,
    first_to_take,
    located,
    offsets_of,
    refuse_lost,
    why_another_topic,
)
from tablestore_engine.operation.kafka_source.unmatched_changes import with_unmatched_as_bad
from tablestore_engine.operation.read.arrow_read import output_schema
from tablestore_engine.operation.table_commands.alter_table import alter_table
from tablestore_engine.operation.table_commands.arrow_write import write_arrow
from tablestore_engine.operation.write_job.write_intent import WriteIntent
from tablestore_engine.operation.write_job.write_job import ROW_KIND_COLUMN
from tablestore_engine.schema.merge_engines.aggregate_functions import RetractRule
from tablestore_engine.schema.merge_engines.engine_rules import Retraction
from tablestore_engine.schema.table.computed_columns import computed_columns
from tablestore_engine.schema.table.schema_changes import AddColumn
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.arrow import from_arrow_type
from tablestore_engine.schema.types.types import DataType
from tablestore_engine.storage import clock
from tablestore_engine.table_state import TableState

_PUT = 0


@dataclass(frozen=True)
class SyncRules:
    """How messages are taken.

    Attributes:
        start: where a table begins that has taken nothing yet: earliest or latest.
        new_columns: columns of messages that the table lacks are added to it; if not, they are left out.
        dead_letters: the table that takes messages which cannot be read; without one, such a message is an error.
        batch: how many messages a commit takes, about.
    """

    start: str = "earliest"
    new_columns: bool = False
    dead_letters: TableState | None = None
    batch: int = 500_000


@dataclass(frozen=True)
class Synced:
    """The result of a sync: messages, changed rows, messages that could not be read, commits, and the columns added."""

    messages: int = 0
    rows: int = 0
    bad: int = 0
    commits: int = 0
    columns: tuple[str, ...] = ()


def sync_from_kafka(state: TableState, source: KafkaSource, rules: SyncRules) -> Synced:
    """Take the messages that the topic has now and the table has not.

    Raises:
        OptionError: an unknown format or start. UserError: a message cannot be read, and no table takes such.
        LogError: the brokers do not answer, or messages were deleted before the table took them.
        ConsumedElsewhereError: another process took messages of this topic into this table meanwhile.
    """
    _check(state, source, rules)
    source = located(source)
    positions = positions_of(state.snapshots.latest())
    before = offsets_of(source, positions)
    refuse_lost(source, why_another_topic(source, positions))
    ends = last_stable_offsets(source.log)
    starts = first_to_take(source, before, first_offsets(source.log), ends, rules.start)
    done = _Sync(state, source, rules, positions.get(source.name))
    if any(start < end for start, end in zip(starts, ends, strict=True)):
        for messages, offsets in batches(source, starts, ends, rules.batch):
            done.take(messages, offsets)
    if before is None and done.result.commits == 0:
        done.take([], ends)
    return done.result


def _check(state: TableState, source: KafkaSource, rules: SyncRules) -> None:
    check_format(source.format, keyed=bool(state.schema.primary_keys))
    check_start(rules.start)
    own = settings_of(state.schema)
    if own is not None and own.topic == source.topic and own.brokers & source.log.brokers:
        raise OptionError(
            f"Topic '{source.topic}' is the log of table {state.name}: each change of the table would be taken again.",
            hint="Take the changes into another table.",
        )


def batches(
    source: KafkaSource, starts: Sequence[int], ends: Sequence[int], size: int
) -> Iterator[tuple[list[Any], tuple[int, ...]]]:
    """The messages between offsets, some `size` at a time, with the offsets behind them."""
    messages: list[Any] = []
    offsets = tuple(starts)
    for chunk in read_between(source.log, starts, ends):
        messages += chunk.messages
        offsets = chunk.offsets
        if len(messages) >= size:
            yield messages, offsets
            messages = []
    if messages or offsets != tuple(starts):
        yield messages, offsets


class _Sync:
    """One sync: the table as it is now, and what was done."""

    def __init__(self, state: TableState, source: KafkaSource, rules: SyncRules, before: Position | None) -> None:
        self._state = state
        self._source = source
        self._rules = rules
        self._before = before
        self.result = Synced()

    def take(self, messages: Sequence[Any], offsets: Sequence[int]) -> None:
        """Commit the rows of messages together with the offsets behind them."""
        values, keys = [one.value() for one in messages], [one.key() for one in messages]
        found = decode(self._source.format, values, keys, self._wanted())
        if found.new_columns:
            self._add(found.new_columns)
            found = decode(self._source.format, values, keys, self._wanted())
        options = self._state.schema.core_options
        if not options.ignore_delete:
            found = with_unordered_as_bad(self._source.format, found, values, options.sequence_field)
        found = with_unmatched_as_bad(self._state, found)
        taken = consumed(self._source, self._before, offsets)
        try:
            self._write(found, messages, taken)
        except REFUSED:
            refused = with_refused_as_bad(self._state, found, _with_kinds(found, self._state.schema))
            if len(refused.bad) == len(found.bad):
                raise
            found = with_unmatched_as_bad(self._state, refused)
            self._write(found, messages, taken)
        self._before = taken.after
        done = self.result
        self.result = Synced(
            done.messages + len(messages),
            done.rows + found.rows.num_rows,
            done.bad + len({one.position for one in found.bad}),
            done.commits + 1,
            done.columns,
        )

    def _write(self, found: Decoded, messages: Sequence[Any], taken: Consumed) -> None:
        if found.bad:
            # Rows were looked up in the table as it is now, when another process may have taken these messages.
            check_consumed(self._state.name, self._state.snapshots.latest(), (taken,))
            self._keep_dead_letters(found, messages)
        intent = WriteIntent(consumed=(taken,), retractions_checked=True)
        write_arrow(self._state, _with_kinds(found, self._state.schema), intent)

    def _wanted(self) -> Wanted:
        schema = self._state.schema
        required = tuple(one.name for one in schema.fields if not one.type.nullable)
        return Wanted(
            output_schema(schema, schema.field_names),
            schema.primary_keys,
            required,
            every_before=not schema.primary_keys or _takes_values_back(schema),
            new_columns=self._rules.new_columns,
            no_columns=tuple(one.name for one in computed_columns(schema.options)),
        )

    def _add(self, columns: Mapping[str, pa.DataType]) -> None:
        changes = [AddColumn(name, _type_of(name, kind)) for name, kind in columns.items()]
        try:
            self._state = alter_table(self._state, changes, clock.now_millis())
        except SchemaError as error:
            hint = "Without new_columns, what the table has no column for is left out."
            raise SchemaError(f"Columns of messages cannot be added: {error.message}", hint=hint) from error
        names = (*self.result.columns, *columns)
        self.result = Synced(self.result.messages, self.result.rows, self.result.bad, self.result.commits, names)

    def _keep_dead_letters(self, found: Decoded, messages: Sequence[Any]) -> None:
        """Keep the messages that cannot be read. Before the commit: written twice, they replace themselves."""
        letters = letters_of(found, messages)
        if self._rules.dead_letters is None:
            refuse_letters(self._source, letters, "Name a table for such messages: dead_letters => 'db.t'.")
        else:
            write_dead_letters(self._rules.dead_letters, letters)


def _type_of(name: str, kind: pa.DataType) -> DataType:
    """The type of a new column."""
    try:
        return from_arrow_type(kind).as_nullable(True)
    except UnsupportedTypeError as error:
        raise SchemaError(f"New column '{name}' cannot be added: {error.message}") from None


def _takes_values_back(schema: TableSchema) -> bool:
    """Whether an update first takes the row before out of what is aggregated.

    Where a function cannot, the row after is enough for others like it (max); with a sum it would count twice.
    """
    engine = schema.merge_engine
    can = all(one.retract_rule is not RetractRule.REFUSE for one in engine.folds)
    return engine.rules.retraction is Retraction.BY_COLUMN and (can or any(f.rules.may_outgrow for f in engine.folds))


def _with_kinds(found: Decoded, schema: TableSchema) -> pa.Table:
    """The rows, with what they do to the table where they are not all inserted.

    The row before an update is deleted, but where its values are taken back and its key stays.
    """
    befores, deletes = found.kinds == BEFORE, found.kinds == DELETE
    if not (befores | deletes).any():
        return found.rows
    kinds = np.where(befores | deletes, DELETE, _PUT)
    if _takes_values_back(schema):
        at = np.flatnonzero(befores)  # the row after follows
        old, new = ([one_array(part.column(name)) for name in schema.primary_keys]
                    for part in (found.rows.take(at), found.rows.take(at + 1)))  # fmt: skip
        kinds[at[~rows_differ(old, new, len(at))]] = BEFORE
    return found.rows.append_column(ROW_KIND_COLUMN, pa.array(kinds, pa.int8()))
