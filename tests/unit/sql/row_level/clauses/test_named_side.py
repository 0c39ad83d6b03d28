"""Types of expressions on the columns of a clause, without Spark."""

from __future__ import annotations

import pytest
from pyspark.sql import types as T

from tablestore_engine.schema.types.names import ANY_CASE
from tablestore_engine.schema.types.types import ArrayType, AtomicType, DataField
from tablestore_engine.sql.row_level.clauses.named_side import NamedSide, certain_kind

TARGET = NamedSide("t", (DataField(0, "id", AtomicType("INT")), DataField(1, "n", AtomicType("BIGINT"))))
SOURCE = NamedSide("s", (DataField(0, "ID", AtomicType("INT")), DataField(1, "l", ArrayType(AtomicType("STRING")))))


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("n", T.LongType()),
        ("`t`.`n` + 1", T.LongType()),
        ("t.id", T.IntegerType()),
        ("s.l", T.ArrayType(T.StringType())),
        ("'text'", T.StringType()),
        ("NULL", T.NullType()),
        ("t.n > 5", T.BooleanType()),
        ("id", None),  # of which side?
        ("t.missing", None),
        ("upper('x')", None),
        ("(SELECT 1)", None),
    ],
)
def test_types(sql, kind):
    assert certain_kind(sql, [TARGET, SOURCE], ANY_CASE) == kind


def test_names_that_mean_more_than_one_column():
    assert certain_kind("t.n", [TARGET, NamedSide("T", TARGET.fields)], ANY_CASE) is None
    twice = NamedSide("s", (*SOURCE.fields, DataField(2, "L", AtomicType("INT"))))
    assert certain_kind("s.l", [twice], ANY_CASE) is None
