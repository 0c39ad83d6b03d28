"""Stars in the expressions of row-level statements."""

from __future__ import annotations

import pytest

from tablestore_engine.errors import SchemaError
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.types import DataField, parse_type
from tablestore_engine.sql.parse.parse import parse
from tablestore_engine.sql.row_level.clauses.stars import (
    Relation,
    merge_without_stars,
    target_relation,
    without_stars,
)

FIELDS = tuple(DataField(at, name, parse_type("INT")) for at, name in enumerate(["k", "V v"]))
TABLE = TableSchema(0, FIELDS, 9, partition_keys=(), primary_keys=(), options={"bucket": "-1"})
TARGET = target_relation(("db", "t"), None, TABLE)
SOURCE = Relation("s", ("k", "x"))
T, S = "`t`.`k`, `t`.`V v`", "`s`.`k`, `s`.`x`"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("hash(*) = 1", f"hash({T}, {S}) = 1"),
        ("hash(t.*) <> hash(S . *)", f"hash({T}) <> hash({S})"),
        ("hash(1, db.T.*)", f"hash(1, {T})"),
        ("to_json(struct(`t`.*))", f"to_json(struct({T}))"),
        ("hash(* EXCEPT (`v V`, K))", "hash(`s`.`x`)"),
        ("hash(t.* EXCEPT (`v v`)) > 1", "hash(`t`.`k`) > 1"),
        ("hash(* EXCEPT (k))", "hash(`t`.`V v`, `s`.`x`)"),
        ("t.* IN (1)", "t.* IN (1)"),  # Spark says what is wrong
        ("k * 2 > (1) * x", "k * 2 > (1) * x"),
        ("count(*) > 1", "count(*) > 1"),  # refused by the name of the function
        ("hash(other.*, v.*)", "hash(other.*, v.*)"),
        ("EXISTS (SELECT * FROM u WHERE hash(*) = t.k)", "EXISTS (SELECT * FROM u WHERE hash(*) = t.k)"),
        ("'hash(*)' = /* (*) */ s", "'hash(*)' = /* (*) */ s"),
    ],
)
def test_an_expression_on_both_relations(sql, expected):
    assert without_stars(sql, [TARGET, SOURCE]) == expected


def test_columns_whose_names_differ_in_case_only():
    relation = Relation("t", ("id", "Id", "V"))
    assert without_stars("hash(* EXCEPT (Id, v))", [relation]) == "hash(`t`.`id`)"


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("hash(s.* EXCEPT (k, x))", r"leaves no column\. Columns: k, x\."),
        ("hash(s.* EXCEPT (`v v`))", "names 'v v', which is no column"),
        ("hash(* EXCEPT (k, x.y))", r"names 'x\.y', which is no column"),
    ],
)
def test_except_names_some_of_the_columns(sql, message):
    with pytest.raises(SchemaError, match=message):
        without_stars(sql, [TARGET, SOURCE])


def test_each_clause_of_a_merge_sees_its_relations():
    statement = parse(
        "MERGE INTO db.t AS a USING other.s ON hash(a.*) = hash(s.*) "
        "WHEN MATCHED AND hash(*) > 1 THEN UPDATE SET k = hash(other.s.*) "
        "WHEN NOT MATCHED AND hash(*) > 1 THEN INSERT (k) VALUES (hash(*)) "
        "WHEN NOT MATCHED BY SOURCE AND hash(*) > 1 THEN DELETE"
    )
    found = merge_without_stars(statement, target_relation(("db", "t"), "a", TABLE), "s", ["k", "x"])
    target = T.replace("`t`", "`a`")
    assert found.on_sql == f"hash({target}) = hash({S})"
    assert found.matched[0].condition_sql == f"hash({target}, {S}) > 1"
    assert found.matched[0].assignments[0].value_sql == f"hash({S})"
    assert (found.not_matched[0].condition_sql, found.not_matched[0].values_sql) == (f"hash({S}) > 1", (f"hash({S})",))
    assert found.not_matched_by_source[0].condition_sql == f"hash({target}) > 1"
