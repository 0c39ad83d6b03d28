"""CREATE, DROP, DESCRIBE and SHOW FUNCTION."""

from __future__ import annotations

import pytest

from tablestore_engine.errors import SqlError
from tablestore_engine.metadata.warehouse.function import Function, FunctionDefinition, Parameter
from tablestore_engine.sql.parse.parse import parse
from tablestore_engine.sql.query.function_calls import function_calls, inlined
from tablestore_engine.sql.statements.function import CreateFunction, DescribeFunction, DropFunction, ShowFunctions
from tablestore_engine.sql.statements.statement import Existing, PassThrough, TableName


def test_a_function_in_sql():
    made = parse(
        "CREATE OR REPLACE FUNCTION tablestore.s.f(x DECIMAL(10, 2) DEFAULT 1 + 1 COMMENT 'an x', `y z` MAP<INT, INT>) "
        "RETURNS ARRAY<STRING> LANGUAGE SQL NOT DETERMINISTIC COMMENT 'c' CONTAINS SQL RETURN (SELECT max(a) FROM t);"
    )
    assert isinstance(made, CreateFunction)
    assert made.function == TableName("s", "f")
    assert made.definition.parameters == (
        Parameter("x", "DECIMAL(10, 2)", "1 + 1", "an x"),
        Parameter("y z", "MAP<INT, INT>"),
    )
    assert (made.definition.returns_sql, made.definition.language, made.definition.deterministic) == (
        "ARRAY<STRING>",
        "SQL",
        False,
    )
    assert (made.definition.body, made.definition.comment, made.existing) == (
        "(SELECT max(a) FROM t)",
        "c",
        Existing.REPLACED,
    )


def test_a_function_as_dbt_writes_it():
    made = parse(
        "CREATE OR REPLACE FUNCTION `s`.`f` (price float)\nRETURNS float\nIMMUTABLE\nAS\n$$\n SELECT price;\n$$ "
        "LANGUAGE SQL;"
    )
    assert isinstance(made, CreateFunction)
    assert (made.definition.body, made.definition.language, made.definition.deterministic) == (
        "SELECT price",
        "SQL",
        True,
    )
    made = parse(
        "CREATE FUNCTION IF NOT EXISTS f(x int) RETURNS int VOLATILE LANGUAGE PYTHON RUNTIME_VERSION = '3.11' "
        "HANDLER = 'f' PACKAGES = ('numpy','pandas') AS $$\ndef f(x):\n    return {'a': \"b;c\"}[x]\n$$"
    )
    assert isinstance(made, CreateFunction)
    assert made.definition.body == "def f(x):\n    return {'a': \"b;c\"}[x]"
    assert made.definition.options == {"runtime_version": "3.11", "packages": "numpy,pandas"}
    assert (made.definition.handler, made.definition.deterministic, made.existing) == ("f", False, Existing.KEPT)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("CREATE FUNCTION f(x INT, X INT) RETURN 1", "Two parameters"),
        ("CREATE FUNCTION f() RETURNS TABLE (a INT) RETURN SELECT 1", "return a table"),
        ("CREATE FUNCTION f() RETURNS INT", "Expected RETURN"),
        ("CREATE FUNCTION f() LANGUAGE js RETURNS INT AS 'x'", "Functions in JS"),
        ("CREATE FUNCTION f AS 'com.x.Y' USING JAR '/x.jar'", "of a Java class is not kept"),
        ("CREATE FUNCTION f() LANGUAGE PYTHON AS 'x'", "no RETURNS"),
        ("CREATE AGGREGATE FUNCTION f(x INT) RETURNS INT LANGUAGE PYTHON AS 'x'", "is a class"),
        ("CREATE AGGREGATE FUNCTION f(x INT DEFAULT 1) RETURNS INT RETURN sum(x)", "cannot have a DEFAULT"),
        ("CREATE OR REPLACE FUNCTION IF NOT EXISTS f() RETURN 1", "exclude each other"),
        ("CREATE FUNCTION f() RETURN", "Expected an expression"),
        ("CREATE FUNCTION f() WHATEVER RETURN 1", "not understood"),
    ],
)
def test_unsupported_functions_are_refused(text, message):
    with pytest.raises(SqlError, match=message):
        parse(text)


