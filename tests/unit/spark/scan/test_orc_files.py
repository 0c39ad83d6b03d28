"""Which ORC files hold dates that Spark would misread, by their statistics alone."""

from __future__ import annotations

from datetime import date

import pytest
from support.tables import write

from tablestore_engine.catalog import Catalog
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.types.types import ArrayType, DataField, MapType, RowType, parse_type
from tablestore_engine.spark.scan.orc_files import may_have_old_dates, with_dates

DATE, INT = parse_type("DATE"), parse_type("INT")
OLD, NEW = date(1582, 10, 14), date(1583, 1, 1)


def has_old_dates(folder, columns, rows, **options):
    typed = [("id", INT, None), *((name, kind, None) for name, kind in columns.items())]
    schema = create_schema(typed, options={"file.format": "orc", **options})
    table = Catalog(folder).create_table("default", "t", schema)
    write(table, [{"id": i, **one} for i, one in enumerate(rows)])
    (entry,) = table.live_files()
    return may_have_old_dates(entry.file, with_dates(table.schema.fields), table.schemas.load)


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        ([OLD, NEW], True),
        ([date(1, 1, 1)], True),
        ([NEW, None], False),
        ([NEW, date(9999, 12, 31)], False),
        ([None, None], False),
    ],
)
def test_columns_of_dates(tmp_path, days, expected):
    assert has_old_dates(tmp_path, {"a": DATE, "b": DATE}, [{"a": NEW, "b": one} for one in days]) is expected


def test_nothing_is_known_without_statistics(tmp_path):
    assert has_old_dates(tmp_path, {"d": DATE}, [{"d": NEW}], **{"metadata.stats-mode": "none"})


NESTED = [ArrayType(DATE), MapType(INT, DATE), MapType(DATE, INT), RowType((DataField(2, "x", ArrayType(DATE)),))]


@pytest.mark.parametrize("kind", NESTED, ids=str)
def test_nothing_is_known_of_nested_dates(tmp_path, kind):
    assert has_old_dates(tmp_path, {"n": kind}, [{"n": None}])


def test_other_types_are_no_dates(tmp_path):
    columns = {"s": parse_type("STRING"), "n": RowType((DataField(2, "x", INT),))}
    assert not has_old_dates(tmp_path, columns, [{"s": "0001-01-01", "n": None}])
