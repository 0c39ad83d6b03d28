"""A table as a streaming source, by Spark's Python data sources: `spark.readStream.format("tablestore").load(folder)`.

Spark finds the format by the package `pyspark_tablestore`. It looks once for all such packages, with the Python of its
environment, and finds none where that Python is another one or any such package fails; so `read_stream` registers the
format then. Spark calls the reader in a Python process next to the driver:
it says up to where the next batch goes, as the JSON of a position, and which tasks read it. The tasks run in Spark's
Python workers and give Arrow batches. Spark before 4.2 asks for the newest position only, so that it cannot limit
batches.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    DataSourceWriter,
    InputPartition,
)

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import OptionError, SchemaError, TableStoreError, UserError
from tablestore_engine.operation.stream.pieces import Piece, packed, rows_of
from tablestore_engine.operation.stream.position import StreamPosition
from tablestore_engine.operation.stream.stream_options import Limits, StreamOptions
from tablestore_engine.operation.stream.stream_plan import StreamPlanner
from tablestore_engine.operation.write.align_columns import filled_column
from tablestore_engine.schema.table.row_kind import ROW_KIND
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.spark.expressions.char_text import typed_schema
from tablestore_engine.spark.expressions.spark_types import to_spark_schema
from tablestore_engine.spark.scan.arrow_scan import arrow_type_for_spark
from tablestore_engine.spark.stream.admission import AvailableNow, limit_of, limited, supports_limits
from tablestore_engine.storage.paths import WarehousePaths, local_folder
from tablestore_engine.table import Table

Result = TypeVar("Result")
FORMAT = "tablestore"
PATH = "path"  # Spark's name of what `load` is given
_FIRST = "first"  # an offset that no batch ended with
_BEGAN = "began"
_NOT_OURS = (PATH, "checkpointlocation")  # the other one comes with a streaming write, which is refused later
_HIDE_TRACEBACK = "SPARK_HIDE_TRACEBACK"  # Spark's, for what its Python processes say of an error
_NOT_FOUND = "DATA_SOURCE_NOT_FOUND"  # Spark's condition
_STREAMS_ALONE = "It is for reading streams; TableStore(warehouse) reads and writes rows."
_FOLDER_HINT = "Give the whole path of a table's folder: load('<warehouse>/<database>.db/<table>')."


def read_stream(spark: SparkSession, table: Table, options: Mapping[str, str]) -> DataFrame:
    """The rows and changes of a table as a stream: `_row_kind`, then its columns.

    Raises:
        OptionError: an option that is none of a streaming read, or that the table or this Spark does not allow.
        SchemaError: the table has a column of the row kind's name. UnsupportedTypeError: one that Spark cannot read.
    """
    _asked(table, options)
    # Spark looks for formats in the active session of the thread, which is from now on the given one.
    spark.createDataFrame([(0,)], "x int")
    try:
        return _loaded(spark, table, options)
    except Exception as error:  # py4j's, Spark Connect's or PySpark's own
        if _NOT_FOUND not in str(error):
            raise
        spark.dataSource.register(TableStream)
        return _loaded(spark, table, options)


def _loaded(spark: SparkSession, table: Table, options: Mapping[str, str]) -> DataFrame:
    frame = spark.readStream.format(FORMAT).options(**dict(options)).load(table.path)
    _ = frame.schema  # over Spark Connect nothing is looked for before
    return frame


def table_at(folder: str | None) -> Table:
    """The table of a folder.

    Raises:
        OptionError: no folder, or one that is none of a table. TableNotFound, StorageError: it cannot be read.
    """
    if not folder:
        raise OptionError(
            f"The format '{FORMAT}' is not given the folder of a table.", hint=f"{_STREAMS_ALONE} {_FOLDER_HINT}"
        )
    whole = local_folder(folder)
    if not os.path.isabs(whole):
        raise OptionError(f"'{folder}' is a relative path, and Spark works in a folder of its own.", hint=_FOLDER_HINT)
    above, name = os.path.split(os.path.normpath(whole))
    warehouse, directory = os.path.split(above)
    database = WarehousePaths(warehouse).database_of(directory)
    if database is None:
        raise OptionError(f"'{folder}' is not the folder of a table.", hint=_FOLDER_HINT)
    return Catalog(warehouse).load_table(database, name)


def _asked(table: Table, options: Mapping[str, str]) -> StreamOptions:
    table.options.check_readable()
    if table.schema.has_field(ROW_KIND):
        raise SchemaError(
            f"Table {table.name} has a column '{ROW_KIND}', which in a stream says what happened to a row.",
            hint="Rename the column: ALTER TABLE … RENAME COLUMN.",
        )
    asked = StreamOptions.parse(options, table.options)
    if not asked.limits.unlimited and not supports_limits():
        raise OptionError("This version of PySpark cannot limit the batches of a stream.", hint="It takes PySpark 4.2.")
    to_spark_schema(table.schema.fields)
    return asked


def _in_one_message(function: Callable[..., Result]) -> Callable[..., Result]:
    """The function, whose errors reach the caller of Spark without Python's traceback.

    Spark calls it in a process of its own, which ends with an error.
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Result:
        try:
            return function(*args, **kwargs)
        except TableStoreError:
            main = getattr(sys.modules["__main__"], "__spec__", None)
            if main is not None and main.name.startswith("pyspark."):
                os.environ[_HIDE_TRACEBACK] = "1"
            raise

    return call


