from __future__ import annotations

from datetime import date, datetime
from types import SimpleNamespace

import pandas as pd
import pyarrow as pa
import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.models.python_models import as_frame, run
from tablestore_engine.errors import SqlError

TABLE = pa.table({"id": [1, 2]})


CODE = """def model(dbt, session):
    {}

class dbtObj:
    def __init__(self, load):
        pass
"""


class Session:
    """Gives back what a frame would be made of."""

    def createDataFrame(self, data):
        return data


class Polars:
    def to_arrow(self):
        return TABLE


class Stream:
    def __arrow_c_stream__(self, requested_schema=None):
        return TABLE.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("made", [TABLE, TABLE.to_batches()[0], TABLE.to_reader(), Polars(), Stream()])
def test_whatever_is_arrow_becomes_a_frame(made):
    assert as_frame(Session(), made, "m").equals(TABLE)


def test_a_pandas_frame_without_rows_keeps_its_types():
    made = as_frame(
        Session(), pd.DataFrame({"id": pd.Series([], dtype="int32"), "s": pd.Series([], dtype="string")}), "m"
    )
    assert [str(one) for one in made.schema.types] == ["int32", "string"]


def test_a_pandas_column_of_texts_and_numbers_has_texts():
    """Else Spark converts all columns by row, and missing numbers to NaN."""
    made = as_frame(Session(), pd.DataFrame({"n": [1, 2, None], "x": ["a", 1, None], "y": ["a", None, "b"]}), "m")
    assert pa.Table.from_pandas(made).column("x").to_pylist() == ["a", "1", None]
    assert [str(one) for one in made.dtypes][0::2] == ["float64", str(pd.DataFrame({"y": ["a"]}).dtypes["y"])]
    for values in (["a", {"x": 1}], [True, "a"], [1j]):
        with pytest.raises(DbtRuntimeError, match=r"column 'x' .* model 'm' .* (dict and str|bool and str|complex): "):
            as_frame(Session(), pd.DataFrame({"x": pd.Series(values, dtype=object)}), "m")


def test_an_error_of_the_code_has_its_kind_and_line():
    store = SimpleNamespace(spark=Session())
    with pytest.raises(DbtRuntimeError, match=r"'m' failed in line 2 of its compiled code: KeyError: 'absent'"):
        run(store, "m", CODE.format("return {}['absent']"))
    with pytest.raises(SqlError, match="of the engine"):
        run(store, "m", CODE.format("from tablestore_engine.errors import SqlError; raise SqlError('of the engine')"))


def test_a_result_that_is_no_frame_is_refused():
    with pytest.raises(DbtRuntimeError, match="'m' returned list"):
        as_frame(Session(), [1], "m")


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([True, "a"], "of the type bool and str"),
        ([[1], ["a"]], "of the type list: .*"),
        ([2**70, None], "of the type int: .*too large"),
        (["\ud800"], "of the type str: .*surrogates not allowed"),
        ([date(2024, 1, 1), datetime(2024, 1, 1, 10, 30)], "of the type date and datetime: parts of some"),
        (["a", b"b"], "of the type bytes and str: parts of some"),
    ],
)
def test_a_column_of_pandas_that_no_type_holds(values, reason):
    frame = pd.DataFrame({"id": range(len(values)), "x": pd.Series(values, dtype=object)})
    with pytest.raises(DbtRuntimeError, match=f"column 'x' .* model 'm' .*{reason}.*astype"):
        as_frame(Session(), frame, "m")


def test_a_category_of_texts_and_numbers_is_text():
    values = pd.Series([1, "a", None], dtype="category")
    found = pa.Table.from_pandas(as_frame(Session(), pd.DataFrame({"x": values}), "m"))
    assert found.column("x").to_pylist() == ["1", "a", None]
    numbers = pd.DataFrame({"x": pd.Series([1, 2, None], dtype="category")})
    assert as_frame(Session(), numbers, "m")["x"].tolist()[:2] == [1, 2]
