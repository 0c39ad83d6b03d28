"""The relations that the expressions of a clause name: the target, the source, or both; and the types of expressions on
them, as far as they are certain without Spark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from pyspark.sql import types as T

from tablestore_engine.schema.expressions.arrow_expressions import certain_type
from tablestore_engine.schema.expressions.expression import Expression, Literal, calls_functions
from tablestore_engine.schema.types.names import Names, Resolver
from tablestore_engine.schema.types.types import DataField
from tablestore_engine.spark.expressions.spark_types import to_spark_type
from tablestore_engine.sql.query.row_expressions import read_value


@dataclass(frozen=True)
class NamedSide:
    """The columns of the target or the source, and the name by which they are qualified."""

    alias: str
    fields: tuple[DataField, ...]

    @cached_property
    def names(self) -> Names:
        """The names of the columns."""
        return Names(one.name for one in self.fields)


def have_certain_names(sides: Sequence[NamedSide]) -> bool:
    """Whether a name means at most one column of each side, and a qualifier one side."""
    aliases = Names(side.alias for side in sides)
    return not any(one.has_repeated or one.alike for one in (aliases, *(side.names for side in sides)))


def read_on(sql: str, sides: Sequence[NamedSide], resolver: Resolver) -> Expression | None:
    """An expression on columns of the sides, which it calls by `numbered` names; None for another one."""
    found = read_value(sql, lambda parts: _column(parts, sides, resolver))
    return None if found is None or calls_functions(found) else found


def certain_kind(sql: str, sides: Sequence[NamedSide], resolver: Resolver) -> T.DataType | None:
    """The type of an expression on columns of the sides; None where only Spark knows it."""
    found = read_on(sql, sides, resolver) if have_certain_names(sides) else None
    if found is None:
        return None
    if found == Literal(None, None):
        return T.NullType()
    kind = certain_type(found, numbered_fields(sides))
    return None if kind is None else to_spark_type(kind)


def numbered_fields(sides: Sequence[NamedSide]) -> tuple[DataField, ...]:
    """The columns of all sides, by their `numbered` names."""
    return tuple(
        DataField(one.id, numbered(number, one.name), one.type)
        for number, side in enumerate(sides)
        for one in side.fields
    )


def numbered(side: int, name: str) -> str:
    """The name of a column of a side among those of all."""
    return f"{side}.{name}"


def _column(parts: tuple[str, ...], sides: Sequence[NamedSide], resolver: Resolver) -> str | None:
    """The column that a name with or without an alias means; None where that is not certain."""
    *qualifiers, name = parts
    found: list[tuple[int, str, str]] = []
    for number, side in enumerate(sides):
        stored = side.names.find(name)
        if stored is not None and [one.lower() for one in qualifiers] in ([], [side.alias.lower()]):
            found.append((number, side.alias, stored))
    if len(found) != 1:
        return None
    ((number, alias, stored),) = found
    spelled = (*[alias][: len(qualifiers)], stored)
    return numbered(number, stored) if all(map(resolver.is_same, parts, spelled)) else None
