"""Python models, which run in this process: `model(dbt, session)` returns a frame, and the engine writes it.

The frame (Spark, pandas, Arrow or polars) becomes a temporary view. From there on the model is the query `select *
from` that view, so every materialization and strategy works for Python as for SQL.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime
from numbers import Real
from traceback import extract_tb
from typing import TYPE_CHECKING, Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.connection.errors import is_expected

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from tablestore_engine.store import TableStore

VIEW = "__dbt_python_"  # and a number of this process
_numbers = itertools.count(1)


def run(store: TableStore, name: str, compiled_code: str) -> str:
    """Run a compiled Python model in the store's session and return the query of its result.

    Raises DbtRuntimeError when the code defines no `model`, fails, or returns nothing that is a frame.
    """
    with _errors_of_code(name):
        result = _result(store, name, compiled_code)
    frame = as_frame(store.spark, result, name)
    view = f"{VIEW}{next(_numbers)}"
    frame.createOrReplaceTempView(view)
    return f"select * from {view}"


def _result(store: TableStore, name: str, compiled_code: str) -> Any:
    session = ModelSession(store)
    # `spark` is the session, as in a notebook.
    module: dict[str, Any] = {"__name__": f"dbt_python_model_{name}", "spark": session}
    exec(compile(compiled_code, _file(name), "exec"), module)  # noqa: S102 - the user's own model
    function = module.get("model")
    if not callable(function):
        raise DbtRuntimeError(f"The Python model '{name}' defines no function `model(dbt, session)`.")

    def load(relation: str) -> DataFrame:
        return store.sql(f"select * from {relation}")

    return function(module["dbtObj"](load), session)


def _file(name: str) -> str:
    return f"<python model {name}>"


@contextmanager
def _errors_of_code(name: str) -> Iterator[None]:
    """Errors of the model's own code, with their kind and line. Those of Spark, dbt and the engine stay."""
    try:
        yield
    except Exception as error:
        if type(error).__module__.split(".")[0] not in ("pyspark", "py4j", "grpc") and not is_expected(error):
            lines = [one.lineno for one in extract_tb(error.__traceback__) if one.filename == _file(name)]
            where = f" in line {lines[-1]} of its compiled code" if lines else ""
            kind = type(error).__name__
            raise DbtRuntimeError(f"The Python model '{name}' failed{where}: {kind}: {error}") from error
        raise


class ModelSession:
    """The Spark session that a model is given: its SQL knows the tables and functions of the warehouse."""

    def __init__(self, store: TableStore) -> None:
        self._store = store
        self._spark = store.spark

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # isinstance(session, SparkSession) is true
        return type(self._spark)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._spark, name)

    def sql(self, sqlQuery: str, args: Any = None, **kwargs: Any) -> DataFrame:  # noqa: N803 - PySpark's name
        """Run a statement as in `store.sql`. With frames as arguments, it is Spark's alone."""
        return self._spark.sql(sqlQuery, args, **kwargs) if kwargs else self._store.sql(sqlQuery, args)

    def table(self, tableName: str) -> DataFrame:  # noqa: N803 - PySpark's name
        """The rows of a table, view or temporary view."""
        return self._store.sql(f"select * from {tableName}")


def as_frame(session: SparkSession, result: Any, name: str) -> DataFrame:
    """The frame that a model returned, as a Spark DataFrame of this session."""
    from tablestore_engine.spark.queries.collect import arrow_frame

    # Asked of the type: over Spark Connect, a frame takes any unknown name for a column.
    if hasattr(type(result), "to_spark"):  # pandas API on Spark
        result = result.to_spark()
    if hasattr(type(result), "createOrReplaceTempView"):
        # A view in this session cannot read a frame of another one.
        return result if result.sparkSession is session else arrow_frame(session, result.toArrow())
    if type(result).__module__.split(".")[0] == "pandas" and len(result):
        return session.createDataFrame(_of_one_type_each(result, name))
    table = _arrow_table(result)  # of pandas, too: Spark infers types from rows
    if table is not None:
        return arrow_frame(session, table)
    raise DbtRuntimeError(
        f"The Python model '{name}' returned {type(result).__name__}. "
        "It must return a Spark, pandas, Arrow or polars frame."
    )


def _of_one_type_each(frame: Any, name: str) -> Any:
    """A pandas frame that Arrow can hold: a column of texts and numbers becomes one of texts, as Spark reads it. For
    one column that Arrow cannot hold, Spark would convert all of them by row, and missing numbers to NaN."""
    import pyarrow as pa

    for at, column in enumerate(frame.columns):
        values = frame.iloc[:, at]
        if values.dtype.name == "category" and values.cat.categories.dtype == object:
            values = values.astype(object)
        if values.dtype != object:
            continue
        try:
            pa.array(values, from_pandas=True)
            if not _loses_parts(values):
                continue
            reason = "parts of some would be lost"
        except (pa.ArrowException, OverflowError, UnicodeError) as error:
            reason = str(error)
        kinds = {type(one) for one in values.dropna()}
        plain = all(issubclass(one, (str, Real)) and not issubclass(one, bool) for one in kinds)
        if not plain or len(kinds) < 2 or not any(issubclass(one, str) for one in kinds):
            raise DbtRuntimeError(
                f"The column '{column}' of the frame that the Python model '{name}' returned has values that no column "
                f"of a table can hold together, of the type "
                f"{' and '.join(sorted(one.__name__ for one in kinds))}: {reason}. "
                f"Convert them, for example by frame['{column}'].astype(str)."
            ) from None
        frame = frame.copy(deep=False)
        frame[column] = values.astype("string")
    return frame


def _loses_parts(values: Any) -> bool:
    """Whether Arrow would take times for days, or texts for bytes, because the first value is one."""
    from pandas.api.types import infer_dtype

    if infer_dtype(values, skipna=True) not in ("date", "mixed"):
        return False
    kinds = {type(one) for one in values.dropna()}
    return {str, bytes} <= kinds or (date in kinds and any(issubclass(one, datetime) for one in kinds))


def _arrow_table(result: Any) -> pa.Table | None:
    """The Arrow table of a table, a batch, a reader, or of anything that gives one (polars, DuckDB); otherwise None."""
    import pyarrow as pa

    if isinstance(result, pa.RecordBatchReader):
        return result.read_all()
    if isinstance(result, (pa.Table, pa.RecordBatch)):
        return result if isinstance(result, pa.Table) else pa.Table.from_batches([result])
    if type(result).__module__.split(".")[0] == "pandas":
        return pa.Table.from_pandas(result, preserve_index=False)
    if hasattr(type(result), "to_arrow"):
        return _arrow_table(result.to_arrow())
    return pa.table(result) if hasattr(type(result), "__arrow_c_stream__") else None
