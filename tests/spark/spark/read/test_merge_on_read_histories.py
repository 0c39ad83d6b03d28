"""Random histories of schema changes against a naive model, read by Spark with filters."""

from __future__ import annotations

from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.evolved_histories import Model, accepts, ordered, predicates

from tablestore_engine.schema.table.predicate import In, IsNotNull, IsNull
from tablestore_engine.schema.types.sql_literals import literal
from tablestore_engine.spark.read.merge_on_read import read_table

pytestmark = pytest.mark.spark


def condition(predicate):
    if isinstance(predicate, (IsNull, IsNotNull)):
        return f"`{predicate.column}` IS {'' if isinstance(predicate, IsNull) else 'NOT '}NULL"
    if isinstance(predicate, In):
        return f"`{predicate.column}` IN ({', '.join(map(literal, predicate.values))})"
    return f"`{predicate.column}` {predicate.op} {literal(predicate.value)}"


@pytest.mark.parametrize("key", [True, False], ids=["keyed", "append"])
@settings(max_examples=4, deadline=None)
@given(data=st.data())
def test_histories(spark, key, data):
    with TemporaryDirectory() as warehouse:
        model = Model(warehouse, key)
        model.play(data)
        expected = model.expected()
        frame = read_table(spark, model.table)
        assert ordered(frame.toArrow().to_pylist()) == ordered(expected)
        chosen = [data.draw(st.sampled_from(predicates(data, field))) for field in model.fields()[:2]]
        for predicate in chosen:
            found = read_table(spark, model.table, predicate=predicate).where(condition(predicate))
            wanted = ordered(row for row in expected if accepts(predicate, row))
            assert ordered(found.toArrow().to_pylist()) == wanted, predicate
