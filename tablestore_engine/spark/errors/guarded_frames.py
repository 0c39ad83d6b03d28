"""DataFrames, and streaming queries, that raise this engine's errors.

`TableStore.sql` and `read` return DataFrames of Spark. Spark runs them later, when the caller collects, shows or writes
their rows; so their methods, and those of the frames, groups and writers that they return, are called within
`translated`. Such an object is Spark's own, of a subclass that only does this, and refuses to write what would be lost:
a table of Spark's own catalog, where that ends with the process.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from tablestore_engine.errors import SqlError, in_one_message
from tablestore_engine.spark.errors.translate_errors import translated
from tablestore_engine.spark.session.session_config import WAREHOUSE, is_scratch

T = TypeVar("T")
_MODULES = ("pyspark.sql.", "pyspark.core.rdd")
_CLASSES = frozenset({
    "DataFrame", "DataFrameNaFunctions", "DataFrameStatFunctions", "DataFrameWriter", "DataFrameWriterV2",
    "DataStreamWriter", "GroupedData", "MergeIntoWriter", "PipelinedRDD", "RDD", "StreamingQuery",
})  # fmt: skip
_WRITES_A_TABLE = {
    ("DataFrameWriter", "saveAsTable"),
    ("DataFrameWriter", "insertInto"),
    ("DataFrame", "writeTo"),
    ("DataStreamWriter", "toTable"),
}
_HINT = (
    "Write with store.write(name, frame), or with SQL: INSERT INTO, CREATE TABLE … AS. Rows that only this process "
    "needs are a view: frame.createOrReplaceTempView(name)."
)
_HINT_OF_STREAMS = "Write with store.write_stream(name, frame, checkpoint_location=…)."
_SESSIONS = ("sparkSession", "_spark", "_session")
_OPERATORS = ("__getitem__", "__getattr__", "__repr__", "_repr_html_")


class Guarded:
    """Marks the subclasses."""


def guarded(result: T) -> T:
    """The same object; a DataFrame, or what one returns to work with it, raises this engine's errors from now on."""
    kind: Any = type(result)
    if isinstance(result, Guarded):
        return result
    if inspect.isgenerator(result):
        return _iterated(result)  # type: ignore[return-value]
    if kind.__name__ in _CLASSES and kind.__module__.startswith(_MODULES):
        result.__class__ = _subclass(kind)
    return result


@functools.cache
def _subclass(kind: type) -> type:
    """A subclass with the same name, whose public methods and properties raise this engine's errors."""
    members: dict[str, Any] = {"__module__": kind.__module__, "__doc__": kind.__doc__}
    for name in dir(kind):
        if name.startswith("_") and name not in _OPERATORS:
            continue
        member = inspect.getattr_static(kind, name)
        if inspect.isfunction(member):
            members[name] = _within(_kept(member) if (kind.__name__, name) in _WRITES_A_TABLE else member)
        elif isinstance(member, property):
            members[name] = property(_within(member.fget)) if member.fget else member
        elif isinstance(member, functools.cached_property):
            members[name] = functools.cached_property(_within(member.func))
    return type(kind.__name__, (kind, Guarded), members)


def _kept(function: Callable[..., Any]) -> Callable[..., Any]:
    """A method that writes a table of Spark's catalog, or of another one, but none that ends with the process."""
    parameter = list(inspect.signature(function).parameters)[1]

    @functools.wraps(function)
    def call(writer: Any, *args: Any, **kwargs: Any) -> Any:
        name = str(args[0] if args else kwargs.get(parameter, ""))
        # Over Spark Connect the writer of a stream calls it `_session`.
        settings = next(found for one in _SESSIONS if (found := getattr(writer, one, None)) is not None)
        if _is_lost(name, settings.conf.get):
            raise SqlError(
                f"{function.__name__}('{name}') writes a table of Spark's own catalog, which ends with this process. "
                "It is none of the warehouse.",
                hint=_HINT_OF_STREAMS if function.__name__ == "toTable" else _HINT,
            )
        return function(writer, *args, **kwargs)

    return call


def _is_lost(name: str, setting: Callable[[str, str | None], str | None]) -> bool:
    catalog = name.partition(".")[0].strip("`")
    if setting(f"spark.sql.catalog.{catalog}", None) is not None:
        return False
    return is_scratch(setting(WAREHOUSE, None) or "")


def _within(function: Callable[..., Any]) -> Callable[..., Any]:
    @in_one_message
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with translated():
            return guarded(function(*args, **kwargs))

    return call


def _iterated(rows: Iterator[Any]) -> Iterator[Any]:
    with translated():
        yield from rows
