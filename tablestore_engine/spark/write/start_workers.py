"""Starting Python workers before their tasks come, while Spark does what comes before those.

A worker's daemon imports Arrow and the engine for a second or more. A large write needs workers only when its rows have
been shuffled, so the daemon starts with the shuffle.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_STARTED = "_tablestore_workers_started"


def start_workers(spark: SparkSession) -> None:
    """Have a worker started in the background, once for a Spark application in this process."""
    context: Any = getattr(spark, "_sc", None)
    if context is None or vars(context).get(_STARTED) or not context.master.startswith("local"):
        return
    vars(context)[_STARTED] = True
    threading.Thread(target=_run_one, args=(spark,), name="tablestore-workers", daemon=True).start()


def _run_one(spark: SparkSession) -> None:
    with contextlib.suppress(Exception):  # the write will say what is wrong
        spark.range(0, 1, 1, 1).mapInArrow(_same, "id bigint").write.format("noop").mode("overwrite").save()


def _same(batches: Iterator[Any]) -> Iterator[Any]:
    return batches
