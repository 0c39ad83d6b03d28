"""Types of contracts with texts."""

import pytest

from dbt.adapters.tablestore.config.text_types import has_length, listed_columns, text_types, too_long
from tablestore_engine.sql.types.types import parse_sql_type


def types(*texts, dialect=""):
    columns = [(f"C{i}", one) for i, one in enumerate(texts)]
    return {name: str(kind) for name, kind in text_types(columns, dialect).items()}


def test_only_types_with_texts():
    found = types("varchar(3)", "varchar", "int", "no type", None, "ARRAY<struct<x:char(2)>>", "nvarchar(4)")
    assert found == {"c0": "VARCHAR(3)", "c1": "STRING", "c5": "ARRAY<ROW<`x` CHAR(2)>>", "c6": "VARCHAR(4)"}


@pytest.mark.parametrize(
    ("dialect", "text", "kind"),
    [
        ("bigquery", "STRUCT<x STRING(3)>", "ROW<`x` VARCHAR(3)>"), ("trino", "array(varchar(3))", "ARRAY<VARCHAR(3)>"),
        ("databricks", "varchar(3)", "VARCHAR(3)"), ("snowflake", "varchar(3)", "VARCHAR(3)"),
    ],
)  # fmt: skip
def test_types_of_other_warehouses(dialect, text, kind):
    assert types(text, dialect=dialect) == {"c0": kind}


def test_types_without_lengths_in_other_warehouses():
    """DuckDB ignores them; a type that a dialect does not know is read as Spark's."""
    assert types("varchar(3)", dialect="duckdb") == {"c0": "STRING"}
    assert types("varchar(3) of (", dialect="snowflake") == {}
    assert types("json", dialect="bigquery") == {}


def test_lengths_may_be_inside():
    assert [has_length(parse_sql_type(one)) for one in ("array<char(1)>", "array<string>")] == [True, False]


def test_columns_are_listed_where_one_has_texts():
    found = text_types([("B", "struct<`x y`:varchar(3)>")])
    assert listed_columns(["a", "B"], found) == ("`a`", "`B` STRUCT<`x y`: VARCHAR(3)>")
    assert listed_columns(["a"], {}) == ()


@pytest.mark.parametrize(
    ("kind", "condition"),
    [
        ("varchar(3)", "char_length(rtrim(c)) > 3"),
        ("struct<x:char(2),y:int,z:varchar(4)>", "char_length(rtrim(c.`x`)) > 2 or char_length(rtrim(c.`z`)) > 4"),
        ("array<array<varchar(1)>>", "exists(c, v0 -> exists(v0, v1 -> char_length(rtrim(v1)) > 1))"),
        ("map<varchar(1),int>", "exists(map_keys(c), v0 -> char_length(rtrim(v0)) > 1)"),
        ("map<int,struct<x:varchar(2)>>", "exists(map_values(c), v0 -> char_length(rtrim(v0.`x`)) > 2)"),
        ("map<int,string>", ""),
    ],
)
def test_the_condition_of_a_text_that_is_too_long(kind, condition):
    assert too_long("c", parse_sql_type(kind)) == condition
