"""Running small statements without generated code.

Spark generates Java for each stage of a query, and Java compiles it: in a process that is seconds old this takes longer
than some hundred rows do without. Invariant: the session's setting is as it was once no such statement runs in the
session, and a setting that the user made is left alone.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

SMALL_BYTES = 1 << 20
"""Of files that a statement reads: with more, generated code pays."""
_KEY = "spark.sql.codegen.wholeStage"
_RUNNING = "_tablestore_uncompiled"
_lock = threading.Lock()


@contextmanager
def uncompiled(spark: SparkSession, small: bool) -> Iterator[None]:
    """While this is open, what the session runs is not compiled, if it is small."""
    entered = small and _enter(spark)
    try:
        yield
    finally:
        if entered:
            _leave(spark)


def _enter(spark: SparkSession) -> bool:
    """Whether the setting is ours to change back."""
    with _lock:
        running: int = vars(spark).get(_RUNNING, 0)
        if running == 0:
            if spark.conf.get(_KEY, None) is not None:
                return False
            spark.conf.set(_KEY, "false")
        vars(spark)[_RUNNING] = running + 1
        return True


def _leave(spark: SparkSession) -> None:
    with _lock:
        vars(spark)[_RUNNING] -= 1
        if vars(spark)[_RUNNING] == 0:
            with contextlib.suppress(Exception):  # of a session whose Spark has ended, which the statement says better
                spark.conf.unset(_KEY)
