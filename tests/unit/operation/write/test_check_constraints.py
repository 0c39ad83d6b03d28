"""CHECK constraints of writes without Spark. tests/spark compares Arrow's answers with Spark's."""

from __future__ import annotations

import pyarrow as pa
import pytest
from support.tables import make_table, read, reload

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import ConstraintError, SchemaError
from tablestore_engine.sql.query.row_expressions import read_expression

COLUMNS = {
    "id": "INT",
    "v": "DECIMAL(10, 2)",
    "s": "STRING",
    "at": "TIMESTAMP(6)",
    "b": "DECIMAL(38, 20)",
    "x": "FLOAT",
}
POSITIVE = {"constraint.check.positive": "v > 0 AND id\n< 9"}


def table_of(tmp_path, checks, keys=(), columns=COLUMNS):
    catalog = Catalog(tmp_path, read_expression=read_expression)
    return make_table(catalog, columns, keys, options=checks)


def some(*pairs, **columns):
    ids, values = zip(*pairs, strict=True)
    return pa.table({"id": ids, "v": pa.array(values, pa.decimal128(10, 2)), **columns})


def test_a_row_that_violates_a_constraint_fails_the_write(tmp_path):
    table = table_of(tmp_path, POSITIVE, ["id"], {"id": "INT", "v": "DECIMAL(10, 2)"})
    table.write(some((1, 1), (2, None)))
    before = table.latest_snapshot()
    first, bad = some((3, 3)).to_batches()[0], some((4, 4), (5, -5)).to_batches()[0]
    for rows in (pa.Table.from_batches([first, bad]), bad, iter([first, bad])):
        with pytest.raises(ConstraintError) as raised:
            table.write(rows)
        shown = "A row violates the CHECK constraint positive (v > 0 AND id < 9): id = 5, v = -5.00."
        assert raised.value.message == f"Writing to table default.t failed: {shown}"
    assert reload(table).latest_snapshot() == before
    table.write(some((1, -1), (2, 2), _row_kind=["-D", "+U"]))
    assert [(row["id"], row["v"]) for row in read(table)] == [(2, 2)]
    table.write(some((1, 1)).slice(1))


@pytest.mark.parametrize(
    "condition",
    [
        *(
            "s > 5",
            "v > '5'",
            "b > 3000000000",
            "x > 20000000",
            "x > id",
            "x > TRUE",
            "id IS NULL OR x > 'a'",
            "NOT id",
        ),
        *("v / 3 > 0", "s RLIKE 'a'", "s LIKE s", "b + b > 0", "substring(s, 2) = 'a'", "at > TIMESTAMP '2020-01-01'"),
        *("s + 1 > 0", "length(id) > 1", "length(s, 1) > 1", "CASE WHEN v > 0 THEN TRUE END", "current_date > at"),
        *(
            "coalesce(s, 1) = 'a'",
            "c = 'a'",
            "c LIKE 'a%'",
            "v",
            "id IN ('1', 2)",
            "x IN (20000001, 1)",
            "day > '2024-13-01'",
        ),
    ],
)
def test_other_conditions_are_refused_by_name(tmp_path, condition):
    table = table_of(tmp_path, {"constraint.check.c": condition}, columns={**COLUMNS, "c": "CHAR(3)", "day": "DATE"})
    with pytest.raises(SchemaError) as raised:
        table.write(table.to_arrow())
    assert raised.value.message == f"'default.t' has the CHECK constraint c ({condition}), which only Spark evaluates."


def test_a_table_that_reads_no_conditions_refuses_all(tmp_path):
    table = reload(table_of(tmp_path, POSITIVE))
    with pytest.raises(SchemaError, match="only Spark evaluates"):
        table.write(table.to_arrow())


@pytest.mark.parametrize(
    ("condition", "bad"),
    [
        ("id < 10 OR 10 / (id - 10) > 0", 10),
        ("id + 2147483640 > 0", 8),
        ("id > 5 AND upper(s) = 'A' OR id < 5", 6),
        ("- id < 1 AND id % (id - 7) = 0 OR id < 7", 7),
    ],
)
def test_a_row_that_only_spark_judges_is_refused_by_its_values(tmp_path, condition, bad):
    table = table_of(tmp_path, {"constraint.check.c": condition}, columns={"id": "INT", "s": "STRING"})
    table.write(pa.table({"id": pa.array([1, None], pa.int32()), "s": ["é", "a"]}))
    with pytest.raises(SchemaError) as raised:
        table.write(pa.table({"id": pa.array([2, bad], pa.int32()), "s": ["a", "é"]}))
    assert f"c ({condition}), which only Spark evaluates for the row id = {bad}" in raised.value.message
    assert len(read(table)) == 2


def test_columns_are_compared_and_texts_matched(tmp_path):
    checks = {"constraint.check.one": "v <= id * 10", "constraint.check.two": "s LIKE 'a%' AND length(trim(s)) > 1"}
    table = table_of(tmp_path, checks, columns={"id": "INT", "v": "DECIMAL(10, 2)", "s": "STRING"})
    table.write(some((1, 10), (None, 3), (2, None), s=["ab", "ab ", None]))
    for values, texts, shown in (
        ([(1, 11)], ["ab"], "one (v <= id * 10): id = 1, v = 11.00."),
        ([(1, 1)], ["b"], "two (s LIKE 'a%' AND length(trim(s)) > 1): s = b."),
        ([(1, 1)], ["a  "], "two (s LIKE 'a%' AND length(trim(s)) > 1): s = a  ."),
    ):
        with pytest.raises(ConstraintError) as raised:
            table.write(some(*values, s=texts))
        assert raised.value.message.endswith(f" failed: A row violates the CHECK constraint {shown}")
    assert len(read(table)) == 3
