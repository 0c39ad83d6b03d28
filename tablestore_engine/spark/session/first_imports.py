"""What the first statement of a process imports, imported while a JVM starts."""

from __future__ import annotations

import contextlib
import importlib

# By name, because a session knows nothing of statements.
_OF_FIRST_STATEMENT = ("pyspark.sql.functions", "tablestore_engine.sql.execute", "tablestore_engine.sql.result_frame")


def import_what_statements_need() -> None:
    """Import it: the JVM takes as long to start as this does. What fails will fail again where it is used."""
    for module in _OF_FIRST_STATEMENT:
        with contextlib.suppress(ImportError):
            importlib.import_module(module)
