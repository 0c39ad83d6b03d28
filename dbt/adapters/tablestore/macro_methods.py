"""The methods that this adapter's macros call: one for each step of a materialization that is not plain SQL.

Their decisions are in `models` (incremental models, seeds, Python models) and `config`. Those that change the schema of
a table are in `schema_methods`.

Their names begin with `tablestore_`, to distinguish them from dbt's own. While dbt parses a project they do nothing and
return an empty value.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dbt.adapters.base import BaseRelation, available
from dbt.adapters.contracts.connection import AdapterResponse
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError

from dbt.adapters.tablestore.change_methods import ChangeMethods
from dbt.adapters.tablestore.config.foreign_config import notices
from dbt.adapters.tablestore.config.model_config import (
    LOOSE_KEY_HINT,
    check_key,
    check_spelling,
    key_of_upserts,
    strategy_of,
    takes_row_kinds,
    unique_keys,
)
from dbt.adapters.tablestore.config.stored_query import (
    CREATE,
    REPLACE,
    ViewStep,
    is_view_config,
    of_all_rows,
    view_step,
)
from dbt.adapters.tablestore.config.table_layout import TableLayout
from dbt.adapters.tablestore.config.text_types import listed_columns, text_types
from dbt.adapters.tablestore.connection.environment import takes_some_rows
from dbt.adapters.tablestore.connection.errors import KeyValuesError
from dbt.adapters.tablestore.connection.response import response, with_note
from dbt.adapters.tablestore.dialect.node_text import translated_node, untranslated
from dbt.adapters.tablestore.dialect.translate import translation_of
from dbt.adapters.tablestore.models import incremental, run_operation, seeds
from dbt.adapters.tablestore.models.persist_docs import with_docs
from dbt.adapters.tablestore.relation.column import TableStoreColumn, stored_dtype
from dbt.adapters.tablestore.relation.relation import schema_of
from tablestore_engine.operation.write_job.write_intent import WriteIntent
from tablestore_engine.schema.merge_engines.engine_rules import Kept
from tablestore_engine.schema.table.row_kind import NO_ROW_KINDS, NO_ROW_KINDS_HINT, ROW_KIND
from tablestore_engine.schema.types.sql_literals import quoted_text

if TYPE_CHECKING:
    import agate


_numbers = itertools.count(1)

BUILTIN_STRATEGIES = ("upsert", "merge", "append", "delete+insert", "insert_overwrite", "microbatch", "changelog")


@dataclass(frozen=True)
class SeedLoad:
    """The result of loading a seed: the message for the console, its code and the statement that was run."""

    message: str
    code: str
    sql: str


class MacroMethods(ChangeMethods):
    """The part of the adapter that only this adapter's macros use."""

    _fixtures_of_changes: set[tuple[str | None, str]]

    # ------------------------------------------------------------------ incremental models

    def valid_incremental_strategies(self) -> list[str]:
        return list(BUILTIN_STRATEGIES)

    @available.parse(lambda *a, **k: "append")
    def tablestore_strategy(self, config: Mapping[str, Any]) -> str:
        """The name of the incremental strategy of a model's config.

        Raises DbtRuntimeError for a config that would silently have another effect than intended.
        """
        check_spelling(config)
        check_key(config)
        self._say_notices(config)
        return strategy_of(config)

    @available.parse(lambda *a, **k: False)
    def tablestore_is_builtin(self, strategy: str) -> bool:
        """Whether a strategy is one of this adapter's, not a macro of the user."""
        return strategy in BUILTIN_STRATEGIES

    @available.parse(lambda *a, **k: False)
    def tablestore_is_plain_upsert(
        self,
        relation: BaseRelation,
        config: Mapping[str, Any],
        columns: list[TableStoreColumn],
        predicates: Any,
    ) -> bool:
        """Whether an upsert into this table needs no MERGE; see `incremental.is_plain_upsert`."""
        with self.connections.exception_handler("table keys"):
            table = self.catalog.load_table(schema_of(relation), str(relation.identifier))
        existing = self.get_columns_in_relation(relation)
        schema = table.schema
        return incremental.is_plain_upsert(
            schema.primary_keys, schema.merge_engine, existing, config, columns, predicates
        )

    @available.parse(lambda *a, **k: False)
    def tablestore_takes_row_kinds(self, config: Mapping[str, Any]) -> bool:
        """Whether a model's rows say by `_row_kind` what they do."""
        return takes_row_kinds(config)

    @available.parse(lambda *a, **k: False)
    def tablestore_replaces_by(self, relation: BaseRelation, keys: list[str]) -> bool:
        """Whether a row that is written to an existing table replaces the row with the same values in these columns."""
        with self.connections.exception_handler("table keys"):
            table = self.catalog.load_table(schema_of(relation), str(relation.identifier))
        schema = table.schema
        return schema.merge_engine.rules.kept is Kept.NEWEST and incremental.is_keyed_by(schema.primary_keys, keys)

    @available.parse_list
    def tablestore_primary_key(self, relation: BaseRelation) -> list[str]:
        """The quoted primary key columns of an existing table; empty when it has none."""
        with self.connections.exception_handler("table keys"):
            table = self.catalog.load_table(schema_of(relation), str(relation.identifier))
        return [self.quote(one) for one in table.schema.primary_keys]

    @available.parse_list
    def tablestore_update_columns(self, config: Mapping[str, Any], columns: list[TableStoreColumn]) -> list[str]:
        """The quoted columns that a MERGE updates."""
        return incremental.update_columns(config, columns)

    @available.parse(lambda *a, **k: "")
    def tablestore_qualified(self, relation: BaseRelation, expression: str, alias: str) -> str:
        """The expression, with `alias.` before each unqualified column name of the relation."""
        return incremental.qualified(str(expression), self.get_columns_in_relation(relation), alias)

    # ------------------------------------------------------------------ what materializations call

    @available.parse_none
    def tablestore_build(
        self, sql: str, model: Mapping[str, Any], existing: BaseRelation | None = None, query: str | None = None
    ) -> AdapterResponse:
        """Run the statement that writes a node's rows: those of `query` into an existing table, if these are given.

        A key that occurs twice in them is an error that names it, unless the model says by `sequence_field` which
        row counts. So is a query that lacks columns of its table.
        """
        config, name = model.get("config") or {}, str(model["unique_id"])
        layout = TableLayout.of(model)
        options = layout.options
        intent = WriteIntent(
            refuse_duplicates="sequence.field" not in options,
            row_kinds=takes_row_kinds(config),
            identity=self._identity_of_group(model, sql, options),
            consumed=self._consumed_by(name),
            reads=self._model_changes.reads_of(name),
            describe=lambda schema: [*with_docs(schema, model, ()), *layout.constraints.of_new_table(schema, options)],
        )
        try:
            with self.connections.exception_handler("dead letters"):
                self._model_topics.bury(name, str(model["schema"]))
            done = self.connections.write(sql, intent)
            if existing is not None:
                self._add_constraints(existing, layout.constraints)
            this = self.Relation.create(schema=model["schema"], identifier=model["alias"])
            self._model_changes.keep(name, this)
            self._drop_views(self._model_topics.keep(name))
            return with_note(done, self._schema_notes.pop(str(model.get("unique_id")), ""))
        except KeyValuesError as error:
            if key_of_upserts(config):
                raise KeyValuesError(f"{error.msg} {LOOSE_KEY_HINT}{self._changed_before(name, existing)}") from None
            raise
        except DbtDatabaseError as error:
            changed = self._changed_before(name, existing)
            if existing is not None and query is not None and "UNRESOLVED_COLUMN" in str(error.msg):
                self._refuse_missing_columns(existing, query, changed, model)
            error.msg = f"{error.msg}{changed}"
            raise
        finally:
            handle = self.connections.get_thread_connection().handle
            handle.steps = handle.evolution = None

    def _changed_before(self, name: str, existing: BaseRelation | None) -> str:
        """The sentence of a failed write on the changes of its table, which were committed before the rows."""
        note = self._schema_notes.pop(name, "")
        with_rows = self.connections.get_thread_connection().handle.evolution is not None
        if existing is None or not note or with_rows:
            return ""
        return f" The table was changed before its rows were written, and stays so: {note}."

    def _refuse_missing_columns(
        self, existing: BaseRelation, query: str, changed: str, model: Mapping[str, Any]
    ) -> None:
        """Raise a DbtRuntimeError that names the columns of a table that a query lacks, if it lacks any, or the one
        that says what each row does."""
        try:
            source = self.get_column_schema_from_query(query)
        except DbtDatabaseError:
            return  # the query itself is wrong
        if takes_row_kinds(model["config"]) and ROW_KIND not in [one.name.lower() for one in source]:
            raise DbtRuntimeError(f"{NO_ROW_KINDS} {NO_ROW_KINDS_HINT}{changed}") from None
        try:
            change = self.tablestore_schema_change(source, self.get_columns_in_relation(existing), model)
        except DbtRuntimeError as error:
            raise DbtRuntimeError(f"{error.msg}{changed}") from None
        if change.removed:
            raise DbtRuntimeError(f"{change.misfit(existing.render())}{changed}") from None

    def _drop_views(self, views: Sequence[str]) -> None:
        if views:
            with self.connections.get_thread_connection().handle.work() as store:
                for view in views:
                    store.spark.catalog.dropTempView(view)

    @available.parse(lambda *a, **k: "")
    def tablestore_spark_sql(self, model: Mapping[str, Any], sql: str, write: Callable[[str], Any]) -> str:
        """A node's compiled text as Spark's SQL, translated if it is written in another dialect. `write` puts the
        translation into target/run, or why there is none."""
        if model.get("language", "sql") != "sql":
            return sql
        ctes = model.get("extra_ctes") or ()
        tested = model.get("tested_node_unique_id")  # the CTEs of a unit test are rows
        dialect = self.tablestore_dialect(model) or None
        of_node = (lambda node: None) if tested else self._dialect_of
        subject = f"The {str(model.get('resource_type') or 'text').replace('_', ' ')} '{model.get('name')}'"
        try:
            made = translated_node(sql, dialect, ctes, of_node, self._types_of_columns, subject)
        except DbtRuntimeError as error:
            write(untranslated(sql, error.msg))
            raise
        self.connections.get_thread_connection().handle.translations = made.translations
        if made.translations:
            write(made.text)
        return made.text

    def query_of_dialect(self, sql: str, dialect: str) -> str:
        """A query that a macro runs, as Spark's SQL; as it is where it is none of the dialect."""
        try:
            return translation_of("This query", sql, dialect, self._types_of_columns).text
        except DbtRuntimeError:
            return sql

    def _types_of_columns(self, parts: Sequence[str]) -> dict[str, str]:
        """The columns of a table or view by its name, with their types; none where there is no such one."""
        if len(parts) < 2:
            return {}
        relation = self.Relation.create(schema=parts[-2], identifier=parts[-1])
        return {column.name: column.data_type for column in self.get_columns_in_relation(relation)}

    @available.parse_none
    def tablestore_load_seed(
        self, relation: BaseRelation, agate_table: agate.Table, model: Mapping[str, Any], comment: str | None
    ) -> SeedLoad:
        """Replace the rows of a table by those of a seed, in one atomic step."""
        from tablestore_engine.spark.queries.collect import arrow_frame

        note = self._schema_notes.pop(str(model["unique_id"]), "")
        columns = seeds.columns_of(agate_table, self._seed_types(agate_table.column_names, model), self.convert_type)
        seeds.check_names(columns, model["config"].get("quote_columns"))
        types = text_types((one.name, one.type) for one in columns)
        layout = replace(self.tablestore_layout(model), listed=listed_columns((one.name for one in columns), types))
        view = f"__dbt_seed_{next(_numbers)}"
        items = ",\n    ".join(one.item for one in columns)
        sql = (
            f"create or replace table {relation.render()}\n  {layout.clauses(comment)}\n"
            f"as select\n    {items}\nfrom {self.quote(view)}"
        )
        handle = self.connections.get_thread_connection().handle
        with self.connections.exception_handler(sql), handle.work() as store:
            arrow_frame(store.spark, seeds.arrow_table(agate_table, columns)).createOrReplaceTempView(view)
            try:
                self.tablestore_build(sql, model)
            finally:
                store.spark.catalog.dropTempView(view)
        loaded = with_note(response("INSERT", len(agate_table.rows)), note)
        return SeedLoad(str(loaded), "INSERT", sql)

    @available.parse(lambda *a, **k: "")
    def tablestore_python_model(self, model: Mapping[str, Any], compiled_code: str) -> str:
        """Run a Python model, and return the query that reads its result."""
        from dbt.adapters.tablestore.models import python_models

        handle = self.connections.get_thread_connection().handle
        with self.connections.exception_handler(compiled_code), handle.work("create temporary view") as store:
            return python_models.run(store, str(model["name"]), compiled_code)

    @available.parse_list
    def tablestore_keys(self, config: Mapping[str, Any], columns: Sequence[TableStoreColumn] = ()) -> list[str]:
        """The columns or expressions that identify a row, without repetitions; empty when there is no key. A name of
        one of the columns is quoted."""
        quoted = {one.name.lower(): one.quoted for one in columns}
        return [quoted.get(one.strip().lower(), one) for one in unique_keys(config)]

    @available.parse(lambda *a, **k: TableLayout())
    def tablestore_layout(self, model: Mapping[str, Any], primary_key: list[str] | None = None) -> TableLayout:
        """The checked primary key, partition columns and options that a node asks for."""
        config = model.get("config") or {}
        self._say_notices(config)
        layout = replace(TableLayout.of(model, tuple(primary_key or ())), listed=self._listed_columns(model))
        return replace(layout, query=self._compiled(model)) if is_view_config(config) else layout

    def _compiled(self, model: Mapping[str, Any]) -> str:
        """The query of a model, also in a run that takes some of the rows only: the view is the same one."""
        query = str(model.get("compiled_code") or "")
        query = of_all_rows(query) if takes_some_rows() else query
        return self.tablestore_spark_sql(model, query, lambda text: None)

    @available.parse_none
    def tablestore_note_fixture(self, source: BaseRelation) -> None:
        """Changes of a relation are read, which may be the rows of a unit test; these are compiled afterwards."""
        if isinstance(source, BaseRelation) and source.is_cte:
            self._fixtures_of_changes.add((self._thread_s_node(), str(source.identifier)))

    @available.parse(lambda *a, **k: False)
    def tablestore_is_fixture_of_changes(self, this: BaseRelation) -> bool:
        """Whether the unit test that runs reads the rows that it gives for a relation as changes."""
        name = BaseRelation.add_ephemeral_prefix(str(this.identifier))
        return (self._thread_s_node(), name) in self._fixtures_of_changes

    def _thread_s_node(self) -> str | None:
        connection = self.connections.get_if_exists()
        return None if connection is None else connection.name

    @available.parse(lambda *a, **k: ViewStep(CREATE))
    def tablestore_view_step(self, relation: BaseRelation | None, model: Mapping[str, Any]) -> ViewStep:
        """The step that a run takes with a materialized view; see `stored_query.view_step`."""
        if relation is None or relation.is_view:
            return ViewStep(CREATE if relation is None else REPLACE)
        query = self._compiled(model)
        with self.connections.exception_handler("materialized view"):
            schema = self.catalog.load_table(schema_of(relation), str(relation.identifier)).schema
        step = view_step(schema, TableLayout.of(model), query, same_columns=True)
        if step.name == REPLACE:
            return step
        columns = self.get_column_schema_from_query(query)
        found = [(one.name, stored_dtype(one.dtype)) for one in self._as_declared(columns, model)]
        has = [(one.name, one.dtype) for one in self.get_columns_in_relation(relation)]
        return view_step(schema, TableLayout.of(model), query, same_columns=found == has)

    @available.parse_none
    def tablestore_alter_view(self, relation: BaseRelation, step: ViewStep, model: Mapping[str, Any]) -> None:
        """Give a materialized view the options of its model."""
        from tablestore_engine.sql.catalog.execute_context import say_notes  # it imports Arrow

        self._schema_notes[str(model["unique_id"])] = step.options.text
        changes = step.options.schema_changes()
        with self.connections.exception_handler("materialized view"):
            altered = self.catalog.alter_table(schema_of(relation), str(relation.identifier), changes)
        say_notes(step.options.to_set, altered.schema)

    def _say_notices(self, config: Mapping[str, Any]) -> None:
        for notice in notices(config):
            self.tablestore_warn_once(notice)

    @available.parse(lambda *a, **k: "''")
    def tablestore_literal(self, text: Any) -> str:
        """The string literal of exactly this text."""
        return quoted_text(str(text))

    @available.parse(lambda *a, **k: "")
    def tablestore_call_sql(self, procedure: str, table: str, arguments: Mapping[str, Any]) -> str:
        """The CALL of a procedure on a table, `schema.name`."""
        return run_operation.call_sql(procedure, table, arguments)

    @available.parse_list
    def tablestore_report(self, procedure: str, table: str, answer: agate.Table) -> list[str]:
        """The lines that report what a procedure did."""
        return run_operation.report(procedure, table, answer.column_names, [tuple(row) for row in answer.rows])
