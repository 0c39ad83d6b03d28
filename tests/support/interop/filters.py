"""Whether what a predicate leaves out of a read is nothing that it asks for, on every column."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import pyarrow as pa

from support.interop.compare import multiset
from support.interop.ours import OurTable
from tablestore_engine.schema.table.predicate import Compare, IsNull, Predicate
from tablestore_engine.schema.types.sql_literals import literal, quoted_name
from tablestore_engine.schema.types.types import AtomicType, DataField
from tablestore_engine.sql.query.bind import references

_OPERATORS = {"=": operator.eq, "<": operator.lt, ">=": operator.ge}
_UNORDERED = ("FLOAT", "DOUBLE", "CHAR", "BINARY", "VARBINARY", "BYTES", "TIME")


def check_filters(table: OurTable, own: pa.Table) -> None:
    """Fail when a pruned read lacks rows of `own`, which are all."""
    for field in table.table.schema.fields:
        values = own.column(field.name).to_pylist()
        for predicate in _predicates(field, values):
            found = table.table.to_arrow([field.name], predicate).column(0).to_pylist()
            assert _taken(found, predicate) == _taken(values, predicate), predicate


def check_spark_filters(spark_store: Any, table: OurTable, own: pa.Table, most: int | None = None) -> None:
    """The same of queries, whole rows: up to three conditions for each column.

    Every condition is seen to become its predicate. When that is enough for most of them, as `check_filters` has tried
    the predicates, `most` are asked, others of each table: a query on a table with a key takes Spark half a second.
    """
    name = table.name.split(".")[1]
    expected = {}
    for field in table.table.schema.fields:
        values = own.column(field.name).to_pylist()
        for predicate in _predicates(field, values):
            if isinstance(predicate, Compare):
                if predicate.op != "=":
                    continue
                assert isinstance(field.type, AtomicType)
                condition = f"{quoted_name(field.name)} = {literal(predicate.value, field.type)}"
            else:
                condition = f"{quoted_name(field.name)} IS NULL"
            (reference,) = references(f"SELECT * FROM {name} WHERE {condition}")
            assert reference.predicate == predicate, f"{condition} leaves no files out"
            kept = [i for i, value in enumerate(values) if _accepts(predicate, value)]
            expected[condition] = own.take(pa.array(kept, pa.int64()))
    for condition in Random(name).sample(list(expected), min(most or len(expected), len(expected))):
        found = spark_store.sql(f"SELECT * FROM {name} WHERE {condition}").toArrow()
        assert multiset(found) == multiset(expected[condition]), condition


def _predicates(field: DataField, values: Sequence[Any]) -> Iterator[Predicate]:
    if not isinstance(field.type, AtomicType) or field.type.root in _UNORDERED:
        return
    yield IsNull(field.name)
    known = sorted({value for value in values if value is not None})
    if known:
        yield from (Compare(field.name, op, known[len(known) // 2]) for op in _OPERATORS)
        if len(known) > 2:
            yield Compare(field.name, "=", known[0])  # where the least is a bound, and negative with all digits


def _taken(values: Sequence[Any], predicate: Predicate) -> Counter[Any]:
    return Counter(value for value in values if _accepts(predicate, value))


def _accepts(predicate: Predicate, value: Any) -> bool:
    if isinstance(predicate, IsNull):
        return value is None
    assert isinstance(predicate, Compare)
    return value is not None and bool(_OPERATORS[predicate.op](value, predicate.value))
