"""on_schema_change of incremental models: by field id, in one commit of the schema, without writing rows anew."""

from __future__ import annotations

from collections import deque

import pytest
from dbt.tests.util import relation_from_name, run_dbt, write_file
from support.dbt_models import store_of, table_of
from support.soak import seeds
from support.spark_rows import answers

MODEL = """{{{{ config(materialized='incremental', unique_key='id', on_schema_change='{mode}') }}}}
{query}
"""
RENAMED = """models:
  - name: m
    columns:
      - {name: label, config: {renamed_from: a}}
      - {name: s.y, config: {meta: {renamed_from: x}}}
"""
DOCUMENTED = """models:
  - name: m
    description: all of it
    config: {persist_docs: {relation: true, columns: true}}
    columns:
      - {name: id, description: the id}
      - {name: d, description: a new day}
"""
STRATEGY = """{% macro get_incremental_own_sql(arg_dict) %}
  insert into {{ arg_dict['target_relation'] }} select * from {{ arg_dict['temp_relation'] }}
{% endmacro %}
"""
BATCHED = """{{{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='at',
     begin='2024-01-01', batch_size='day', primary_key='id', on_schema_change='append_new_columns') }}}}
select 1 as id, timestamp'2024-01-01 10:00:00' as at{}
"""
LISTS = "select 1 as id, t.a, named_struct('m', t.m, 'n', t.n) as s from (select {}) as t(a, m, n)"
FIRST = "select 1 as id, 'one' as a, named_struct('x', 1) as s, 5 as n"


