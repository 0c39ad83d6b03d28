"""Clauses on rows in memory: the changed rows, or no answer where only Spark knows it."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import types as T

from tablestore_engine.operation.write_job.write_job import ROW_KIND_COLUMN
from tablestore_engine.schema.types.arrow import arrow_schema
from tablestore_engine.schema.types.names import ANY_CASE, Resolver
from tablestore_engine.schema.types.types import AtomicType, DataField
from tablestore_engine.spark.expressions.checked_cast import checked_cast
from tablestore_engine.sql.row_level.clauses.held_clauses import HeldScope, HeldSide, held_changes
from tablestore_engine.sql.row_level.clauses.merge_clauses import ClauseScope

FIELDS = tuple(
    DataField(at, name, kind)
    for at, (name, kind) in enumerate(
        {
            "id": AtomicType("INT"),
            "n": AtomicType("TINYINT"),
            "price": AtomicType("DECIMAL", precision=4, scale=2),
            "text": AtomicType("STRING"),
        }.items()
    )
)
OWN = {one.name: f"`t`.`{one.name}`" for one in FIELDS}
KEPT, REMOVED = 0, 3


def side(alias, *rows):
    columns = zip(*((number, n, Decimal(price), text) for number, n, price, text in rows), strict=True)
    kinds = arrow_schema(FIELDS)
    arrays = [pa.array(one, kind.type) for one, kind in zip(columns, kinds, strict=True)]
    return HeldSide(alias, FIELDS, pa.table(arrays, schema=kinds))


TARGET = side("t", (1, 10, "1.00", "a"), (2, 127, "2.00", None), (3, None, "99.99", "c"))
SOURCE = side("s", (1, 1, "0.50", "x"), (2, 2, "0.50", "y"), (3, 3, "0.01", None))


def changed(clauses, sides=(TARGET, SOURCE), resolver=ANY_CASE, **given):
    """The rows that clauses (condition, new values or None to remove) change in pairs of rows with equal numbers."""
    at = given.pop("at", np.arange(3))
    values = tuple(OWN | (new or {}) for _, new in clauses)
    scope = ClauseScope("true", 0, tuple(condition for condition, _ in clauses), values, given.pop("keys", ()))
    removing = tuple(new is None for _, new in clauses)
    held = HeldScope(scope, tuple((one, at) for one in sides), removing, **given)
    found = held_changes([held], FIELDS, resolver)
    return None if found is None else [tuple(row.values()) for row in found.to_pylist()]


def numbered(rows):
    return None if rows is None else [(row[0], row[-1]) for row in rows]


def test_the_first_clause_that_holds_applies():
    found = changed([("s.n = 2", None), ("t.text IS NOT NULL", {"text": "s.text || '!'"}), (None, None)])
    assert found == [(2, 127, 2, None, REMOVED), (1, 10, 1, "x!", KEPT), (3, None, found[2][2], None, KEPT)]


def test_a_value_is_computed_for_the_rows_of_its_clause_only():
    assert numbered(changed([("t.n > 100", None), (None, {"n": "CAST(NULL AS TINYINT)"})])) == [
        (2, REMOVED), (1, KEPT), (3, KEPT),
    ]  # fmt: skip
    assert numbered(changed([("t.n > 100", None), (None, {"n": "t.n + s.n"})])) is not None
    assert changed([(None, {"n": "t.n + s.n"})]) is None, "127 + 2 is none of the column's type"


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        ("abs(s.n) = 1", "s.n"),  # the session may have given the name to another function
        ("s.n = 1", "upper(s.n)"),
        ("n = 1", "s.n"),  # of which side?
        ("s.n = 1", "u.n"),
        ("s.n = 1", "s.other"),
        ("s.n = 1", "t.price"),  # Spark rounds it
        ("s.n = 1", "'5'"),
        ("s.n", "s.n"),
        ("s.n = (SELECT 1)", "s.n"),
        ('s.text = "x"', "s.n"),  # a name, where a setting says so
        ("s.text = 'it''s'", "s.n"),
        ("s.text LIKE '\\\\%'", "s.n"),
        ("s.n / 0 = 1", "s.n"),
        ("s.n = 1", "s.id * 300"),
    ],
)
def test_the_rest_is_left_to_spark(condition, value):
    assert changed([("s.n = 1", {"n": "s.n"})]) is not None
    assert changed([(condition, {"n": value})]) is None


def test_decimals_that_the_column_holds():
    assert [str(row[2]) for row in changed([("t.id < 3", {"price": "t.price + s.price"})])] == ["1.50", "2.50"]
    assert changed([(None, {"price": "t.price + s.price"})]) is None, "99.99 + 0.01 has too many digits"
    assert changed([("t.id = 1", {"price": "t.price * s.price"})]) is None, "Spark rounds it"


def test_a_key_keeps_its_value():
    keys = ("id",)
    assert numbered(changed([(None, {"id": "s.id", "n": "s.n"})], keys=keys)) == [(1, KEPT), (2, KEPT), (3, KEPT)]
    assert changed([(None, {"id": "s.id + 1"})], keys=keys) is None
    assert numbered(changed([(None, {"id": "s.id + 1"})])) == [(2, KEPT), (3, KEPT), (4, KEPT)]


def test_names_in_a_session_that_distinguishes_them():
    exact = Resolver(lambda: True)
    assert changed([("s.N = 1", {"n": "S.n"})]) is not None
    assert changed([("s.n = 1", {"n": "s.n"})], resolver=exact) is not None
    assert changed([("s.N = 1", {"n": "s.n"})], resolver=exact) is None
    assert changed([("s.n = 1", {"n": "S.n"})], resolver=exact) is None


def test_sides_of_one_name_are_left_to_spark():
    assert changed([("s.n = 1", None)]) is not None
    assert changed([("s.n = 1", None)], sides=(TARGET, HeldSide("T", FIELDS, SOURCE.rows))) is None


def test_a_row_that_only_goes_is_removed_once():
    at = np.array([0, 0, 2])
    assert numbered(changed([(None, None)], at=at)) == [(1, REMOVED), (1, REMOVED), (3, REMOVED)]
    assert numbered(changed([(None, None)], at=at, once=True)) == [(1, REMOVED), (3, REMOVED)]


def test_types_that_spark_changes_when_it_reads_them_are_left_to_it():
    fields = (*FIELDS, DataField(9, "code", AtomicType("CHAR", precision=3)))
    rows = TARGET.rows.append_column("code", pa.array(["a  ", "b  ", "c  "]))
    target = HeldSide("t", fields, rows)
    own = OWN | {"code": "`t`.`code`"}

    def found(removes):
        scope = ClauseScope("true", 0, (None,), (own,))
        held = HeldScope(scope, ((target, np.arange(3)),), (removes,))
        return held_changes([held], fields, ANY_CASE)

    assert found(removes=False) is None
    assert found(removes=True).column(ROW_KIND_COLUMN).to_pylist() == [REMOVED] * 3


def test_a_checked_cast_of_a_number_is_what_arrow_checks():
    fits = checked_cast("(s.id + 1L)", T.ByteType(), "n", T.LongType())
    assert changed([("t.id = 2", {"n": fits})]) == [(2, 3, Decimal("2.00"), None, KEPT)]
    too_large = checked_cast("(s.id + 200L)", T.ByteType(), "n", T.LongType())
    assert changed([("t.id = 2", {"n": too_large})]) is None
    # A text is read by Spark's rules, so its cast stays as it is.
    assert changed([("t.id = 2", {"n": checked_cast("('1')", T.ByteType(), "n", T.StringType())})]) is None
