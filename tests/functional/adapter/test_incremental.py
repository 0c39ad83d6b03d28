import pytest
from dbt.tests.adapter.incremental.test_incremental_merge_exclude_columns import BaseMergeExcludeColumns
from dbt.tests.adapter.incremental.test_incremental_microbatch import BaseMicrobatch, _microbatch_model_sql
from dbt.tests.adapter.incremental.test_incremental_on_schema_change import BaseIncrementalOnSchemaChange
from dbt.tests.adapter.incremental.test_incremental_predicates import BaseIncrementalPredicates
from dbt.tests.adapter.incremental.test_incremental_unique_id import BaseIncrementalUniqueKey
from dbt.tests.util import patch_microbatch_end_time, run_dbt


class TestIncrementalUniqueKey(BaseIncrementalUniqueKey):
    """The suite's tables hold two rows of one key, and a key that is no column: they are not keyed tables."""

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"models": {"+enforce_key": False}}


class TestIncrementalPredicatesDeleteInsert(BaseIncrementalPredicates):
    pass


class TestPredicatesDeleteInsert(BaseIncrementalPredicates):
    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"models": {"+predicates": ["id != 2"], "+incremental_strategy": "delete+insert"}}


class TestMergeExcludeColumns(BaseMergeExcludeColumns):
    pass


class TestMicrobatch(BaseMicrobatch):
    pass


class TestMicrobatchKeyed(BaseMicrobatch):
    """The same on a keyed table: rows of the window that the batch no longer has go."""

    @pytest.fixture(scope="class")
    def microbatch_model_sql(self):
        return _microbatch_model_sql.replace("unique_key='id'", "primary_key='id'")

    def test_rows_that_are_gone(self, project):
        with patch_microbatch_end_time("2020-01-03 13:57:00"):
            run_dbt(["run", "--full-refresh"])
        before = len(project.run_sql(f"select * from {project.test_schema}.microbatch_model", fetch="all"))
        project.run_sql(f"delete from {project.test_schema}.input_model where id = 3")
        with patch_microbatch_end_time("2020-01-03 13:57:00"):
            run_dbt(["run", "--select", "microbatch_model"])
        assert (
            len(project.run_sql(f"select * from {project.test_schema}.microbatch_model", fetch="all"))
            == before - 1
        )


class TestIncrementalOnSchemaChange(BaseIncrementalOnSchemaChange):
    pass
