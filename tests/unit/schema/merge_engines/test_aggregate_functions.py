"""Which aggregate function folds values of which type."""

from __future__ import annotations

import pytest

from tablestore_engine.schema.merge_engines.aggregate_functions import FUNCTIONS, supports
from tablestore_engine.sql.types.types import parse_sql_type

TYPES = [
    "tinyint", "int", "bigint", "double", "decimal(18, 2)", "decimal(19, 2)", "boolean", "string", "varchar(3)",
    "binary", "date", "timestamp", "array<int>", "array<map<int, int>>", "array<struct<a: int>>",
    "array<struct<a: map<int, int>>>", "map<string, int>", "map<int, array<map<int, int>>>", "map<struct<a: int>, int>",
    "struct<a: int>", "map<int, struct<a: int, t: string>>", "map<int, struct<a: string>>",
    "array<struct<a: array<int>, b: string>>",
]  # fmt: skip
NUMBERS = {"tinyint", "int", "bigint", "double", "decimal(18, 2)", "decimal(19, 2)"}
ORDERED = NUMBERS | {"string", "varchar(3)", "date", "timestamp"}
FOLDED = {
    "sum": NUMBERS,
    "product": NUMBERS,
    "count": {"int", "bigint"},
    "max": ORDERED | {"boolean"},
    "min": ORDERED | {"boolean"},
    "bool_and": {"boolean"},
    "bool_or": {"boolean"},
    "listagg": {"string"},
    "collect": {"array<int>", "array<struct<a: int>>", "array<struct<a: array<int>, b: string>>"},
    "merge_map": {"map<string, int>", "map<int, struct<a: int, t: string>>", "map<int, struct<a: string>>"},
    "merge_map_with_keytime": {"map<int, struct<a: int, t: string>>"},
    "nested_update": {"array<struct<a: int>>"},
    "nested_partial_update": {"array<struct<a: int>>", "array<struct<a: array<int>, b: string>>"},
    "hll_sketch": {"binary"},
    "theta_sketch": {"binary"},
    "rbm32": {"binary"},
    "rbm64": {"binary"},
}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_types_of_a_function(function):
    found = {text for text in TYPES if supports(function, parse_sql_type(text))}
    assert found == FOLDED.get(function, set(TYPES)), "functions that choose a value take all types"
