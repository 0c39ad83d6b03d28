"""Executing DELETE, UPDATE and MERGE.

On a keyed table the changed rows are computed by one query and written as an upsert, deletes as rows of kind -D. On a
table without a key the query also gives the file and row number of each row it changes; the files that hold them are
rewritten without them. On one that counts rows it gives the old rows, and they are retracted. Either way the commit
conflicts when others changed the table since it was read, and the statement runs again on the new state.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tablestore_engine.errors import PrimaryKeyError, SchemaError, SqlError
from tablestore_engine.mergetree.counting import is_retraction
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.attempts import retrying
from tablestore_engine.operation.scan import ScanPlan
from tablestore_engine.schema.predicate import Predicate
from tablestore_engine.schema.row_kind import DELETE_KIND
from tablestore_engine.schema.table_schema import TableSchema
from tablestore_engine.spark.by_name import by_name_sql
from tablestore_engine.spark.changes import ACTION_COLUMN, Read, apply_changes
from tablestore_engine.spark.default_value import default_sql
from tablestore_engine.spark.dml import WriteOutcome, truncate
from tablestore_engine.spark.file_scan import FILE_COLUMN, POSITION_COLUMN
from tablestore_engine.spark.reader import read_plan, read_positions
from tablestore_engine.spark.retracting import OLD_COLUMN, with_old_rows
from tablestore_engine.spark.types import sql_type, to_spark_type
from tablestore_engine.sql.execute_rows import RowContext, result_of
from tablestore_engine.sql.frames import Frames
from tablestore_engine.sql.lexer import quote
from tablestore_engine.sql.merge_clauses import CLAUSE_COLUMN, ClauseScope, Side, clause_rows, value_column
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.row_statements import Delete, Merge, MergeClause, Update
from tablestore_engine.sql.statements import Assignment
from tablestore_engine.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_TARGET = "__tablestore_target"
_SOURCE = "__tablestore_source"
_IN_TARGET = "__tablestore_in_target"
_IN_SOURCE = "__tablestore_in_source"
_NUMBER = "__tablestore_number"


@dataclass(frozen=True)
class _Target:
    """The table that a statement changes, read at one snapshot."""

    table: Table
    alias: str
    snapshot: Snapshot | None
    plan: ScanPlan
    frames: Frames
    predicate: Predicate | None = None
    merging: bool = False

    @property
    def keyed(self) -> bool:
        return bool(self.table.schema.primary_keys)

    @property
    def counted(self) -> bool:
        return not self.keyed and (
            self.table.schema.merge_engine.counts or any(is_retraction(f) for f in self.plan.files)
        )

    @property
    def qualifiers(self) -> dict[tuple[str, str], str]:
        database, name = self.table.identifier
        return {(database.lower(), name.lower()): self.alias}

    def expression(self, sql: str) -> str:
        return self.frames.expression(sql, self.qualifiers)

    def source_columns(self) -> list[str]:
        """Columns of the target's view that say which row a change is of."""
        if self.keyed:
            return []
        if self.counted:
            return [OLD_COLUMN, POSITION_COLUMN] if self.merging else [OLD_COLUMN]
        return [FILE_COLUMN, POSITION_COLUMN]

    def register(self) -> str:
        """The temporary view of the target's rows, with `source_columns`."""
        spark = self.frames.spark
        if self.counted:
            found = read_plan(spark, self.table, self.plan, self.predicate)
            rows = with_old_rows(found, positions=self.merging)
        else:
            rows = (read_plan if self.keyed else read_positions)(spark, self.table, self.plan)
        return quote(self.frames.register(_TARGET, rows))

    def apply(self, changes: DataFrame) -> WriteOutcome:
        """Write the changed rows."""
        read = Read(self.table, self.snapshot, self.plan, self.frames.input_bytes)
        return apply_changes(self.frames.spark, read, changes)


def _check_engine(table: Table, verb: str, *, deletes: bool) -> None:
    """Raise a SqlError where the table's merge engine would make something else of the statement than it says."""
    engine = table.schema.merge_engine
    if deletes and engine.ignores_deletes and table.schema.primary_keys:
        raise SqlError(
            f"{verb} cannot remove rows of table {table.name}: its option 'ignore-delete' leaves deletes out.",
            hint="INSERT OVERWRITE replaces rows.",
        )
    removes = engine.removes_on_delete or bool(engine.removing_groups)
    if not (engine.keeps_last or engine.counts or (verb == "DELETE" and removes)):
        option = "remove-record-on-sequence-group' = '…" if engine.grouped else "remove-record-on-delete' = 'true"
        way_out = f"'{engine.name}.{option}' makes a table that rows can be deleted from."
        raise SqlError(
            f"UPDATE, DELETE and MERGE do not go with 'merge-engine' = '{engine.name}', which table {table.name} has.",
            hint="INSERT rows: the merge engine folds them into those of the same key. INSERT OVERWRITE replaces them."
            + (f" {way_out}" if engine.folds and verb == "DELETE" else ""),
        )


