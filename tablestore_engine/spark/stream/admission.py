"""How Spark asks a streaming source for limited batches, which it does from version 4.2 on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tablestore_engine.operation.stream.stream_options import Limits

if TYPE_CHECKING:
    from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow as AvailableNow
else:
    try:
        from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow as AvailableNow
    except ImportError:

        class AvailableNow:
            """Before 4.2, Spark reads what is there as one batch."""


__all__ = ["AvailableNow", "limit_of", "limited", "supports_limits"]


def supports_limits() -> bool:
    """Whether this PySpark asks for limited batches."""
    return AvailableNow.__module__ != __name__


def limit_of(limits: Limits) -> Any:
    """Limits as Spark has them. It has room for one of them; the reader applies both."""
    from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxFiles, ReadMaxRows

    if limits.files is not None:
        return ReadMaxFiles(limits.files)
    return ReadAllAvailable() if limits.rows is None else ReadMaxRows(limits.rows)


def limited(limit: Any) -> bool:
    """Whether a batch is to be limited: triggers may ask for everything."""
    return limit is not None and type(limit).__name__ != "ReadAllAvailable"
