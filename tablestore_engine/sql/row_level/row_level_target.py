"""The table that a DELETE, UPDATE or MERGE changes, read at one snapshot.

On a keyed table the changed rows are computed by one query and written as an upsert, deletes as rows of kind -D. On an
append table the query also returns the file and position of each row it changes, and these files are rewritten, or the
rows marked as deleted. On a multiset table it returns the old rows, and they are retracted. In every case the commit
conflicts when others changed the table since it was read, and the statement runs again on the new state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import types as T

from tablestore_engine.errors import SqlError
from tablestore_engine.mergetree.multiset.multiset import is_retraction
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.commit.append_deletion_vectors import keeps_file_vectors
from tablestore_engine.operation.compact.auto_compaction import merge_unread
from tablestore_engine.operation.files.lookup_rows import RowKeys
from tablestore_engine.operation.scan.cast_columns import without_casts
from tablestore_engine.operation.scan.scan_plan import ScanPlan
from tablestore_engine.operation.write_job.write_intent import PLAIN, WriteIntent
from tablestore_engine.schema.merge_engines.engine_rules import Kept
from tablestore_engine.schema.table.check_constraints import check_constraints
from tablestore_engine.schema.table.computed_columns import computed_columns
from tablestore_engine.schema.table.predicate import Predicate, conjunction
from tablestore_engine.schema.types.names import Resolver
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.schema.types.types import DataField
from tablestore_engine.spark.compact.compactor import execute_tasks
from tablestore_engine.spark.dml.insert_overwrite import WriteOutcome
from tablestore_engine.spark.dml.multiset_row_level import OLD_COLUMN, with_old_rows
from tablestore_engine.spark.dml.row_level import Read, write_changed_rows, write_held_rows
from tablestore_engine.spark.expressions.assigned_value import StoreAssignment, with_value_once
from tablestore_engine.spark.expressions.char_text import filled_sql
from tablestore_engine.spark.expressions.spark_types import sql_type, to_spark_type
from tablestore_engine.spark.queries.small_plans import SMALL_BYTES
from tablestore_engine.spark.read.computed_columns import with_computed
from tablestore_engine.spark.read.hidden_columns import read_with_hidden
from tablestore_engine.spark.read.lookup_rows import frame_of_rows, predicates_of, rows_at, rows_of_keys, with_nulls
from tablestore_engine.spark.read.merge_on_read import read_plan
from tablestore_engine.spark.scan.arrow_scan import FILE_COLUMN, POSITION_COLUMN
from tablestore_engine.spark.scan.file_scan import read_positions
from tablestore_engine.spark.session.session_settings import assignment_policy, refuses_values, session_resolver
from tablestore_engine.sql.pinned_queries.pinned_query import Frames
from tablestore_engine.sql.query.pushdown import condition_predicate
from tablestore_engine.sql.row_level.clauses.held_clauses import HeldScope, held_changes
from tablestore_engine.sql.row_level.clauses.named_side import NamedSide, certain_kind
from tablestore_engine.sql.tokens.constants import is_random
from tablestore_engine.sql.write_statements.merge_schema import evolves
from tablestore_engine.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_TARGET = "__tablestore_target"


@dataclass(frozen=True)
class RowLevelTarget:
    """The table that a statement changes, read at one snapshot. `written_alias` is the alias that the statement gives
    it, and `hidden` are the hidden columns that it names."""

    table: Table
    written_alias: str | None
    snapshot: Snapshot | None
    plan: ScanPlan
    frames: Frames
    predicate: Predicate | None = None
    merging: bool = False
    intent: WriteIntent = PLAIN
    unread: bool = False
    hidden: tuple[str, ...] = ()
    rows: pa.Table | None = None
    """The rows that the statement may change, if they were looked up; they are few."""
    keys_of_source: tuple[str, ...] = ()
    """The columns by whose values in the source of a MERGE its rows are looked up; only in one that is planned."""

    @property
    def alias(self) -> str:
        """The name by which its columns are qualified."""
        return self.written_alias or self.table.identifier[1]

    @property
    def keyed(self) -> bool:
        return bool(self.table.schema.primary_keys)

    @property
    def is_multiset(self) -> bool:
        return not self.keyed and (
            self.table.schema.merge_engine.rules.is_multiset or any(is_retraction(f) for f in self.plan.files)
        )

    @property
    def marks(self) -> bool:
        """Whether removed rows are marked in deletion vectors."""
        return keeps_file_vectors(self.table.schema)

    @property
    def qualifiers(self) -> dict[tuple[str, str], str]:
        """The name by which the relation of a qualified name is called; an alias hides the table's name."""
        database, name = self.table.identifier
        return {(database.lower(), name.lower()): self.alias} if self.written_alias is None else {}

    def expression(self, sql: str) -> str:
        return self.frames.expression(sql, self.qualifiers)

    def sql_type(self, column: str) -> str:
        """The SQL type of a column of the table."""
        return sql_type(self.table.schema.field(column).type)

    def fitted(
        self,
        given_values: Mapping[str, tuple[DataField, str]],
        from_sql: Callable[[], str],
        sides: Sequence[NamedSide],
    ) -> dict[str, str]:
        """Bound SQL of values by name, as their column or field holds them: with the fields of structs given by their
        names, and the full length of CHAR.

        `from_sql` makes the FROM clause in which they are read, which has the relations `sides`: Spark says what types
        they have where it is not certain. Raises SchemaError for a type that the column does not take.
        """
        values = {n: value for n, (_, value) in given_values.items()}
        kinds = {n: to_spark_type(field.type) for n, (field, _) in given_values.items()}
        checked = [n for n in values if not self._assignment.casts_all(kinds[n])]
        given = {n: certain_kind(values[n], sides, self.resolver) for n in checked}
        unsure = [n for n in checked if given[n] is None]
        if unsure:
            items = ", ".join(f"{values[n]} AS {quoted_name(n)}" for n in unsure)
            found = self.frames.run(f"SELECT {items} FROM {from_sql()}").schema
            given |= {n: one.dataType for n, one in zip(unsure, found.fields, strict=True)}
        for n, kind in given.items():
            if kind is not None:
                converted = partial(self.converted, given=kind, field=given_values[n][0], name=n)
                once = is_random(values[n])
                values[n] = with_value_once(values[n], converted) if once else converted(f"({values[n]})")
        return {n: filled_sql(values[n], field) for n, (field, _) in given_values.items()}

    def converted(self, value: str, given: T.DataType, field: DataField, name: str, own: str | None = None) -> str:
        """SQL of a value of the type `given` as a column or field holds it: with the fields of structs in its order,
        and no value that it cannot hold. `name` is what an error calls it; `own` as in `StoreAssignment.sql`."""
        return self._assignment.sql(value, given, to_spark_type(field.type), name, own)

    @cached_property
    def _assignment(self) -> StoreAssignment:
        return StoreAssignment(
            self.resolver,
            partial(assignment_policy, self.frames.spark),
            partial(refuses_values, self.frames.spark),
            fills=self.merging and evolves(self.table),
        )

    @property
    def resolver(self) -> Resolver:
        """Which names of columns are the same in the session."""
        return session_resolver(self.frames.spark)

    @property
    def side(self) -> NamedSide:
        """The table as expressions name it."""
        return NamedSide(self.alias, self.table.schema.fields)

    def source_columns(self) -> list[str]:
        """Columns of the target's view that identify the row of a change."""
        if self.keyed:
            return []
        if self.is_multiset:
            return [OLD_COLUMN, POSITION_COLUMN] if self.merging else [OLD_COLUMN]
        return [FILE_COLUMN, POSITION_COLUMN]

    def of_keys(self, keys: RowKeys, columns: Sequence[str] | None = None) -> RowLevelTarget:
        """The target with only the rows of some keys, which are looked up, unless they are too many (`rows` None). Of
        the `columns`, by default all: the statement sees no values of others, which are null, or left out."""
        known = [one for one in (self.predicate, *predicates_of(keys)) if one is not None]
        plan = self.table.scan(self.snapshot, conjunction(known)) if self.snapshot else self.plan
        rows = rows_of_keys(self.table, plan, keys, columns)
        return self if rows is None else replace(self, plan=plan, rows=with_nulls(rows, plan.schema))

    def at(self, positions: pa.Table) -> RowLevelTarget:
        """The target with only the rows at some positions (`rows_at`), unless they are too many (`rows` None)."""
        rows = rows_at(self.table, self.plan, positions)
        return self if rows is None else replace(self, rows=rows)

    def and_rows_of(self, other: RowLevelTarget) -> RowLevelTarget:
        """The target with the rows that were looked up for it, and those of another one."""
        if self.rows is None or other.rows is None:
            raise AssertionError("rows were not looked up")
        schema = self.table.schema
        columns = self.source_columns() if self.marks else [*schema.primary_keys, *schema.partition_keys]
        common = RowKeys(self.rows.select(list(dict.fromkeys(columns)))).positions_in(other.rows)
        new = np.setdiff1d(np.arange(other.rows.num_rows), common)
        rows = pa.concat_tables([self.rows, other.rows.take(pa.array(new))])
        return replace(self, plan=self.plan.and_files_of(other.plan), rows=rows)

    def register(self) -> str:
        """The temporary view of the target's rows, with `source_columns`."""
        if self.rows is not None:
            rows = frame_of_rows(self.frames.spark, self.rows, self.table.schema)
        elif self.is_multiset:
            rows = with_old_rows(self._rows(), self.table.schema.field_names, positions=self.merging)
        else:
            rows = self._rows()
        return quoted_name(self.frames.register(_TARGET, with_computed(rows, self.table.schema)))

    def _rows(self) -> DataFrame:
        spark, positions = self.frames.spark, not self.keyed and not self.is_multiset
        predicate = self.predicate if self.is_multiset else None
        if self.hidden:
            return read_with_hidden(spark, self.table, self.plan, predicate, self.hidden, positions=positions)
        if positions:
            return read_positions(spark, self.table, self.plan)
        return read_plan(spark, self.table, self.plan, predicate, correlated=self.frames.texts.correlated)

    def apply(self, changed: DataFrame) -> WriteOutcome:
        """Write the changed rows."""
        return write_changed_rows(self.frames.spark, self._read(), changed)

    def held_changes(self, scopes: Sequence[HeldScope]) -> pa.Table | None:
        """The rows that clauses on rows in memory put or remove, with their kind; None where that takes a query."""
        schema = self.table.schema
        held = self.rows is not None and self.keyed and not schema.crosses_partitions
        only_removes = all(one.removes_all for one in scopes)
        plain = not computed_columns(schema.options) and not check_constraints(schema.options)
        state = self.table.state
        if not held or state.own_schema is not None or state.evolving or not (plain or only_removes):
            return None
        return held_changes(scopes, schema.fields, self.resolver)

    def write_held(self, changed: pa.Table) -> WriteOutcome:
        """Write changed rows that `held_changes` returned."""
        return write_held_rows(self.frames.spark, self._read(), changed)

    def _read(self) -> Read:
        size, small = self.frames.input_bytes, False
        if self.rows is not None:
            size, small = 0, self.frames.is_small and self.rows.nbytes <= SMALL_BYTES
        return Read(self.table, self.snapshot, self.plan, size, self.intent, self.unread, small)