def test_the_other_statements():
    assert parse("DROP FUNCTION IF EXISTS s.f") == DropFunction(
        sql="DROP FUNCTION IF EXISTS s.f", function=TableName("s", "f"), if_exists=True
    )
    described = parse("DESC FUNCTION EXTENDED s.f")
    assert isinstance(described, DescribeFunction)
    assert (described.function, described.extended) == (TableName("s", "f"), True)
    shown = parse("SHOW USER FUNCTIONS IN s LIKE 'f*'")
    assert isinstance(shown, ShowFunctions)
    assert (shown.scope, shown.database, shown.pattern) == ("USER", "s", "f*")
    shown = parse("SHOW FUNCTIONS s.f")
    assert isinstance(shown, ShowFunctions)
    assert (shown.scope, shown.database, shown.pattern) == ("ALL", "s", "f")
    for sparks in ("DROP TEMPORARY FUNCTION f", "DESC FUNCTION +", "DESC FUNCTION '+'"):
        assert isinstance(parse(sparks), PassThrough), sparks


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("SELECT f(1), s.g(x), tablestore.s.h(), `a b`.`c`(2) FROM t", ["f", "s.g", "s.h", "a b.c"]),
        ("WITH f(a) AS (SELECT g(1)) SELECT * FROM (SELECT 1) AS h(a)", ["g"]),
        ("SELECT x IN (1), EXISTS (SELECT 1), (f) (a)", []),
        ("SELECT 'f(1)', /* g(1) */ a.b.c.d(1), x.f (y)", ["x.f"]),
    ],
)
def test_calls(text, calls):
    found = function_calls(text)
    assert [".".join(one.parts) for one in found] == calls
    assert all(text[one.end :].lstrip().startswith("(") for one in found)


def test_an_aggregate_function_in_sql_is_inlined():
    one = Function(
        (Parameter("x", "INT"), Parameter("y", "INT")),
        "INT",
        "SQL",
        "sum(x + Y) + t.x",
        aggregate=True,
        database="s",
        name="f",
    )
    text = "SELECT s.f(a, g(b, c)) FROM t"
    (call, *_) = function_calls(text)
    assert inlined(text, call, one) == ("SELECT CAST((sum(CAST(a AS INT) + CAST(g(b, c) AS INT)) + t.x) AS INT) FROM t")
    with pytest.raises(SqlError, match="takes 2 arguments, and 1 are given"):
        inlined("SELECT s.f(1)", function_calls("SELECT s.f(1)")[0], one)


def test_a_stored_function_is_the_same():
    parameters = (Parameter("x", "INT", "1", "c"),)
    definition = FunctionDefinition(parameters, "INT", "PYTHON", "return x", None, False, True, "é", {"a": "b"})
    one = definition.named("s", "F")
    assert one.full_name == "s.f"
    assert Function.from_json(one.to_json()) == one


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("varchar", "STRING"),
        ("text", "STRING"),
        ("character varying(10)", "VARCHAR(10)"),
        ("double precision", "DOUBLE"),
        ("float64", "DOUBLE"),
        ("int64", "BIGINT"),
        ("number(10, 2)", "DECIMAL(10,2)"),
        ("timestamp with time zone", "TIMESTAMP"),
        ("array<int64>", "array<BIGINT>"),
    ],
)
def test_types_by_the_names_of_other_warehouses(given, kept):
    made = parse(f"CREATE FUNCTION f(a {given}, b {given} DEFAULT NULL) RETURNS {given} RETURN coalesce(a, b)")
    assert isinstance(made, CreateFunction)
    assert [one.type_sql for one in made.definition.parameters] == [kept, kept]
    assert made.definition.returns_sql == kept
