"""Rows become agate tables with exactly the types that they had."""

from datetime import date, datetime, timezone
from decimal import Decimal

import agate
from dbt_common.clients.agate_helper import Integer, ISODateTime, Number

from dbt.adapters.tablestore.connection.results import agate_table


def test_types_are_kept():
    now = datetime(2024, 1, 2, 3, 4, 5, 678901, tzinfo=timezone.utc)
    rows = [
        (2**60 + 1, Decimal("1.20"), "", "null", True, date(2024, 1, 2), now, None, [1, 2], b"\x01\xff", 1.5),
        (None,) * 11,
    ]
    types = ["bigint", "decimal(5,2)", "string", "string", "boolean", "date", "timestamp", "void", "array<int>",
             "binary", "double"]  # fmt: skip
    table = agate_table([f"c{i}" for i in range(11)], types, rows)
    assert list(table.rows[0]) == [
        2**60 + 1, Decimal("1.20"), "", "null", True, date(2024, 1, 2), now, None, "[1, 2]", "01FF", Decimal("1.5"),
    ]  # fmt: skip
    assert list(table.rows[1]) == [None] * 11
    kinds = [type(one) for one in table.column_types]
    assert kinds[:7] == [Integer, Number, agate.Text, agate.Text, agate.Boolean, agate.Date, ISODateTime]


def test_texts_that_look_like_numbers_stay_texts():
    table = agate_table(["a"], ["string"], [("005",), ("1e3",)])
    assert [row[0] for row in table.rows] == ["005", "1e3"]


def test_untyped_columns_are_judged_by_their_values():
    table = agate_table(["a", "b", "c", "d"], [None] * 4, [(1, "x", True, None), (2, "y", None, None)])
    assert isinstance(table.column_types[0], Integer)
    assert isinstance(table.column_types[1], agate.Text)
    assert isinstance(table.column_types[2], agate.Boolean)


def test_numbers_that_are_none_become_text():
    table = agate_table(["a"], ["double"], [(float("nan"),), (1.0,)])
    assert [row[0] for row in table.rows] == ["nan", "1.0"]


def test_repeated_names_are_numbered():
    assert agate_table(["a", "a", "a"], ["int"] * 3, [(1, 2, 3)]).column_names == ("a", "a_2", "a_3")


def test_no_rows_keep_their_columns():
    table = agate_table(["a"], ["int"], [])
    assert table.column_names == ("a",)
    assert len(table.rows) == 0
