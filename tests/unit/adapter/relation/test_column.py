"""Columns with Spark's types."""

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.relation.column import TableStoreColumn as Column
from dbt.adapters.tablestore.relation.column import stored_dtype


@pytest.mark.parametrize(
    ("dtype", "kind"),
    [
        ("string", "string"), ("varchar(10)", "string"), ("char(3)", "string"),
        ("int", "integer"), ("bigint", "integer"), ("tinyint", "integer"),
        ("float", "float"), ("double", "float"),
        ("decimal(10,2)", "numeric"), ("decimal(38, 0)", "numeric"),
        ("date", None), ("timestamp", None), ("boolean", None), ("array<string>", None), ("struct<a:int>", None),
    ],
)  # fmt: skip
def test_predicates(dtype, kind):
    column = Column("c", dtype)
    assert column.is_string() == (kind == "string")
    assert column.is_integer() == (kind == "integer")
    assert column.is_float() == (kind == "float")
    assert column.is_numeric() == (kind == "numeric")
    assert column.is_number() == (kind in ("integer", "float", "numeric"))
    assert column.data_type == dtype


def test_names_of_other_warehouses_are_translated():
    assert Column.create("c", "TEXT").dtype == "string"
    assert Column.create("c", "integer").dtype == "int"
    assert Column.create("c", "struct<A:int>").dtype == "struct<A:int>"
    assert Column.create("c", "Double  precision").dtype == "double"
    assert Column.create("c", "timestamp with time zone").dtype == "timestamp"
    assert Column.create("c", "number(12, 2)").dtype == "decimal(12, 2)"
    assert Column.create("c", "character varying(20)").dtype == "varchar(20)"
    assert Column.create("c", "varchar(20)").dtype == "varchar(20)"
    assert {Column.translate_type(one) for one in ("numeric", "DECIMAL", "number")} == {"decimal(38,6)"}
    assert Column.translate_type("numeric(10,2)") == "numeric(10,2)"
    assert Column.numeric_type("numeric", None, None) == "decimal(38,6)"
    assert Column.numeric_type("numeric", 28, 6) == "decimal(28,6)"
    assert Column.string_type(16) == "string"


def test_a_float_has_64_bits_in_dbt_and_32_as_a_column():
    assert Column.translate_type("float") == Column.translate_type(" FLOAT") == "double"
    assert {Column.translate_type(one) for one in ("float4", "FLOAT4")} == {"float"}
    assert Column.type_of_column("float") == "float"
    assert Column.type_of_column("text") == "string"


def test_only_a_smaller_limit_can_be_expanded():
    assert Column("c", "varchar(5)").can_expand_to(Column("c", "varchar(10)"))
    assert Column("c", "varchar(5)").can_expand_to(Column("c", "string"))
    assert not Column("c", "string").can_expand_to(Column("c", "varchar(10)"))
    assert not Column("c", "int").can_expand_to(Column("c", "string"))
    with pytest.raises(DbtRuntimeError):
        Column("c", "int").string_size()


def test_quotes_and_literals():
    assert Column("a`b", "int").quoted == "`a``b`"
    assert Column("a", "date").literal("'2024-01-01'") == "cast('2024-01-01' as date)"


@pytest.mark.parametrize(
    ("query", "table"),
    [
        ("void", "string"),
        ("time(6)", "time(3)"),
        ("time(0)", "time(0)"),
        ("array<struct<void:void,time:time(6)>>", "array<struct<void:string,time:time(3)>>"),
        ("map<int,void>", "map<int,string>"),
        ("timestamp", "timestamp"),
    ],
)
def test_the_type_that_a_table_stores(query, table):
    assert stored_dtype(query) == table


@pytest.mark.parametrize(
    ("given", "known", "filled"),
    [
        ("void", "int", "int"),
        ("array<void>", "array<int>", "array<int>"),
        ("map<void,void>", "map<string,array<int>>", "map<string,array<int>>"),
        ("map<string,void>", "map<string,int>", "map<string,int>"),
        ("struct<Q:void,p:array<void>>", "struct<p:array<int>,q:date>", "struct<Q:date,p:array<int>>"),
        ("array<struct<a:void,b:int>>", "array<struct<a:string,b:bigint>>", "array<struct<a:string,b:int>>"),
        ("array<void>", "int", "array<void>"),
        ("struct<new:void>", "struct<a:int>", "struct<new:void>"),
        ("array<bigint>", "array<int>", "array<bigint>"),
    ],
)
def test_nulls_have_the_type_of_the_known_column(given, known, filled):
    assert Column("c", given).filled_from(Column("c", known)).dtype == filled


@pytest.mark.parametrize(
    ("dtype", "sql"),
    [
        ("char(3)", "if(length(`k`) < 3, rpad(`k`, 3, ' '), `k`) as `k`"),
        ("varchar(3)", "`k`"),
        ("struct<x:char(3)>", "`k`"),
    ],
)
def test_a_char_is_compared_with_its_blanks(dtype, sql):
    assert Column("k", dtype).as_stored == sql
