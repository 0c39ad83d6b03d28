"""DataFrames, and streaming queries, that raise this engine's errors.

`TableStore.sql` and `read` return DataFrames of Spark. Spark runs them later, when the caller collects, shows or writes
their rows; so their methods, and those of the frames, groups and writers that they return, are called within
`translated`. Such an object is Spark's own, of a subclass that only does this.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from tablestore_engine.errors import in_one_message
from tablestore_engine.spark.errors.translate_errors import translated

T = TypeVar("T")
_MODULES = ("pyspark.sql.",)
_CLASSES = frozenset({
    "DataFrame", "DataFrameNaFunctions", "DataFrameStatFunctions", "DataFrameWriter", "DataFrameWriterV2",
    "DataStreamWriter", "GroupedData", "MergeIntoWriter", "StreamingQuery",
})  # fmt: skip
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
            members[name] = _within(member)
        elif isinstance(member, property):
            members[name] = property(_within(member.fget)) if member.fget else member
        elif isinstance(member, functools.cached_property):
            members[name] = functools.cached_property(_within(member.func))
    return type(kind.__name__, (kind, Guarded), members)


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
