"""The session of a store: its current database, its Spark session, and the options that SET gives new tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from tablestore_engine.catalog import Catalog
from tablestore_engine.schema.types.names import Resolver
from tablestore_engine.sql.catalog.execute_context import is_global_temporary, without_prefix
from tablestore_engine.sql.catalog.execute_table import reset_default, set_default
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.statements.schema import ShowCurrentSchema, Use
from tablestore_engine.sql.statements.script import ResetSession, ResetSessionOption, SetSessionOption
from tablestore_engine.sql.statements.show import Describe, ShowColumns
from tablestore_engine.sql.statements.statement import Statement
from tablestore_engine.sql.statements.table import CacheTable, ForeignStatement, UncacheTable
from tablestore_engine.sql.statements.view import GLOBAL_TEMPORARY, DropView
from tablestore_engine.sql.tokens.cursor import OWN_CATALOGS
from tablestore_engine.sql.tokens.double_quotes import with_backquotes
from tablestore_engine.table import Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class StoreSession:
    """The state of a store between two statements. Spark starts when it is first needed."""

    def __init__(
        self,
        catalog: Catalog,
        spark: SparkSession | None,
        database: str,
        session_factory: Callable[[], SparkSession] | None,
        options: Mapping[str, str],
    ) -> None:
        self.catalog = catalog
        self.database = database
        self._initial_options = without_prefix(options)
        self._options = dict(self._initial_options)
        self._session_factory = session_factory
        self._spark = spark
        self._prepared = False

    @property
    def spark(self) -> SparkSession:
        """The Spark session; started now if it was not."""
        from tablestore_engine.spark.session.session import prepare_session, start_session

        if self._spark is None:
            self._spark = self._session_factory() if self._session_factory else start_session()
        if not self._prepared:
            prepare_session(self._spark)
            self._prepared = True
        return self._spark

    def use(self, database: str) -> None:
        """Change the current database. Raises DatabaseNotFound."""
        self.database = self.catalog.require_database(database)

    def table(self, name: str) -> Table:
        """A table by `name` or `database.name`. Raises TableNotFound."""
        database, _, table = name.rpartition(".")
        return self._of_session(self.catalog.load_table(database or self.database, table))

    def _of_session(self, table: Table) -> Table:
        """The table, which compares names as the session does once it was started."""
        return replace(table, resolver=Resolver(lambda: self._spark is not None and self._resolver.distinguishes))

    def is_temporary(self, name: str) -> bool:
        """Whether a name without schema is a temporary view of the session, or a table of Spark's own catalog that no
        managed table hides. Starts no session."""
        if self._spark is None:
            return False
        from tablestore_engine.spark.queries.temp_views import is_session_relation

        return is_session_relation(self._spark, name, lambda: self.catalog.object_kind(self.database, name))

    def stop(self) -> None:
        """Stop the Spark session, if this store started it."""
        from tablestore_engine.spark.session.session import stop_session

        if self._spark is not None and self._session_factory is None:
            stop_session(self._spark)
            self._spark = None

    def _about_session(self, statement: Statement) -> StatementResult | None:
        """The answer to a statement about this session; None for others."""
        if isinstance(statement, Use):
            # There is only one catalog, so setting it by any of its names changes nothing.
            if statement.database.lower() not in OWN_CATALOGS or self.catalog.database_exists(statement.database):
                self.use(statement.database)
            return StatementResult("USE")
        if isinstance(statement, SetSessionOption):
            return set_default(statement, self._options)
        if isinstance(statement, ResetSessionOption):
            return reset_default(statement, self._options, self._initial_options)
        if isinstance(statement, ResetSession):
            return self._reset(statement)
        if isinstance(statement, ShowCurrentSchema):
            return StatementResult(
                "SHOW CURRENT SCHEMA",
                columns=("catalog", "namespace"),
                types=("string", "string"),
                rows=[("tablestore", self.database)],
            )
        return None

    @property
    def _resolver(self) -> Resolver:
        """Which names of columns are the same in the session, which is started when it is asked."""

        def distinguishes() -> bool:
            from tablestore_engine.spark.session.session_settings import session_resolver

            return session_resolver(self.spark).distinguishes

        return Resolver(distinguishes)

    def _reset(self, statement: ResetSession) -> StatementResult:
        """RESET in Spark, which then gets back what the engine needs, and what the session was prepared with."""
        from tablestore_engine.spark.errors.translate_errors import translated
        from tablestore_engine.spark.session.session import restore_settings

        spark = self.spark
        with translated():
            spark.sql(statement.sql)
        restore_settings(spark, statement.setting)
        if statement.setting is None:
            self._options = dict(self._initial_options)
        return StatementResult("RESET")

    def _is_of_temporary(self, statement: Statement) -> bool:
        """Whether a statement is about a temporary view. Without a session there are none."""
        if not isinstance(statement, (DropView, Describe, ShowColumns, CacheTable, UncacheTable, ForeignStatement)):
            return False
        named = statement.view if isinstance(statement, DropView) else statement.table
        if named.database is None:
            return self.is_temporary(named.name)
        return self._spark is not None and is_global_temporary(named.database, self.catalog)

    def _temporary_views(self, schema: str | None, details: bool) -> list[tuple[str, str, bool, str]]:
        """The temporary views that a listing of a schema has. Without a session there are none."""
        if self._spark is None:
            return []
        from tablestore_engine.spark.queries.temp_views import listed_views

        return listed_views(
            self._spark, GLOBAL_TEMPORARY if is_global_temporary(schema, self.catalog) else None, described=details
        )

    def _with_backquotes(self, text: str) -> str:
        """The text as it would be without the session's setting that double quotes are around names."""
        if '"' not in text or self._spark is None:
            return text
        conf = self._spark.conf
        settings = ("spark.sql.ansi.doubleQuotedIdentifiers", "spark.sql.ansi.enabled")
        names = all(str(conf.get(key)).lower() == "true" for key in settings)
        return with_backquotes(text) if names else text
