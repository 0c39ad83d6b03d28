"""Writing a stream: each batch of a streaming query is one write, which a table has once.

Spark numbers the batches of a query, and notes at the checkpoint location which of them it has begun and finished. One
that was begun and not finished is run again with the same rows. So each commit says how many batches of the query the
table has then (`operation.commit.consumed_positions`), every later commit says so, too, and a batch that is there is
left out. Without a checkpoint location a query that is started again has another id, and would write everything again.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import ConsumedElsewhereError, OptionError
from tablestore_engine.operation.commit.commit_identity import CommitIdentity
from tablestore_engine.operation.commit.consumed_positions import Consumed, Position, batches_of
from tablestore_engine.operation.table_commands.after_commit import follow_none
from tablestore_engine.operation.write_job.write_intent import WriteIntent
from tablestore_engine.spark.compact.compactor import execute_tasks
from tablestore_engine.spark.errors.guarded_frames import guarded
from tablestore_engine.spark.errors.translate_errors import translated
from tablestore_engine.spark.scan.file_scan import escaped_path
from tablestore_engine.spark.session.session_settings import is_remote
from tablestore_engine.spark.stream.streamed_folders import streamed_folders
from tablestore_engine.sql.dataframe_writes.write_frame import check_complete, check_frame, write_frame
from tablestore_engine.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

_MODES = ("append", "update", "complete")
_CHECKPOINTS = "spark.sql.streaming.checkpointLocation"
_START_SECONDS = 300
_ADDRESS = re.compile(r"[A-Za-z][\w+.-]*:")


@dataclass(frozen=True)
class StreamWrite:
    """Into which table a stream goes, and how: its output mode, and options of the table for its writes."""

    catalog: Catalog
    identifier: tuple[str, str]
    mode: str
    options: Mapping[str, str]

    def table(self) -> Table:
        """The table as it is now."""
        return self.catalog.load_table(*self.identifier).with_options(self.options, "write")

    def check(self, frame: DataFrame) -> None:
        """Refuse what cannot be written, before the query starts.

        Raises:
            SchemaError: no streaming DataFrame, or one without a column of the table.
            OptionError: an output mode that there is not, or that the table cannot take; or the stream reads the table.
        """
        check_frame(frame, streams=True)
        table = self.table()
        if os.path.realpath(table.path) in streamed_folders(frame):
            raise OptionError(
                f"The stream reads table {table.name}, into which it is written: it would read its own rows, without"
                " end.",
                hint="Write it into another table. For rows that end, such as those that a filter leaves, write each"
                " batch yourself: frame.writeStream.foreachBatch(lambda rows, number: store.write(…)).",
            )
        if self.mode not in _MODES:
            raise OptionError(f"The output mode cannot be '{self.mode}'.", hint=f"It is one of: {', '.join(_MODES)}.")
        if self.mode == "update" and not table.schema.primary_keys:
            raise OptionError(
                f"Table {table.name} has no primary key, so it cannot take the output mode 'update', in which rows come"
                " again when they have changed.",
                hint="Use 'complete', or a table with the key of the query's groups.",
            )
        if not table.options.write_merge_schema:
            check_complete(frame, table)

    def write(self, query: str, rows: DataFrame, number: int) -> None:
        """Write a batch of a query, unless the table has it."""
        written = self._batches(query)
        if written > number:
            self._leave_out(rows)
            return
        batch = Consumed(query, Position(written), Position(number + 1), streams=True)
        intent = WriteIntent(identity=CommitIdentity(query, number), consumed=(batch,))
        try:
            write_frame(rows.sparkSession, self.table, rows, intent=intent, overwrite=self.mode == "complete")
        except ConsumedElsewhereError:
            if self._batches(query) <= number:
                raise
            self._leave_out(rows)

    def _leave_out(self, rows: DataFrame) -> None:
        follow_none(self.table().state, partial(execute_tasks, lambda: rows.sparkSession))

    def _batches(self, query: str) -> int:
        return batches_of(self.table().latest_snapshot(), query)


def start_stream(
    stream: StreamWrite,
    frame: DataFrame,
    checkpoint: str | None,
    name: str | None,
    trigger: Mapping[str, Any] | None,
) -> StreamingQuery:
    """Start the query that writes a stream. `trigger`: the arguments of Spark's trigger.

    Raises:
        OptionError: there is no checkpoint location.
        SchemaError: as `StreamWrite.check`.
    """
    stream.check(frame)
    spark = frame.sparkSession
    checkpoint = checkpoint if checkpoint and checkpoint.strip() else None  # an empty path would be the working folder
    if checkpoint is None and not (name and spark.conf.get(_CHECKPOINTS, None)):
        raise OptionError(
            "The stream has no checkpoint location, so it could not go on where it was when it is started again.",
            hint="Give checkpoint_location: a folder of its own for each stream.",
        )
    location = None if checkpoint is None else absolute_location(checkpoint)
    query: Future[str] = Future()
    each: Callable[[DataFrame, int], None]
    if is_remote(spark):
        each = _RemoteBatches(stream, location or f"{spark.conf.get(_CHECKPOINTS)}/{name}")
    else:
        each = lambda rows, number: stream.write(query.result(_START_SECONDS), rows, number)  # noqa: E731
    writer = frame.writeStream.outputMode(stream.mode).foreachBatch(each)
    writer = writer if location is None else writer.option("checkpointLocation", location)
    writer = writer if name is None else writer.queryName(name)
    writer = writer.trigger(**trigger) if trigger else writer
    with translated():
        started = writer.start()
    query.set_result(str(started.id))
    return guarded(started)


class _RemoteBatches:
    """Writes the batches of a query over Spark Connect: in a process of the server, to which this object is copied.

    Only its checkpoint says there which query it is.
    """

    def __init__(self, stream: StreamWrite, location: str) -> None:
        self._stream, self._location = stream, location
        self._query: str | None = None

    def __call__(self, rows: DataFrame, number: int) -> None:
        if self._query is None:
            (noted,) = rows.sparkSession.read.text(escaped_path(f"{self._location}/metadata")).collect()
            self._query = json.loads(noted[0])["id"]
        self._stream.write(self._query, rows, number)


def absolute_location(checkpoint: str) -> str:
    """A checkpoint location as Spark takes it. A relative path begins in the working folder of this process, as that of
    a warehouse does; Spark would take the folder in which its JVM was started."""
    return checkpoint if _ADDRESS.match(checkpoint) else os.path.abspath(os.path.expanduser(checkpoint))