def _target(
    frames: Frames, table: Table, alias: str | None, probe: str | None = None, *, merging: bool = False
) -> _Target:
    """The target, without files that no row of the query `probe` on `{target}` can be in."""
    predicate = None
    if probe:
        database, name = table.identifier
        as_alias = f" AS {quote(alias)}" if alias else ""
        named = f"{quote(database)}.{quote(name)}{as_alias}"
        predicate = frames.predicate_of(probe.replace("{target}", named, 1), table)
    snapshot = frames.pin(table)
    plan = table.scan(snapshot, predicate) if snapshot else ScanPlan(None, table.schema, ())
    return _Target(table, alias or table.identifier[1], snapshot, plan, frames, predicate, merging)


def _rows_where(where_sql: str | None) -> str | None:
    return f"SELECT * FROM {{target}} WHERE {where_sql}" if where_sql else None


def execute_delete(statement: Delete, context: RowContext) -> StatementResult:
    """DELETE FROM [WHERE]."""
    if statement.where_sql is None:
        return result_of(
            "DELETE", truncate(context.spark, context.table(statement.table), lambda entry: True)
        )
    where = statement.where_sql

    def attempt() -> WriteOutcome:
        table = context.table(statement.table)
        _check_engine(table, "DELETE", deletes=True)
        target = _target(context.frames(), table, statement.alias, _rows_where(where))
        items = [*_own_columns(target), f"{DELETE_KIND} AS {ACTION_COLUMN}"]
        return _changed(target, _select(target, items, where))

    return result_of("DELETE", retrying(attempt))


def execute_update(statement: Update, context: RowContext) -> StatementResult:
    """UPDATE SET [WHERE]."""

    def attempt() -> WriteOutcome:
        table = context.table(statement.table)
        _check_engine(table, "UPDATE", deletes=False)
        target = _target(context.frames(), table, statement.alias, _rows_where(statement.where_sql))
        values = _values(target, statement.assignments)
        items = [
            f"CAST({values[n.lower()]} AS {_sql_type(target, n)}) AS {quote(n)}"
            if n.lower() in values
            else f"{quote(target.alias)}.{quote(n)}"
            for n in table.schema.field_names
        ]
        items += [f"{quote(target.alias)}.{c}" for c in target.source_columns()]
        return _changed(target, _select(target, [*items, f"0 AS {ACTION_COLUMN}"], statement.where_sql))

    return result_of("UPDATE", retrying(attempt))


def _changed(target: _Target, changes: DataFrame) -> WriteOutcome:
    """Write the changed rows. Where there are no files there is nothing to run; that the statement is right, is known."""
    return target.apply(changes) if target.plan.buckets else WriteOutcome(None, 0)


def _sql_type(target: _Target, column: str) -> str:
    return sql_type(target.table.schema.field(column).type)


def _own_columns(target: _Target) -> list[str]:
    names = [*target.table.schema.field_names, *target.source_columns()]
    return [f"{quote(target.alias)}.{quote(n)}" for n in names]


def _select(target: _Target, items: Sequence[str], where_sql: str | None) -> DataFrame:
    view = target.register()
    where = f" WHERE {target.expression(where_sql)}" if where_sql else ""
    return target.frames.run(f"SELECT {', '.join(items)} FROM {view} AS {quote(target.alias)}{where}")


def _values(target: _Target, assignments: Sequence[Assignment]) -> dict[str, str]:
    """Bound value expressions by lower-case column. Raises SchemaError for keys and repeated columns."""
    schema = target.table.schema
    values: dict[str, str] = {}
    for assignment in assignments:
        field = schema.field(assignment.column)
        _check_assignable(target, field.name)
        if field.name.lower() in values:
            raise SchemaError(f"Column '{field.name}' is assigned twice.")
        values[field.name.lower()] = target.expression(assignment.value_sql)
    return values


def _check_assignable(target: _Target, name: str) -> None:
    if name in target.table.schema.primary_keys:
        raise PrimaryKeyError(
            f"Column '{name}' belongs to the primary key, which an update cannot change.",
            hint="Delete the row and insert it under its new key.",
        )


