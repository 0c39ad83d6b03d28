"""The nodes of a project in other dialects, and what macros give in them."""

from __future__ import annotations

from datetime import date

import pytest
from dbt.tests.util import run_dbt

PORTABLE = """{{ config(materialized='view', dialect=var('of', 'postgres')) }}
select {{ dbt.dateadd('day', 1, "date '2024-01-31'") }} as added,
{{ dbt.datediff("date '2024-01-06'", "date '2024-01-07'", 'week') }} as weeks,
{{ dbt.datediff("date '2024-01-31'", "date '2024-02-01'", 'month') }} as months,
{{ dbt.hash(dbt.concat(["'a'", "'b'"])) }} as h, {{ dbt.date_trunc('month', "date '2024-01-31'") }} as cut,
'{{ dbt.escape_single_quotes("they're") }}' as q, {{ dbt.safe_cast("'x'", dbt.type_bigint()) }} as n,
spark__size({{ dbt.array_append(dbt.array_construct([1, 2]), 3) }}) as l, {{ dbt.split_part("'a-b'", "'-'", 2) }} as p,
(select {{ dbt.listagg('v', "','", 'order by v', 9) }} from (select 'b' as v union all select 'a')) as some,
{{ dbt.concat(["'a'", "cast(null as char(1))"]) }} as c,
(select count(*) from (select 1 as a {{ dbt.except() }} select 1 as a) as t) as none,
{{ dbt.date_trunc('week', "date '2024-01-07'") }} as week, {{ dbt.split_part("'a'", "'-'", 2) }} as part,
{{ dbt.datediff("date '2024-01-31'", "date '2024-04-01'", 'month') }} / 2 as half"""

UNIT_TEST = """
unit_tests:
  - name: of_rows
    model: seen
    given:
      - {input: ref('base'), format: sql, rows: "select 1 as half"}
      - {input: ref('sparks'), format: sql, rows: "select array(5)[0] as two"}
    expect: {rows: [{h: '1', two: 5, side: snow}]}
"""
MACROS = """
{% macro side() %}{{ return(adapter.dispatch('side')()) }}{% endmacro %}
{% macro snowflake__side() %}iff(true, 'snow', '')::varchar{% endmacro %}
{% macro spark__side() %}array('', 'spark')[1]{% endmacro %}
{% macro asked() %}
  {%- if execute %}{{ run_query("select " ~ side() ~ " as a").columns[0].values()[0] }}{% endif -%}
{% endmacro %}
"""


class TestNodesOfAProject:
    """All nodes in Snowflake's SQL, above an ephemeral model of Redshift and one of Spark."""

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {
            "models": {"+dialect": "snowflake"},
            "snapshots": {"+dialect": "snowflake"},
            "data_tests": {"test": {"singular": {"+dialect": "snowflake"}}},
        }

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "base.sql": "{{ config(materialized='ephemeral', dialect='redshift') }} select top 1 9 / 2 as half",
            "sparks.sql": "{{ config(materialized='ephemeral', dialect='spark') }} select array(1, 2)[1] as two",
            "seen.sql": "{{ config(materialized='view') }} select half::varchar as H, two, {{ side() }} as side "
            "from {{ ref('base') }}, {{ ref('sparks') }}",
            "grown.sql": "{{ config(materialized='incremental', unique_key='ID', "
            "post_hook=\"select assert_true({{ side() }} = 'spark')\") }} -- {{ asked() }}\n"
            "select iff(H = '4', 1, 0) as ID, "
            "dateadd(day, {{ 1 if is_incremental() else 0 }}, '2026-01-01'::date) as D "
            "from {{ ref('seen') }} {% if is_incremental() %}where (select count(ID) from {{ this }}) = 1{% endif %}",
            "portable.sql": PORTABLE,
            "refused.sql": "{{ config(enabled=var('refused', false)) }} select $1 from {{ ref('seen') }}",
            "tests.yml": UNIT_TEST,
        }

    @pytest.fixture(scope="class")
    def macros(self):
        return {"side.sql": MACROS}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {
            "kept.sql": "{% snapshot kept %}{{ config(unique_key='id', strategy='check', check_cols=['d']) }} "
            "select id, to_char(d, 'YYYY/MM') as d from {{ ref('grown') }}{% endsnapshot %}"
        }

    @pytest.fixture(scope="class")
    def tests(self):
        return {"singular.sql": "select zeroifnull(id) as id from {{ ref('grown') }} where not id::varchar = '1'"}

    def test_every_kind_of_node_is_translated(self, project):
        for _ in range(2):
            run_dbt(["build"])
        grown = project.run_sql("select * from {schema}.grown", fetch="all")
        assert [tuple(one) for one in grown] == [(1, date(2026, 1, 2))]
        assert [one[0] for one in project.run_sql("select d from {schema}.kept", fetch="all")] == ["2026/01"]
        written = self.text(project, "compiled", "models/grown.sql")
        assert "iff(" in written
        assert "dateadd(" in written
        assert "-- snow" in written
        run = self.text(project, "run", "models/grown.sql")
        assert "INTERVAL '1' DAY" in run
        assert "iff(" not in run
        [shown] = run_dbt(["show", "--inline", "{{ config(dialect='postgres') }} select 7 / 2 as x"])
        assert [tuple(row) for row in shown.agate_table.rows] == [(3,)]

    @pytest.mark.parametrize("dialect", ["postgres", "bigquery"])
    def test_macros_of_dbt_mean_the_same_in_every_dialect(self, project, dialect):
        run_dbt(["run", "-s", "portable", "--vars", f"{{of: {dialect}}}"])
        [row] = project.run_sql("select * from {schema}.portable", fetch="all")
        added, weeks, months, hashed, cut, *others = row[:-3]
        assert (str(added)[:10], weeks, months, str(cut)[:10]) == ("2024-02-01", 1, 1, "2024-01-01")
        assert hashed == "187ef4436122d1cc2f40dc2b92f0eba0"
        assert others == ["they're", None, 3, "b", "a,b", None, 0]
        week, part = {"postgres": ("2024-01-01", ""), "bigquery": ("2024-01-07", None)}[dialect]
        assert (str(row[-3])[:10], row[-2], float(row[-1])) == (week, part, 1.5)

    def test_untranslatable_sql_is_named(self, project):
        results = run_dbt(["run", "-s", "refused", "--vars", "{refused: true}"], expect_pass=False)
        assert "column number $1" in results[0].message

    def text(self, project, kind, path):
        with open(f"{project.project_root}/target/{kind}/test/{path}", encoding="utf-8") as file:
            return file.read()
