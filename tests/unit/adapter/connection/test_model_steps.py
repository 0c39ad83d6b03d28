"""Which statements of a model have its position, and which belong to a group."""

import pytest
from support.tables import keyed_table, make_table, write

from dbt.adapters.tablestore.connection.model_steps import ModelSteps
from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import ConsumedElsewhereError
from tablestore_engine.operation.commit.commit_identity import CommitIdentity
from tablestore_engine.operation.commit.consumed_positions import Consumed, Position, mark_of, positions_of
from tablestore_engine.operation.write_job.write_intent import PLAIN, WriteIntent

NEWS = Consumed("shop.orders", None, Position(3, "x"))
MAIN = WriteIntent(identity=CommitIdentity("dbt-1", 1), consumed=(NEWS,))
INSERT, OTHER = "insert into t select 1, 2", "insert into audit select 1"


@pytest.fixture
def table(tmp_path):
    made = keyed_table(tmp_path)
    make_table(Catalog(tmp_path), {"n": "INT"}, name="audit")
    write(made, [{"id": 1, "v": 1}])
    return made


def steps_of(tmp_path, news=(NEWS,), name="t", group="dbt-1"):
    return ModelSteps(Catalog(tmp_path), ("default", name), group, lambda: news)


def consumed(steps, intent, *statements):
    found = steps.of_text(statements, intent, "default")
    intents = [found.intent_of(number).consumed for number in range(len(statements))]
    found.finish()
    return intents


def test_one_write_has_the_position(tmp_path, table):
    texts = (
        "set a = 1",
        "create temporary view v as select 1",
        "merge into t using v on false when matched then delete",
    )
    assert consumed(steps_of(tmp_path), MAIN, *texts)[-1] == (NEWS,)
    assert len(table.snapshots()) == 1, "no commits besides"


def test_several_writes_are_a_build(tmp_path, table):
    first, audit, last = consumed(steps_of(tmp_path), MAIN, INSERT, OTHER, INSERT)
    assert first == last
    assert (first[0].marks, first[0].source, audit) == (True, "default.t", ())
    assert positions_of(table.latest_snapshot()) == {"shop.orders": NEWS.after}
    assert mark_of(table.latest_snapshot()) == Position(0)
    assert len(table.snapshots()) == 3


def test_a_statement_before_the_main_text_begins_the_build(tmp_path, table):
    steps = steps_of(tmp_path)
    (hook,) = consumed(steps, PLAIN, INSERT)
    assert hook[0].marks
    assert mark_of(table.latest_snapshot()).mark == "dbt-1"
    assert consumed(steps, MAIN, INSERT) == [hook]
    assert positions_of(table.latest_snapshot()) == {"shop.orders": NEWS.after}
    assert consumed(steps, PLAIN, OTHER) == [()]


def test_a_write_before_the_table_is_made_anew_follows_a_build_that_died(tmp_path, table):
    again = Consumed("shop.orders", NEWS.after, Position(5, "y"))
    assert consumed(steps_of(tmp_path), MAIN, INSERT) == [(NEWS,)]
    consumed(steps_of(tmp_path, news=(again,), group="dead"), PLAIN, INSERT)
    with pytest.raises(ConsumedElsewhereError):
        consumed(steps_of(tmp_path, news=(again,)), PLAIN, INSERT)
    steps = steps_of(tmp_path)
    consumed(steps, PLAIN, INSERT)
    consumed(steps, MAIN, "create or replace table t as select 1 as id, 2 as v")
    assert mark_of(table.latest_snapshot()) == Position(0)
    assert positions_of(table.latest_snapshot()) == {"shop.orders": NEWS.after}


def test_a_temporary_view_may_be_one_of_the_table(tmp_path, table):
    """Which table a view shows is known when the statement runs; the mark of another table is ignored there."""
    steps = steps_of(tmp_path)
    (hook,) = consumed(steps, PLAIN, "delete from w where id = 1")
    assert hook[0].marks
    view, first, last = consumed(steps, MAIN, "create temporary view w as select * from t", "truncate table w", INSERT)
    assert (view, first, last) == ((), hook, hook)


def test_statements_about_other_tables_begin_none(tmp_path, table):
    assert consumed(steps_of(tmp_path), PLAIN, OTHER, "select * from t") == [(), ()]
    assert consumed(steps_of(tmp_path), MAIN, OTHER, OTHER) == [(), (NEWS,)], "a table that will be renamed"
    assert consumed(steps_of(tmp_path, news=()), PLAIN, INSERT, INSERT) == [(), ()], "nothing is new"
    assert consumed(steps_of(tmp_path, name="none"), PLAIN, "insert into none select 1") == [()]
    assert len(table.snapshots()) == 1
