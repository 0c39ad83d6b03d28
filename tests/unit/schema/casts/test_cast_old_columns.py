"""Which changes of a column's type files are read across, and which are refused by name."""

from __future__ import annotations

import pytest
from support.evolve import row_type

from tablestore_engine.errors import UnsupportedTypeError
from tablestore_engine.schema.casts.cast_old_columns import check_readable, is_lossless, is_same, never_fails
from tablestore_engine.schema.types.types import ArrayType, MapType, parse_type


@pytest.mark.parametrize(
    ("past", "current"),
    [
        ("TINYINT", "BIGINT"),
        ("INT NOT NULL", "INT"),
        ("INT", "DECIMAL(12, 2)"),
        ("BIGINT", "DECIMAL(19, 0)"),
        ("INT", "DOUBLE"),
        ("SMALLINT", "FLOAT"),
        ("FLOAT", "DOUBLE"),
        ("DECIMAL(10, 2)", "DECIMAL(12, 4)"),
        ("VARCHAR(5)", "VARCHAR(6)"),
        ("CHAR(5)", "VARCHAR(5)"),
        ("CHAR(5)", "STRING"),
        ("BINARY(5)", "BYTES"),
        ("VARBINARY(5)", "VARBINARY(6)"),
        ("BIGINT", "STRING"),
        ("BOOLEAN", "STRING"),
        ("TIMESTAMP(3)", "TIMESTAMP(6)"),
        ("DATE", "TIMESTAMP(3)"),
    ],
)
def test_lossless(past, current):
    assert is_lossless(parse_type(past), parse_type(current))
    check_readable("c", parse_type(past), parse_type(current))
    if parse_type(past).as_nullable(True) != parse_type(current):
        assert not is_lossless(parse_type(current), parse_type(past))


LTZ = "TIMESTAMP(6) WITH LOCAL TIME ZONE"


@pytest.mark.parametrize(
    ("past", "current"),
    [
        ("BIGINT", "DOUBLE"),
        ("INT", "FLOAT"),
        ("INT", "DECIMAL(11, 2)"),
        ("DECIMAL(10, 2)", "DECIMAL(11, 4)"),
        ("DECIMAL(10, 2)", "STRING"),
        ("STRING", "VARCHAR(5)"),
        ("CHAR(5)", "CHAR(6)"),
        ("STRING", "BYTES"),
        ("INT", "BOOLEAN"),
        ("TIMESTAMP(6)", LTZ),
        ("DATE", LTZ),
        ("TIMESTAMP(3)", "DATE"),
        ("DATE", "STRING"),
        (LTZ, "BIGINT"),
    ],
)
def test_lossy_changes_are_readable(past, current):
    assert not is_lossless(parse_type(past), parse_type(current))
    check_readable("c", parse_type(past), parse_type(current))


@pytest.mark.parametrize(
    ("past", "current"),
    [
        ("INT", "DATE"),
        ("DATE", "INT"),
        ("INT", "BYTES"),
        ("BYTES", "INT"),
        ("TIMESTAMP(6)", "BIGINT"),
        ("BIGINT", "TIMESTAMP(6)"),
        ("BOOLEAN", "DATE"),
    ],
)
def test_changes_without_a_cast_are_refused(past, current):
    with pytest.raises(UnsupportedTypeError, match=r"'c' has files in which it is .*: Spark has no such cast"):
        check_readable("c", parse_type(past), parse_type(current))


def test_casts_that_may_fail_are_known():
    always = (("INT", "STRING"), ("BIGINT", "FLOAT"), ("TIMESTAMP(6)", "DATE"), ("BOOLEAN", "INT"), (LTZ, "BIGINT"))
    for past, current in always:
        assert never_fails(parse_type(past), parse_type(current))
    at_times = (
        ("BIGINT", "INT"),
        ("STRING", "DATE"),
        ("DOUBLE", "DECIMAL(10, 2)"),
        ("STRING", "CHAR(2)"),
        (LTZ, "INT"),
    )
    for past, current in at_times:
        assert not never_fails(parse_type(past), parse_type(current))


def test_nested_types():
    past = row_type((1, "a", "INT"), (2, "b", "STRING"))
    now = row_type((2, "c", "STRING"), (5, "a", "STRING"))
    assert is_same(past, row_type((1, "a", "INT NOT NULL"), (2, "b", "STRING")))
    assert not is_same(past, row_type((2, "b", "STRING"), (1, "a", "INT")))
    text = parse_type("STRING")
    for wrap in (lambda t: t, ArrayType, lambda t: MapType(text, t), lambda t: ArrayType(ArrayType(t))):
        assert is_same(wrap(past), wrap(past))
        assert not is_same(wrap(past), wrap(now))
        check_readable("c", wrap(past), wrap(now))
    with pytest.raises(UnsupportedTypeError, match=r"'c\.element\.value\.a'"):
        check_readable("c", ArrayType(MapType(text, past)), ArrayType(MapType(text, row_type((1, "a", "DATE")))))
    with pytest.raises(UnsupportedTypeError, match="'c'"):
        check_readable("c", MapType(parse_type("INT"), past), MapType(text, past))
    with pytest.raises(UnsupportedTypeError, match="'c'"):
        check_readable("c", text, past)
    check_readable("c", past, text)
