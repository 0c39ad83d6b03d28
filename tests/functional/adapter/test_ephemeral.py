import pytest
from dbt.tests.adapter.ephemeral.test_ephemeral import (
    BaseEphemeralErrorHandling,
    BaseEphemeralMulti,
    BaseEphemeralNested,
)
from dbt.tests.util import check_relations_equal, run_dbt


def written(name):
    """The statement that dbt wrote for a model, without white space."""
    with open(f"target/run/test/models/{name}.sql", encoding="utf-8") as file:
        return "".join(file.read().split())


@pytest.mark.conformance
class TestEphemeralMulti(BaseEphemeralMulti):
    def test_ephemeral_multi(self, project):
        """The same, with Spark's statement."""
        run_dbt(["seed"])
        assert len(run_dbt(["run"])) == 3
        for name in ("dependent", "double_dependent", "super_dependent"):
            check_relations_equal(project.adapter, ["seed", name])
        schema = project.test_schema
        assert written("double_dependent") == "".join(
            f"""create or replace view `{schema}`.`double_dependent` as
            with __dbt__cte__base as (select * from {schema}.seed),
            __dbt__cte__base_copy as (select * from __dbt__cte__base)
            -- base_copy just pulls from base. Make sure the listed
            -- graph of CTEs all share the same dbt_cte__base cte
            select * from __dbt__cte__base where gender = 'Male'
            union all
            select * from __dbt__cte__base_copy where gender = 'Female'""".split()
        )


class TestEphemeralNested(BaseEphemeralNested):
    def test_ephemeral_nested(self, project):
        """The same, with Spark's statement."""
        assert len(run_dbt(["run"])) == 2
        schema = project.test_schema
        assert written("root_view") == "".join(
            f"""create or replace view `{schema}`.`root_view` as
            with __dbt__cte__ephemeral_level_two as (select * from `{schema}`.`source_table`),
            __dbt__cte__ephemeral as (select * from __dbt__cte__ephemeral_level_two)
            select * from __dbt__cte__ephemeral""".split()
        )


class TestEphemeralErrorHandling(BaseEphemeralErrorHandling):
    pass
