from __future__ import annotations

import pytest

from tablestore_engine.sql.types.type_names import with_spark_types


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select cast(a as varchar)", "select cast(a as STRING)"),
        ("select cast(a as varchar(10)), b::char(3)", "select cast(a as varchar(10)), b::char(3)"),
        ("select try_cast(f(a, (b as x)) as Int64) as text", "select try_cast(f(a, (b as x)) as BIGINT) as text"),
        ("select a::text::number(10,2)", "select a::STRING::DECIMAL(10,2)"),
        ("select cast(cast(a as text) as float64)", "select cast(cast(a as STRING) as DOUBLE)"),
        ("select a::double precision as b", "select a::DOUBLE as b"),
        ("select a::timestamp with time zone", "select a::TIMESTAMP"),
        ("select cast(a as timestamp with local time zone)", "select cast(a as TIMESTAMP)"),
        ("select cast(a as array<struct<text: text, bool bool>>)",
         "select cast(a as array<struct<text: STRING, bool BOOLEAN>>)"),
        ("select cast(a as map<varchar, bytes>)", "select cast(a as map<STRING, BINARY>)"),
        ("select text, t.number, bool(a) as bytes from char where text = 'cast(a as text)'", None),
        ("select cast(a as decimal), b::numeric, `cast`(x), cast", None),
        ("select /* cast(a as text) */ cast(text as int)", None),
        ("select cast(text", None),
        ("select a ::", None),
        ("select cast(a as )", None),
    ],
)  # fmt: skip
def test_types_of_casts_have_sparks_names(text: str, expected: str | None) -> None:
    assert with_spark_types(text) == (expected or text)
