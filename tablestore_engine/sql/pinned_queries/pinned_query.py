"""From a query's text to a DataFrame that is pinned to one consistent set of snapshots.

One `Frames` serves one statement. Each table is looked up once and read at the snapshot it had then, however often the
query names it; each view is expanded by binding its own query, which sees no temporary views of the user. A bound table
becomes a temporary view named after it (`db.orders#7`, one identifier, unlikely as a name of a user's view).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from tablestore_engine.catalog import Catalog, View
from tablestore_engine.errors import BrokenViewError, ParseError, SqlError, TableNotFound, TableStoreError
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.metadata.warehouse.function import SQL, Function
from tablestore_engine.schema.table.predicate import Predicate
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.spark.changelog.read_changes import READ_OPTIONS
from tablestore_engine.spark.changelog.system_frames import system_table
from tablestore_engine.spark.errors.own_words import excerpt
from tablestore_engine.spark.errors.translate_errors import translated
from tablestore_engine.spark.queries.session_functions import session_function
from tablestore_engine.spark.queries.small_plans import SMALL_BYTES
from tablestore_engine.spark.queries.temp_views import TempViews, is_session_relation, is_temporary, refresh
from tablestore_engine.spark.session.session_settings import check_distinct
from tablestore_engine.spark.write.writer import Rows
from tablestore_engine.sql.catalog.show import information_schema
from tablestore_engine.sql.pinned_queries.called_functions import CalledFunctions
from tablestore_engine.sql.pinned_queries.joined_rows import JoinedSource, joined_rows, source_of_rows
from tablestore_engine.sql.pinned_queries.pinned_tables import PinnedTables
from tablestore_engine.sql.pinned_queries.session_options import of_read, referring, session_options
from tablestore_engine.sql.pinned_queries.table_changes import TableChanges
from tablestore_engine.sql.pinned_queries.table_frames import TableRead, cached_rows, incremental_rows
from tablestore_engine.sql.pinned_queries.time_travel import snapshot_of, value_query
from tablestore_engine.sql.pinned_views.bound_reads import BoundReads, reading
from tablestore_engine.sql.pinned_views.kept_views import KeptViews
from tablestore_engine.sql.pinned_views.nesting import Nesting
from tablestore_engine.sql.pinned_views.text_facts import TextFacts
from tablestore_engine.sql.pinned_views.view_rows import with_view_columns
from tablestore_engine.sql.query.bind import Binding, BoundQuery, TableReference, bind, bind_expression
from tablestore_engine.sql.query.function_calls import body_with
from tablestore_engine.sql.query.options_hint import time_travel_of
from tablestore_engine.sql.query.view_columns import references_of_view
from tablestore_engine.sql.query_structure.query_structure import TimeTravel
from tablestore_engine.sql.statements.script import QueriesInside
from tablestore_engine.sql.tokens.cursor import Cursor
from tablestore_engine.sql.tokens.lexer import edited
from tablestore_engine.system.system_tables import DATA_TABLES, split_name
from tablestore_engine.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Frames:
    """Binds and runs the queries of one statement."""

    def __init__(
        self,
        spark: SparkSession,
        catalog: Catalog,
        database: str,
        *,
        lasting: bool = False,
        only_columns: bool = False,
        settings: Mapping[str, str] | None = None,
        reads: Mapping[tuple[str, str], Snapshot | None] | None = None,
    ) -> None:
        """`lasting`: Spark keeps the text of what is run and reads it again later. `only_columns`: the rows are not
        asked for. `settings`: `spark.paimon.…`, else they are fetched for the first table. `reads`: see WriteIntent."""
        self.spark = spark
        self.catalog = catalog
        self.database = database
        self.pinned = PinnedTables(catalog, reads or {})
        self._views: dict[tuple[object, ...], tuple[str, BoundReads]] = {}
        self._functions = CalledFunctions(spark, catalog, database)
        self.temp_views = TempViews(spark, lasting=lasting)
        self.looks_up = not (lasting or only_columns)  # rows, while a query is bound
        self.temporaries: list[str] = []  # names that the session resolves before the catalog
        self._nesting = Nesting()
        self._unresolved: list[tuple[str, str, str]] = []  # database, name, and how Spark quotes it
        self.explaining = False  # no plan is taken from a cache, and `scans` says what each table's leaves out
        self.scans: list[str] = []
        self._reading = [BoundReads()]  # of the statement, and of the views that are being bound
        self._kept = KeptViews(self.temp_views, catalog, self.pinned.state_of, looks_up=self.looks_up)
        self._settings = settings
        self._changes = TableChanges(spark, only_columns=only_columns and not lasting)

    @property
    def input_bytes(self) -> int | None:
        """Bytes that the bound queries read; None when they also read other sources."""
        return self._reading[0].size

    @property
    def texts(self) -> TextFacts:
        """Facts of the texts of the statement, and of the views that they read."""
        return self._reading[0].texts

    @property
    def read_views(self) -> Mapping[tuple[str, str], View]:
        """The views that the statement reads, by database and name in lower case."""
        return self._reading[0].views

    @property
    def is_small(self) -> bool:
        """Whether the bound queries read little, and nothing in them makes many rows of few."""
        size = self.input_bytes
        return size is not None and not self.texts.grows and size <= SMALL_BYTES

    def settled(self, size: int) -> None:
        """The queries bound so far are computed, and take `size` bytes in memory: no later query reads their files."""
        before = self._reading[0]
        self._reading = [replace(before, sizes={"": size}, unknown=False, texts=replace(before.texts, grows=False))]
        self._views.clear()  # a later query that names one of these tables reads it

    def rows(self, frame: DataFrame, size: int | None = None) -> Rows:
        """A frame of the bound queries as rows to write; `size` is that of its input, if it is known otherwise."""
        return Rows(frame, self.input_bytes if size is None else size, self.is_small)

    def pin(self, table: Table) -> Snapshot | None:
        """The snapshot at which this statement reads a table."""
        return self.pinned.pin(table)

    def may_read(self, table: Table) -> bool:
        """Whether what was bound so far reads the table, or a temporary view, which may."""
        return table.identifier in self.pinned or bool(self.temporaries)

    def query(self, sql: str) -> DataFrame:
        """The rows of a query. Raises the engine's errors for Spark's."""
        return self.run(self.bound(sql, self.database))

    def read(self, table: Table, snapshot_id: int | None, options: Mapping[str, str]) -> DataFrame:
        """The rows of a table, at a snapshot or with options of this read: a frame of its own."""
        written = None if snapshot_id is None else TimeTravel(version_sql=str(snapshot_id))
        travel, rest = time_travel_of(tuple(options.items()), written)
        reference = TableReference(*table.identifier, travel, options=rest)
        return self._read(table, self._with_session(reference, *table.identifier), fresh=True)[0]

    def bound(self, sql: str, database: str | None = None, known: Sequence[TableReference] = ()) -> BoundQuery:
        """The query with its tables bound to temporary views. `known` are its references, with additional predicates on
        their rows."""
        current = database or self.database
        self.look_at(sql, current)
        better = iter(known)
        text = self._functions.inlined(sql, current)
        bound = bind(text, lambda reference: self._resolve(next(better, reference), current))
        called = self._with_functions(bound, current)
        self._note(BoundReads(varies=text != sql or called is not bound))
        return called

    def look_at(self, sql: str, database: str | None = None) -> None:
        """Note what a text, and the functions that it calls, say of its rows, before a table is read for it."""
        for text in (sql, *self._functions.bodies(sql, database or self.database)):
            self._note(BoundReads.of_text(text))

    def pieces(self, statement: QueriesInside) -> BoundQuery:
        """A statement's text with each of its pieces bound."""
        sql = statement.sql
        self.look_at(sql)
        edits: list[tuple[int, int, str]] = []
        found: list[TableReference] = []
        for piece in statement.pieces:
            read = bind if piece.is_query else bind_expression
            bound = read(sql[piece.start : piece.end], lambda reference: self._resolve(reference, self.database))
            bound = self._with_functions(bound, self.database)
            edits += [(start + piece.start, end + piece.start, text) for start, end, text in bound.edits]
            found += bound.references
        return BoundQuery(edited(sql, edits), tuple(found), sql, tuple(edits))

    def expression(self, sql: str, qualifiers: Mapping[tuple[str, str], str]) -> str:
        """An expression with the tables of its subqueries bound."""
        self.look_at(sql)
        sql = self._functions.inlined(sql, self.database)
        bound = bind_expression(sql, lambda reference: self._resolve(reference, self.database), qualifiers)
        return self._with_functions(bound, self.database).text

    def run(self, bound: BoundQuery | str, prefix: str = "") -> DataFrame:
        """Run a bound query with the text in front of it, or a query of the engine."""
        bound = BoundQuery(bound, (), "") if isinstance(bound, str) else bound
        text = f"{prefix}{bound.text}"
        try:
            with translated(text, lambda offset: _position(bound, offset - len(prefix))):
                return self.spark.sql(text)
        except (ParseError, TableNotFound) as error:
            missing = error.message.partition("\n")[0].lower()
            for database, name, quoted in self._unresolved:
                if quoted in missing or ("$" in quoted and "near '$'" in missing):  # Spark reads no such name
                    self.catalog.load_table(database, name)  # the message names the schema, and similar names
            raise

    def register(self, name: str, frame: DataFrame) -> str:
        """Create a temporary view of a frame. Returns its unique name, unquoted."""
        return self.temp_views.add(name, frame)

    # -- functions -------------------------------------------------------------------------------------

    def _with_functions(self, bound: BoundQuery, database: str) -> BoundQuery:
        return self._functions.renamed(bound, database, self.name_in_session)

    def name_in_session(self, function: Function) -> str:
        """The name under which the session knows a function; the tables and functions of its body are bound. Raises an
        error unless Spark accepts it."""
        body = function.body
        if function.is_inlined:
            nulls = ["NULL"] * len(function.parameters)
            self.query(f"SELECT {self._functions.inlined(body_with(function, nulls), function.database)}")
            return function.full_name
        if function.language == SQL:
            with self._nesting.function(function):
                cursor = Cursor(body)
                if cursor.sees_query() and cursor.key != "(":
                    body = self.bound(body, function.database).text
                else:
                    resolve = lambda reference: self._resolve(reference, function.database)  # noqa: E731
                    body = self._with_functions(bind_expression(body, resolve), function.database).text
        return session_function(self.spark, function, body)

    # -- resolving -------------------------------------------------------------------------------------

    def _resolve(self, reference: TableReference, database: str) -> Binding | None:
        name, suffix = split_name(reference.name)
        managed = reference.database is not None or bool(reference.changes)
        if not managed and not suffix and self._is_session_relation(database, name):
            refresh(self.spark, name)
            self._note(BoundReads(unknown=True))
            self.temporaries.append(name)
            return None
        target = reference.database or database
        if target.lower() == information_schema.NAME and not self.catalog.database_exists(target):
            return Binding(self._bind_information(name), target)
        if not self.catalog.database_exists(target):
            if reference.without_catalog or reference.changes:
                self.catalog.require_database(target)
            self._leave(reference, target, name)
            return None
        target = self.catalog.require_database(target)
        kind = self.catalog.object_kind(target, name)
        if kind == "table":
            return Binding(self._bind_table(reference.in_database(database), target, name, suffix), target)
        if kind == "view" and not suffix:
            if reference.time_travel is not None or reference.changes:
                what = "changes" if reference.changes else "versions"
                raise SqlError(
                    f"'{target}.{name}' is a view, which has no {what} of its own.",
                    hint=f"Ask the tables that it reads for {what}.",
                )
            return Binding(self._bind_view(target, name, reference.predicate), target)
        hidden = bool(self._nesting) and is_session_relation(self.spark, reference.name, lambda: True)
        if managed or hidden or (suffix and not is_temporary(self.spark, reference.name)):
            self.catalog.load_table(target, name)
        self._leave(reference, target, name)
        return None

    def _is_session_relation(self, database: str, name: str) -> bool:
        """Whether Spark reads a bare name by itself. What a managed view reads does not depend on the session."""
        kind = self.catalog.object_kind
        return not self._nesting and is_session_relation(self.spark, name, lambda: kind(database, name))

    def _leave(self, reference: TableReference, database: str, name: str) -> None:
        """Pass a name to Spark, which may know it."""
        self._note(BoundReads(unknown=True))
        parts = [quoted_name(part) for part in (reference.database, reference.name) if part is not None]
        self._unresolved.append((database, name, ".".join(parts).lower()))

    def _bind_information(self, name: str) -> str:
        key = (information_schema.NAME, name.lower())
        if key not in self._views:
            schema, rows = information_schema.rows_of(self.catalog, name)
            frame = self.spark.createDataFrame(rows, schema)
            view = self.register(f"{information_schema.NAME}.{name}", frame)
            self._views[key] = view, BoundReads(varies=True)
        return self._named(key)

    def _with_session(self, reference: TableReference, database: str, name: str) -> TableReference:
        """A reference with the options that the session sets for the table."""
        self._settings = session_options(self.spark) if self._settings is None else self._settings
        return referring(reference, of_read(self._settings, database, name)) if self._settings else reference

    def _bind_table(self, reference: TableReference, database: str, name: str, suffix: str) -> str:
        if not suffix:
            reference = self._with_session(reference, database, name)
        key = (database, name.lower(), suffix, reference.asked)
        if key in self._views:
            return self._named(key)
        table = self.pinned.load(database, name)
        if reference.changes:
            changes, held = self._changes.frame(table, self.pin(table), reference, suffix, self._evaluated)
            reads = BoundReads(sizes={key: held or 0}, unknown=held is None, varies=True)
            view = self.register(f"{table.name}$changes", changes)
        elif suffix:
            travel = reference.time_travel
            snapshot = self.pin(table) if travel is None else snapshot_of(table, travel, self._evaluated)
            rows = system_table(
                self.spark, table, suffix, snapshot, travels=travel is not None, options=dict(reference.options)
            )
            reads = BoundReads(unknown=suffix in DATA_TABLES, varies=True)
            view = self.register(f"{table.name}${suffix}", rows)
        else:
            frame, reads = self._read(table, reference)
            view = self.register(table.name, frame)
        self._views[key] = view, reads
        return self._named(key)

    def _read(self, table: Table, reference: TableReference, *, fresh: bool = False) -> tuple[DataFrame, BoundReads]:
        """A table's rows, and what is read for them."""
        if any(key in READ_OPTIONS for key, _ in reference.options):
            return incremental_rows(self.spark, table, reference), BoundReads(unknown=True, varies=True)
        check_distinct(self.spark, table.schema.alike_names, table.name)
        table = table.with_options(dict(reference.options), "query")
        table.options.check_readable()
        travel = reference.time_travel
        snapshot = self.pin(table) if travel is None else snapshot_of(table, travel, self._evaluated)
        schema = table.schema_of(snapshot) if travel else table.present_schema_of(snapshot)
        read = TableRead(table, snapshot, schema, reference, self.texts.correlated)
        few = reference.joined and self.looks_up and joined_rows(self.spark, read, self._source_of)
        frame, size, lasts = (*few, True) if few else self._frame_of(read, fresh=fresh)
        return frame, read.reads(size, lasts=lasts)

    def read_of(self, reference: TableReference) -> TableRead | View | None:
        """The read of a managed table as it is now, without options, or the view that a reference is; else None."""
        database, name = reference.database or self.database, reference.name
        kind = self.catalog.object_kind(database, name) if reference.is_plain else None
        if kind is None or self._is_session_relation(database, name):
            return None
        if kind == "view":
            return self.catalog.load_view(database, name)
        table = self.pinned.load(database, name)
        asked = self._with_session(reference, *table.identifier)  # the session may ask for another time
        snapshot = self.pin(table)
        return TableRead(table, snapshot, table.present_schema_of(snapshot), asked) if asked.is_plain else None

    def _source_of(self, reference: TableReference) -> JoinedSource | None:
        """The rows that a reference reads of a managed table, or its changes; None for anything else."""
        if not reference.changes:
            read = self.read_of(reference)
            return source_of_rows(read.table, read.snapshot) if isinstance(read, TableRead) else None
        database, name = reference.database or "", reference.name
        if "$" in name or self.catalog.object_kind(database, name) != "table":
            return None
        table = self.pinned.load(database, name)
        return self._changes.source(table, self.pin(table), reference, self._evaluated)

    def _frame_of(self, read: TableRead, *, fresh: bool) -> tuple[DataFrame, int, bool]:
        if self.explaining:
            plan = read.plan()
            self.scans.append(read.explained(plan))
            return *read.frame(self.spark, plan), False
        return (*read.frame(self.spark, read.plan()), False) if fresh else read.kept_frame(self.spark)

    def _evaluated(self, time_sql: str) -> DataFrame:
        return self.run(value_query(self.expression(time_sql, {})))

    def cache(self, table: Table, level: str) -> DataFrame | None:
        """Keep the rows of a table in memory, and return them; None for a table without rows."""
        table.options.check_readable()
        snapshot = self.pin(table)
        return None if snapshot is None else cached_rows(self.spark, table, snapshot, level)

    def _named(self, key: tuple[object, ...]) -> str:
        """The name of what was bound under a key; what it reads is noted."""
        name, reads = self._views[key]
        self._note(reads)
        return name

    def _note(self, reads: BoundReads) -> None:
        for one in self._reading:
            one.add(reads)

    def _bind_view(self, database: str, name: str, predicate: Predicate | None) -> str:
        key = (database, name.lower(), repr(predicate), "view")
        if key not in self._views:
            bind_it = partial(self._view_rows, database, name, predicate)
            self._views[key] = self._kept.bound(key, self.texts.correlated, bind_it, fresh=self.explaining)
        return self._named(key)

    def _view_rows(self, database: str, name: str, predicate: Predicate | None) -> tuple[DataFrame, BoundReads]:
        full = f"{database}.{name.lower()}"
        view = self.catalog.load_view(database, name)
        reads = BoundReads(views={(database, name.lower()): view})
        with self._nesting.view(full), reading(self._reading, reads):
            try:
                known = references_of_view(view, predicate)
                frame = self.run(self.bound(view.sql, view.database, known))
            except BrokenViewError:
                raise  # names the broken view, not the views that read it
            except TableStoreError as error:
                raise BrokenViewError(
                    f"View '{full}' cannot be read any more: {error}", hint="Create it again on what exists now."
                ) from error
        return with_view_columns(view, full, frame), reads


def _position(bound: BoundQuery, offset: int) -> str:
    """The user's line at an offset of a bound query; empty for text of the engine."""
    inside = bound.source and 0 <= offset <= len(bound.text)
    return excerpt(bound.source, bound.origin(offset)) if inside else ""
