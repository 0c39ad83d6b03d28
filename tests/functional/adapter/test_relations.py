import pytest
from dbt.tests.adapter.relations.test_changing_relation_type import BaseChangeRelationTypeValidator
from dbt.tests.adapter.relations.test_dropping_schema_named import BaseDropSchemaNamed
from dbt.tests.util import run_dbt


@pytest.mark.conformance
class TestChangeRelationTypes(BaseChangeRelationTypeValidator):
    pass


class TestDropSchemaNamed(BaseDropSchemaNamed):
    pass


class TestDropRelationWithoutSchema:
    """Packages make "temporary" relations by leaving the schema out, and drop them by `adapter.drop_relation`."""

    DROPS = """
{% macro drops() %}
  {% if not execute %}{% do return('') %}{% endif %}
  {% set base = api.Relation.create(database=target.database, schema=target.schema, identifier='results') %}
  {% for kind in ('table', 'view', 'temporary view') %}
    {% set relation = base.incorporate(path={'schema': none, 'identifier': 'results__tmp'}, type='table') %}
    {% do run_query('create ' ~ kind ~ ' ' ~ relation ~ ' as select 1 as id') %}
    {% if kind == 'temporary view' %}
      {% do run_query('create table ' ~ target.schema ~ '.results__tmp as select 2 as id') %}
    {% endif %}
    {% do adapter.drop_relation(relation) %}
    {% do adapter.drop_relation(api.Relation.create(identifier='never_made')) %}
    {% set left = run_query('show tables in ' ~ target.schema).columns['tableName'].values() %}
    {% do log('left after ' ~ kind ~ ': ' ~ (left | join(',')), info=true) %}
  {% endfor %}
  {% do log('rows: ' ~ run_query('select id from results__tmp').columns[0].values()[0], info=true) %}
{% endmacro %}
"""

    @pytest.fixture(scope="class")
    def macros(self):
        return {"drops.sql": self.DROPS}

    @pytest.fixture(scope="class")
    def models(self):
        return {"one.sql": "select 1 as id"}

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"on-run-end": ["{{ drops() }}"]}

    def test_the_object_of_the_name_is_dropped(self, project, capsys):
        run_dbt(["run"])
        said = capsys.readouterr().out
        for kind in ("table", "view"):
            assert f"left after {kind}: one" in said
        assert "left after temporary view: one,results__tmp" in said  # the temporary view hides it
        assert "rows: 2" in said


class TestRenameRelationOfUnknownType:
    """Materializations of packages rename `this`, which has no type, to the type of the existing relation."""

    MOVES = """
{% macro moves() %}
  {% for name in ('a_view', 'a_table') %}
    {% set relation = api.Relation.create(schema=target.schema, identifier=name) %}
    {% do adapter.rename_relation(relation, relation.incorporate(path={'identifier': name ~ '__dbt_backup'})) %}
  {% endfor %}
{% endmacro %}
"""

    @pytest.fixture(scope="class")
    def macros(self):
        return {"moves.sql": self.MOVES}

    @pytest.fixture(scope="class")
    def models(self):
        return {"a_view.sql": "select 1 as id", "a_table.sql": "{{ config(materialized='table') }} select 1 as id"}

    def test_the_catalog_knows_what_it_is(self, project):
        run_dbt(["run"])
        run_dbt(["run-operation", "moves"])
        catalog, schema = project.adapter.catalog, project.test_schema
        assert (list(catalog.list_views(schema)), list(catalog.list_tables(schema))) == (
            ["a_view__dbt_backup"],
            ["a_table__dbt_backup"],
        )
