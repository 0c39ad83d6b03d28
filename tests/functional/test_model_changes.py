"""Models that are computed from the changes of other tables: each change counts once."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from dbt.tests.util import run_dbt, run_dbt_and_capture, write_file
from support.dbt_models import store_of
from support.spark_rows import answers

from dbt.adapters.tablestore.models.changes_since_last_run import ModelChanges
from tablestore_engine.operation.commit.commit import Committer
from tablestore_engine.operation.commit.consumed_positions import positions_of
from tablestore_engine.storage.metadata_files.consumer_store import consumers

ENRICHED = """
{{ config(materialized='incremental', incremental_strategy='changelog', unique_key='id') }}
select c._row_kind, c.id, c.customer, k.country, c.amount
from {{ changes(source('shop', 'orders')) }} c
join {{ pinned(source('shop', 'customers')) }} k on k.customer = c.customer
"""
TOTALS = """
{{ config(materialized='incremental', incremental_strategy='append', primary_key='country',
          merge_engine='aggregation', fields={'n': 'sum', 'amount': 'sum'}) }}
select country, sum({{ row_sign() }}) as n, sum(amount * {{ row_sign() }}) as amount
from {{ changes(ref('enriched')) }}
group by country
"""


@pytest.fixture(scope="class")
def models():
    return {
        "sources.yml": (
            'version: 2\nsources:\n  - name: shop\n    schema: "{{ target.schema }}"\n'
            "    tables: [{name: orders}, {name: customers}]\n"
        ),
        "enriched.sql": ENRICHED,
        "totals.sql": TOTALS,
    }  # fmt: skip


@pytest.fixture
def store(project):
    opened = store_of(project)
    opened.execute("create schema if not exists " + project.test_schema)
    for name in ("orders", "customers", "enriched", "totals"):
        opened.execute(f"drop table if exists {name}")
    opened.execute(
        "create table orders (id int, customer int, amount int, primary key (id) not enforced)"
        " with ('bucket' = '1', 'snapshot.num-retained.min' = '1', 'snapshot.num-retained.max' = '1')"
    )
    opened.execute("create table customers (customer int, country string)")
    opened.execute("insert into customers values (1, 'DE'), (2, 'FR')")
    opened.execute("insert into orders values (1, 1, 10), (2, 2, 20), (3, 1, 5)")
    return opened


def totals(store):
    return {country: (n, amount) for country, n, amount in answers(store, "select * from totals") if n}


def expected(store):
    sql = "select country, count(*), sum(amount) from orders join customers using (customer) group by country"
    return {country: (n, amount) for country, n, amount in answers(store, sql)}


class TestNamesWithDots:
    @pytest.fixture(scope="class")
    def models(self):
        sources = "version: 2\nsources: [{name: shop, schema: odd.shop, tables: [{name: orders}]}]"
        model = "{{ config(materialized='incremental', unique_key='id') }} select id, amount from"
        source = " {{ changes(source('shop', 'orders')) }} where _row_kind <> '-U'"
        return {"sources.yml": sources, "kept.sql": model + source}

    def test_a_schema_with_a_dot(self, project):
        store = store_of(project)
        store.execute("create schema if not exists `odd.shop`")
        store.execute("create table `odd.shop`.orders (id int, amount int, primary key (id) not enforced)")
        for values in ("(1, 1)", "(1, 2), (2, 2)"):
            store.execute(f"insert into `odd.shop`.orders values {values}")
            run_dbt(["run"])
        assert sorted(answers(store, "select * from kept")) == [(1, 2), (2, 2)]
        assert set(positions_of(store.table("kept").latest_snapshot())) == {"odd%2eshop.orders"}
        _, out = run_dbt_and_capture(["run-operation", "tablestore_lag"])
        assert "kept <- odd.shop.orders: up to date" in out


class TestChain:
    def test_each_change_counts_once(self, project, store, monkeypatch):
        run_dbt(["run"])
        assert totals(store) == expected(store) == {"DE": (2, 15), "FR": (1, 20)}
        store.execute("insert into orders values (1, 2, 11), (4, 1, 7)")  # an order changes its customer
        store.execute("delete from orders where id = 3")
        store.execute("insert into orders values (2, 2, 20)")  # as it was
        run_dbt(["run"])
        assert totals(store) == expected(store) == {"DE": (1, 7), "FR": (2, 31)}
        before = [store.table(name).latest_snapshot().id for name in ("enriched", "totals")]
        run_dbt(["run"])
        assert [store.table(name).latest_snapshot().id for name in ("enriched", "totals")] == before

        # Snapshots from which the models go on are kept.
        model = f"dbt-{project.test_schema}.enriched"
        orders = store.table("orders")
        assert consumers(orders.io, orders.paths) == {model: orders.latest_snapshot().id}
        for number in range(3):
            store.execute(f"insert into orders values ({10 + number}, 1, 1)")
        store.execute("call sys.expire_snapshots(table => 'orders', retain_max => 1)")
        run_dbt(["run"])
        assert totals(store) == expected(store)

        # A run that dies before its commit, and one that dies after it, are run again.
        store.execute("insert into orders values (5, 2, 100)")
        for owner, method in ((Committer, "_publish"), (ModelChanges, "keep")):
            with monkeypatch.context() as patched:
                patched.setattr(owner, method, self.dies)
                run_dbt(["run", "--select", "enriched"], expect_pass=False)
        run_dbt(["run"])
        assert totals(store) == expected(store)

        # Rows that were changed by hand, and compactions, lose no position.
        store.execute("call sys.compact(table => 'enriched')")
        store.execute("update enriched set amount = amount where id = 1")
        store.execute("delete from orders where id = 5")
        run_dbt(["run"])
        assert totals(store) == expected(store)

        store.execute("insert into orders values (6, 1, 1)")
        _, out = run_dbt_and_capture(["run-operation", "tablestore_lag"])
        assert f"totals <- {project.test_schema}.enriched: up to date" in out
        assert f"enriched <- {project.test_schema}.orders: 1 commit behind" in out
        docs = run_dbt(["docs", "generate"])
        (lag,) = [n.stats["lag"].value for n in docs.nodes.values() if n.metadata.name == "enriched"]
        assert lag.startswith(f"{project.test_schema}.orders: 1 commit behind")

    @staticmethod
    def dies(*args):
        raise RuntimeError("killed")

    def test_a_source_that_was_built_anew_is_noticed(self, project, store):
        run_dbt(["run"])
        store.execute("drop table orders")
        store.execute("create table orders (id int, customer int, amount int, primary key (id) not enforced)")
        store.execute("insert into orders values (9, 1, 9)")
        results = run_dbt(["run"], expect_pass=False)
        assert "was built anew" in results.results[0].message
        assert "--full-refresh" in results.results[0].message
        # Texts are made, as those of models that are built anew, and a warning says why.
        results, out = run_dbt_and_capture(["docs", "generate"])
        assert {one.metadata.name for one in results.nodes.values()} == {"enriched", "totals"}
        assert "was built anew" in out
        store.execute("drop table orders")
        (enriched,) = run_dbt(["compile", "-s", "enriched"]).results
        assert "select '+I' as _row_kind" in enriched.node.compiled_code
        store.execute("create table orders (id int, customer int, amount int, primary key (id) not enforced)")
        store.execute("insert into orders values (9, 1, 9)")
        run_dbt(["run", "--full-refresh"])
        assert totals(store) == expected(store) == {"DE": (1, 9)}

    def test_a_source_with_other_values_in_a_column_is_noticed(self, project, store):
        """An unchanged row has another amount since its column was dropped and added again, which is no change of it.
        The columns are those of now also where the source was not written since."""
        run_dbt(["run"])
        for clause in ("drop column amount", "add columns (amount int)"):
            store.execute(f"alter table orders {clause}")
        for insert in ("", "insert into orders values (9, 2, 9)"):
            if insert:
                store.execute(insert)
            (failed, _) = run_dbt(["run"], expect_pass=False).results
            assert f"{project.test_schema}.orders: its column 'amount' was dropped" in failed.message
            assert "--full-refresh" in failed.message
        run_dbt(["run", "--full-refresh"])
        assert totals(store) == expected(store) == {"DE": (2, None), "FR": (2, 9)}
        for clause in ("drop column amount", "add columns (amount int)"):
            store.execute(f"alter table orders {clause}")
        run_dbt(["run", "--full-refresh"])
        store.execute("insert into orders values (3, 1, 3)")
        run_dbt(["run"])
        assert totals(store) == expected(store) == {"DE": (2, 3), "FR": (2, None)}

    def test_a_run_that_was_overtaken_writes_nothing(self, project, store, monkeypatch):
        run_dbt(["run"])
        store.execute("insert into orders values (7, 1, 70)")
        attempt, others = Committer._attempt, []

        def overtaken(self, latest, change, *rest):
            if change.consumed and self.state.name.endswith("enriched") and not others:
                others.append(attempt(self, latest, replace(change, added=(), index=None), *rest))
                latest = self.snapshots.latest()
            return attempt(self, latest, change, *rest)

        monkeypatch.setattr(Committer, "_attempt", overtaken)
        results = run_dbt(["run", "--select", "enriched"], expect_pass=False)
        assert "meanwhile another write" in results.results[0].message
        monkeypatch.undo()
        run_dbt(["run", "--full-refresh"])
        assert set(positions_of(store.table("totals").latest_snapshot())) == {f"{project.test_schema}.enriched"}
        assert totals(store) == expected(store)


class TestRunsWithoutRows:
    """`--empty` takes no changes, and loses none; `--sample` takes all."""

    @pytest.fixture(scope="class")
    def models(self):
        taken = "{{ config(materialized='incremental', incremental_strategy='changelog', unique_key='id') }} "
        orders = "{{ config(materialized='table', primary_key='id') }} select 1 as id, timestamp'2024-01-01' as at"
        return {
            "orders.sql": orders,
            "orders.yml": "models: [{name: orders, config: {event_time: at}}]",
            "taken.sql": taken + "select _row_kind, id from {{ changes(ref('orders')) }}",
            "between.sql": "{{ config(materialized='ephemeral') }} select * from {{ ref('orders') }}",
            "refused.sql": taken + "select id from {{ changes(ref('between')) }}",
        }

    def test_changes_come_with_the_next_whole_run(self, project):
        run_dbt(["run", "-s", "orders"])
        run_dbt(["run", "-s", "taken", "--empty"])
        store = store_of(project)
        assert answers(store, "select * from taken") == []
        run_dbt(["run", "-s", "taken"])
        store.execute("insert into orders values (2, timestamp'2024-01-02')")
        run_dbt(["run", "-s", "taken", "--empty"])
        assert answers(store, "select * from taken") == [(1,)]
        run_dbt(["run", "-s", "taken"])
        assert answers(store, "select * from taken order by id") == [(1,), (2,)]
        store.execute("insert into orders values (3, timestamp'2024-01-03'), (4, timestamp'2024-01-04')")
        sample = '{"start": "2024-01-04", "end": "2024-01-05"}'
        run_dbt(["run", "-s", "taken", "--sample", sample])
        assert answers(store, "select * from taken order by id") == [(1,), (2,), (3,), (4,)]

    @pytest.mark.parametrize(
        ("strategy", "words"),
        [
            ("'insert_overwrite', partition_by='id'", "`insert_overwrite` replaces whole partitions"),
            (
                "'changelog', unique_key='id', merge_update_columns=['id']",
                "`merge_update_columns` would have no effect",
            ),
            ("'changelog', unique_key='id', on_expired='rebuild'", "`on_expired: rebuild` is unknown"),
        ],
    )
    def test_strategies_that_changes_do_not_fit(self, project, strategy, words):
        text = "{{{{ config(materialized='incremental', incremental_strategy={strategy}) }}}} "
        text += "select * from {{{{ changes(ref('orders')) }}}}"
        write_file(text.format(strategy=strategy), project.project_root, "models", "unfit.sql")
        results = run_dbt(["run", "-s", "unfit"], expect_pass=False)
        assert words in results[0].message

    def test_an_ephemeral_model_has_no_changes(self, project):
        results = run_dbt(["run", "-s", "refused"], expect_pass=False)
        assert "`changes(between)`" in results[0].message
        assert "an ephemeral model has no table" in results[0].message
        text = "{{ config(materialized='incremental') }} select * from {{ changes('shop.orders') }}"
        write_file(text, project.project_root, "models", "refused.sql")
        results = run_dbt(["run", "-s", "refused"], expect_pass=False)
        assert "`changes('shop.orders')`" in results[0].message


UNIT_TESTS = """
unit_tests:
  - name: rows_of_changes
    model: large
    given:
      - input: ref('orders')
        rows:
          - {_row_kind: '+I', id: 1, amount: 10}
          - {_row_kind: '-U', id: 2, amount: 30}
          - {id: 3, amount: 20}
    expect: {rows: [{_row_kind: '-U', id: 2}, {_row_kind: '+I', id: 3}]}
  - name: rows_of_text
    model: large
    overrides: {macros: {is_incremental: true}}
    given:
      - input: ref('orders')
        format: csv
        rows: |
          _row_kind,id,amount
          -D,4,50
          +I,5,1
    expect: {rows: [{_row_kind: '-D', id: 4}]}
  - name: rows_without_kinds
    model: large
    given: [{input: ref('orders'), rows: [{id: 1, amount: 30}]}]
    expect: {rows: [{_row_kind: '+I', id: 1}]}
  - name: no_rows
    model: large
    given: [{input: ref('orders'), rows: []}]
    expect: {rows: []}
  - name: rows_of_a_table
    model: copied
    given: [{input: ref('orders'), rows: [{id: 1, amount: 30}]}]
    expect: {rows: [{id: 1, amount: 30}]}
  - name: no_value
    model: copied
    given: [{input: ref('orders'), rows: [{id: 1, amount: '3o'}]}]
    expect: {rows: [{id: 1, amount: null}]}
