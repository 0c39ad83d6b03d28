"""What models of managed tables do beyond dbt's own suite: keys, strategies, options, messages."""

from __future__ import annotations

import pytest
from dbt.tests.util import relation_from_name, run_dbt, run_dbt_and_capture, write_file

EVENTS = """
{{ config(materialized='table') }}
select * from values
  (1, 'a', date'2024-01-01'), (2, 'b', date'2024-01-01'), (3, 'c', date'2024-01-02')
  as t(id, name, dt)
"""


def rows(project, name, columns="*", order="1"):
    relation = relation_from_name(project.adapter, name)
    return [tuple(one) for one in project.run_sql(f"select {columns} from {relation} order by {order}", fetch="all")]


def table_of(project, name):
    return project.adapter.catalog.load_table(project.test_schema, name)


def model(project, name, text):
    write_file(text, project.project_root, "models", f"{name}.sql")


def run(*args, ok=True):
    """Run dbt; the message and affected rows of each node by name."""
    results = run_dbt(["run", *args], expect_pass=ok)
    return {one.node.name: (one.message, one.adapter_response.get("rows_affected")) for one in results}


class Models:
    @pytest.fixture(scope="class")
    def models(self):
        return {"events.sql": EVENTS}


class TestUpsert(Models):
    UPSERT = """
{{{{ config(materialized='incremental', unique_key='id', {more}) }}}}
{{% if is_incremental() %}}
select name, id, dt from values ('B', 2, date'2024-01-05'), ('d', 4, date'2024-01-05') as t(name, id, dt)
{{% else %}}
select * from {{{{ ref('events') }}}}
{{% endif %}}
"""

    @pytest.mark.parametrize("more", ["incremental_strategy='upsert'", "incremental_strategy='merge', buckets=2", ""])
    def test_rows_are_replaced_by_key(self, project, more):
        existed = project.adapter.catalog.table_exists(project.test_schema, "keyed")
        model(project, "keyed", self.UPSERT.format(more=more))
        first = run("--full-refresh")
        said = "; set bucket = 2" if existed and "buckets" in more else ""
        assert first["keyed"] == (f"CREATE TABLE 3 rows{said}", 3)
        assert table_of(project, "keyed").schema.primary_keys == ("id",)
        second = run("-s", "keyed")
        assert second["keyed"] == ("UPSERT 2 rows", 2)
        assert rows(project, "keyed", "id, name") == [(1, "a"), (2, "B"), (3, "c"), (4, "d")]

    def test_the_console_line(self, project):
        model(project, "keyed", self.UPSERT.format(more=""))
        _, log = run_dbt_and_capture(["--no-use-colors", "run"])
        assert "[UPSERT 2 rows in " in log

    def test_some_columns_stay(self, project):
        model(project, "keyed", self.UPSERT.format(more="merge_update_columns=['name']"))
        run("--full-refresh")
        run("-s", "keyed")
        assert [str(one[0]) for one in rows(project, "keyed", "dt", "id")] == [
            "2024-01-01", "2024-01-01", "2024-01-02", "2024-01-05",
        ]  # fmt: skip

    def test_predicates_narrow_the_match(self, project):
        text = self.UPSERT.replace("unique_key='id'", "unique_key='id', enforce_key=false")
        model(project, "keyed", text.format(more="incremental_predicates=['name != \\'b\\'']"))
        run("--full-refresh")
        run("-s", "keyed")
        assert rows(project, "keyed", "id, name", "id, name") == [
            (1, "a"),
            (2, "B"),
            (2, "b"),
            (3, "c"),
            (4, "d"),
        ]


