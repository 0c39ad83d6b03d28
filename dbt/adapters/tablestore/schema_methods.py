"""The methods that this adapter's macros call to change the schema of an existing table: options, columns, comments.

Each is one commit of the schema, of which files know the version they were written with: no data is rewritten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dbt.adapters.base import BaseRelation, available
from dbt_common.exceptions import DbtDatabaseError

from dbt.adapters.tablestore.config.option_changes import STORED_QUERY, option_changes, replaced_options
from dbt.adapters.tablestore.config.table_constraints import TableConstraints, constraint_clauses
from dbt.adapters.tablestore.config.table_layout import TableLayout
from dbt.adapters.tablestore.connection.environment import Environment, environment_of
from dbt.adapters.tablestore.contract_methods import ContractMethods
from dbt.adapters.tablestore.models.fields_of_structs import may_differ, with_fields_of
from dbt.adapters.tablestore.models.on_schema_change import SYNC, WIDEN, SchemaChange, refuse_unrenamed, renames
from dbt.adapters.tablestore.models.persist_docs import column_comments, descriptions, with_docs
from dbt.adapters.tablestore.relation.column import TableStoreColumn
from dbt.adapters.tablestore.relation.column_paths import ColumnPath, column_paths
from dbt.adapters.tablestore.relation.relation import schema_of
from tablestore_engine.errors import SchemaError, TableNotFound, UnsupportedTypeError
from tablestore_engine.operation.write_job.write_intent import Evolution
from tablestore_engine.schema.alter.edit_fields import commented
from tablestore_engine.schema.table.check_constraints import without_checks
from tablestore_engine.schema.table.row_kind import ROW_KIND
from tablestore_engine.schema.table.schema_changes import SetComment

if TYPE_CHECKING:
    from tablestore_engine.catalog import Catalog


class SchemaMethods(ContractMethods):
    """The part of the adapter that changes schemas of tables."""

    _warned: dict[str, object]
    _schema_notes: dict[str, str]  # by node, what changed before its rows are written

    @property
    def environment(self) -> Environment:
        """The warehouse of the profile and the Spark that works on it."""
        return environment_of(self.config.credentials)

    @property
    def catalog(self) -> Catalog:
        """The catalog of the warehouse."""
        return self.environment.catalog

    @available.parse_none
    def tablestore_schema_change(
        self,
        source: list[TableStoreColumn] | None,
        target: list[TableStoreColumn],
        model: Mapping[str, Any] | None = None,
    ) -> SchemaChange:
        """How the columns of a query differ from those of its table; false when they do not differ.

        Without a query, only the renames that the model asks for are found.
        """
        # The column that holds the kind of each row is not a column of the table.
        given = None if source is None else [one for one in source if one.name.lower() != ROW_KIND]
        if model is None:
            return SchemaChange.between(given, target)
        model = self._with_written_configs(model)
        renamed = renames(model, target)
        refuse_unrenamed(model, given or (), target)
        return SchemaChange.between(given and self._as_declared(given, model), target, renamed)

    @available.parse_none
    def tablestore_evolve(
        self,
        relation: BaseRelation,
        change: SchemaChange,
        mode: str,
        model: Mapping[str, Any],
        with_rows: bool = False,
    ) -> None:
        """Adapt a table to its model or snapshot, in one commit of its schema: its options, the comments that it
        persists, and as far as the mode allows, its columns. `with_rows`: by the commit of the next statement, which
        writes the rows. Constraints that the table gets are added after the rows.

        Raises DbtRuntimeError for an option or a column that cannot change.
        """
        from tablestore_engine.sql.catalog.execute_context import say_notes  # it imports Arrow

        layout = TableLayout.of(model)
        identifier = schema_of(relation), str(relation.identifier)
        columns = change.changes(mode)
        with self.connections.exception_handler("table schema"):
            schema = self.catalog.load_table(*identifier).schema
            held = layout.constraints.remembered
            options = option_changes(schema.options, layout.options, held, snapshot=mode == WIDEN)
            # Constraints first, which may name a column that goes; then options: `schema.evolution.cast` decides about
            # the columns.
            dropped = layout.constraints.changes(schema).dropped
            changes = [*dropped, *options.schema_changes(), *with_docs(schema, model, columns)]
            try:
                if changes and with_rows:
                    self._evolve_with_rows(Evolution(identifier, tuple(changes)))
                elif changes:
                    self.catalog.alter_table(*identifier, changes)
            except (SchemaError, UnsupportedTypeError) as error:
                again = "Or run the model once with --full-refresh." if columns else ""
                raise type(error)(error.message, hint=f"{error.hint or ''} {again}".strip()) from None
        say_notes(options.to_set, replace(schema, options=options.applied_to(schema.options)))
        note = ", ".join(one for one in (options.text, change.done(mode)) if one)
        if note:
            self._schema_notes[str(model["unique_id"])] = note

    def _evolve_with_rows(self, evolution: Evolution) -> None:
        from tablestore_engine.operation.table_commands.alter_table import evolving
        from tablestore_engine.storage.clock import now_millis

        evolving(self.catalog.load_table(*evolution.table).state, evolution.changes, now_millis())  # or it is refused
        self.connections.get_thread_connection().handle.evolution = evolution

    @available.parse(lambda query, *a, **k: query)
    def tablestore_with_fields_of(self, query: str, relation: BaseRelation, mode: str) -> str:
        """A model's query with the fields of its table's structs, where the mode leaves these as they are."""
        target = self.get_columns_in_relation(relation)
        if not may_differ(mode, target):
            return query
        return with_fields_of(query, self.get_column_schema_from_query(query), target)

    def _add_constraints(self, relation: BaseRelation, constraints: TableConstraints) -> None:
        """Give a table the constraints of its model's contract that it does not have. Rows of earlier runs may violate
        one: then the table does without it, and a warning says so."""
        identifier = schema_of(relation), str(relation.identifier)
        with self.connections.exception_handler("table constraints"):
            found = constraints.changes(self.catalog.load_table(*identifier).schema)
            for one in found.strict:
                try:
                    self.catalog.alter_table(*identifier, [one])
                except SchemaError as error:
                    self._warn_of_constraint(relation, f"not_null of column '{one.name}'", error.message)
        for check in found.checks:
            added = f"alter table {relation.render()} add constraint {self.quote(check.name)} check ({check.sql})"
            try:
                self.execute(added)
            except DbtDatabaseError as error:
                self._warn_of_constraint(relation, f"check '{check.name}'", str(error.msg).strip())

    def _warn_of_constraint(self, relation: BaseRelation, what: str, why: str) -> None:
        self.tablestore_warn_once(
            f"The table {relation.render()} does without the constraint {what}, so only the rows of its model are held "
            f"to it: {why} Run the model with --full-refresh, or mend these rows."
        )

    @available.parse_none
    def tablestore_note_replaced(self, relation: BaseRelation, model: Mapping[str, Any]) -> None:
        """Keep for the console how the options of a table change that is built anew."""
        with suppress(TableNotFound):  # dropped by someone else
            table = self.catalog.load_table(schema_of(relation), str(relation.identifier))
            note = replaced_options(table.schema.options, TableLayout.of(model).options).text
            if note:
                self._schema_notes[str(model["unique_id"])] = note

    @available.parse_none
    def tablestore_alter_columns(
        self,
        relation: BaseRelation,
        add: Sequence[TableStoreColumn] = (),
        remove: Sequence[TableStoreColumn] = (),
        retype: Mapping[str, str] | None = None,
    ) -> None:
        """Add, drop and retype columns of a table, by name."""
        types = {name.lower(): TableStoreColumn.type_of_column(kind) for name, kind in (retype or {}).items()}
        removed = {one.name.lower() for one in remove}
        target = self.get_columns_in_relation(relation)
        kept = [
            TableStoreColumn(one.name, types.get(one.name.lower(), one.dtype))
            for one in target
            if one.name.lower() not in removed
        ]
        new = [TableStoreColumn(one.name, TableStoreColumn.type_of_column(one.dtype)) for one in add]
        changes = SchemaChange.between([*kept, *new], target).changes(SYNC)
        if changes:
            with self.connections.exception_handler("table columns"):
                self.catalog.alter_table(schema_of(relation), str(relation.identifier), changes)

    @available.parse_none
    def expand_column_types(self, goal: BaseRelation, current: BaseRelation) -> None:
        """Let texts with a limit be as long as those of another relation."""
        longer = {one.name.lower(): one for one in self.get_columns_in_relation(goal)}
        retype = {
            one.name: wanted.dtype
            for one in self.get_columns_in_relation(current)
            if (wanted := longer.get(one.name.lower())) is not None and one.can_expand_to(wanted)
        }
        if retype:
            self.tablestore_alter_columns(current, retype=retype)

    @available.parse(lambda *a, **k: "")
    def tablestore_clauses_of(self, relation: BaseRelation) -> str:
        """The clauses that create a table with the keys, partitions, options and comment of an existing one."""
        with self.connections.exception_handler("table layout"):
            schema = self.catalog.load_table(schema_of(relation), str(relation.identifier)).schema
        from tablestore_engine.catalog.log_topics import TOPIC  # the catalog imports Arrow

        # A log's topic belongs to one table, and a copy is no materialized view.
        kept = without_checks(schema.options)
        options = {key: text for key, text in kept.items() if key not in (TOPIC, STORED_QUERY)}
        listed = tuple(constraint_clauses(schema))
        copy = TableLayout(schema.primary_keys, schema.partition_keys, options, listed=listed, remembers=False)
        return copy.clauses(schema.comment)

    @available.parse_none
    def tablestore_comment_relation(self, relation: BaseRelation, comment: str) -> None:
        """Set a table's comment, or remove it where it is empty, unless it has the same one."""
        identifier = schema_of(relation), str(relation.identifier)
        with self.connections.exception_handler("comment"):
            if (self.catalog.load_table(*identifier).schema.comment or "") != comment:
                self.catalog.alter_table(*identifier, [SetComment(comment or None)])

    @available.parse_none
    def tablestore_comment_columns(self, relation: BaseRelation, comments: Mapping[str, str]) -> None:
        """Set or remove the comments of columns and fields, by lower-case path, at once, unless all are so already."""
        identifier = schema_of(relation), str(relation.identifier)
        with self.connections.exception_handler("comment"):
            changes = column_comments(self._paths(relation), comments)
            if changes and relation.is_view:
                view = self.catalog.load_view(*identifier)
                for one in changes:
                    view = replace(view, columns=commented(view.columns, tuple(one.name), one.comment))
                self.catalog.create_view(*identifier, view, replace=True)
            elif changes:
                self.catalog.alter_table(*identifier, changes)

    @available.parse(lambda *a, **k: {})
    def tablestore_descriptions(self, model: Mapping[str, Any], names: Sequence[str]) -> dict[str, str]:
        """The descriptions of a model's columns by lower-case name, for columns of these names."""
        return descriptions((model.get("columns") or {}).values(), names)

    @available.parse_list
    def tablestore_column_paths(self, relation: BaseRelation) -> list[str]:
        """The names of the columns of a table or view, and of the fields inside of them, such as `s.x`."""
        with self.connections.exception_handler("columns"):
            return [name for one in self._paths(relation) for name in one.shown]

    def _paths(self, relation: BaseRelation) -> list[ColumnPath]:
        identifier = schema_of(relation), str(relation.identifier)
        if relation.is_view:
            return column_paths(self.catalog.load_view(*identifier).columns)
        return column_paths(self.catalog.load_table(*identifier).schema.fields)

    @available.parse_none
    def tablestore_warn_once(self, message: str) -> None:
        """Show a warning once in a dbt command, for however many models it is given."""
        mine = object()
        if self._warned.setdefault(message, mine) is not mine:  # atomic, because several threads build models
            return
        from dbt.adapters.events.types import AdapterEventWarning
        from dbt_common.events.functions import warn_or_error

        warn_or_error(AdapterEventWarning(name="tablestore", base_msg=message))
