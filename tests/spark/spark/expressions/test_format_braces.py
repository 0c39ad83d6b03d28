"""Literals give back the value they were written from, with its type, whatever the settings of Spark's parser are."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tablestore_engine.schema.types.sql_literals import literal, quoted_name
from tablestore_engine.schema.types.types import parse_type
from tablestore_engine.spark.expressions.format_braces import formatted, formatted_literal

pytestmark = [pytest.mark.spark, pytest.mark.cover("session")]
SETTINGS = [
    {},
    {"spark.sql.parser.escapedStringLiterals": "true"},
    {"spark.sql.ansi.doubleQuotedIdentifiers": "true"},
    {"spark.sql.ansi.enabled": "false", "spark.sql.session.timeZone": "America/St_Johns"},
]
TEXT = st.text(
    st.sampled_from("a'\"\\`%_$ {}\n\t\x00;-/*:?é\U0001f600") | st.characters(exclude_categories=["Cs"]), max_size=20
) | st.sampled_from(["${spark.app.name}", "\\'", "''", "r'a'", "--", "/*", "{v}"])
ZONE = st.integers(-18 * 60, 18 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
TIMES = {"min_value": datetime(2, 1, 1), "max_value": datetime(9998, 12, 31)}


def decimals() -> st.SearchStrategy[Decimal]:
    digits = st.integers(-(10**38) + 1, 10**38 - 1)
    return st.tuples(digits, st.integers(0, 38)).map(lambda pair: Decimal(f"{pair[0]}e-{pair[1]}"))


def ints(bits: int) -> st.SearchStrategy[int]:
    return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


VALUES = {  # Arrow type that Spark gives: (values, the type that the writer of the literal names)
    pa.bool_(): (st.booleans(), None),
    pa.int8(): (ints(8), "TINYINT"),
    pa.int16(): (ints(16), "SMALLINT"),
    pa.int32(): (ints(32), None),
    pa.int64(): (ints(64), "BIGINT"),
    pa.float32(): (st.floats(width=32), "FLOAT"),
    pa.float64(): (st.floats(), None),
    pa.string(): (TEXT, None),
    pa.binary(): (st.binary(max_size=20), None),
    pa.date32(): (st.dates(), None),
    pa.timestamp("us"): (st.datetimes(**TIMES), None),
    pa.timestamp("us", "UTC"): (st.datetimes(**TIMES, timezones=ZONE), None),
}
NAMES = TEXT.filter(lambda name: name and "${" not in name)  # Spark replaces variables in names, too
EXAMPLES = st.lists(
    st.sampled_from(list(VALUES)).flatmap(lambda kind: st.tuples(st.just(kind), VALUES[kind][0])),
    min_size=20,
    max_size=40,
)


@pytest.fixture(params=SETTINGS, ids=["default", "no_escapes", "quoted_names", "another_zone"])
def session(request, spark):
    from tablestore_engine.spark.session.session import new_session

    session = new_session(spark)
    for key, value in request.param.items():
        session.conf.set(key, value)
    return session


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(examples=EXAMPLES, exact=decimals(), name=NAMES)
def test_values_come_back(session, examples, exact, name):
    kinds = [kind for kind, _ in examples]
    texts = [literal(value, _kind(VALUES[kind][1])) for kind, value in examples]
    items = [f"{text} AS {quoted_name(str(i))}" for i, text in enumerate(texts)]
    found = session.sql(f"SELECT {', '.join(items)}, {literal(exact)} AS exact, NULL AS {quoted_name(name)}").toArrow()
    found_kinds = [pa.timestamp("us", "UTC") if getattr(t, "tz", None) else t for t in found.schema.types[:-2]]
    assert found_kinds == kinds
    for at, (kind, value) in enumerate(examples):
        assert _same(found.column(at)[0].cast(kind), pa.scalar(value, kind)), texts[at]
    assert found.column("exact")[0].as_py() == exact
    assert found.schema.names[-1] == name


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=TEXT, name=NAMES)
def test_texts_that_are_formatted(session, text, name):
    found = session.sql(
        f"SELECT {formatted_literal(text)} AS {formatted(name)} FROM {{v}}", v=session.range(1)
    ).toArrow()
    assert found.to_pydict() == {name: [text]}


def test_whole_numbers_are_as_wide_as_they_need_to_be(session):
    texts = [literal(value) for value in (2**31, -(2**31) - 1, 2**63, -(2**63), 10**38 - 1)]
    found = session.sql(f"SELECT {', '.join(texts)}").toArrow()
    assert [c[0].as_py() for c in found.columns] == [2**31, -(2**31) - 1, 2**63, -(2**63), 10**38 - 1]


def _kind(name):
    return None if name is None else parse_type(name)


def _same(found, given):
    # Numbers by their texts: nan is nan, and -0.0 is not 0.0.
    return repr(found.as_py()) == repr(given.as_py()) if pa.types.is_floating(given.type) else found.equals(given)


def test_days_and_none(session):
    row = session.sql(f"SELECT {literal(None)}, {literal(date(1, 1, 1))}").first()
    assert tuple(row) == (None, date(1, 1, 1))
