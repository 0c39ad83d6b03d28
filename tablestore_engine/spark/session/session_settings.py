"""The settings of a session, in as few calls of the JVM as possible: PySpark's `conf.getAll` takes several for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_BETWEEN, _ARROW = "\x01", " -> "  # how Scala is asked to write the entries of a map


def settings_below(spark: SparkSession, prefix: str) -> dict[str, str]:
    """The settings of a session whose names begin with a prefix, by the rest of their names."""
    conf: Any = spark.conf
    java = getattr(conf, "_jconf", None)
    if java is None:  # Spark Connect
        found = conf.getAll.items()
    else:
        found = (entry.split(_ARROW, 1) for entry in java.getAll().mkString(_BETWEEN).split(_BETWEEN) if entry)
    return {key[len(prefix) :]: value for key, value in found if key.startswith(prefix)}
