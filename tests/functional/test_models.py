"""Models of managed tables beyond dbt's own suite: keys, strategies, messages."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt, run_dbt_and_capture, write_file
from support.dbt_models import EVENTS, Models, model, rows, run, table_of


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
        catalog = project.adapter.catalog
        existed = catalog.table_exists(project.test_schema, "keyed")
        had = catalog.load_table(project.test_schema, "keyed").options.bucket if existed else None
        model(project, "keyed", self.UPSERT.format(more=more))
        first = run("--full-refresh")
        said = "; set bucket = 2" if existed and "buckets" in more else "; reset bucket" if had == 2 else ""
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


class TestThreads:
    """Eight threads build at once, each with a session of its own."""

    @pytest.fixture(scope="class")
    def models(self):
        one = "{{ config(materialized='table', pre_hook='create or replace temporary view mine as select %d as id') }}"
        return {f"m{i}.sql": one % i + " select id from mine" for i in range(12)}

    def test_sessions_do_not_mix(self, project):
        run_dbt(["run", "--threads", "8"])
        several = " union all ".join(f"select {i} as model, id from {{schema}}.m{i}" for i in range(12))
        found = project.run_sql(several, fetch="all")
        assert sorted(map(tuple, found)) == [(i, i) for i in range(12)]


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