class TestBadKeys(Models):
    DUPLICATES = """
{{ config(materialized='incremental', unique_key='id') }}
select * from values (1, 'x'), (7, 'y'), (7, 'z') as t(id, name)
"""

    def test_duplicates_are_named(self, project):
        model(project, "keyed", self.DUPLICATES)
        message, _ = run("-s", "keyed", ok=False)["keyed"]
        assert "7" in message
        assert "id" in message
        assert "`enforce_key: false`" in message
        assert not project.adapter.catalog.table_exists(project.test_schema, "keyed")

    def test_a_sequence_field_says_which_row_counts(self, project):
        model(
            project,
            "keyed",
            self.DUPLICATES.replace("unique_key='id'", "unique_key='id', sequence_field='name'"),
        )
        run("-s", "keyed")
        assert rows(project, "keyed") == [(1, "x"), (7, "z")]

    def test_nulls_are_refused(self, project):
        model(project, "keyed", self.DUPLICATES.replace("(1,", "(null,"))
        message, _ = run("-s", "keyed", "--full-refresh", ok=False)["keyed"]
        assert "null" in message.lower()
        assert "'id'" in message
        assert "`incremental_strategy: delete+insert`" in message

    @pytest.mark.parametrize(
        ("way", "expected"),
        [
            # MERGE: every row of the key is updated; a null is no key, so its row is new each time.
            ("enforce_key=false", [(None, "x"), (None, "x"), (1, "y"), (7, "new"), (7, "new")]),
            # all rows of the key are replaced, by as many as there are
            ("incremental_strategy='delete+insert'", [(None, "x"), (None, "x"), (1, "y"), (7, "new")]),
        ],
    )
    def test_ways_out(self, project, way, expected):
        model(
            project,
            "loose",
            f"""
{{{{ config(materialized='incremental', unique_key='id', {way}) }}}}
{{% if is_incremental() %}} select * from values (null, 'x'), (1, 'y'), (7, 'new') as t(id, name)
{{% else %}} select * from values (null, 'x'), (7, 'y'), (7, 'z') as t(id, name) {{% endif %}}
""",
        )
        run("-s", "loose", "--full-refresh")
        run("-s", "loose")
        assert rows(project, "loose", "*", "id nulls first, name") == expected

    def test_rows_that_occur_twice_come_again(self, project):
        text = """
{{ config(materialized='incremental', unique_key='id', incremental_strategy='delete+insert') }}
select * from values (null, 'x'), (7, 'y'), (7, 'z') as t(id, name)
"""
        model(project, "loose", text)
        run("-s", "loose", "--full-refresh")
        run("-s", "loose")
        assert rows(project, "loose", "*", "id nulls first, name") == [
            (None, "x"),
            (None, "x"),
            (7, "y"),
            (7, "z"),
        ]

    def test_a_primary_key_of_the_users_own_stays(self, project):
        text = self.DUPLICATES.replace("unique_key='id'", "primary_key='id'")
        model(project, "keyed", text)
        message, _ = run("-s", "keyed", "--full-refresh", ok=False)["keyed"]
        assert "Duplicate primary key" in message
        assert "enforce_key" not in message

    def test_a_missing_key_column_is_named(self, project):
        model(project, "keyed", self.DUPLICATES.replace("unique_key='id'", "unique_key='idd'"))
        message, _ = run("-s", "keyed", "--full-refresh", ok=False)["keyed"]
        assert "idd" in message


class TestStrategies(Models):
    def test_append(self, project):
        model(project, "log", "{{ config(materialized='incremental') }} select * from {{ ref('events') }}")
        run("--full-refresh")
        assert run("-s", "log")["log"] == ("INSERT 3 rows", 3)
        assert rows(project, "log", "count(*)") == [(6,)]

    def test_insert_overwrite_replaces_the_partitions_of_the_rows(self, project):
        model(
            project,
            "parts",
            """
{{ config(materialized='incremental', incremental_strategy='insert_overwrite', partition_by='dt') }}
{% if is_incremental() %} select 9 as id, 'new' as name, date'2024-01-01' as dt
{% else %} select * from {{ ref('events') }} {% endif %}
""",
        )
        run("--full-refresh")
        run("-s", "parts")
        assert rows(project, "parts", "id, name") == [(3, "c"), (9, "new")]

    def test_delete_insert_on_rows_without_a_key(self, project):
        model(
            project,
            "replaced",
            """
{{ config(materialized='incremental', incremental_strategy='delete+insert', unique_key='dt') }}
{% if is_incremental() %} select * from values (8, 'x', date'2024-01-01'), (9, 'y', date'2024-01-01') as t(id, name, dt)
{% else %} select * from {{ ref('events') }} {% endif %}
""",
        )
        run("--full-refresh")
        run("-s", "replaced")
        assert rows(project, "replaced", "id, name") == [(3, "c"), (8, "x"), (9, "y")]

    def test_delete_insert_by_a_part_of_the_primary_key(self, project):
        model(
            project,
            "lines",
            """
{{ config(materialized='incremental', incremental_strategy='delete+insert', unique_key='o',
          primary_key=['o', 'line']) }}
{% if is_incremental() %} select * from values (1, 2, 'new'), (1, 3, 'new'), (3, 1, 'new') as t(o, line, v)
{% else %} select * from values (1, 1, 'old'), (1, 2, 'old'), (2, 1, 'old') as t(o, line, v) {% endif %}
""",
        )
        run("--full-refresh")
        run("-s", "lines")
        expected = [(1, 2, "new"), (1, 3, "new"), (2, 1, "old"), (3, 1, "new")]
        assert rows(project, "lines", "o, line, v") == expected
        run("-s", "lines")
        assert rows(project, "lines", "o, line, v") == expected

    def test_a_strategy_of_the_user(self, project):
        macro = """
{% macro get_incremental_twice_sql(arg_dict) %}
  insert into {{ arg_dict.target_relation }}
  select * from {{ arg_dict.temp_relation }} union all select * from {{ arg_dict.temp_relation }}
{% endmacro %}
"""
        write_file(macro, project.project_root, "macros", "twice.sql")
        model(
            project,
            "doubled",
            "{{ config(materialized='incremental', incremental_strategy='twice') }} select * from {{ ref('events') }}",
        )
        run("--full-refresh")
        run("-s", "doubled")
        assert rows(project, "doubled", "count(*)") == [(9,)]


