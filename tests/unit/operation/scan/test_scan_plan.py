"""How many rows a plan has, as far as metadata says it."""

from __future__ import annotations

import pytest
from support.tables import compact, keyed_table, make_table, read, rows, write

from tablestore_engine.operation.scan.scan_plan import exact_row_count, returns_keys_once


def counted(table):
    """The number that metadata gives; it is that of the rows that are read, or none."""
    number = exact_row_count(table.state, table.scan())
    assert number in (None, len(read(table)))
    return number


def test_a_table_without_rows_has_none(tmp_path):
    assert counted(make_table(tmp_path, {"id": "INT", "v": "INT"})) == 0


def test_rows_without_a_key_are_those_of_the_files(tmp_path):
    table = make_table(tmp_path, {"id": "INT", "v": "INT"}, options={"bucket": "-1"})
    write(table, rows(range(5)))
    write(table, rows(range(3)))
    assert counted(table) == 8


def test_rows_of_a_key_are_counted_while_no_runs_overlap(tmp_path):
    table = keyed_table(tmp_path, {"write-only": "true"})
    write(table, rows(range(5)))
    assert counted(table) == 5
    write(table, rows(range(10, 12)))
    assert counted(table) == 7
    write(table, rows([4, 10]))
    assert counted(table) is None
    compact(table.with_options({"write-only": "false"}, "test"))
    assert counted(table) == 7


def test_retractions_are_not_counted(tmp_path):
    table = keyed_table(tmp_path, {"write-only": "true"})
    write(table, rows(range(5)))
    write(table, rows([9]), kinds=[3])
    assert counted(table) is None
    compact(table.with_options({"write-only": "false"}, "test"))
    assert counted(table) == 5


@pytest.mark.parametrize("wide", ["false", "true"])
def test_rows_that_a_deletion_vector_removes_are_not_counted(tmp_path, wide):
    options = {"deletion-vectors.enabled": "true", "deletion-vectors.bitmap64": wide}
    table = keyed_table(tmp_path, options)
    write(table, rows(range(5)))
    compact(table)
    write(table, rows([1, 2, 7]))
    compact(table, full=False)
    assert counted(table) is not None


@pytest.mark.parametrize(
    ("options", "once"),
    [
        ({"bucket": "3"}, True),
        ({"bucket": "-1", "dynamic-bucket.target-row-num": "1000"}, True),
        ({"bucket": "-1", "dynamic-bucket.target-row-num": "2"}, False),  # an index says where each key is
    ],
)
def test_keys_are_once_where_one_bucket_can_have_them(tmp_path, options, once):
    table = keyed_table(tmp_path, options)
    write(table, rows(range(20)))
    assert returns_keys_once(table.scan()) == once


def test_a_key_may_be_in_several_partitions(tmp_path):
    columns = {"id": "INT", "v": "INT"}
    assert not returns_keys_once(make_table(tmp_path, columns, ["id"], ["v"]).scan())
    assert returns_keys_once(make_table(tmp_path, columns, ["id", "v"], ["v"], name="whole").scan())


def test_without_a_key_rows_may_repeat(tmp_path):
    assert not returns_keys_once(make_table(tmp_path, {"id": "INT", "v": "INT"}).scan())
