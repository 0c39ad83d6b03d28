"""The adapter as dbt calls it: metadata comes from the catalog, and each action is one call of the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime, timezone
from multiprocessing.context import SpawnContext
from typing import TYPE_CHECKING, Any, ClassVar

from dbt.adapters.base import BaseRelation, available
from dbt.adapters.base.impl import ConstraintSupport, FreshnessResponse
from dbt.adapters.capability import Capability, CapabilityDict, CapabilitySupport, Support
from dbt.adapters.contracts.connection import AdapterResponse, ConnectionState
from dbt.adapters.contracts.macros import MacroResolverProtocol
from dbt.adapters.contracts.relation import RelationConfig, RelationType
from dbt_common.contracts.constraints import ColumnLevelConstraint, ConstraintType, ModelLevelConstraint
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError

from dbt.adapters.tablestore import dialect_macros
from dbt.adapters.tablestore.config.model_config import TableStoreConfig
from dbt.adapters.tablestore.connection.connection_manager import TableStoreConnectionManager
from dbt.adapters.tablestore.connection.environment import environment_of, reads_rows
from dbt.adapters.tablestore.macro_methods import MacroMethods
from dbt.adapters.tablestore.models.changes_since_last_run import ModelChanges
from dbt.adapters.tablestore.models.commit_identities import identities_of_command
from dbt.adapters.tablestore.models.kafka_changes_since_last_run import ModelTopics
from dbt.adapters.tablestore.relation.column import TableStoreColumn
from dbt.adapters.tablestore.relation.relation import TableStoreRelation, schema_of
from tablestore_engine.schema.types.sql_literals import quoted_name

if TYPE_CHECKING:
    import agate
    from dbt_common.contracts.metadata import CatalogTable

    from tablestore_engine.catalog import Catalog

_FULL = CapabilitySupport(support=Support.Full)


class TableStoreAdapter(MacroMethods):
    """dbt's adapter for managed tables."""

    ConnectionManager = TableStoreConnectionManager
    Relation = TableStoreRelation
    Column = TableStoreColumn
    AdapterSpecificConfigs = TableStoreConfig

    CONSTRAINT_SUPPORT: ClassVar = {
        ConstraintType.check: ConstraintSupport.ENFORCED,
        ConstraintType.not_null: ConstraintSupport.ENFORCED,
        ConstraintType.primary_key: ConstraintSupport.ENFORCED,
        ConstraintType.unique: ConstraintSupport.NOT_SUPPORTED,
        ConstraintType.foreign_key: ConstraintSupport.NOT_SUPPORTED,
        ConstraintType.custom: ConstraintSupport.NOT_SUPPORTED,
    }

    _capabilities = CapabilityDict(
        {
            Capability.SchemaMetadataByRelations: _FULL,
            Capability.TableLastModifiedMetadata: _FULL,
            Capability.TableLastModifiedMetadataBatch: _FULL,
            Capability.GetCatalogForSingleRelation: _FULL,
        }
    )

    def __init__(self, config: Any, mp_context: SpawnContext) -> None:
        if reads_rows():
            environment_of(config.credentials).warm_up()  # first, so that Spark starts while dbt parses
        super().__init__(config, mp_context)
        dialect_macros.install()
        self._warned: dict[str, object] = {}
        self._fixtures_of_changes: set[tuple[str | None, str]] = set()
        self._identities = identities_of_command(config)
        self._rebuilds: dict[tuple[str, str, str], bool] = {}
        self._schema_notes = {}
        self._changes: ModelChanges | None = None
        self._topics: ModelTopics | None = None

    @classmethod
    def process_parsed_constraint(
        cls,
        parsed_constraint: ColumnLevelConstraint | ModelLevelConstraint,
        render_func: Callable[[Any], str | None],
    ) -> str | None:
        """A constraint as DDL; None, with a warning, for one that tables do not have. To dbt, every custom one is
        supported; a project that does not want to hear of `warn_unenforced` ones need not say so twice."""
        kind = parsed_constraint.type
        if cls.CONSTRAINT_SUPPORT[kind] != ConstraintSupport.NOT_SUPPORTED:
            return super().process_parsed_constraint(parsed_constraint, render_func)
        if parsed_constraint.warn_unsupported and parsed_constraint.warn_unenforced:
            from dbt.adapters.events.types import ConstraintNotSupported
            from dbt_common.events.functions import warn_or_error

            warn_or_error(ConstraintNotSupported(constraint=kind.value, adapter=cls.type()))
        return None

    # ------------------------------------------------------------------ schemas and relations, without Spark

    def list_schemas(self, database: str | None = None) -> list[str]:
        with self.connections.exception_handler("list schemas"):
            return list(self.catalog.list_databases())

    @available.parse(lambda *a, **k: False)
    def check_schema_exists(self, database: str | None, schema: str) -> bool:
        with self.connections.exception_handler("check schema"):
            return bool(self.catalog.database_exists(schema))

    def create_schema(self, relation: BaseRelation) -> None:
        with self.connections.exception_handler("create schema"):
            self.catalog.create_database(schema_of(relation), if_not_exists=True)

    def drop_schema(self, relation: BaseRelation) -> None:
        schema = schema_of(relation)
        with self.connections.exception_handler("drop schema"):
            self.catalog.drop_database(schema, cascade=True, if_exists=True)
        self.cache.drop_schema(None, schema)

    def list_relations_without_caching(self, schema_relation: BaseRelation) -> list[BaseRelation]:
        from dbt.adapters.tablestore.relation.cache_and_catalog import list_relations

        with self.connections.exception_handler("list relations"):
            return list(list_relations(self.catalog, schema_of(schema_relation)))

    @available.parse_none
    def get_relation(self, database: str | None, schema: str, identifier: str) -> BaseRelation | None:
        return super().get_relation(None, schema, identifier)  # type: ignore[arg-type]

    @available.parse_list
    def get_columns_in_relation(self, relation: BaseRelation) -> list[TableStoreColumn]:  # type: ignore[override]
        """The columns of a table, view or temporary view; empty when there is none of that name."""
        from dbt.adapters.tablestore.relation.cache_and_catalog import columns_of

        if isinstance(relation, TableStoreRelation) and relation.is_session_name:
            return self.get_column_schema_from_query(f"select * from {relation.render()}")  # type: ignore[return-value]
        with self.connections.exception_handler("get columns"):
            return columns_of(self._catalog_of_model(), schema_of(relation), str(relation.identifier))

    def _catalog_of_model(self) -> Catalog:
        """The catalog in which a table has the columns that it gets with the rows of the model."""
        connection = self.connections.get_if_exists()
        handle = connection.handle if connection is not None and connection.state == ConnectionState.OPEN else None
        if handle is None or handle.evolution is None:
            return self.catalog
        from tablestore_engine.sql.write_statements.evolving_catalog import EvolvingCatalog
        from tablestore_engine.storage.clock import now_millis

        return EvolvingCatalog(self.catalog, handle.evolution, now_millis)

    @available.parse_none
    def drop_relation(self, relation: BaseRelation) -> None:
        self.cache_dropped(relation)
        if isinstance(relation, TableStoreRelation) and relation.is_session_name:
            self._drop_bare(str(relation.identifier))
            return
        schema, name = schema_of(relation), str(relation.identifier)
        with self.connections.exception_handler("drop relation"):
            if relation.type == RelationType.Function:
                self.catalog.functions.drop(schema, name, if_exists=True)
                return
            kind = self.catalog.object_kind(schema, name)
            if kind == "view":
                self.catalog.drop_view(schema, name, if_exists=True)
            elif kind == "table":
                self.catalog.drop_table(schema, name, if_exists=True)

    def _drop_bare(self, name: str) -> None:
        """Drop what a name without a schema means: a temporary view, or else a table or view of the current schema."""
        handle = self.connections.get_thread_connection().handle
        with self.connections.exception_handler("drop relation"), handle.work() as store:
            schema = store.database
            if store.is_temporary(name):
                store.execute(f"drop view if exists {self.quote(name)}")
                return
        self.drop_relation(self.Relation.create(schema=schema, identifier=name))

    @available.parse_none
    def truncate_relation(self, relation: BaseRelation) -> None:
        self.execute(f"truncate table {relation.render()}")

    @available.parse_none
    def rename_relation(self, from_relation: BaseRelation, to_relation: BaseRelation) -> None:
        self.cache_renamed(from_relation, to_relation)
        kind = "view" if self._is_view(from_relation) else "table"
        self.execute(f"alter {kind} {from_relation.render()} rename to {to_relation.render()}")

    def _is_view(self, relation: BaseRelation) -> bool:
        """Whether a relation is a view. The catalog decides where its type is unknown, as of `this` in packages."""
        if relation.type is not None or not relation.schema:
            return bool(relation.is_view)
        with self.connections.exception_handler("find relation"):
            return self.catalog.object_kind(schema_of(relation), str(relation.identifier)) == "view"

    # ------------------------------------------------------------------ catalog and freshness, without Spark

    def get_catalog(
        self, relation_configs: Iterable[RelationConfig], used_schemas: frozenset[tuple[str, str]]
    ) -> tuple[agate.Table, list[Exception]]:
        """The catalog of all relations in the schemas that the project uses."""
        schemas = sorted({schema.lower() for _, schema in used_schemas if schema})
        found = [one for schema in schemas for one in self.list_relations_without_caching(_schema(schema))]
        return self._catalog_of(found)

    def get_catalog_by_relations(
        self, used_schemas: frozenset[tuple[str, str]], relations: set[BaseRelation]
    ) -> tuple[agate.Table, list[Exception]]:
        """The catalog of the given relations."""
        return self._catalog_of(sorted(relations, key=str))

    def _catalog_of(self, relations: Iterable[BaseRelation]) -> tuple[agate.Table, list[Exception]]:
        from dbt.adapters.events.types import CatalogGenerationError
        from dbt_common.events.functions import warn_or_error

        from dbt.adapters.tablestore.relation.cache_and_catalog import catalog_table, describe

        descriptions, failures = [], list[Exception]()
        for relation in relations:
            try:
                with self.connections.exception_handler("catalog"):
                    one = describe(self.catalog, schema_of(relation), str(relation.identifier))
            except DbtRuntimeError as error:
                warn_or_error(CatalogGenerationError(exc=str(error)))
                failures.append(error)
                continue
            if one is not None:
                descriptions.append(one)
        return catalog_table(descriptions), failures

    def get_catalog_for_single_relation(self, relation: BaseRelation) -> CatalogTable | None:
        from dbt_common.contracts.metadata import CatalogTable, ColumnMetadata, TableMetadata

        from dbt.adapters.tablestore.relation.cache_and_catalog import describe, stats_of

        with self.connections.exception_handler("catalog"):
            one = describe(self.catalog, schema_of(relation), str(relation.identifier))
        if one is None:
            return None
        columns = {
            column.name: ColumnMetadata(type=column.dtype, index=index, name=column.name, comment=column.comment)
            for index, column in enumerate(one.columns, start=1)
        }
        return CatalogTable(
            metadata=TableMetadata(type=one.kind, schema=one.schema, name=one.name, comment=one.comment),
            columns=columns,
            stats=stats_of(one),
        )

    def calculate_freshness(
        self,
        source: BaseRelation,
        loaded_at_field: str,
        filter: str | None,
        macro_resolver: MacroResolverProtocol | None = None,
    ) -> tuple[AdapterResponse | None, FreshnessResponse]:
        """Freshness by a column: read from the table's files if possible, otherwise found by a query."""
        from dbt.adapters.tablestore.relation.freshness import newest

        if not filter:
            with self.connections.exception_handler("freshness"):
                found = newest(self.catalog, schema_of(source), str(source.identifier), loaded_at_field)
            if found is not None:
                answer = self._create_freshness_response(found.value, datetime.now(timezone.utc))
                return AdapterResponse(_message="OK", code="METADATA"), answer
        return super().calculate_freshness(source, loaded_at_field, filter, macro_resolver)

    def calculate_freshness_from_metadata_batch(
        self, sources: list[BaseRelation], macro_resolver: MacroResolverProtocol | None = None
    ) -> tuple[list[AdapterResponse | None], dict[BaseRelation, FreshnessResponse]]:
        """Freshness by the time of the last commit that changed data, of the sources that are tables. dbt asks for
        others one by one, and shows the error of each."""
        answers: dict[BaseRelation, FreshnessResponse] = {}
        for source in sources:
            with suppress(DbtDatabaseError):
                answers[source] = self.calculate_freshness_from_metadata(source, macro_resolver)[1]
        return [AdapterResponse(_message="OK", code="METADATA")], answers

    def calculate_freshness_from_metadata(
        self, source: BaseRelation, macro_resolver: MacroResolverProtocol | None = None
    ) -> tuple[AdapterResponse | None, FreshnessResponse]:
        """Freshness by the time of the last commit that changed data. Compactions do not count."""
        from dbt.adapters.tablestore.relation.cache_and_catalog import last_modified

        with self.connections.exception_handler("freshness"):
            time = last_modified(self.catalog, schema_of(source), str(source.identifier))
        answer = self._create_freshness_response(time, datetime.now(timezone.utc))
        return AdapterResponse(_message="OK", code="METADATA"), answer

    # ------------------------------------------------------------------ queries

    def debug_query(self) -> None:
        """Check what every run needs: a warehouse that can be written, and Java if Spark runs on this machine."""
        from dbt.adapters.tablestore.models.debug_checks import check_environment

        with self.connections.exception_handler("debug"):
            check_environment(self.config.credentials)

    @available.parse(lambda *a, **k: [])
    def get_column_schema_from_query(self, sql: str) -> list[TableStoreColumn]:  # type: ignore[override]
        """The columns of a query's result. The query is analysed, not run."""

        def analyse() -> list[TableStoreColumn]:
            with self.connections.exception_handler(sql):
                _, cursor = self.connections.add_select_query(sql)
                return [TableStoreColumn(one[0], str(one[1])) for one in cursor.description or ()]

        return self.connections.read(sql, analyse)

    @available
    def run_sql_for_tests(self, sql: str, fetch: str | None, conn: Any) -> Any:
        """Run one text on a connection. dbt's test suites call it."""
        cursor = conn.handle.cursor()
        with self.connections.exception_handler(sql):
            cursor.execute(sql)
            if fetch == "one":
                return cursor.fetchone()
            if fetch == "all":
                return cursor.fetchall()
            cursor.drain()
        return None

    # ------------------------------------------------------------------ dialect

    @classmethod
    def date_function(cls) -> str:
        return "current_timestamp()"

    @classmethod
    def is_cancelable(cls) -> bool:
        return True

    @available
    @classmethod
    def quote(cls, identifier: Any) -> str:
        return quoted_name(str(identifier))

    @classmethod
    def convert_text_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        return "string"

    @classmethod
    def convert_number_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        import agate

        if agate_table.aggregate(agate.MaxPrecision(col_idx)):
            return "double"
        return cls.convert_integer_type(agate_table, col_idx)

    @classmethod
    def convert_integer_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        values = [one for one in agate_table.columns[col_idx].values() if one is not None]
        return "bigint" if all(-(2**63) <= one < 2**63 for one in values) else "decimal(38,0)"

    @classmethod
    def convert_boolean_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        return "boolean"

    @classmethod
    def convert_date_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        return "date"

    @classmethod
    def convert_time_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        return "string"

    @classmethod
    def convert_datetime_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        return "timestamp"

    def timestamp_add_sql(self, add_to: str, number: int = 1, interval: str = "hour") -> str:
        return f"{add_to} + interval {number} {interval}"


def _schema(name: str) -> TableStoreRelation:
    return TableStoreRelation.create(schema=name)