def check_engine(table: Table, verb: str, *, deletes: bool) -> None:
    """Raise a SqlError if the table's merge engine would not do what the statement says."""
    engine = table.schema.merge_engine
    if deletes and engine.ignores_deletes and table.schema.primary_keys:
        raise SqlError(
            f"{verb} cannot remove rows of table {table.name}: its option 'ignore-delete' ignores deletes.",
            hint="INSERT OVERWRITE replaces rows.",
        )
    removes = engine.rules.kept is Kept.NEWEST or engine.removes_on_delete or bool(engine.removing_groups)
    updates = verb == "DELETE" or engine.takes_updates
    if engine.rules.is_multiset or (updates and (removes or not deletes)):
        return
    way_out = f"{engine.rules.removal} makes a table that rows can be deleted from."
    if updates and verb == "MERGE":
        raise SqlError(
            f"MERGE cannot remove rows of table {table.name}: its merge engine is '{engine.name}'.", hint=way_out
        )
    refused = f"{verb} is" if engine.takes_updates else "UPDATE, DELETE, MERGE and REPLACE WHERE are"
    raise SqlError(
        f"{refused} not supported with 'merge-engine' = '{engine.name}', which table {table.name} has.",
        hint="INSERT rows: the merge engine folds them into those of the same key. INSERT OVERWRITE replaces them."
        + (f" {way_out}" if engine.folds and verb == "DELETE" else ""),
    )


