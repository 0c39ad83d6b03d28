"""Seeds: values arrive as the file has them."""

from datetime import date, datetime

import pyarrow as pa
import pytest
from dbt_common.clients.agate_helper import from_csv

from dbt.adapters.tablestore.impl import TableStoreAdapter
from dbt.adapters.tablestore.models.seeds import arrow_table, columns_of

CSV = """big,price,text,day,moment,flag,exact,nothing
1152921504606846977,1.5,it's "x",2024-01-02,2024-01-02T03:04:05.678901,true,0012.340,
,,,,,,,
"""


def load(tmp_path, column_types):
    path = tmp_path / "seed.csv"
    path.write_text(CSV)
    table = from_csv(str(path), text_columns=column_types)
    columns = columns_of(table, column_types, TableStoreAdapter.convert_agate_type)
    return columns, arrow_table(table, columns)


def test_types_and_values(tmp_path):
    columns, data = load(tmp_path, {"exact": "decimal(10,3)"})
    assert [one.type for one in columns] == [
        "bigint", "double", "string", "date", "timestamp", "boolean", "decimal(10,3)", "bigint",
    ]  # fmt: skip
    assert data.to_pylist()[0] == {
        "big": 2**60 + 1,
        "price": 1.5,
        "text": 'it\'s "x"',
        "day": date(2024, 1, 2),
        "moment": datetime(2024, 1, 2, 3, 4, 5, 678901),
        "flag": True,
        "exact": "0012.340",
        "nothing": None,
    }
    assert set(data.to_pylist()[1].values()) == {None}
    assert data.schema.field("moment").type == pa.timestamp("us")


def test_items_cast_to_the_type(tmp_path):
    columns, _ = load(tmp_path, {"exact": "TEXT"})
    assert columns[6].item == "cast(`exact` as string) as `exact`"


@pytest.mark.parametrize(
    ("configured", "values", "kind"),
    [
        ("numeric", ["12.5", "", "3"], "decimal(38,6)"),
        ("Number", ["40.712776123", "1.10"], "decimal(38,9)"),
        ("decimal", ["1.5000000000"], "decimal(38,6)"),
        ("numeric(10,2)", ["1.123456789"], "numeric(10,2)"),
        ("decimal(38,6)", ["1.123456789"], "decimal(38,6)"),
    ],
)
def test_a_number_without_precision_keeps_its_fraction(tmp_path, configured, values, kind):
    path = tmp_path / "seed.csv"
    path.write_text("k,n\n" + "".join(f"{i},{one}\n" for i, one in enumerate(values)))
    table = from_csv(str(path), text_columns={"n": configured})
    columns = columns_of(table, {"n": configured}, TableStoreAdapter.convert_agate_type)
    assert columns[1].type == kind
    assert arrow_table(table, columns).column("n").to_pylist() == [one or None for one in values]


@pytest.mark.parametrize(("configured", "kind"), [("float", "double"), ("FLOAT", "double"), ("float4", "float")])
def test_a_float_has_the_width_of_type_float(tmp_path, configured, kind):
    path = tmp_path / "seed.csv"
    path.write_text("k,n\n1,38.89\n")
    table = from_csv(str(path), text_columns={"n": configured})
    assert columns_of(table, {"n": configured}, TableStoreAdapter.convert_agate_type)[1].type == kind


def test_whole_numbers_beyond_64_bits(tmp_path):
    path = tmp_path / "seed.csv"
    path.write_text("n\n100000000000000000000\n1\n")
    table = from_csv(str(path), text_columns=())
    columns = columns_of(table, {}, TableStoreAdapter.convert_agate_type)
    assert columns[0].type == "decimal(38,0)"
    assert arrow_table(table, columns).column("n").to_pylist() == ["100000000000000000000", "1"]
