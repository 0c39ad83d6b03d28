"""Which tables a streaming DataFrame reads: the folders of its streams of the format `tablestore`, in Spark's plan."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from pyspark.sql import DataFrame

from tablestore_engine.spark.session.session_settings import is_remote
from tablestore_engine.spark.stream.stream_source import FORMAT, PATH
from tablestore_engine.storage.paths import local_folder

_STREAM = "StreamingRelationV2"  # of Spark's plans
_READ = "Read"  # of Spark Connect's


def streamed_folders(frame: DataFrame) -> set[str]:
    """The folders of the tables that a DataFrame reads as streams; over Spark Connect without those of views."""
    remote = is_remote(frame)
    found = _of_connect(frame) if remote else _of_plan(frame)
    return {os.path.realpath(local_folder(folder)) for folder in found}


def _of_plan(frame: Any) -> Iterator[str]:
    leaves = frame._jdf.queryExecution().analyzed().collectLeaves().iterator()
    while leaves.hasNext():
        leaf = leaves.next()
        if leaf.getClass().getSimpleName() == _STREAM and leaf.sourceName().lower() == FORMAT:
            yield leaf.extraOptions().get("path")


def _of_connect(frame: Any) -> Iterator[str]:
    messages = [frame._plan.to_proto(frame.sparkSession.client)]
    while messages:
        message = messages.pop()
        if message.DESCRIPTOR.name == _READ and message.is_streaming and message.data_source.format.lower() == FORMAT:
            source = message.data_source
            yield from source.paths
            yield from (value for key, value in source.options.items() if key.lower() == PATH)
        for _, value in message.ListFields():
            parts = [value] if hasattr(value, "ListFields") else value if hasattr(value, "add") else ()
            messages.extend(parts)