class TestSchemaChanges:
    @pytest.fixture(scope="class")
    def models(self):
        return {"m.sql": "select 1 as id"}

    def build(self, project, mode, query, ok=True):
        write_file(MODEL.format(mode=mode, query=query), project.project_root, "models", "m.sql")
        [result] = run_dbt(["run"], expect_pass=ok)
        return result.message

    def first(self, project):
        write_file(MODEL.format(mode="ignore", query=FIRST), project.project_root, "models", "m.sql")
        write_file("models: []", project.project_root, "models", "m.yml")
        run_dbt(["run", "--full-refresh"])
        return self.table(project)

    def table(self, project):
        return table_of(project, "m")

    def rows(self, project):
        relation = relation_from_name(project.adapter, "m")
        return [
            str(tuple(one))
            for one in project.run_sql(f"select to_json(struct(*)) from {relation} order by id", fetch="all")
        ]

    def test_append(self, project):
        before = self.first(project)
        write_file(DOCUMENTED, project.project_root, "models", "m.yml")
        query = "select 2 as id, 'two' as a, named_struct('x', 2, 'z', 'new') as s, 6 as n, date '2026-01-01' as d"
        message = self.build(project, "append_new_columns", query)
        assert message == "UPSERT 1 row; added d, s is struct<x:int,z:string>"
        after = self.table(project).schema
        assert after.id == before.schema.id + 1, "columns and comments are one change"
        assert (after.comment, after.field("id").description, after.field("d").description) == (
            "all of it", "the id", "a new day")  # fmt: skip
        assert self.rows(project) == [
            """('{"id":1,"a":"one","s":{"x":1},"n":5}',)""",
            """('{"id":2,"a":"two","s":{"x":2,"z":"new"},"n":6,"d":"2026-01-01"}',)""",
        ]

    @pytest.mark.parametrize("more", ["", pytest.param(", incremental_strategy='append'", marks=pytest.mark.soak)])
    def test_fields_that_the_table_or_the_query_lacks(self, project, more):
        """`ignore` leaves new fields out, `append_new_columns` adds them; fields that the query lacks are null."""
        self.first(project)
        for number, mode in enumerate(("ignore", "append_new_columns", "append_new_columns"), 2):
            fields = "'z', 'new'" if number < 4 else "'x', 4"
            query = f"select {number} as id, 'two' as a, named_struct({fields}) as s, 6 as n"
            self.build(project, f"{mode}'{more}, tags='x", query)
        assert self.rows(project) == [
            """('{"id":1,"a":"one","s":{"x":1},"n":5}',)""",
            """('{"id":2,"a":"two","s":{},"n":6}',)""",
            """('{"id":3,"a":"two","s":{"z":"new"},"n":6}',)""",
            """('{"id":4,"a":"two","s":{"x":4},"n":6}',)""",
        ]

    def test_sync(self, project):
        before = self.first(project)
        query = "select 2 as id, named_struct('z', 'new') as s, 6000000000 as n"
        message = self.build(project, "sync_all_columns", query)
        assert message == "UPSERT 1 row; s is struct<z:string>, n is bigint, dropped a"
        assert self.table(project).schema.id == before.schema.id + 1
        assert self.rows(project) == [
            """('{"id":1,"s":{},"n":5}',)""",
            """('{"id":2,"s":{"z":"new"},"n":6000000000}',)""",
        ]

    def test_an_impossible_change_is_refused_before_rows_are_written(self, project):
        self.first(project)
        message = self.build(project, "sync_all_columns", "select 2 as id, 'b' as a, 'x' as s, 1 as n", ok=False)
        assert "'s'" in message
        assert "--full-refresh" in message
        assert len(self.rows(project)) == 1

    @pytest.mark.parametrize("mode", ["ignore", pytest.param("sync_all_columns", marks=pytest.mark.soak)])
    def test_a_renamed_column_keeps_its_data(self, project, mode):
        before = self.first(project)
        write_file(RENAMED, project.project_root, "models", "m.yml")
        query = "select 2 as id, 'two' as label, named_struct('y', 2) as s, 6 as n"
        message = self.build(project, mode, query)
        assert message == "UPSERT 1 row; renamed a to label, renamed s.x to y"
        assert self.table(project).schema.id == before.schema.id + 1
        assert self.rows(project) == [
            """('{"id":1,"label":"one","s":{"y":1},"n":5}',)""",
            """('{"id":2,"label":"two","s":{"y":2},"n":6}',)""",
        ]
        assert self.build(project, mode, query) == "UPSERT 1 row"

    @pytest.mark.cover
    @pytest.mark.parametrize(
        "more", ["", ", merge_update_columns=['n']", ", incremental_strategy='delete+insert'",
                 ", incremental_strategy='append'", ", incremental_strategy='insert_overwrite'"],
    )  # fmt: skip
    @pytest.mark.parametrize("mode", ["ignore", "sync_all_columns"])
    def test_a_run_that_fails_leaves_the_table_as_it_was(self, project, mode, more):
        """The columns change by the commit of the rows, so a run that fails changes none."""
        before = self.first(project)
        write_file(RENAMED, project.project_root, "models", "m.yml")
        commits = before.latest_snapshot().id
        new = ", 6 as n, 'z' as new" if mode == "sync_all_columns" else ", 6 as n"
        query = f"select 2 as id, {{value}} as label, named_struct('y', 2) as s{new}"
        message = self.build(project, f"{mode}'{more}, tags='x", query.format(value="raise_error('no')"), ok=False)
        assert "stays" not in message
        assert table_of(project, "m").schema == before.schema
        assert self.rows(project) == ["""('{"id":1,"a":"one","s":{"x":1},"n":5}',)"""]
        assert self.build(project, f"{mode}'{more}, tags='x", query.format(value="'two'"))
        added = ',"new":"z"' if mode == "sync_all_columns" else ""
        first = [] if "overwrite" in more else ["""('{"id":1,"label":"one","s":{"y":1},"n":5}',)"""]
        assert self.rows(project) == [
            *first, """('{"id":2,"label":"two","s":{"y":2},"n":6ADDED}',)""".replace("ADDED", added),
        ]  # fmt: skip
        after = self.table(project)
        assert after.schema.id == before.schema.id + 1
        assert after.latest_snapshot().schema_id == after.schema.id
        assert after.latest_snapshot().id == commits + 1, "columns and rows are one commit"

    def test_a_query_of_its_own_table_sees_the_new_names(self, project):
        self.first(project)
        write_file(RENAMED, project.project_root, "models", "m.yml")
        query = "select id + 1 as id, upper(label) as label, s, n from {{ this }} where s.y = 1"
        assert self.build(project, "ignore", query) == "UPSERT 1 row; renamed a to label, renamed s.x to y"
        assert self.rows(project)[1] == """('{"id":2,"label":"ONE","s":{"y":1},"n":5}',)"""

    def test_a_run_without_rows_changes_the_columns(self, project):
        self.first(project)
        query = "select 2 as id, 'z' as a, named_struct('x', 2) as s, 6 as n, 1 as new where false"
        assert self.build(project, "append_new_columns", query) == "UPSERT 0 rows; added new"
        assert self.table(project).schema.field_names == ("id", "a", "s", "n", "new")

    def test_a_strategy_of_several_statements_names_the_changes_that_stay(self, project):
        """Its columns change before, because no single commit has its rows."""
        self.first(project)
        write_file(STRATEGY, project.project_root, "macros", "own.sql")
        write_file(RENAMED, project.project_root, "models", "m.yml")
        query = "select 2 as id, raise_error('no') as label, named_struct('y', 2) as s, 6 as n"
        message = self.build(project, "ignore', incremental_strategy='own", query, ok=False)
        assert "before its rows were written, and stays so: renamed a to label, renamed s.x to y." in message
        assert len(self.rows(project)) == 1

    @pytest.mark.parametrize("turn", seeds(1, 3))
    def test_nulls_and_empty_lists_have_the_types_of_the_table(self, project, turn):
        """`array()` has elements of type VOID in the query."""
        self.first(project)
        write_file(MODEL.format(mode="ignore", query=LISTS.format("array(1), map('k', 1), 1")), project.project_root,
                   "models", "m.sql")  # fmt: skip
        run_dbt(["run", "--full-refresh"])
        modes = deque(["fail", "append_new_columns", "sync_all_columns"])
        modes.rotate(turn)
        for given in ("array(), map('k', 2), 2", "array(3), map(), null", "array(null), map('k', null), null"):
            assert self.build(project, modes.popleft(), LISTS.format(given)) == "UPSERT 1 row"
        assert self.rows(project) == ["""('{"id":1,"a":[null],"s":{"m":{"k":null}}}',)"""]

    @pytest.mark.parametrize(
        ("more", "left"),
        [
            ("", ["""('{"id":1,"a":"one","s":{"x":1},"n":6}',)"""]),
            (", incremental_strategy='delete+insert'", ["""('{"id":1,"s":{"x":1},"n":6}',)"""]),
        ],
        ids=["upsert", "delete+insert"],
    )
    def test_a_column_that_the_query_lacks(self, project, more, left):
        """An upsert leaves it as it is; a row that replaces another one has no value in it."""
        self.first(project)
        query = "select 1 as id, named_struct('x', 1) as s, 6 as n"
        self.build(project, f"append_new_columns'{more}, tags='x", query)
        assert self.rows(project) == left

    def test_a_batch_replaces_whole_rows(self, project):
        """Also the columns that its query lacks."""
        self.first(project)
        batch = ("--event-time-start", "2024-01-01", "--event-time-end", "2024-01-02")
        for more, first in ((", 'one' as a", ["--full-refresh"]), (", 2 as n", [])):
            write_file(BATCHED.format(more), project.project_root, "models", "m.sql")
            run_dbt(["run", *first, *batch])
        assert self.rows(project) == ["""('{"id":1,"at":"2024-01-01T10:00:00.000Z","n":2}',)"""]

    def test_fail(self, project):
        self.first(project)
        message = self.build(project, "fail", "select 2 as id, 'two' as a, 1 as s", ok=False)
        assert "missing columns n; changed types s (int, not struct<x:int>)" in message

    @pytest.mark.parametrize(
        "more",
        [
            "",
            *(
                pytest.param(one, marks=pytest.mark.soak)
                for one in (", merge_update_columns=['n']", ", incremental_strategy='delete+insert'")
            ),
        ],
    )
    def test_a_query_without_a_column_is_refused_in_one_message(self, project, more):
        self.first(project)
        query = "select 2 as id, 'two' as label, named_struct('x', 2) as s, 6 as n"
        message = self.build(project, f"ignore'{more}, tags='x", query, ok=False)
        assert "no longer fits its table" in message
        assert "new columns label; missing columns a." in message
        for what in ("{name: label, config: {meta: {renamed_from: a}}}", "on_schema_change", "--full-refresh"):
            assert what in message
        assert "select" not in message.lower()
        assert len(self.rows(project)) == 1

    def test_texts_grow_to_the_length_of_another_table(self, project):
        for name, kind in (("short", "varchar(3)"), ("longer", "varchar(9)")):
            project.run_sql(f"create table {{schema}}.{name} (a {kind}, b int)")
        with project.adapter.connection_named("test"):
            short, longer = (relation_from_name(project.adapter, one) for one in ("short", "longer"))
            project.adapter.expand_target_column_types(longer, short)
            project.adapter.tablestore_alter_columns(short, retype={"b": "int64"})
        table = table_of(project, "short")
        assert [str(one.type) for one in table.schema.fields] == ["VARCHAR(9)", "BIGINT"]


