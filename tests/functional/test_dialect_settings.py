"""Where a project says in which dialect its nodes are written, and how an error names what has no translation."""

from __future__ import annotations

from pathlib import Path

import pytest
from dbt.tests.util import run_dbt

PYTHON = """
def model(dbt, session):
    return session.sql("select array(1, 2)[1] as x")
"""
UNIT_TEST = """
unit_tests:
  - name: of_quotient
    model: by_profile
    given: []
    expect: {rows: [{x: 3.5, at: a}]}
"""
PROPERTIES = "models: [{name: by_yml, config: {dialect: duckdb}}]"
HOOK = "insert into {{ this }} select cast(array(7, 8)[0] as string)"
UNPARSED = """{{ config(dialect='duckdb') }}
select 1 as a,
  'abc' glob concat('a', '*') as b"""

SPINES = """
{{ config(dialect='duckdb') }}
with days as ({{ dbt.date_spine('day', "cast('2024-01-01' as date)", "cast('2024-01-05' as date)") }}),
months as ({{ dbt.date_spine('month', "cast('2024-01-01' as date)", "cast('2024-03-01' as date)") }})
select count(*) as x from days cross join months
"""


class TestWhereTheDialectIsSaid:
    """The profile says snowflake; a folder, a model and a model's properties say others."""

    @pytest.fixture(scope="class")
    def dbt_profile_target(self, dbt_profile_target):
        return {**dbt_profile_target, "dialect": "snowflake"}

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"models": {"test": {"folder": {"+dialect": "redshift"}}}}

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "by_profile.sql": "select 7 / 2 as X, split_part('a.b', '.', 0) as at",
            "py.py": PYTHON,
            "unit.yml": UNIT_TEST,
            "folder": {
                "by_folder.sql": "select top 1 9 / 2 as x",
                "by_block.sql": "{{ config(dialect='postgres') }} select 7 # 2 as x",
                "by_yml.sql": "from (select [4, 5][1] as x)",
                "sparks.sql": "{{ config(dialect='spark') }} select array(1, 2)[1] as x",
                "aliased.sql": "{{ config(materialized='ephemeral', alias='other_name') }} select len('abc') as x",
                "properties.yml": PROPERTIES,
            },
            "reader.sql": f"{{{{ config(materialized='table', post_hook=\"{HOOK}\") }}}} "
            "select x::varchar as Y from {{ ref('aliased') }}",
            "refused.sql": "{{ config(enabled=var('failing', false)) }} select x,\n  $1 from {{ ref('aliased') }}",
            "unparsed.sql": "{{ config(enabled=var('failing', false)) }}" + UNPARSED,
        }

    @pytest.fixture(scope="class")
    def seeds(self):
        return {"numbers.csv": "id,name\n1,a\n"}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {
            "kept.sql": "{% snapshot kept %}{{ config(unique_key='id', strategy='check', check_cols=['d']) }} "
            "select id, iff(id = 1, 'one', name) as d from {{ ref('numbers') }}{% endsnapshot %}"
        }

    @pytest.fixture(scope="class")
    def analyses(self):
        return {"compared.sql": "select nvl2(max(id), 'some', 'none') as x from {{ ref('numbers') }}"}

    @pytest.fixture(scope="class")
    def tests(self):
        return {"singular.sql": "select zeroifnull(id) as id from {{ ref('numbers') }} where id::varchar = '2'"}

    def test_the_nearest_setting_counts_for_each_kind_of_node(self, project):
        run_dbt(["build"])
        values = {name: self.value(project, name) for name in
                  ("by_profile", "py", "by_folder", "by_block", "by_yml", "sparks")}  # fmt: skip
        assert values == {"by_profile": 3.5, "py": 2, "by_folder": 4, "by_block": 5, "by_yml": 4, "sparks": 2}
        assert sorted(row[0] for row in project.run_sql("select y from {schema}.reader", fetch="all")) == ["3", "7"]
        assert [tuple(row) for row in project.run_sql("select d from {schema}.kept", fetch="all")] == [("one",)]
        [shown] = run_dbt(["show", "-s", "compared"])
        assert [tuple(row) for row in shown.agate_table.rows] == [("some",)]

    def test_a_variable_counts_before_the_profile(self, project):
        run_dbt(["run", "-s", "by_folder", "--vars", "{dialect: duckdb}"])
        assert self.value(project, "by_folder") == 4
        [shown] = run_dbt(["show", "--inline", "select 7 / 2 as x", "--vars", "{dialect: redshift}"])
        assert [tuple(row) for row in shown.agate_table.rows] == [(3,)]

    def test_another_name_is_refused_with_those_that_there_are(self, project):
        results = run_dbt(["run", "-s", "by_profile", "--vars", "{dialect: snowflak}"], expect_pass=False)
        assert "snowflake, bigquery, redshift, postgres, duckdb, databricks, trino and spark" in results[0].message
        assert "Did you mean 'snowflake'?" in results[0].message

    def test_a_construct_without_translation_is_one_message_with_its_position(self, project):
        results = run_dbt(["run", "-s", "refused", "unparsed", "--vars", "{failing: true}"], expect_pass=False)
        messages = {one.node.name: one.message for one in results}
        refused, unparsed = messages["refused"], messages["unparsed"]
        assert "The model 'refused' in the dialect 'snowflake' cannot be translated" in refused
        assert "the column number $1, in line" in refused
        assert "column 3: $1. Write it in another way" in refused
        assert "The model 'unparsed' in the dialect 'duckdb' has a construct that Spark's SQL does not have" in unparsed
        assert "in line 3, column 3: 'abc' glob concat('a', '*'). Spark says" in unparsed
        assert "Syntax error" in unparsed
        assert "\n    at " not in unparsed
        assert self.text(project, "compiled", "refused").splitlines()[-1].startswith("  $1 from")
        assert self.text(project, "run", "refused").startswith("-- The model 'refused' in the dialect 'snowflake'")
        assert "GLOB CONCAT" in self.text(project, "run", "unparsed")
        assert "glob concat" in self.text(project, "compiled", "unparsed")

    def value(self, project, name):
        return project.run_sql(f"select x from {{schema}}.{name}", fetch="all")[0][0]

    def text(self, project, kind, name):
        path = Path(project.project_root) / "target" / kind / "test" / "models" / f"{name}.sql"
        return path.read_text(encoding="utf-8")


class TestVariablesOfTheProject:
    """A variable of dbt_project.yml, under the name of the project."""

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"vars": {"test": {"dialect": "redshift"}}}

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "of_variable.sql": "select top 1 9 / 2 as x",
            "of_its_own.sql": "{{ config(dialect='snowflake') }} select iff(9 / 2 > 4, 1, 0) as x",
            "spines.sql": SPINES,
        }

    def test_they_count_where_a_model_says_nothing(self, project):
        run_dbt(["run"])
        # A date spine runs a query of its own while the model's text is made.
        for name, expected in (("of_variable", 4), ("of_its_own", 1), ("spines", 8)):
            assert project.run_sql(f"select x from {{schema}}.{name}", fetch="all")[0][0] == expected
