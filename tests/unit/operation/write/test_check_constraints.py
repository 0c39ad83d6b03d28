"""CHECK constraints of writes without Spark. tests/spark compares Arrow's answers with Spark's."""

from __future__ import annotations

import pyarrow as pa
import pytest
from support.tables import make_table, read, reload

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import ConstraintError, SchemaError
from tablestore_engine.sql.query.exact_conditions import exact_predicate

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
    catalog = Catalog(tmp_path, read_condition=exact_predicate)
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
        assert raised.value.message == shown
    assert reload(table).latest_snapshot() == before
    table.write(some((1, -1), (2, 2), _row_kind=["-D", "+U"]))
    assert [(row["id"], row["v"]) for row in read(table)] == [(2, 2)]
    table.write(some((1, 1)).slice(1))


@pytest.mark.parametrize(
    "condition",
    [
        *("v > id", "length(s) > 1", "v + 1 > 0", "s LIKE 'a%'", "v IN (1, NULL)"),  # other conditions
        *("s > 5", "v > '5'", "v > 0.001", "v > 1e0", "id > 0.5", "b > 0", "v IN (1, 0.001)", "id > 3000000000"),
        *("at > TIMESTAMP '2020-01-01'", "x > 20000000", "x > TRUE", "id IS NULL OR x > 'a'", "NOT id"),
    ],
)
def test_other_conditions_are_refused_by_name(tmp_path, condition):
    table = table_of(tmp_path, {"constraint.check.c": condition})
    with pytest.raises(SchemaError) as raised:
        table.write(table.to_arrow())
    assert raised.value.message == f"'default.t' has the CHECK constraint c ({condition}), which only Spark evaluates."


def test_a_table_that_reads_no_conditions_refuses_all(tmp_path):
    table = reload(table_of(tmp_path, POSITIVE))
    with pytest.raises(SchemaError, match="only Spark evaluates"):
        table.write(table.to_arrow())
