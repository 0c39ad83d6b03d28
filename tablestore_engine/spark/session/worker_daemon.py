"""The daemon of Spark's Python workers: `python -m …worker_daemon pyspark.worker`, as the setting
`spark.python.daemon.module` names it.

PySpark's own daemon forks workers that have imported nothing, so each of them imports Arrow, pandas (which Arrow
imports when it makes an array) and the engine for seconds. This one imports them once, before it forks. Invariant: what
cannot be imported here is left to the worker that needs it.

A fork copies one thread only. Arrow's allocator prepares for that by itself; NumPy's linear algebra starts none,
because Spark gives workers one thread each for it.
"""

from __future__ import annotations

import contextlib
import importlib
import sys

# By name, because a session knows nothing of tables.
_OF_WORKERS = ("pyarrow", "pandas", "tablestore_engine.operation.write.write_task")


def main() -> None:
    """Import what workers need, then work as PySpark's own daemon."""
    for module in (*sys.argv[1:2], *_OF_WORKERS):
        with contextlib.suppress(Exception):
            importlib.import_module(module)
    from pyspark.daemon import manager

    manager()


if __name__ == "__main__":
    main()