class TestColumnsOfSources:
    """Models of the changes of a source whose columns change: without a key, a row is removed by all of its values."""

    TEXT = (
        "{{{{ config(materialized='incremental', incremental_strategy='changelog', on_schema_change='{}'{}) }}}}"
        " select {} from {{{{ changes(source('shop', 'orders')) }}}}"
    )

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "sources.yml": "sources: [{name: shop, schema: '{{ target.schema }}', tables: [{name: orders}]}]",
            "appended.sql": self.TEXT.format("append_new_columns", "", "*"),
            "synced.sql": self.TEXT.format("sync_all_columns", "", "*"),
            "keyed.sql": self.TEXT.format("append_new_columns", ", unique_key='id'", "*"),
            "nested.sql": self.TEXT.format("ignore", "", "_row_kind, id, s"),
            "named.sql": self.TEXT.format("append_new_columns", "", "_row_kind, id, amount"),
        }

    def test_rows_that_could_not_be_removed_are_refused(self, project):
        store = store_of(project)

        def built(*changes, args=(), ok=True):
            """The messages of the models that fail; the others have the rows of the source."""
            for one in changes:
                store.execute(one)
            before = {name: self.snapshot(store, name) for name in ("appended", "synced", "keyed", "nested", "named")}
            found = {one.node.name: one for one in run_dbt(["run", *args], expect_pass=ok)}
            failed = {name: one.message for name, one in found.items() if one.status != "success"}
            of_source, texts = store.table("orders").schema.field_names, []
            for name in found:
                if name in failed:
                    assert self.snapshot(store, name) == before[name]
                else:
                    columns = ", ".join(one for one in store.table(name).schema.field_names if one in of_source)
                    query = f"select '{name}' as name, '{{0}}' as of, string(struct({columns})) as row from {{0}}"
                    texts += [query.format(name), query.format("orders")]
            rows = answers(store, " union all ".join(texts)) if texts else []
            for name in found.keys() - failed.keys():
                mine, wanted = (sorted(row for *at, row in rows if at == [name, of]) for of in (name, "orders"))
                assert mine == wanted, name
            return failed

        store.execute(f"create schema if not exists {project.test_schema}")
        store.execute("create table orders (id int, customer int, amount int, s struct<a: int, b: int>)")
        store.execute("insert into orders select id, id, id * 10, named_struct('a', id, 'b', id) from range(4) r(id)")
        assert not built()
        new = "insert into orders values (7, 7, 70, named_struct('a', 7, 'b', 7), 'n')"
        store.execute("alter table orders add columns (note string)")
        run_dbt(["run", "--empty"])
        assert store.table("appended").schema.field_names[-1] == "note"
        assert not built(new, "delete from orders where id = 0")

        renames = [f"alter table orders rename column {one}" for one in ("customer to client", "s.b to c")]
        failed = built(*renames, "update orders set client = 77 where id = 1", ok=False)
        assert set(failed) == {"appended", "synced", "keyed", "nested"}
        for name in ("appended", "synced", "keyed"):
            assert "'customer' of " in failed[name]
            assert "{name: client, config: {meta: {renamed_from: customer}}}" in failed[name]
        assert "{name: s.c, config: {meta: {renamed_from: s.b}}}" in failed["nested"]

        failed = built(args=["--full-refresh"])
        assert not failed
        failed = built("alter table orders drop column note", "delete from orders where id = 2", ok=False)
        assert set(failed) == {"appended"}, "a model with a key keeps the values, as a column that is not dropped"
        assert "its rows have values in the column 'note', which the query lacks" in failed["appended"]
        text = self.TEXT.format("sync_all_columns", "", "*, id + 1 as more")
        store.execute("delete from orders where id = 3")
        for later in ("", " {% if is_incremental() %} where _row_kind <> '+I' {% endif %}"):
            write_file(text + later, project.project_root, "models", "synced.sql")
            failed = built(args=["-s", "synced"], ok=False)
            assert "its rows are null in the new column 'more'" in failed["synced"]
        new = "alter table orders add columns (note string)"
        failed = built(new, "delete from orders where id = 7", args=["-s", "keyed", "named"], ok=False)
        assert set(failed) == {"keyed"}, "the other one does not read the column"
        assert "its column 'note' was dropped or renamed" in failed["keyed"], "its rows have values of the former one"

    @staticmethod
    def snapshot(store, name):
        kind = store.catalog.object_kind(store.database, name)
        return store.table(name).latest_snapshot().id if kind else None
