"""A user's strategy of several writes: each change counts once, wherever a run dies between them."""

from __future__ import annotations

from collections import Counter

import pytest
from dbt.tests.util import run_dbt
from support.dbt_models import store_of
from support.spark_rows import answers

from tablestore_engine.operation.commit.commit import Committer
from tablestore_engine.operation.commit.consumed_positions import UNFINISHED, carried, positions_of

MODEL = """
{{ config(materialized='incremental', incremental_strategy='one_by_one',
          tblproperties={'snapshot.num-retained.max': 1, 'snapshot.num-retained.min': 1},
          pre_hook="{% if is_incremental() %}insert into {{ this }} values (0, 'hook', 0){% endif %}") }}
select id, _row_kind as kind, amount from {{ changes(source('shop', 'orders')) }}
"""
STRATEGY = """
{% macro get_incremental_one_by_one_sql(arg_dict) %}
  {% set target, changed = arg_dict['target_relation'], arg_dict['temp_relation'] %}
  {% do run_query('create or replace temporary view w as select * from ' ~ target) %}
  {% do run_query('insert into w select id, kind, amount from ' ~ changed ~ " where kind = '-D'") %}
  {% set text %}
    insert into audit select count(*) from {{ changed }};
    insert into {{ target }} select id, kind, amount from {{ changed }} where kind = '+U';
    begin
      delete from {{ target }} where kind = 'hook';
      insert into {{ target }} select id, kind, amount from {{ changed }} where kind not in ('-D', '+U');
    end
  {% endset %}
  {{ return(text) }}
{% endmacro %}
"""


@pytest.fixture(scope="class")
def models():
    sources = 'sources: [{name: shop, schema: "{{ target.schema }}", tables: [{name: orders}]}]'
    return {"sources.yml": sources, "counted.sql": MODEL}


@pytest.fixture(scope="class")
def macros():
    return {"strategy.sql": STRATEGY}


class TestOneByOne:
    def test_each_change_counts_once(self, project, monkeypatch):
        store = store_of(project)
        store.execute("create schema if not exists " + project.test_schema)
        store.execute("create table audit (changes bigint)")
        store.execute("create table orders (id int, amount int, primary key (id) not enforced)")
        store.execute("insert into orders values (1, 10), (2, 20)")
        run_dbt(["run"])
        store.execute("insert into orders values (1, 11), (3, 30)")
        store.execute("delete from orders where id = 2")
        for dies_at in (5, 7):  # between two statements, and before the end
            with monkeypatch.context() as patched:
                patched.setattr(Committer, "_publish", dying(dies_at))
                run_dbt(["run"], expect_pass=False)
        assert UNFINISHED in carried(store.table("counted").latest_snapshot())
        store.execute("insert into orders values (4, 40)")
        run_dbt(["run"])
        assert Counter(answers(store, "select * from counted")) == Counter(
            [(1, "+I", 10), (2, "+I", 20), (1, "-U", 10), (1, "+U", 11), (2, "-D", 20), (3, "+I", 30), (4, "+I", 40)]
        )
        latest = store.table("counted").latest_snapshot()
        assert positions_of(latest)[f"{project.test_schema}.orders"].snapshot == 4
        assert UNFINISHED not in carried(latest)
        assert not positions_of(store.table("audit").latest_snapshot())
        store.execute("insert into orders values (5, 50)")
        with monkeypatch.context() as patched:
            patched.setattr(Committer, "_publish", dying(4))
            run_dbt(["run"], expect_pass=False)
        run_dbt(["run", "--full-refresh"])
        assert UNFINISHED not in carried(store.table("counted").latest_snapshot())
        store.execute("insert into orders values (6, 60)")
        run_dbt(["run"])
        assert len(answers(store, "select * from counted")) == 5


def dying(at):
    """Publish commits of a model's table, but die before or after the one of this number."""
    publish, count = Committer._publish, iter(range(1, 100))

    def step(self, snapshot):
        if not self.state.name.endswith("counted") or "dbt-" not in snapshot.commit_user:
            return publish(self, snapshot)
        number = next(count)
        if number == at and number % 2:
            raise RuntimeError("killed")
        done = publish(self, snapshot)
        if number == at:
            raise RuntimeError("killed")
        return done

    return step
