import pytest
from dbt.tests.adapter.simple_copy.test_copy_uppercase import BaseSimpleCopyUppercase
from dbt.tests.adapter.simple_copy.test_simple_copy import EmptyModelsArentRunBase, SimpleCopyBase
from dbt.tests.util import run_dbt


@pytest.mark.conformance
class TestSimpleCopy(SimpleCopyBase):
    def test_simple_copy_with_materialized_views(self, project):
        """A view of a view instead of the materialized view: this tests dbt's caching of foreign views."""
        schema = project.test_schema
        project.run_sql(f"create table {schema}.unrelated_table (id int)")
        project.run_sql(f"create view {schema}.unrelated_middle as (select * from {schema}.unrelated_table)")
        project.run_sql(f"create view {schema}.unrelated_view as (select * from {schema}.unrelated_middle)")
        assert len(run_dbt(["seed"])) == 1
        assert len(run_dbt()) == 7


class TestEmptyModelsArentRun(EmptyModelsArentRunBase):
    def test_dbt_doesnt_run_empty_models(self, project):
        """The same, but queries the adapter instead of an information schema."""
        assert len(run_dbt(["seed"])) == 1
        assert len(run_dbt()) == 7
        with project.adapter.connection_named("__test"):
            schema = project.adapter.Relation.create(schema=project.test_schema)
            tables = {one.identifier for one in project.adapter.list_relations_without_caching(schema)}
        assert tables
        assert not tables & {"empty", "disabled"}


@pytest.mark.conformance
class TestSimpleCopyUppercase(BaseSimpleCopyUppercase):
    @pytest.fixture(scope="class")
    def dbt_profile_target(self, profile_target):
        return profile_target
