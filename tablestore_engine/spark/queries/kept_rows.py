"""Rows that Spark computes once, and keeps while a statement uses them.

Spark finds kept rows by the plan of their query, in all sessions of a process: it answers every query of an equal plan
from them, and drops them for all of these when one of them unpersists them. Two threads that run the same statement on
the same snapshots have equal plans. So each plan here has a condition that no other one has; it is always true, and
Spark leaves it out of what it runs.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import DataFrame

from tablestore_engine.schema.types.sql_literals import literal
from tablestore_engine.spark.errors.translate_errors import translated


@contextmanager
def kept(frame: DataFrame) -> Iterator[DataFrame]:
    """The rows of a frame, which are computed once: also for queries that name a temporary view of them."""
    with translated():
        rows = frame.where(f"{literal(uuid.uuid4().hex)} IS NOT NULL").persist()
    try:
        yield rows
    finally:
        rows.unpersist()
