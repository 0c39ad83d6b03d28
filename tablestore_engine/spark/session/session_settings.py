"""The settings of a session, in as few calls of the JVM as possible: PySpark's `conf.getAll` takes several for each.

With `spark.sql.caseSensitive`, Spark distinguishes names of columns by their case. A table with such names is read and
written only then: otherwise each of them would mean both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tablestore_engine.errors import SchemaError
from tablestore_engine.schema.types.names import CASE_HINT, Resolver

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CASE_SENSITIVE = "spark.sql.caseSensitive"
_ANSI = "spark.sql.ansi.enabled"
_ASSIGNMENT = "spark.sql.storeAssignmentPolicy"
_NULL_STRUCTS = "spark.sql.legacy.parquet.returnNullStructIfAllFieldsMissing"
_BETWEEN, _ARROW = "\x01", " -> "  # how Scala is asked to write the entries of a map


def is_remote(one: object) -> bool:
    """Whether a session, or a DataFrame, is one of Spark Connect."""
    return type(one).__module__.startswith("pyspark.sql.connect")


def settings_below(spark: SparkSession, prefix: str) -> dict[str, str]:
    """The settings of a session whose names begin with a prefix, by the rest of their names."""
    found = (entry.split(_ARROW, 1) for entry in settings_text(spark).split(_BETWEEN) if entry)
    return {key[len(prefix) :]: value for key, value in found if key.startswith(prefix)}


def settings_text(spark: SparkSession) -> str:
    """All settings of a session, for comparison."""
    conf: Any = spark.conf
    java = getattr(conf, "_jconf", None)
    if java is not None:
        return str(java.getAll().mkString(_BETWEEN))
    return _BETWEEN.join(f"{key}{_ARROW}{value}" for key, value in sorted(conf.getAll.items()))  # Spark Connect


def session_resolver(spark: SparkSession) -> Resolver:
    """Which names of columns are the same in a session."""
    return Resolver(lambda: str(spark.conf.get(_CASE_SENSITIVE)).lower() == "true")


def assignment_policy(spark: SparkSession) -> str:
    """Which values a statement may assign to a column: ANSI, STRICT or LEGACY."""
    return str(spark.conf.get(_ASSIGNMENT)).upper()


def refuses_values(spark: SparkSession) -> bool:
    """Whether a value that its column cannot hold is an error in a session. If not, it is what a cast makes of it."""
    return assignment_policy(spark) != "LEGACY" or str(spark.conf.get(_ANSI)).lower() == "true"


def fills_structs(spark: SparkSession) -> bool:
    """Whether Spark distinguishes a struct from null in a Parquet file that has none of its fields which are asked for,
    as it does since 4.1."""
    finds = tuple(int(part) for part in spark.version.split(".")[:2]) >= (4, 1)
    return finds and str(spark.conf.get(_NULL_STRUCTS, "false")).lower() == "false"


def check_distinct(spark: SparkSession, alike: tuple[str, ...], table: str, where: str = "table") -> None:
    """Raise a SchemaError if columns or fields of a table have names that the session does not distinguish. `alike`:
    those that differ in case only. `where`: what has these names, the table or files of it."""
    if alike and not session_resolver(spark).distinguishes:
        shown = " and ".join(f"'{name}'" for name in alike)
        raise SchemaError(
            f"Columns {shown} of {where} '{table}' differ in case only, so each of "
            "the names is ambiguous in this session.",
            hint=CASE_HINT,
        )