class TestMistakes(Models):
    def test_an_upsert_needs_a_key(self, project):
        config = "{{ config(materialized='incremental', incremental_strategy='upsert') }} select 1 as id"
        model(project, "keyless", config)
        assert "needs a key" in run("-s", "keyless", ok=False)["keyless"][0]

    def test_a_key_that_is_misspelt(self, project):
        config = "{{ config(materialized='incremental', unique_keys='id') }} select 1 as id"
        model(project, "misspelt", config)
        assert "Did you mean 'unique_key'?" in run("-s", "misspelt", ok=False)["misspelt"][0]


class TestModelsOfOtherAdapters(Models):
    """Configs as public packages and Delta or BigQuery projects have them."""

    def test_ignored_configs_are_reported_once(self, project):
        for name in ("one", "two"):
            model(
                project,
                name,
                """
{{ config(materialized='incremental', unique_key='id', cluster_by=['id'], zorder=none, on_schema_change='ignore',
          partition_by={'field': 'dt', 'data_type': 'date'}, incremental_strategy='delete+insert',
          tblproperties={'delta.appendOnly': 'false', 'write-only': 'true'}) }}
select * from {{ ref('events') }}
""",
            )
        for args in (["--full-refresh"], []):
            _, log = run_dbt_and_capture(["run", *args])
            assert log.count("Config `cluster_by`") == 1
            assert log.count("'delta.appendOnly'") == 1
            assert "zorder" not in log
        schema = table_of(project, "one").schema
        assert (schema.partition_keys, schema.primary_keys) == (("dt",), ())
        assert schema.options["write-only"] == "true"
        assert len(rows(project, "two")) == 3

    def test_a_package_drops_what_it_made_under_a_temporary_name(self, project):
        macro = """
{% macro scratch() %}
  {% set temp = make_temp_relation(this, '__scratch').incorporate(type='table') %}
  {% do run_query('create table ' ~ temp ~ ' as select 1 as id') %}
  {% do adapter.drop_relation(temp) %}
  {% do run_query('create temporary view ' ~ temp ~ ' as select 2 as id') %}
  {% do adapter.drop_relation(temp) %}
  {% do adapter.drop_relation(temp) %}
{% endmacro %}
"""
        write_file(macro, project.project_root, "macros", "scratch.sql")
        model(project, "scratched", "{{ config(materialized='table', post_hook='{{ scratch() }}') }} select 1 as id")
        run("-s", "scratched")
        assert not [one for one in project.adapter.catalog.list_tables(project.test_schema) if "__scratch" in one]

    PARTITIONED = """
{{{{ config(materialized='incremental', incremental_strategy='merge', unique_key={key}, partition_by=['dt'],
          file_format='delta', {more}) }}}}
{{% if is_incremental() %}}
select *
from values (2, 'B', date'2024-01-05'), (3, 'C', date'2024-01-02'), (4, 'd', date'2024-01-01') as t(id, name, dt)
{{% else %}}
select * from {{{{ ref('events') }}}}
{{% endif %}}
"""

    @pytest.mark.parametrize("more", ["", "merge_update_columns=['name', 'dt']"])
    def test_a_row_changes_its_partition(self, project, more):
        model(project, "moving", self.PARTITIONED.format(key="'id'", more=more))
        run("--full-refresh")
        schema = table_of(project, "moving").schema
        assert (schema.primary_keys, schema.partition_keys) == (("id",), ("dt",))
        run("-s", "moving")
        assert rows(project, "moving", "id, name, cast(dt as string)") == [
            (1, "a", "2024-01-01"), (2, "B", "2024-01-05"), (3, "C", "2024-01-02"), (4, "d", "2024-01-01"),
        ]  # fmt: skip

    def test_a_key_that_is_the_partition(self, project):
        text = """
{{ config(materialized='incremental', unique_key='dt', partition_by={'field': 'dt', 'data_type': 'date'}) }}
{% if is_incremental() %} select date'2024-01-02' as dt, 7 as n union all select date'2024-01-03', 1
{% else %} select dt, cast(count(*) as int) as n from {{ ref('events') }} group by dt {% endif %}
"""
        model(project, "days", text)
        run("--full-refresh")
        assert table_of(project, "days").schema.primary_keys == ()
        run("-s", "days")
        assert rows(project, "days", "cast(dt as string), n") == [
            ("2024-01-01", 2),
            ("2024-01-02", 7),
            ("2024-01-03", 1),
        ]

    def test_a_primary_key_as_a_text(self, project):
        model(
            project,
            "keyed",
            """
{{ config(materialized='incremental', primary_key='id, dt', partition_by='dt', merge_update_columns=['name']) }}
{% if is_incremental() %} select 1 as id, 'A' as name, date'2024-01-01' as dt
{% else %} select * from {{ ref('events') }} {% endif %}
""",
        )
        run("--full-refresh")
        run("-s", "keyed")
        assert rows(project, "keyed", "id, name") == [(1, "A"), (2, "b"), (3, "c")]