def predicate_on(table: Table, alias: str | None, condition_sql: str, *, alone: bool = True) -> Predicate | None:
    """The predicate of a condition of the statement on the table's rows; None if there is none.

    `alone`: no other relation is in scope, so a column without a qualifier is the table's.
    """
    return without_casts(condition_predicate(condition_sql, owner_of(table, alias, alone=alone)), table.schema)


def owner_of(table: Table, alias: str | None, *, alone: bool = True) -> Callable[[tuple[str, ...]], str | None]:
    """Which column of the table a dotted name is; None for another one's."""
    database, name = (part.lower() for part in table.identifier)
    called = [[alias.lower()]] if alias else [[name], [database, name]]

    def owner(parts: tuple[str, ...]) -> str | None:
        *qualifier, column = parts
        own = [part.lower() for part in qualifier] in called if qualifier else alone
        return column if own else None

    return owner


def target_of(
    frames: Frames,
    table: Table,
    alias: str | None,
    predicate: Predicate | None,
    intent: WriteIntent,
    *,
    merging: bool = False,
    hidden: tuple[str, ...] = (),
) -> RowLevelTarget:
    """The target, without files in which the predicate is true for no row. `intent` is what the caller asks for."""
    if not frames.explaining:
        merge_unread(table.under_own_names().state, partial(execute_tasks, lambda: frames.spark))
    snapshot = frames.pin(table)
    plan = table.scan(snapshot, predicate) if snapshot else ScanPlan(None, table.schema, ())
    return RowLevelTarget(table, alias, snapshot, plan, frames, predicate, merging, intent, hidden=hidden)


def unread_target_of(frames: Frames, table: Table, alias: str | None, intent: WriteIntent) -> RowLevelTarget:
    """The target of a MERGE of which no row is read, unless the queries of `frames` read it."""
    unread = not frames.may_read(table)
    plan = ScanPlan(None, table.schema, ())
    return RowLevelTarget(table, alias, frames.pin(table), plan, frames, merging=True, intent=intent, unread=unread)
