"""Folds that Spark's own functions do not have, as functions of the session: Python workers run the kernels of
`mergetree`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from tablestore_engine.mergetree.arrow_kernels.compare_values import elements_of
from tablestore_engine.mergetree.merge.aggregate_kernels import fold_values
from tablestore_engine.mergetree.merge.groups import Groups
from tablestore_engine.mergetree.sketch.roaring_bitmaps import FORMATS, BitmapFormat
from tablestore_engine.schema.merge_engines.merge_engine import Fold

if TYPE_CHECKING:
    import pandas as pd

DECIMAL_PRODUCT: Final = "__tablestore_decimal_product"
"""Of an array of decimals as texts, and their scale: their product as a text, rounded after each factor."""
_ATTRIBUTE: Final = "_tablestore_session_folds"
_DIGITS: Final = 38


def register_session_folds(spark: SparkSession) -> None:
    """Make the session know the functions."""
    if getattr(spark, _ATTRIBUTE, False):
        return
    import pandas as pd
    from pyspark.sql.functions import pandas_udf  # type: ignore[attr-defined]

    def declared(function: Callable[..., Any], kind: str, arguments: int) -> Any:
        names = function.__code__.co_varnames[:arguments]
        function.__annotations__ = {**dict.fromkeys(names, pd.Series), "return": pd.Series}
        return pandas_udf(function, kind)

    for name, one in FORMATS.items():
        spark.udf.register(bitmap_union(name), declared(_united(one), "binary", 1))
    spark.udf.register(DECIMAL_PRODUCT, declared(_multiplied, "string", 2))
    setattr(spark, _ATTRIBUTE, True)


def bitmap_union(function: str) -> str:
    """The function that makes of an array of bitmaps their union."""
    return f"__tablestore_{function}_union"


def _united(one: BitmapFormat) -> Callable[[pd.Series[Any]], pd.Series[Any]]:
    def united(lists: pd.Series[Any]) -> pd.Series[Any]:
        owners, bitmaps = _elements(lists, pa.binary())
        found = pa.nulls(len(lists), pa.binary())
        if len(bitmaps):
            has_some = np.bincount(owners, minlength=len(lists)) > 0
            numbers = np.cumsum(has_some) - 1
            unions = one.union(bitmaps, numbers[owners], int(has_some.sum()))
            found = unions.take(pa.array(numbers, mask=~has_some))
        return _series(found)

    return united


def _multiplied(lists: pd.Series[Any], scales: pd.Series[Any]) -> pd.Series[Any]:
    owners, texts = _elements(lists, pa.string())
    found = np.full(len(lists), -1)
    if not len(texts):
        return _series(pa.nulls(len(lists), pa.string()))
    starts = np.flatnonzero(np.append(True, owners[1:] != owners[:-1]))
    found[owners[starts]] = np.arange(len(starts))
    factors = texts.cast(pa.decimal128(_DIGITS, int(scales.iloc[0])))
    products = fold_values(Fold("product", "product"), factors, Groups(starts, len(texts))).cast(pa.string())
    return _series(products.take(pa.array(found, mask=found < 0)))


def _elements(lists: Iterable[Any], kind: pa.DataType) -> tuple[np.ndarray[Any, Any], pa.Array]:
    return elements_of(pa.array([list(one) for one in lists], pa.list_(kind)))


def _series(values: pa.Array) -> pd.Series[Any]:
    import pandas as pd

    return pd.Series(values.to_pylist(), dtype=object)
