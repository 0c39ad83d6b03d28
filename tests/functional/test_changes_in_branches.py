"""Models that call `changes()` in `is_incremental()` only, and the errors when it cannot go on."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt, run_dbt_and_capture
from support.dbt_models import model, store_of
from support.spark_rows import answers

from dbt.adapters.tablestore.connection.connection_manager import TableStoreConnectionManager
from tablestore_engine.operation.commit.consumed_positions import positions_of
from tablestore_engine.storage.metadata_files.consumer_store import consumers

TAKEN = """
{{ config(materialized='incremental', incremental_strategy='append') }}
{% if is_incremental() %}
select id, amount from {{ changes(source('shop', 'orders')) }}
{% else %}
select id, amount from {{ source('shop', 'orders') }}
{% endif %}
"""
SOURCES = """
sources:
  - name: shop
    schema: '{{ target.schema }}'
    tables: [{name: orders, config: {event_time: at}}, {name: returns}]
"""


class TestBranches:
    @pytest.fixture(scope="class")
    def models(self):
        return {"sources.yml": SOURCES, "taken.sql": TAKEN}

    @pytest.fixture
    def store(self, project):
        opened = store_of(project)
        opened.execute(f"create schema if not exists {project.test_schema}")
        for name in ("orders", "returns", "taken", "seen"):
            opened.execute(f"drop table if exists {name}")
        opened.execute("create table orders (id int, amount int, at timestamp default timestamp'2024-01-01')")
        opened.execute("create table returns (id int, amount int)")
        opened.execute("insert into orders (id, amount) values (1, 10), (2, 20)")
        return opened

    @staticmethod
    def taken(store):
        return [one for (one,) in answers(store, "select id from taken order by id")]

    def test_the_first_run_reads_all_rows_as_of_the_recorded_position(self, project, store, monkeypatch):
        write = TableStoreConnectionManager.write

        def late(self, sql, intent):
            store.execute("insert into orders (id, amount) values (3, 30)")
            return write(self, sql, intent)

        with monkeypatch.context() as patched:
            patched.setattr(TableStoreConnectionManager, "write", late)
            run_dbt(["run", "-s", "taken"])
        assert self.taken(store) == [1, 2]
        orders = store.table("orders")
        assert consumers(orders.io, orders.paths) == {f"dbt-{project.test_schema}.taken": 1}
        store.execute("insert into orders (id, amount) values (4, 40)")
        for _ in range(2):
            run_dbt(["run", "-s", "taken"])
            assert self.taken(store) == [1, 2, 3, 4]
        run_dbt(["run", "-s", "taken", "--full-refresh"])
        store.execute("insert into orders (id, amount) values (5, 50)")
        run_dbt(["run", "-s", "taken"])
        assert self.taken(store) == [1, 2, 3, 4, 5]
        # The columns are those of now, though the snapshot has those of before.
        store.execute("alter table orders alter column amount type bigint")
        run_dbt(["run", "-s", "taken", "--full-refresh"])
        store.execute(f"insert into orders (id, amount) values (6, {6 << 40})")
        run_dbt(["run", "-s", "taken"])
        assert answers(store, "select max(amount) from taken") == [(6 << 40,)]

    def test_a_source_without_rows(self, project, store):
        store.execute("drop table orders")
        store.execute("create table orders (id int, amount int)")
        run_dbt(["run", "-s", "taken"])
        assert self.taken(store) == []
        store.execute("insert into orders values (1, 10)")
        run_dbt(["run", "-s", "taken"])
        assert self.taken(store) == [1]

    def test_the_first_run_may_read_nothing(self, project, store):
        text = TAKEN.replace(
            "{{ source('shop', 'orders') }}\n{% endif %}", "{{ source('shop', 'returns') }}\n{% endif %}"
        )
        assert text != TAKEN
        model(project, "taken", text)
        try:
            run_dbt(["run", "-s", "taken"])
            store.execute("insert into orders (id, amount) values (3, 30)")
            run_dbt(["run", "-s", "taken"])
            assert self.taken(store) == [3]
        finally:
            model(project, "taken", TAKEN)

    def test_runs_that_do_not_read_all_rows(self, project, store):
        run_dbt(["run", "-s", "taken", "--empty"])
        assert self.taken(store) == []
        run_dbt(["run", "-s", "taken"])  # builds the empty table anew
        assert self.taken(store) == [1, 2]
        sample = '{"start": "2020-01-01", "end": "2090-01-01"}'
        run_dbt(["run", "-s", "taken", "--full-refresh", "--sample", sample])
        assert self.taken(store) == [1, 2]
        results = run_dbt(["run", "-s", "taken"], expect_pass=False)
        assert "does not say up to which snapshot" in results.results[0].message

    def test_a_source_that_the_model_reads_anew(self, project, store):
        run_dbt(["run", "-s", "taken"])
        store.execute("insert into returns values (9, 90)")
        more = (
            TAKEN
            + """{% if is_incremental() %} union all
        select id, amount from {{ changes(source('shop', 'returns')) }} {% else %} union all
        select id, amount from {{ source('shop', 'returns') }} {% endif %}"""
        )
        model(project, "taken", more)
        try:
            results = run_dbt(["run", "-s", "taken"], expect_pass=False)
            assert "does not say up to which snapshot of" in results.results[0].message
            assert "--full-refresh" in results.results[0].message
            model(project, "taken", more.replace("'append')", "'append', on_expired='full_refresh')"))
            run_dbt(["run", "-s", "taken"])
            assert self.taken(store) == [1, 2, 9]
            store.execute("insert into returns values (8, 80)")
            run_dbt(["run", "-s", "taken"])
            assert self.taken(store) == [1, 2, 8, 9]
        finally:
            model(project, "taken", TAKEN)
        assert len(positions_of(store.table("taken").latest_snapshot())) == 2
        store.execute("drop table returns")
        _, out = run_dbt_and_capture(["run-operation", "tablestore_lag"])
        assert f"taken <- {project.test_schema}.orders: up to date" in out
        assert f"taken <- {project.test_schema}.returns: dropped" in out


class TestMessages:
    CHANGELOG = "{{ config(materialized='incremental', incremental_strategy='changelog', unique_key='id') }} "

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "orders.sql": "{{ config(materialized='table', primary_key='id') }} select 1 as id, 10 as amount",
            "large.sql": "{{ config(materialized='view') }} select * from {{ ref('orders') }} where amount > 5",
            "taken.sql": self.CHANGELOG + "select * from {{ changes(ref('large')) }}",
            "later.sql": self.CHANGELOG
            + "select * from {% if is_incremental() %} {{ changes(ref('large')) }} {% else %} "
            + "(select '+I' as _row_kind, * from {{ ref('large') }}) {% endif %}",
            "kinds.sql": self.CHANGELOG + "select * from {{ changes(ref('orders')) }}",
        }

    def test_changes_of_a_view(self, project):
        run_dbt(["run", "-s", "orders", "large"])
        for one in run_dbt(["run", "-s", "taken", "later"], expect_pass=False).results:
            assert "is a view, which has no changes" in one.message
            assert f"Use `changes(…)` of the tables that it reads ({project.test_schema}.orders)" in one.message

    def test_a_later_query_without_row_kinds(self, project):
        run_dbt(["run", "-s", "orders", "kinds", "--full-refresh"])
        store = store_of(project)
        before = store.table("kinds").latest_snapshot().id
        model(project, "kinds", self.CHANGELOG + "select id, amount from {{ changes(ref('orders')) }}")
        store.execute("insert into orders values (2, 20)")
        results = run_dbt(["run", "-s", "kinds"], expect_pass=False)
        assert "The query has no column _row_kind" in results.results[0].message
        assert "strategy `changelog`" in results.results[0].message
        assert "UNRESOLVED" not in results.results[0].message
        assert store.table("kinds").latest_snapshot().id == before
