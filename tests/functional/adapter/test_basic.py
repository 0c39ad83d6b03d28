import pytest
from dbt.tests.adapter.basic.expected_catalog import base_expected_catalog, expected_references_catalog
from dbt.tests.adapter.basic.test_adapter_methods import BaseAdapterMethod
from dbt.tests.adapter.basic.test_base import BaseSimpleMaterializations
from dbt.tests.adapter.basic.test_docs_generate import BaseDocsGenerate, BaseDocsGenReferences
from dbt.tests.adapter.basic.test_empty import BaseEmpty
from dbt.tests.adapter.basic.test_ephemeral import BaseEphemeral
from dbt.tests.adapter.basic.test_generic_tests import BaseGenericTests
from dbt.tests.adapter.basic.test_get_catalog_for_single_relation import BaseGetCatalogForSingleRelation
from dbt.tests.adapter.basic.test_incremental import (
    BaseIncremental,
    BaseIncrementalBadStrategy,
    BaseIncrementalNotSchemaChange,
)
from dbt.tests.adapter.basic.test_singular_tests import BaseSingularTests
from dbt.tests.adapter.basic.test_singular_tests_ephemeral import BaseSingularTestsEphemeral
from dbt.tests.adapter.basic.test_snapshot_check_cols import BaseSnapshotCheckCols
from dbt.tests.adapter.basic.test_snapshot_timestamp import BaseSnapshotTimestamp
from dbt.tests.adapter.basic.test_table_materialization import BaseTableMaterialization
from dbt.tests.adapter.basic.test_validate_connection import BaseValidateConnection
from dbt.tests.util import AnyFloat, AnyString
from dbt_common.contracts.metadata import CatalogTable, ColumnMetadata, StatsItem, TableMetadata

STATS = {
    "row_count": (
        "Row Count",
        "Number of rows at the last commit; updates that are not compacted yet may count",
        AnyFloat(),
    ),
    "bytes": ("Approximate Size", "Bytes of the table's live data files", AnyFloat()),
    "last_modified": ("Last Modified", "Time of the last commit that changed data", AnyString()),
    "files": ("Data Files", "Number of live data files", AnyFloat()),
    "snapshots": ("Snapshots", "Number of snapshots that can be read", AnyFloat()),
}


def stats(has_stats):
    items = {
        key: {"id": key, "label": label, "value": value, "description": text, "include": True}
        for key, (label, text, value) in STATS.items()
        if has_stats
    }
    items["has_stats"] = {
        "id": "has_stats",
        "label": "Has Stats?",
        "value": has_stats,
        "description": "Indicates whether there are statistics for this table",
        "include": False,
    }
    return items


class TestAdapterMethod(BaseAdapterMethod):
    pass


class TestSimpleMaterializations(BaseSimpleMaterializations):
    pass


class TestDocsGenerate(BaseDocsGenerate):
    @pytest.fixture(scope="class")
    def expected_catalog(self, project):
        return base_expected_catalog(
            project,
            role=None,
            id_type="bigint",
            text_type="string",
            time_type="timestamp",
            view_type="view",
            table_type="table",
            model_stats=stats(has_stats=False),
            seed_stats=stats(has_stats=True),
        )


@pytest.mark.conformance
class TestDocsGenReferences(BaseDocsGenReferences):
    @pytest.fixture(scope="class")
    def expected_catalog(self, project):
        return expected_references_catalog(
            project,
            role=None,
            id_type="bigint",
            text_type="string",
            time_type="timestamp",
            bigint_type="bigint",
            view_type="view",
            table_type="table",
            model_stats=stats(has_stats=True),
            seed_stats=stats(has_stats=True),
            view_summary_stats=stats(has_stats=False),
        )


class TestEmpty(BaseEmpty):
    pass


@pytest.mark.conformance
class TestEphemeral(BaseEphemeral):
    pass


class TestGenericTests(BaseGenericTests):
    pass


class TestGetCatalogForSingleRelation(BaseGetCatalogForSingleRelation):
    COLUMN_TYPES = {  # noqa: RUF012  # nothing changes it
        "id": "bigint",
        "first_name": "string",
        "email": "string",
        "ip_address": "string",
        "updated_at": "timestamp",
    }

    def expected(self, project, name, kind, stats):
        return CatalogTable(
            metadata=TableMetadata(type=kind, schema=project.test_schema, name=name),
            columns={
                column: ColumnMetadata(type=dtype, index=index, name=column)
                for index, (column, dtype) in enumerate(self.COLUMN_TYPES.items(), start=1)
            },
            stats={key: StatsItem(**item) for key, item in stats.items()},
        )

    @pytest.fixture(scope="class")
    def expected_catalog_my_seed(self, project):
        found = stats(has_stats=True)
        found["row_count"]["value"] = found["files"]["value"] = found["snapshots"]["value"] = 1
        found["bytes"]["value"] = AnyNumber()
        return self.expected(project, "my_seed", "table", found)

    @pytest.fixture(scope="class")
    def expected_catalog_my_view_model(self, project):
        return self.expected(project, "my_view_model", "view", stats(has_stats=False))


class AnyNumber:
    __hash__ = None

    def __eq__(self, other):
        return isinstance(other, int | float)


@pytest.mark.conformance
class TestIncremental(BaseIncremental):
    pass


@pytest.mark.conformance
class TestIncrementalBadStrategy(BaseIncrementalBadStrategy):
    pass


@pytest.mark.conformance
class TestIncrementalNotSchemaChange(BaseIncrementalNotSchemaChange):
    pass


@pytest.mark.conformance
class TestSingularTests(BaseSingularTests):
    pass


@pytest.mark.conformance
class TestSingularTestsEphemeral(BaseSingularTestsEphemeral):
    pass


@pytest.mark.conformance
class TestSnapshotCheckCols(BaseSnapshotCheckCols):
    pass


@pytest.mark.conformance
class TestSnapshotTimestamp(BaseSnapshotTimestamp):
    pass


@pytest.mark.conformance
class TestTableMaterialization(BaseTableMaterialization):
    pass


class TestValidateConnection(BaseValidateConnection):
    pass
