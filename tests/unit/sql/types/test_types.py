from __future__ import annotations

import pytest

from tablestore_engine.errors import UnsupportedTypeError
from tablestore_engine.schema.types.types import ArrayType, AtomicType, DataField, DataType, MapType, RowType
from tablestore_engine.sql.types.types import UNNUMBERED, parse_sql_type


def atomic(root: str, precision: int | None = None, scale: int | None = None) -> AtomicType:
    return AtomicType(root, precision=precision, scale=scale)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("boolean", atomic("BOOLEAN")),
        ("tinyint", atomic("TINYINT")),
        ("byte", atomic("TINYINT")),
        ("SMALLINT", atomic("SMALLINT")),
        ("short", atomic("SMALLINT")),
        ("int", atomic("INT")),
        ("Integer", atomic("INT")),
        ("bigint", atomic("BIGINT")),
        ("long", atomic("BIGINT")),
        ("float", atomic("FLOAT")),
        ("real", atomic("FLOAT")),
        ("double", atomic("DOUBLE")),
        ("string", atomic("STRING")),
        ("string collate utf8_binary", atomic("STRING")),
        ("binary", atomic("BYTES")),
        ("date", atomic("DATE")),
        ("timestamp", atomic("TIMESTAMP_LTZ", 6)),
        ("timestamp_ltz", atomic("TIMESTAMP_LTZ", 6)),
        ("timestamp_ntz", atomic("TIMESTAMP", 6)),
        ("char(3)", atomic("CHAR", 3)),
        ("character ( 3 )", atomic("CHAR", 3)),
        ("varchar(30)", atomic("VARCHAR", 30)),
        ("varchar", atomic("STRING")),
        ("character varying (9)", atomic("VARCHAR", 9)),
        ("nvarchar(9)", atomic("VARCHAR", 9)),
        ("char", atomic("STRING")),
        ("Text", atomic("STRING")),
        ("int64", atomic("BIGINT")),
        ("double precision", atomic("DOUBLE")),
        ("datetime(6)", atomic("TIMESTAMP_LTZ", 6)),
        ("timestamp without time zone", atomic("TIMESTAMP", 6)),
        ("timestamp with local time zone", atomic("TIMESTAMP_LTZ", 6)),
        ("number", atomic("DECIMAL", 38, 6)),
        ("number(12, 2)", atomic("DECIMAL", 12, 2)),
        ("bytes", atomic("BYTES")),
        ("array<bool>", ArrayType(atomic("BOOLEAN"))),
        ("struct<text text not null, number: array<int64>>", RowType((
            DataField(UNNUMBERED, "text", atomic("STRING").as_nullable(False)),
            DataField(UNNUMBERED, "number", ArrayType(atomic("BIGINT"))),
        ))),
        ("decimal", atomic("DECIMAL", 10, 0)),
        ("decimal(12)", atomic("DECIMAL", 12, 0)),
        ("dec(12, 3)", atomic("DECIMAL", 12, 3)),
        ("numeric(38,38)", atomic("DECIMAL", 38, 38)),
        ("time", atomic("TIME", 3)),
        ("timestamp(3)", atomic("TIMESTAMP_LTZ", 3)),
        ("timestamp_ntz(0)", atomic("TIMESTAMP", 0)),
        ("Time(0)", atomic("TIME", 0)),
        ("variant", atomic("VARIANT")),
        ("array<int>", ArrayType(atomic("INT"))),
        ("array<array<string>>", ArrayType(ArrayType(atomic("STRING")))),
        ("map<string, array<map<int,double>>>", MapType(
            atomic("STRING").as_nullable(False),
            ArrayType(MapType(atomic("INT").as_nullable(False), atomic("DOUBLE"))),
        )),
        ("struct<a: int not null comment 'x', `b c` string, d: struct<e: date>>", RowType((
            DataField(UNNUMBERED, "a", atomic("INT").as_nullable(False), "x"),
            DataField(UNNUMBERED, "b c", atomic("STRING")),
            DataField(UNNUMBERED, "d", RowType((DataField(UNNUMBERED, "e", atomic("DATE")),))),
        ))),
        ("array<struct<a:decimal(10,2)>>", ArrayType(RowType((DataField(UNNUMBERED, "a", atomic("DECIMAL", 10, 2)),)))),
    ],
)  # fmt: skip
def test_types(text: str, expected: DataType) -> None:
    assert parse_sql_type(text) == expected
    assert parse_sql_type(text, nullable=False) == expected.as_nullable(False)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("interval day", "bounds"),
        ("interval", "bounds"),
        ("void", "Cast"),
        ("time(6)", "use TIME(3)"),
        ("timestamp_ntz(9)", "use TIMESTAMP_NTZ"),
        ("jsonb", "STRING"),
        ("bigitn", "Did you mean BIGINT?"),
        ("int(11)", ""),
        ("decimal(39, 2)", "1 to 38"),
        ("decimal(5, 6)", "1 to 38"),
        ("decimal(1, 2, 3)", ""),
        ("varchar(x)", ""),
        ("array", "Expected <"),
        ("array<int", "Expected >"),
        ("map<int>", "Expected ,"),
        ("struct<>", "needs a field"),
        ("string collate unicode_ci", "UTF8_BINARY"),
        ("array<super>", "STRING"),
        ("int int", ""),
        ("", ""),
        ("'int'", ""),
    ],
)
def test_an_unsupported_type_names_the_column(text: str, hint: str) -> None:
    with pytest.raises(UnsupportedTypeError) as caught:
        parse_sql_type(text, "total")
    assert "Column total" in caught.value.message
    assert hint in (caught.value.hint or "")