# -- MERGE ---------------------------------------------------------------------------------------------


def execute_merge(statement: Merge, context: RowContext) -> StatementResult:
    """MERGE INTO with all of Spark's clauses."""
    if statement.schema_evolution:
        raise SqlError(
            "MERGE WITH SCHEMA EVOLUTION is not supported.", hint="Add the columns first: ALTER TABLE."
        )

    def attempt() -> WriteOutcome:
        table = context.table(statement.target)
        clauses = (*statement.matched, *statement.not_matched_by_source)
        _check_engine(table, "MERGE", deletes=any(c.action == "DELETE" for c in clauses))
        # Rows that cannot match are looked at only where something becomes of them.
        matching = f"SELECT 1 FROM {{target}} JOIN (SELECT 1) AS {_SOURCE} ON {statement.on_sql}"
        probe = None if statement.not_matched_by_source else matching
        target = _target(context.frames(), table, statement.target_alias, probe, merging=True)
        try:
            return target.apply(_removed_once(statement, target, _merge_changes(statement, target)))
        except PrimaryKeyError as error:
            if error.message.startswith("Duplicate"):
                raise SqlError(
                    f"MERGE would write one key more than once. {error.message}",
                    hint="Make the source unique by the columns of the ON condition.",
                ) from error
            raise

    return result_of("MERGE", retrying(attempt))


def _removed_once(statement: Merge, target: _Target, changes: DataFrame) -> DataFrame:
    """WHEN MATCHED THEN DELETE alone is determined, however many rows of the source match one of the target."""
    matched = statement.matched
    if len(matched) != 1 or matched[0].action != "DELETE" or matched[0].condition_sql is not None:
        return changes
    places = [c for c in target.source_columns() if c != OLD_COLUMN] or target.table.schema.primary_keys
    others = f"CASE WHEN {ACTION_COLUMN} = {DELETE_KIND} THEN -1L ELSE monotonically_increasing_id() END"
    numbered = changes.selectExpr("*", f"{others} AS {_NUMBER}")
    return numbered.dropDuplicates([*places, _NUMBER]).drop(_NUMBER)


def _merge_changes(statement: Merge, target: _Target) -> DataFrame:
    """The rows that a MERGE puts or removes, each with its action."""
    frames = target.frames
    source = frames.query(f"SELECT * FROM {statement.source_sql}" + _source_alias(statement))
    source_names = [c.lower() for c in source.columns]
    source_view = quote(frames.register(_SOURCE, source))
    alias = quote(
        statement.source_alias or (statement.source_name.name if statement.source_name else _SOURCE)
    )
    qualifiers = dict(target.qualifiers)
    if statement.source_name is not None:
        database = statement.source_name.database or frames.database
        qualifiers[database.lower(), statement.source_name.name.lower()] = alias.strip("`")

    def bound(sql: str) -> str:
        return frames.expression(sql, qualifiers)

    def scope(state: str, clauses: tuple[MergeClause, ...], first: int) -> ClauseScope:
        conditions = [None if c.condition_sql is None else bound(c.condition_sql) for c in clauses]
        values = [_clause_values(c, target, alias, source, bound) for c in clauses]
        return ClauseScope(state, first, tuple(conditions), tuple(values))

    kinds = (statement.matched, statement.not_matched, statement.not_matched_by_source)
    firsts = (0, len(kinds[0]), len(kinds[0]) + len(kinds[1]))
    fields = target.table.schema.fields
    view = target.register()
    text = clause_rows(
        join_sql=(
            f"(SELECT *, true AS {_IN_TARGET} FROM {view}) AS {quote(target.alias)} "
            f"{_join_kind(statement)} JOIN (SELECT *, true AS {_IN_SOURCE} FROM {source_view}) AS {alias} "
            f"ON {bound(statement.on_sql)}"
        ),
        target=Side(quote(target.alias), _IN_TARGET, tuple(f.name for f in fields)),
        source=Side(alias, _IN_SOURCE, tuple(n for n in source.columns if source_names.count(n.lower()) == 1)),
        types=tuple(_sql_type(target, f.name) for f in fields),
        extra=tuple(target.source_columns()),
        matched=scope(f"{_IN_TARGET} AND {_IN_SOURCE}", kinds[0], firsts[0]),
        not_matched=scope(f"{_IN_SOURCE} AND {_IN_TARGET} IS NULL", kinds[1], firsts[1]),
        not_matched_by_source=scope(f"{_IN_TARGET} AND {_IN_SOURCE} IS NULL", kinds[2], firsts[2]),
    )
    removes = ", ".join(str(i) for i, c in enumerate(itertools.chain(*kinds)) if c.action == "DELETE") or "-1"
    action = f"CASE WHEN {CLAUSE_COLUMN} IN ({removes}) THEN {DELETE_KIND} ELSE 0 END AS {ACTION_COLUMN}"
    columns = [f"{value_column(i)} AS {quote(f.name)}" for i, f in enumerate(fields)]
    columns += target.source_columns()
    return frames.run(
        f"SELECT {', '.join(columns)}, {action} FROM ({text}) WHERE {CLAUSE_COLUMN} IS NOT NULL"
    )