class TestRowKinds(Models):
    def test_a_model_of_changes(self, project):
        text = """
{{ config(materialized='incremental', unique_key='id', row_kind=true) }}
{% if is_incremental() %}
select * from values ('-D', 1, 'gone'), ('+U', 2, 'new'), ('+I', 4, 'd') as t(_row_kind, id, v)
{% else %}
select * from values ('+I', 1, 'a'), ('+I', 2, 'b'), ('+I', 3, 'c'), ('-D', 3, 'c') as t(_row_kind, id, v)
{% endif %}
"""
        model(project, "changes", text)
        run("--full-refresh", "-s", "changes")
        assert rows(project, "changes") == [(1, "a"), (2, "b")]
        run("-s", "changes")
        assert rows(project, "changes") == [(2, "new"), (4, "d")]
        more = text.replace("row_kind=true", "row_kind=true, on_schema_change='fail'")
        model(project, "changes", more)
        run("-s", "changes")
        assert rows(project, "changes") == [(2, "new"), (4, "d")]
        # Without the config, deletes would be written as rows later on.
        model(project, "forgotten", text.replace(", row_kind=true", ""))
        assert "row_kind=true" in run("-s", "forgotten", ok=False)["forgotten"][0]
        model(project, "asked", "{{ config(materialized='table', row_kind=true) }} select 1 as id")
        assert "no column _row_kind" in run("-s", "asked", ok=False)["asked"][0]
        # A MERGE would take the deletes for rows.
        model(project, "changes", text.replace("row_kind=true", "row_kind=true, merge_update_columns=['v']"))
        assert "row_kind" in run("-s", "changes", ok=False)["changes"][0]
        assert rows(project, "changes") == [(2, "new"), (4, "d")]


