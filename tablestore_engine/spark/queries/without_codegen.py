"""Running small statements without generated code.

Spark generates Java for each stage of a query, and Java compiles it: in a process that is seconds old this takes longer
than some hundred rows do without. The setting is one of the session, so it is made only while the session runs small
statements and no others. Invariants: it is as it was once none runs, and a setting that the user made is left alone. A
session of Spark Connect is left alone, too: each question costs a round trip, and its server is rarely young.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark.sql import SparkSession

SMALL_BYTES = 1 << 20
"""Of files that a statement reads: with more, generated code pays."""
_KEY = "spark.sql.codegen.wholeStage"
_ATTRIBUTE = "_tablestore_uncompiled"
_lock = threading.Lock()


@dataclass
class _Running:
    """How many statements a session runs, and whether its setting is ours to change back."""

    small: int = 0
    large: int = 0
    ours: bool = False


@contextmanager
def uncompiled(spark: SparkSession, small: bool) -> Iterator[None]:
    """While this is open, what the session runs is not compiled, if it is small, and so is all else that it runs."""
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        yield
        return
    _count(spark, small, 1)
    try:
        yield
    finally:
        _count(spark, small, -1)


def _count(spark: SparkSession, small: bool, change: int) -> None:
    with _lock:
        running: _Running = vars(spark).setdefault(_ATTRIBUTE, _Running())
        if small:
            running.small += change
        else:
            running.large += change
        wanted = running.small > 0 and not running.large
        if running.ours and not wanted:
            running.ours = False
            with contextlib.suppress(Exception):  # of a session whose Spark has ended, which the statement says better
                spark.conf.unset(_KEY)
        elif wanted and change > 0 and not running.ours and spark.conf.get(_KEY, None) is None:
            spark.conf.set(_KEY, "false")
            running.ours = True