"""


class TestUnitTests:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "orders.sql": "{{ config(materialized='table', primary_key='id') }} select 1 as id, 20 as amount",
            "large.sql": "{{ config(materialized='incremental', incremental_strategy='changelog', unique_key='id') }} "
            "select _row_kind, id from {{ changes(ref('orders')) }} where amount >= 20",
            "copied.sql": "select * from {{ ref('orders') }}",
            "unit_tests.yml": UNIT_TESTS,
        }

    def test_rows_say_what_they_do(self, project):
        run_dbt(["run", "-s", "orders"])
        results = run_dbt(["test"], expect_pass=False)
        failed = {one.node.name: one.message for one in results if str(one.status) != "pass"}
        assert len(results) == 6 and set(failed) == {"no_value"}
        assert "CAST_INVALID_INPUT" in failed["no_value"] and "'3o'" in failed["no_value"]
        run_dbt(["build", "--exclude", "no_value"])
        assert answers(store_of(project), "select * from large") == [(1,)]


class TestOneInstant:
    """All tables of a model are read as of one time, whatever is committed while its text is compiled."""

    @pytest.fixture(scope="class")
    def models(self):
        text = """
{{ config(materialized='incremental', incremental_strategy='changelog', unique_key='id') }}
{% set customers = pinned(source('shop', 'customers')) %}
{% if execute and var('late', false) %}
  {% do run_query("insert into " ~ source('shop', 'customers') ~ " values (7, 'late')") %}
  {% do run_query("insert into " ~ source('shop', 'orders') ~ " values (70, 7)") %}
{% endif %}
select c._row_kind, c.id, k.name from {{ changes(source('shop', 'orders')) }} c
join {{ customers }} k on k.customer = c.customer
"""
        sources = "sources: [{name: shop, schema: '{{ target.schema }}', tables: [{name: orders}, {name: customers}]}]"
        return {"sources.yml": sources, "named.sql": text}

    def test_a_row_and_what_it_is_joined_with(self, project):
        store = store_of(project)
        store.execute(f"create schema if not exists {project.test_schema}")
        store.execute("create table orders (id int, customer int, primary key (id) not enforced)")
        store.execute("create table customers (customer int, name string)")
        store.execute("insert into customers values (1, 'ann')")
        store.execute("insert into orders values (10, 1)")
        run_dbt(["run"])
        run_dbt(["run", "--vars", "late: true"])
        assert answers(store, "select * from named") == [(10, "ann")]
        run_dbt(["run"])
        assert answers(store, "select * from named order by id") == [(10, "ann"), (70, "late")]


class TestClones:
    """A clone of a model goes on from where the model is."""

    @pytest.fixture(scope="class")
    def models(self):
        text = "{{ config(materialized='incremental', incremental_strategy='changelog', unique_key='id') }} "
        sources = "sources: [{name: shop, schema: '{{ var(\"shop\") }}', tables: [{name: orders}]}]"
        return {"sources.yml": sources, "taken.sql": text + "select * from {{ changes(source('shop', 'orders')) }}"}

    def test_only_later_changes_are_read(self, project):
        store, schema = store_of(project), f"{project.test_schema}_clone"
        store.execute(f"create schema if not exists {project.test_schema}")
        store.execute("create table orders (id int, n int, primary key (id) not enforced)")
        store.execute("insert into orders values (1, 1)")
        shop = ["--vars", f"shop: {project.test_schema}"]
        run_dbt(["run", *shop])
        store.execute("insert into orders values (2, 2)")
        state = Path(project.project_root, "state")
        state.mkdir()
        shutil.copy(Path(project.project_root, "target", "manifest.json"), state)
        target = {"type": "tablestore", "warehouse": project.adapter.config.credentials.warehouse, "schema": schema}
        profile = {"target": "clone", "outputs": {"clone": target}}
        folder = Path(project.project_root, "clone_profile")
        folder.mkdir()
        (folder / "profiles.yml").write_text(json.dumps({"test": profile}))
        other = ["--profiles-dir", str(folder), *shop]
        run_dbt(["clone", "--state", str(state), *other])
        assert answers(store, f"select * from {schema}.taken") == [(1, 1)]
        run_dbt(["run", *other])
        assert answers(store, f"select * from {schema}.taken order by id") == [(1, 1), (2, 2)]
        orders = store.table("orders")
        names = {f"dbt-{one}.taken" for one in (project.test_schema, schema)}
        assert set(consumers(orders.io, orders.paths)) == names
        store.execute(f"drop schema {schema} cascade")