class TestMergeEngines(Models):
    ADDED_UP = """
{{{{ config(materialized='incremental', unique_key='kind', merge_engine='aggregation', fields={fields}) }}}}
{{% if is_incremental() %}} select 'a' as kind, 5L as total, 'new' as names
{{% else %}} select * from values ('a', 1L, 'x'), ('a', 2L, 'y'), ('b', 4L, 'z') as t(kind, total, names) {{% endif %}}
"""

    def test_increments_add_up(self, project):
        fields = "{'total': 'sum', 'names': {'function': 'listagg', 'list_agg_delimiter': '+'}}"
        model(project, "totals", self.ADDED_UP.format(fields=fields))
        run("--full-refresh", "-s", "totals")
        assert rows(project, "totals") == [("a", 3, "x+y"), ("b", 4, "z")]
        run("-s", "totals")
        run("-s", "totals")
        assert rows(project, "totals") == [("a", 13, "x+y+new+new"), ("b", 4, "z")]
        # Another function would mean something else for the rows that are there.
        model(project, "totals", self.ADDED_UP.format(fields="{'total': 'max', 'names': 'last_value'}"))
        message = run("-s", "totals", ok=False)["totals"][0]
        assert "fields.total.aggregate-function" in message
        assert "--full-refresh" in message
        assert rows(project, "totals") == [("a", 13, "x+y+new+new"), ("b", 4, "z")]
        run("--full-refresh", "-s", "totals")
        assert rows(project, "totals") == [("a", 2, "y"), ("b", 4, "z")]

    def test_strategies_that_replace_rows_are_refused(self, project):
        text = self.ADDED_UP.format(fields="{'total': 'sum'}")
        keyed = "unique_key='kind', primary_key='kind', incremental_strategy='delete+insert'"
        model(project, "replaced", text.replace("unique_key='kind'", keyed))
        run("--full-refresh", "-s", "replaced")
        assert "merge-engine" in run("-s", "replaced", ok=False)["replaced"][0]
        assert rows(project, "replaced", "kind, total") == [("a", 3), ("b", 4)]


class TestOptions(Models):
    def test_an_option_that_may_change_is_changed(self, project):
        text = """
{{{{ config(materialized='incremental', unique_key='id', table_options={{'write-only': {value}}}) }}}}
select * from {{{{ ref('events') }}}}
"""
        model(project, "tuned", text.format(value="true"))
        run("--full-refresh")
        model(project, "tuned", text.format(value="false"))
        assert "; set write-only = false" in run("-s", "tuned")["tuned"][0]
        assert table_of(project, "tuned").schema.options["write-only"] == "false"
        model(
            project, "tuned", text.format(value="false").replace("table_options={'write-only': false}", "alias='tuned'")
        )
        assert "; reset write-only" in run("-s", "tuned")["tuned"][0]
        assert {"write-only", "dbt.options"}.isdisjoint(table_of(project, "tuned").schema.options)
        model(project, "tuned", text.format(value="true").replace("incremental", "table"))
        assert "; set write-only = true" in run("-s", "tuned")["tuned"][0]

    def test_options_reach_the_table(self, project):
        model(
            project,
            "options",
            """
{{ config(materialized='table', primary_key=['id', 'dt'], partition_by=['dt'], buckets=3, sequence_field='name',
          table_options={'target-file-size': '64 mb'}) }}
select * from {{ ref('events') }}
""",
        )
        run()
        schema = table_of(project, "options").schema
        assert (schema.primary_keys, schema.partition_keys) == (("id", "dt"), ("dt",))
        assert schema.options["bucket"] == "3"
        assert schema.options["sequence.field"] == "name"
        assert schema.options["target-file-size"] == "64 mb"

    @pytest.mark.parametrize(
        ("config", "hint"),
        [
            ("primary_keys='id'", "primary_key"),
            ("table_options={'target-file-sise': '1 mb'}", "target-file-size"),
        ],
    )
    def test_a_misspelling_is_reported(self, project, config, hint):
        model(project, "options", f"{{{{ config(materialized='table', {config}) }}}} select 1 as id")
        message, _ = run("-s", "options", ok=False)["options"]
        assert f"Did you mean '{hint}'?" in message

    def test_a_key_without_its_partition_is_refused_in_a_fixed_number_of_buckets(self, project):
        configs = "materialized='table', primary_key='id', partition_by='dt', buckets=2"
        text = f"{{{{ config({configs}) }}}} select 1 as id, 2 as dt"
        model(project, "options", text)
        message, _ = run("-s", "options", ok=False)["options"]
        assert "must contain all partition columns" in message

    def test_grants_warn_once(self, project):
        for name in ("one", "two"):
            model(project, name, "{{ config(grants={'select': ['me']}) }} select 1 as id")
        _, log = run_dbt_and_capture(["run", "-s", "one", "two"])
        assert log.count("grants are ignored") == 1


