"""The methods behind the macros of changes: what a model reads of other tables and of topics, and how far it is behind.

Their decisions are in `models.changes_since_last_run` and `models.kafka_changes_since_last_run`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from dbt.adapters.base import BaseRelation, available
from dbt_common.exceptions import DbtRuntimeError
from dbt_common.invocation import get_invocation_id

from dbt.adapters.tablestore.config.changes_calls import (
    CHANGES,
    SourceCall,
    calls_of_changes,
    is_fixture,
    refuse_windows,
    unnamed_calls,
)
from dbt.adapters.tablestore.config.kafka_source import KafkaTopic, has_topic, topic_of
from dbt.adapters.tablestore.config.stored_query import is_materialized_view
from dbt.adapters.tablestore.config.table_layout import TableLayout
from dbt.adapters.tablestore.connection.environment import only_compiles, reads_rows
from dbt.adapters.tablestore.connection.model_steps import ModelSteps
from dbt.adapters.tablestore.models.changes_since_last_run import (
    ERROR,
    FULL_REFRESH,
    STORED,
    ModelChanges,
    on_expired_of,
)
from dbt.adapters.tablestore.models.commit_identities import CommitIdentities, new_user
from dbt.adapters.tablestore.models.fields_of_structs import may_differ
from dbt.adapters.tablestore.models.kafka_changes_since_last_run import ModelTopics, frame_of, no_rows
from dbt.adapters.tablestore.models.on_schema_change import (
    APPEND,
    SYNC,
    OtherPaths,
    Path,
    SchemaChange,
    refusal_of_missing,
    refusal_of_new,
    refusal_of_renamed,
)
from dbt.adapters.tablestore.models.snapshot_source import snapshot_source
from dbt.adapters.tablestore.relation.lag import source_name
from dbt.adapters.tablestore.relation.relation import schema_of
from dbt.adapters.tablestore.schema_methods import SchemaMethods
from tablestore_engine.operation.commit.commit_identity import CommitIdentity
from tablestore_engine.operation.commit.consumed_positions import Consumed, Position, with_news
from tablestore_engine.operation.write_job.write_intent import WriteIntent
from tablestore_engine.options import CommitOptions

if TYPE_CHECKING:
    from dbt.adapters.contracts.connection import AdapterResponse

_WAYS_OUT = "Run it with --full-refresh, or set `on_expired: full_refresh`."


class ChangeMethods(SchemaMethods):
    """The part of the adapter that knows what models have read of other tables."""

    _changes: ModelChanges | None
    _topics: ModelTopics | None
    _rebuilds: dict[tuple[str, str, str], bool]
    _identities: CommitIdentities

    @property
    def _model_changes(self) -> ModelChanges:
        if self._changes is None:
            self._changes = ModelChanges(self.catalog)
        return self._changes

    @property
    def _model_topics(self) -> ModelTopics:
        if self._topics is None:
            self._topics = ModelTopics(self.catalog)
        return self._topics

    @available.parse(lambda *a, **k: "")
    def tablestore_changes(
        self, source: BaseRelation, this: BaseRelation, model: Mapping[str, Any], incremental: bool
    ) -> str:
        """The text of `changes(source)`: the rows that changed since the model's last run, or all rows as inserted."""
        if is_fixture(source, "changes", model):
            return str(source.render())
        on_expired_of(model.get("config") or {})
        self._refuse_windows(f"changes({source.identifier})", model)
        if not _is_stored(model):
            raise DbtRuntimeError(
                f"`changes({source.identifier})` in {model.get('unique_id')}: only an incremental model or a table can"
                " say up to where it was computed. `table_changes('schema.table', from, to)` gives any other range."
            )
        with self.connections.exception_handler("changes"):
            if self._is_only_shown(source):
                return f"(select '+I' as _row_kind, * from {source.render()})"
            name = str(model["unique_id"])
            before = self._position(name, this, source) if incremental else None
            self._note_steps(model, this)
            return self._model_changes.changes_sql(name, source, before)

    @available.parse_list
    def tablestore_calls_of_changes(self, model: Mapping[str, Any]) -> list[SourceCall]:
        """The sources whose changes a model's text reads, in whichever branch, as it calls them."""
        return calls_of_changes(model)

    @available.parse_none
    def tablestore_begin_changes(
        self, sources: Sequence[BaseRelation], this: BaseRelation, model: Mapping[str, Any]
    ) -> None:
        """A model is built anew, and its text reads changes of sources, some of them in later runs only."""
        _refuse_unnamed(model, self._model_changes.sources_of(str(model["unique_id"])), sources)
        if sources:
            on_expired_of(model.get("config") or {})
            self._refuse_windows("changes(…)", model)
            with self.connections.exception_handler("changes"):
                self._model_changes.begin(str(model["unique_id"]), sources)
                self._note_steps(model, this)

    @available.parse(lambda *a, **k: "")
    def tablestore_pinned(self, source: BaseRelation, model: Mapping[str, Any]) -> str:
        """The rows of a source at the snapshot up to which the model reads its changes."""
        if is_fixture(source, "pinned", model):
            return str(source.render())
        with self.connections.exception_handler("snapshot"):
            if self._is_only_shown(source):
                return str(source.render())
            return self._model_changes.pinned_sql(str(model["unique_id"]), source)

    @available.parse(lambda *a, **k: "")
    def tablestore_cloned(self, source: BaseRelation, model: Mapping[str, Any]) -> str:
        """The rows of the table that a model is cloned from."""
        with self.connections.exception_handler("clone"):
            return self._model_changes.cloned_sql(str(model["unique_id"]), source)

    @available.parse_none
    def tablestore_clone(self, sql: str, this: BaseRelation, model: Mapping[str, Any]) -> AdapterResponse:
        """Run the statement that clones a model's table, which is computed from the same changes of others then."""
        name = str(model["unique_id"])
        with self.connections.exception_handler("clone"):
            done = self.connections.write(sql, WriteIntent(consumed=self._consumed_by(name)))
            self._model_changes.keep(name, this)
            return done

    @available.parse(lambda *a, **k: "")
    def tablestore_snapshot_query(
        self, query: str, target: BaseRelation, exists: bool, model: Mapping[str, Any]
    ) -> str:
        """The query of a snapshot, of the rows that may differ from those of its table, if it exists."""
        with self.connections.exception_handler("snapshot"):
            source = snapshot_source(self.catalog, query, model["config"])
            if source is None:
                return query
            self._note_steps(model, target)
            return self._model_changes.compared_sql(str(model["unique_id"]), source, target if exists else None)

    @available.parse(lambda *a, **k: "")
    def tablestore_kafka_changes(
        self, source: BaseRelation, this: BaseRelation, model: Mapping[str, Any], incremental: bool
    ) -> str:
        """The text of `kafka_changes(source)`: the rows of the messages since the model's last run, or of all."""
        if is_fixture(source, "kafka_changes", model):
            return str(source.render())
        self._refuse_windows(f"kafka_changes({source.identifier})", model)
        if not _is_stored(model):
            raise DbtRuntimeError(
                f"`kafka_changes({source.identifier})` in {model.get('unique_id')}: only an incremental model or a"
                " table can say up to which message it was computed."
            )
        topic, name = self._topic_at(source, model), str(model["unique_id"])
        if not reads_rows():
            return no_rows(topic)
        view = self._model_topics.view_of(name, topic)
        if view is None:
            handle = self.connections.get_thread_connection().handle
            with self.connections.exception_handler("kafka_changes"):
                positions = None
                if incremental:
                    self._model_changes.undo_unfinished(name, this)
                    positions = self._model_changes.positions(this)
                self._note_steps(model, this)
                view, rows = self._model_topics.take(name, topic, positions)
                with handle.work("create temporary view") as store:
                    frame_of(store.spark, rows, topic).createOrReplaceTempView(view)
        return f"(select * from {view})"

    def _note_steps(self, model: Mapping[str, Any], this: BaseRelation) -> None:
        """From now on, what a model's connection writes to its table belongs to its run."""
        handle, table = self.connections.get_thread_connection().handle, (schema_of(this), str(this.identifier))
        if handle.steps is None or handle.steps.table != table:
            user = new_user(TableLayout.of(model).options)
            handle.steps = ModelSteps(self.catalog, table, user, partial(self._consumed_by, str(model["unique_id"])))

    def _identity_of_group(self, model: Mapping[str, Any], sql: str, options: Mapping[str, str]) -> CommitIdentity:
        """The identity of a node's main text; statements that it ran before belong to the same one."""
        steps = self.connections.get_thread_connection().handle.steps
        if steps is not None:
            return CommitIdentity(steps.group, 1)
        return self._identities.identity(model, sql, options.get(CommitOptions.commit_user_prefix.key))

    def _consumed_by(self, model: str) -> tuple[Consumed, ...]:
        return with_news((*self._model_changes.consumed_by(model), *self._model_topics.consumed_by(model)))

    def _topic_at(self, source: BaseRelation, model: Mapping[str, Any]) -> KafkaTopic:
        """The topic that a source of a model is. Raises DbtRuntimeError."""
        wanted = getattr(source, "source_id", None)
        for node in self._sources_of(model):
            if wanted is not None and node.unique_id == wanted:
                return topic_of(node.to_dict(omit_none=True))
        raise DbtRuntimeError(
            f"`kafka_changes({source.render()})` in {model.get('unique_id')}: it is no source of the model. Write"
            " `kafka_changes(source('shop', 'orders'))`; `changes(ref('orders'))` reads what changed in a table."
        )

    def _sources_of(self, model: Mapping[str, Any]) -> list[Any]:
        """The sources of the project that a model depends on."""
        known = getattr(self.get_macro_resolver(), "sources", {})
        names = (model.get("depends_on") or {}).get("nodes") or ()
        return [known[name] for name in names if name in known]

    def _topics_of(self, model: Mapping[str, Any]) -> list[KafkaTopic]:
        sources = [node.to_dict(omit_none=True) for node in self._sources_of(model)]
        return [topic_of(one) for one in sources if has_topic(one)]

    @available.parse(lambda *a, **k: False)
    def tablestore_rebuilds(
        self, this: BaseRelation, model: Mapping[str, Any], sources: Sequence[BaseRelation]
    ) -> bool:
        """Whether an incremental model is built anew, because changes that it needs are lost; `sources` are those whose
        changes its text reads.

        Decided once in a dbt command: the model's query and the way in which it is built belong together, whatever
        expires, or another run does, in between. Raises DbtRuntimeError where its config `on_expired` does not allow
        it.
        """
        run = (get_invocation_id(), str(model["unique_id"]), this.render())
        if run not in self._rebuilds:
            self._rebuilds[run] = self._must_rebuild(this, model, sources)
        return self._rebuilds[run]

    def _must_rebuild(self, this: BaseRelation, model: Mapping[str, Any], sources: Sequence[BaseRelation]) -> bool:
        if self._was_materialized_view(this, model):
            return True
        if not CHANGES.search(str(model.get("raw_code", ""))):
            return False
        allowed = on_expired_of(model.get("config") or {})
        with self.connections.exception_handler("changes"):
            # Which columns it reads is known when it is compiled (`tablestore_check_lost_columns`).
            read = () if allowed == ERROR else None
            lost = self._model_changes.lost(str(model["unique_id"]), this, read) or self._lost_messages(model, this)
            unknown = "" if lost else self._model_changes.unknown(this, sources)
            if unknown and self._model_changes.has_no_rows(this):
                return True
        if allowed == FULL_REFRESH:
            lost = lost or unknown  # else the call of `changes` says so, if it is made
        if lost and allowed == ERROR:
            self._refuse_or_warn(f"{lost} {_WAYS_OUT}")
        elif lost:
            self.tablestore_warn_once(f"{lost} It is built anew (`on_expired: full_refresh`).")
        return bool(lost)

    def _refuse_windows(self, call: str, model: Mapping[str, Any]) -> None:
        try:
            refuse_windows(call, model)
        except DbtRuntimeError as error:
            self.tablestore_warn_once(str(error.msg))  # of a batch that fails, dbt says no reason
            raise

    def _is_only_shown(self, source: BaseRelation) -> bool:
        """Whether a source is not made yet, in a command that needs the text of its model only."""
        return only_compiles() and self.catalog.object_kind(schema_of(source), str(source.identifier)) is None

    def _position(self, name: str, this: BaseRelation, source: BaseRelation) -> Position | None:
        try:
            return self._model_changes.position(name, this, source)
        except DbtRuntimeError as error:
            self._refuse_or_warn(str(error.msg))
            return None

    def _refuse_or_warn(self, reason: str) -> None:
        """An error in a run. A command that makes texts shows the one of a model built anew, and a warning."""
        if not only_compiles():
            raise DbtRuntimeError(reason)
        self.tablestore_warn_once(f"{reason} Until then no run succeeds; the text is that of a model built anew.")

    @available.parse_none
    def tablestore_check_lost_columns(self, query: str | None, this: BaseRelation, model: Mapping[str, Any]) -> None:
        """Refuse the query of an incremental model, None for a Python model's, that reads a column of a source whose
        values are others than its earlier rows were computed from. Raises DbtRuntimeError."""
        with self.connections.exception_handler("changes"):
            lost = self._model_changes.lost_columns(str(model["unique_id"]), this, query)
        if lost:
            raise DbtRuntimeError(f"{lost} {_WAYS_OUT}")

    def _was_materialized_view(self, this: BaseRelation, model: Mapping[str, Any]) -> bool:
        """Whether an incremental model was a materialized view before, whose rows are no earlier ones of it."""
        if (model.get("config") or {}).get("materialized") != "incremental":
            return False
        with self.connections.exception_handler("table"):
            return is_materialized_view(self.catalog.load_table(schema_of(this), str(this.identifier)).schema)

    def _lost_messages(self, model: Mapping[str, Any], this: BaseRelation) -> str:
        topics = self._topics_of(model) if reads_rows() else []
        if not topics:
            return ""
        return self._model_topics.lost(str(model["unique_id"]), topics, self._model_changes.positions(this))

    @available.parse_none
    def tablestore_check_columns(
        self, query: str, this: BaseRelation, change: SchemaChange, mode: str, model: Mapping[str, Any], removes: bool
    ) -> None:
        """Refuse a query with columns that the rows of earlier runs lack, or without columns that they have, where that
        makes wrong rows of what changes since. `removes`: its rows say what they do. Raises DbtRuntimeError."""
        name = str(model["unique_id"])
        if not self._model_changes.goes_on(name):
            return
        with self.connections.exception_handler("columns"):
            renamed = self._model_changes.renamed_columns(name)
            keys = self.tablestore_primary_key(this)
        counted = removes and not keys
        if not (renamed or counted):
            return
        if mode == "ignore":
            target = self.get_columns_in_relation(this)
            if not may_differ(mode, target):
                return
            change = self.tablestore_schema_change(self.get_column_schema_from_query(query), target, model)
        paths = OtherPaths.of(change)
        for source, old, new in renamed:
            if paths.of_renamed(old, new):
                raise DbtRuntimeError(refusal_of_renamed(this.render(), source, old, new))
        if counted:
            self._check_counted(query, this, paths, mode, name)

    def _check_counted(self, query: str, this: BaseRelation, paths: OtherPaths, mode: str, model: str) -> None:
        """Of a table without a key: a row is removed by all of its values, so those of before must be the same now."""
        new = paths.new if mode in (APPEND, SYNC) else ()
        earlier = self._rows_of_before(query, this, model) if new else None
        for path in new:
            if self._has_values(path, earlier):
                raise DbtRuntimeError(refusal_of_new(this.render(), path))
        for path in paths.missing if mode != SYNC else ():
            if self._has_values(path, this.render()):
                raise DbtRuntimeError(refusal_of_missing(this.render(), path))

    def _rows_of_before(self, query: str, this: BaseRelation, model: str) -> str | None:
        """The rows that a model's query makes of those of before; None where that is not known, or it leaves out some,
        by a filter that the first run did not have."""
        earlier = self._model_changes.earlier_rows(model, query)
        rows = earlier and f"(\n{earlier}\n)"
        if rows:
            counts = [f"(select count(*) from {one} as dbt_rows)" for one in (rows, this.render())]
            _, found = self.execute(f"select {' < '.join(counts)}", fetch=True)
            rows = None if found.rows[0][0] else rows
        return rows

    def _has_values(self, path: Path, rows: str | None) -> bool:
        """Whether a column or field is not null in some of the rows; also where that is not known."""
        if rows is None or set(path[1:]) & {"element", "value"}:
            return True
        column = ".".join(map(self.quote, path))
        _, found = self.execute(f"select 1 from {rows} as dbt_rows where {column} is not null limit 1", fetch=True)
        return len(found.rows) > 0

    @available.parse_list
    def tablestore_lag_of(self, relation: BaseRelation, model: Mapping[str, Any]) -> list[str]:
        """A line for each source of a model: how far the model is behind it."""
        with self.connections.exception_handler("lag"):
            lags = [str(lag) for lag in self._model_changes.lags(relation)]
            topics = self._topics_of(model)
            return lags + (self._model_topics.lags(topics, self._model_changes.positions(relation)) if topics else [])


def _refuse_unnamed(model: Mapping[str, Any], read: Collection[str], named: Sequence[BaseRelation]) -> None:
    """Raise DbtRuntimeError where `changes` is called for later runs only, and the text does not say of which source:
    no later run could go on from this one."""
    calls = unnamed_calls(model)
    if calls and not set(read) - {source_name(schema_of(one), str(one.identifier)) for one in named}:
        raise DbtRuntimeError(
            f"{calls[0]} in {model.get('unique_id')} is called in `is_incremental()` only, so the first run, which"
            " records from where the later ones go on, does not know its source. Name it there by constants:"
            " `changes(ref('orders'))` or `changes(source('shop', 'orders'))`."
        )


def _is_stored(model: Mapping[str, Any]) -> bool:
    """Whether the rows of a node are kept, with a snapshot that says what they were computed from."""
    materialized = (model.get("config") or {}).get("materialized")
    return model.get("resource_type") == "model" and materialized in STORED
