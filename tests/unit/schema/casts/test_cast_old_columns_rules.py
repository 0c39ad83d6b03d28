import pytest
from support.evolve import row_type

from tablestore_engine.errors import SchemaError
from tablestore_engine.schema.casts.cast_old_columns import (
    CastMode,
    check_retype,
    depends_on_zone,
)
from tablestore_engine.schema.types.types import ArrayType, MapType, parse_type

LTZ = "TIMESTAMP(6) WITH LOCAL TIME ZONE"
IMPLICIT = [
    ("TINYINT", "BIGINT"),
    ("INT NOT NULL", "INT"),
    ("INT", "DECIMAL(12, 2)"),
    ("BIGINT", "DECIMAL(5, 2)"),
    ("DOUBLE", "DECIMAL(20, 2)"),
    ("DECIMAL(10, 2)", "DECIMAL(12, 4)"),
    ("BIGINT", "DOUBLE"),
    ("FLOAT", "DOUBLE"),
    ("DECIMAL(10, 2)", "DOUBLE"),
    ("SMALLINT", "FLOAT"),
    ("BIGINT", "FLOAT"),
    ("DECIMAL(10, 2)", "FLOAT"),
    ("CHAR(5)", "VARCHAR(5)"),
    ("VARCHAR(5)", "VARCHAR(6)"),
    ("CHAR(5)", "STRING"),
    ("VARCHAR(5)", "STRING"),
    ("BINARY(5)", "VARBINARY(6)"),
    ("BINARY(5)", "BYTES"),
    ("TIMESTAMP(6)", "DATE"),
    ("TIMESTAMP(6)", "TIME(0)"),
    ("TIMESTAMP(3)", "TIMESTAMP(6)"),
    ("TIMESTAMP(6)", LTZ),
    (LTZ, "TIMESTAMP(6)"),
]
EXPLICIT = [
    ("BIGINT", "INT"),
    ("DOUBLE", "FLOAT"),
    ("DOUBLE", "INT"),
    ("INT", "STRING"),
    ("INT", "BOOLEAN"),
    ("BOOLEAN", "INT"),
    ("STRING", "VARCHAR(5)"),
    ("VARCHAR(6)", "VARCHAR(5)"),
    ("STRING", "INT"),
    ("STRING", "DATE"),
    ("STRING", "BYTES"),
    ("BYTES", "STRING"),
    ("DATE", "TIMESTAMP(6)"),
    ("DATE", LTZ),
    (LTZ, "DATE"),
    (LTZ, "BIGINT"),
    ("BIGINT", LTZ),
    ("DATE", "STRING"),
]
NEVER = [
    ("INT", "DATE"),
    ("DATE", "INT"),
    ("INT", "BYTES"),
    ("BYTES", "INT"),
    ("TIMESTAMP(6)", "BIGINT"),
    ("BIGINT", "TIMESTAMP(6)"),
    ("BOOLEAN", "DATE"),
]


@pytest.mark.parametrize(("past", "current"), IMPLICIT)
def test_implicit(past, current):
    for mode in CastMode:
        check_retype("c", parse_type(past), parse_type(current), mode)


@pytest.mark.parametrize(("past", "current"), EXPLICIT)
def test_explicit(past, current):
    with pytest.raises(SchemaError, match=r"'c' cannot become .*no implicit cast .*Set 'schema\.evolution\.cast'"):
        check_retype("c", parse_type(past), parse_type(current), CastMode.IMPLICIT)
    for mode in (CastMode.EXPLICIT_ERROR, CastMode.EXPLICIT_NULL):
        check_retype("c", parse_type(past), parse_type(current), mode)


@pytest.mark.parametrize(("past", "current"), NEVER)
def test_no_cast_at_all(past, current):
    for mode in CastMode:
        with pytest.raises(SchemaError, match=r"'c' cannot become .*: no cast leads there"):
            check_retype("c", parse_type(past), parse_type(current), mode)


def test_nested_types():
    past = row_type((1, "a", "INT"), (2, "b", "STRING"))
    now = row_type((2, "c", "STRING"), (5, "a", "STRING"))
    text = parse_type("STRING")
    for wrap in (lambda t: t, ArrayType, lambda t: MapType(text, t), lambda t: ArrayType(ArrayType(t))):
        check_retype("c", wrap(past), wrap(now), CastMode.IMPLICIT)
    inner = ArrayType(MapType(text, past)), ArrayType(MapType(text, row_type((1, "a", "SMALLINT"))))
    with pytest.raises(SchemaError, match=r"'c\.element\.value\.a' cannot become SMALLINT"):
        check_retype("c", *inner, CastMode.IMPLICIT)
    check_retype("c", *inner, CastMode.EXPLICIT_ERROR)
    with pytest.raises(SchemaError, match="'c'"):
        check_retype("c", text, past, CastMode.EXPLICIT_NULL)


def test_casts_of_instants_depend_on_the_time_zone():
    instant, plain, text = (parse_type(one) for one in (LTZ, "TIMESTAMP(6)", "STRING"))
    for other in (plain, text, parse_type("DATE")):
        assert depends_on_zone(instant, other)
        assert depends_on_zone(other, instant)
    assert depends_on_zone(ArrayType(row_type((1, "a", LTZ))), ArrayType(row_type((1, "b", "DATE"))))
    assert depends_on_zone(MapType(text, instant), text)
    assert not depends_on_zone(instant, instant)
    assert not depends_on_zone(plain, parse_type("DATE"))
    assert not depends_on_zone(instant, parse_type("BIGINT"))