class TestReplacing(Models):
    def test_a_failed_build_keeps_the_old_rows(self, project):
        model(project, "kept", "{{ config(materialized='table') }} select 1 as id")
        run("-s", "kept", "events")
        failing = "select if(id < 3, id, raise_error('boom')) as id from {{ ref('events') }}"
        model(project, "kept", "{{ config(materialized='table') }} " + failing)
        message, _ = run("-s", "kept", ok=False)["kept"]
        assert "boom" in message
        assert "java" not in message.lower()
        assert "\tat " not in message
        assert rows(project, "kept") == [(1,)]

    def test_kinds_change_into_each_other(self, project):
        catalog = project.adapter.catalog
        for materialized in ("view", "table", "view", "incremental"):
            model(project, "changing", f"{{{{ config(materialized='{materialized}') }}}} select 1 as id")
            run("-s", "changing")
            kind = "view" if materialized == "view" else "table"
            assert catalog.object_kind(project.test_schema, "changing") == kind
        assert not [one for one in catalog.list_tables(project.test_schema) if "__dbt" in one]

    def test_a_broken_view_keeps_the_table(self, project):
        model(project, "broken", "{{ config(materialized='table') }} select 1 as id")
        run("-s", "broken")
        model(project, "broken", "{{ config(materialized='view') }} select nothing_here as id")
        run("-s", "broken", ok=False)
        assert rows(project, "broken") == [(1,)]


class TestSeedValues:
    @pytest.fixture(scope="class")
    def seeds(self):
        return {
            "exact.csv": "big,text,amount,at,flag\n"
            '1152921504606846977,"it\'s ""quoted""; \\n",12345678901234567890.123456,2024-01-02T03:04:05.678901,true\n'
            ",,,,\n",
            "exact.yml": "seeds: [{name: exact, config: {column_types: {amount: 'decimal(38,6)'}}}]",
            "foreign_types.csv": "number,f8,i8,tz,vc,flag,f\n1.1234567,2.5,3,2024-01-02 03:04:05,007,true,38.89\n",
            "foreign_types.yml": """
seeds:
  - name: foreign_types
    config:
      column_types: {
        number: numeric, f8: double precision, i8: INT8, tz: timestamptz, vc: varchar, flag: bool, f: float}
""",
        }

    def test_values_are_loaded_unchanged(self, project):
        results = {one.node.name: one for one in run_dbt(["seed"])}
        assert results["exact"].message == "INSERT 2 rows"
        assert results["exact"].adapter_response["rows_affected"] == 2
        values = rows(project, "exact", "big, text, cast(amount as string), cast(at as string), flag", "1 desc")
        foreign = relation_from_name(project.adapter, "foreign_types")
        assert {one.name: one.dtype for one in project.adapter.get_columns_in_relation(foreign)} == {
            "number": "decimal(38,7)", "f8": "double", "i8": "bigint", "tz": "timestamp", "vc": "string",
            "flag": "boolean",
            "f": "double",
        }  # fmt: skip
        assert rows(project, "foreign_types", "cast(number as string), f8, i8, cast(tz as string), vc, flag, f") == [
            ("1.1234567", 2.5, 3, "2024-01-02 03:04:05", "007", True, 38.89),
        ]
        assert values == [
            (
                2**60 + 1,
                'it\'s "quoted"; \\n',
                "12345678901234567890.123456",
                "2024-01-02 03:04:05.678901",
                True,
            ),
            (None,) * 5,
        ]


class TestThreads:
    """Eight threads build at once, each with a session of its own."""

    @pytest.fixture(scope="class")
    def models(self):
        one = "{{ config(materialized='table', pre_hook='create or replace temporary view mine as select %d as id') }}"
        return {f"m{i}.sql": one % i + " select id from mine" for i in range(16)}

    def test_sessions_do_not_mix(self, project):
        run_dbt(["run", "--threads", "8"])
        assert [rows(project, f"m{i}") for i in range(16)] == [[(i,)] for i in range(16)]