class TableStream(DataSource):
    """A streaming source. It keeps the columns that the table had when the stream was made."""

    @_in_one_message
    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(dict(options))
        self._table = table_at(options.get(PATH))
        self._options = _asked(self._table, {key: options[key] for key in options if key.lower() not in _NOT_OURS})

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return FORMAT

    def schema(self) -> T.StructType:
        """The row kind, and the table's columns."""
        columns = typed_schema(self._table.schema.fields)
        return T.StructType([T.StructField(ROW_KIND, T.StringType()), *columns.fields])

    @_in_one_message
    def streamReader(self, schema: T.StructType) -> TableStreamReader:  # noqa: N802 - Spark's name
        """The reader of one query."""
        if schema.simpleString() != self.schema().simpleString():
            raise SchemaError(f"Table {self._table.name} has a schema of its own.", hint="Leave out `.schema(…)`.")
        return TableStreamReader(self._table, self._options)

    @_in_one_message
    def reader(self, schema: T.StructType) -> DataSourceReader:
        """Refuses a batch read."""
        raise UserError(
            f"The format '{FORMAT}' is that of streams.",
            hint="Read a table with TableStore(warehouse).read(name), or with SQL.",
        )

    @_in_one_message
    def writer(self, schema: T.StructType, overwrite: bool) -> DataSourceWriter:
        """Refuses a batch write."""
        raise UserError(
            f"The format '{FORMAT}' can only be read.",
            hint="Write a DataFrame with TableStore(warehouse).write(name, frame), or with SQL.",
        )

    @_in_one_message
    def streamWriter(self, schema: T.StructType, overwrite: bool) -> DataSourceStreamWriter:  # noqa: N802 - Spark's name
        """Refuses a streaming write: the rows of a key may be in several tasks, and in no order."""
        raise UserError(
            f"The format '{FORMAT}' can only be read.",
            hint="Write a stream with TableStore(warehouse).write_stream(name, frame, checkpoint_location=…).",
        )


@dataclass
class _Task(InputPartition):
    """The part of a stream that one task reads."""

    pieces: tuple[Piece, ...]


class TableStreamReader(AvailableNow, DataSourceStreamReader):
    """Says what the batches of one query read, and reads them."""

    def __init__(self, table: Table, options: StreamOptions) -> None:
        self._planner = StreamPlanner(table.state)
        self._options = options
        self._last: int | None = None  # the newest snapshot that is read, when the query reads what is there and ends
        self._kept: StreamPosition | None = None
        self._began: StreamPosition | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """Where a new query begins."""
        position = self._planner.begin(self._options)
        self._keep(position)
        self._began = position
        return {**position.to_dict(), _FIRST: True}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        """From now on nothing counts that is committed later."""
        latest = self._planner.state.snapshots.latest_id()
        self._last = latest or 0

    def getDefaultReadLimit(self) -> Any:  # noqa: N802 - Spark's name
        """The limits of a batch, for Spark."""
        return limit_of(self._options.limits)

    def latestOffset(self, start: dict[str, Any] | None = None, limit: Any = None) -> dict[str, Any]:  # noqa: N802
        """Up to where the next batch goes."""
        if start is None:
            found = StreamPosition.after(self._planner.state.snapshots.latest())
            return _end_of(found, self._began)
        position = StreamPosition.from_dict(start)
        self._keep(position)
        limits = self._options.limits if limited(limit) else Limits()
        found = self._planner.following(position, limits, self._last)
        # Spark takes an equal text for "nothing new".
        return start if found == position else _end_of(found, position if start.get(_FIRST) else None)

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """The tasks of a batch.

        Spark does not keep the start of the first batch. When that batch is run again after a failure, it asks for the
        initial offset a second time, which is another one when the table has changed: the end says which it was.
        """
        began = end.get(_BEGAN) if start.get(_FIRST) else None
        pieces = self._planner.pieces(StreamPosition.from_dict(began or start), StreamPosition.from_dict(end))
        return [_Task(pieces) for pieces in packed(pieces)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a task."""
        assert isinstance(partition, _Task)
        state = self._planner.state
        schema = _arrow_schema(state.schema)
        for piece in partition.pieces:
            for rows in rows_of(state, piece):
                given = [rows.column(0), *_filled(rows, state.schema)]
                columns = [column.cast(kind, safe=False) for column, kind in zip(given, schema.types, strict=True)]
                yield from pa.Table.from_arrays(columns, schema=schema).to_batches()

    def commit(self, end: dict[str, Any]) -> None:
        """A batch is done."""
        self._keep(StreamPosition.from_dict(end))

    def _keep(self, position: StreamPosition) -> None:
        if self._options.consumer is not None and position != self._kept:
            self._planner.keep(self._options.consumer, position)
            self._kept = position


def _end_of(position: StreamPosition, began: StreamPosition | None) -> dict[str, Any]:
    """The end of a batch; that of the first one says where the batch began."""
    return position.to_dict() if began is None else {**position.to_dict(), _BEGAN: began.to_dict()}


def _filled(rows: pa.Table, schema: TableSchema) -> Iterator[pa.ChunkedArray]:
    """The columns of the table, with the full length of CHAR."""
    as_stored = {*schema.primary_keys, *schema.partition_keys}
    for column, field in zip(rows.columns[1:], schema.fields, strict=True):
        yield column if field.name in as_stored else filled_column(column, field.type)


def _arrow_schema(schema: TableSchema) -> pa.Schema:
    """The types in which Spark takes the rows."""
    columns = [(field.name, arrow_type_for_spark(field.type)) for field in schema.fields]
    return pa.schema([(ROW_KIND, pa.string()), *columns])