def _source_alias(statement: Merge) -> str:
    if statement.source_alias is None:
        return "" if statement.source_name else f" AS {_SOURCE}"
    columns = f"({', '.join(quote(c) for c in statement.source_columns)})" if statement.source_columns else ""
    return f" AS {quote(statement.source_alias)}{columns}"


def _join_kind(statement: Merge) -> str:
    if statement.not_matched and statement.not_matched_by_source:
        return "FULL OUTER"
    if statement.not_matched:
        return "RIGHT OUTER"
    return "LEFT OUTER" if statement.not_matched_by_source else "INNER"


def _clause_values(
    clause: MergeClause, target: _Target, alias: str, source: DataFrame, bound: Callable[[str], str]
) -> dict[str, str]:
    """SQL of every column's value under one clause."""
    schema = target.table.schema
    own = {n.lower(): f"{quote(target.alias)}.{quote(n)}" for n in schema.field_names}
    if clause.action == "DELETE":
        return own
    if clause.action == "UPDATE":
        return {**own, **_updated(clause, target, alias, source, bound)}
    if clause.star:
        return {n.lower(): value for n, value in _star(schema, alias, source).items()}
    columns = clause.columns or schema.field_names
    if len(columns) != len(clause.values_sql):
        raise SchemaError(
            f"MERGE inserts {len(clause.values_sql)} values into {len(columns)} columns ({', '.join(columns)})."
        )
    given = {schema.field(c).name.lower(): bound(v) for c, v in zip(columns, clause.values_sql, strict=True)}
    for field in schema.fields:
        if field.name.lower() not in given:
            if field.default_value is None and not field.type.nullable:
                raise SchemaError(f"Column '{field.name}' is NOT NULL, but MERGE inserts no value for it.")
            given[field.name.lower()] = default_sql(field)
    return given


def _updated(
    clause: MergeClause, target: _Target, alias: str, source: DataFrame, bound: Callable[[str], str]
) -> dict[str, str]:
    schema = target.table.schema
    if clause.star:
        given = _star(schema, alias, source)
    else:
        given = {}
        for assignment in clause.assignments:
            name = schema.field(assignment.column).name
            if name in given:
                raise SchemaError(f"Column '{name}' is assigned twice.")
            given[name] = bound(assignment.value_sql)
    return {n.lower(): _same_key(target, n, v) if n in schema.primary_keys else v for n, v in given.items()}


def _same_key(target: _Target, name: str, value: str) -> str:
    """SQL of a key column that a MERGE assigns: it may, as long as the key stays what it is."""
    own = f"{quote(target.alias)}.{quote(name)}"
    refused = (
        f"MERGE would change column '{name}', which belongs to the primary key, of a matched row. "
        "Delete the row and insert it under its new key, or match rows by the whole key."
    )
    message = f"CAST(X'{refused.encode().hex()}' AS STRING)"  # a name may hold anything
    same = f"CAST({value} AS {_sql_type(target, name)}) <=> {own}"
    return f"CASE WHEN {same} THEN {own} ELSE raise_error({message}) END"


def _star(schema: TableSchema, alias: str, source: DataFrame) -> dict[str, str]:
    """SQL of every column's value under UPDATE SET * and INSERT *: what the source has under its name."""
    kinds = {f.name.lower(): f.dataType for f in source.schema.fields}
    missing = [n for n in schema.field_names if n.lower() not in kinds]
    if missing:
        raise SchemaError(
            f"The source of MERGE has no column {', '.join(missing)}, which UPDATE SET * or INSERT * needs.",
            hint="Name the columns in the clause instead.",
        )
    return {
        f.name: by_name_sql(
            f"{alias}.{quote(f.name)}", kinds[f.name.lower()], to_spark_type(f.type), f.name
        )
        for f in schema.fields
    }