class TestKeyedMetadata(Models):
    """The catalog of docs, and freshness, of a table that was upserted."""

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "events.sql": EVENTS,
            "keyed.sql": "{{ config(materialized='incremental', primary_key=['dt', 'id'], partition_by='dt') }}"
            " select *, timestamp'2024-01-05 06:07:08' as loaded from {{ ref('events') }}",
            "sources.yml": """
sources:
  - name: raw
    schema: "{{ target.schema }}"
    config: {freshness: {warn_after: {count: 1, period: day}}}
    tables:
      - {name: keyed, config: {loaded_at_field: loaded}}
      - {name: events}
""",
        }

    def test_stats_and_freshness(self, project):
        run()
        run()
        stats = run_dbt(["docs", "generate"]).nodes["model.test.keyed"].stats
        assert stats["primary_key"].value == "dt, id"
        assert stats["partitions"].value == "dt (2)"
        assert stats["snapshots"].value == 2
        results = run_dbt(["source", "freshness"])
        found = {one.node.name: one for one in results}
        assert found["keyed"].status == "warn"
        assert found["keyed"].max_loaded_at.isoformat() == "2024-01-05T06:07:08+00:00"
        assert found["events"].status == "pass"


class TestSchemaChange(Models):
    def test_it_fails_with_what_changed(self, project):
        text = "{{ config(materialized='incremental', unique_key='id', on_schema_change='fail') }} select "
        model(project, "changing", text + "id, name from {{ ref('events') }}")
        run()
        model(project, "changing", text + "id, cast(name as int) as name, dt from {{ ref('events') }}")
        message, _ = run("-s", "changing", ok=False)["changing"]
        assert "new columns dt; changed types name (int, not string)" in message

    def test_columns_are_matched_by_name(self, project):
        text = "{{ config(materialized='incremental', unique_key='id') }} select "
        model(project, "ordered", text + "id, name, dt from {{ ref('events') }}")
        run("-s", "events", "ordered", "--full-refresh")
        model(
            project,
            "ordered",
            text + "dt, 'extra' as extra, upper(name) as name, id from {{ ref('events') }}",
        )
        run("-s", "ordered")
        assert rows(project, "ordered", "id, name") == [(1, "A"), (2, "B"), (3, "C")]


class TestChangesWithoutAKey(Models):
    """Models whose rows have no key and say what they do."""

    TEXT = """
{{ config(materialized='incremental', row_kind=true) }}
{% if is_incremental() %}
select * from values ('-D', 'pear', null), ('+I', 'pear', 'ada'), ('-D', 'apple', null) as t(_row_kind, item, customer)
{% else %}
select * from values ('+I', 'apple', null), ('+I', 'apple', null), ('+I', 'pear', null),
  ('-U', 'fig', 'ben'), ('+U', 'fig', 'ben')
  as t(_row_kind, item, customer)
{% endif %}
"""

    @pytest.mark.parametrize("strategy", ["", ", incremental_strategy='append'", ", incremental_strategy='merge'"])
    def test_retractions_are_applied(self, project, strategy):
        model(project, "joined", self.TEXT.replace("row_kind=true", f"row_kind=true{strategy}"))
        assert run("-s", "joined", "--full-refresh")["joined"] == ("CREATE TABLE 3 rows", 3)
        assert rows(project, "joined", "item, customer") == [("apple", None), ("apple", None), ("pear", None)]
        assert not table_of(project, "joined").schema.merge_engine.rules.is_multiset
        assert run("-s", "joined")["joined"] == ("INSERT 3 rows", 3)
        assert rows(project, "joined", "item, customer") == [("apple", None), ("pear", "ada")]
        assert table_of(project, "joined").schema.merge_engine.rules.is_multiset
        # The options of the table, now a multiset table, still fit its model, and removing too many rows is reported.
        message, _ = run("-s", "joined")["joined"]
        assert message == "INSERT 3 rows"
        with pytest.raises(Exception, match="removed more often than it was added"):
            rows(project, "joined")
        run("-s", "joined", "--full-refresh")
        assert rows(project, "joined", "count(*)") == [(3,)]

    def test_retractions_may_be_refused(self, project):
        model(
            project,
            "joined",
            self.TEXT.replace("row_kind=true", "row_kind=true, table_options={'retractions': 'refuse'}"),
        )
        message, _ = run("-s", "joined", "--full-refresh", ok=False)["joined"]
        assert "'retractions' = 'refuse'" in message
