"""Computed columns and watermarks, which readers compute and no file holds.

They are options of the table, under the keys that Flink's catalog for Paimon uses: other readers ignore them, and every
ALTER keeps them. Computed column number i of all columns has `schema.<i>.name`, `.expr`, `.data-type` and `.comment`,
the watermark `schema.watermark.0.rowtime` and `.strategy.expr`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from tablestore_engine.errors import ColumnNotFound, SchemaError, did_you_mean
from tablestore_engine.schema.table.check_constraints import check_constraints
from tablestore_engine.schema.types.named_columns import named_columns
from tablestore_engine.schema.types.names import Names
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.schema.types.types import TIMESTAMP_ROOTS, AtomicType, DataType, RowType, parse_type

T = TypeVar("T")
_KEY: Final = re.compile(r"schema\.(\d+)\.(name|expr|comment|data-type)")
_WATERMARK: Final = re.compile(r"schema\.watermark\.(\d+)\.(rowtime|strategy\.expr|strategy\.data-type)")


@dataclass(frozen=True)
class ComputedColumn:
    """A column whose value is an expression of others. `index` is its position among all columns."""

    index: int
    name: str
    sql: str
    comment: str | None = None
    type_text: str = ""


@dataclass(frozen=True)
class Watermark:
    """WATERMARK FOR column AS expression."""

    column: str
    sql: str


def computed_columns(options: Mapping[str, str]) -> tuple[ComputedColumn, ...]:
    """The computed columns of a table's options, in order."""
    found: dict[int, dict[str, str]] = {}
    for key, value in options.items():
        match = _KEY.fullmatch(key)
        if match:
            found.setdefault(int(match[1]), {})[match[2]] = value
    return tuple(
        ComputedColumn(i, one["name"], one["expr"], one.get("comment"), one.get("data-type", ""))
        for i, one in sorted(found.items())
        if "name" in one and "expr" in one
    )


def all_columns(
    stored: Sequence[T], columns: Iterable[ComputedColumn], shown: Callable[[ComputedColumn], T]
) -> list[T]:
    """The items of all columns of a table: those of the stored ones, and of the computed ones at their indices."""
    found = list(stored)
    for one in columns:
        found.insert(min(one.index, len(found)), shown(one))
    return found


def watermark_of(options: Mapping[str, str]) -> Watermark | None:
    """The watermark of a table's options."""
    column, sql = options.get("schema.watermark.0.rowtime"), options.get("schema.watermark.0.strategy.expr")
    return None if column is None or sql is None else Watermark(column, sql)


def check_watermark(options: Mapping[str, str], stored: Iterable[tuple[str, DataType]]) -> None:
    """Raise a ColumnNotFound if the watermark of a new table's options is for no column or field that it has, and a
    SchemaError if that is no timestamp.

    `stored` are its columns without the computed ones.
    """
    watermark = watermark_of(options)
    if watermark is None:
        return
    kinds: dict[str, DataType | None] = dict(stored)
    kinds |= {one.name: parse_type(one.type_text) if one.type_text else None for one in computed_columns(options)}
    name, *path = [watermark.column] if Names(kinds).find(watermark.column) else watermark.column.split(".")
    while True:
        found = Names(kinds).find(name)
        if found is None:
            raise ColumnNotFound(
                f"WATERMARK FOR names the column '{watermark.column}', which the table does not have.",
                hint=did_you_mean(name, [*kinds]),
            )
        kind = kinds[found]
        if kind is None:
            return  # only Spark knows the type
        if not path:
            break
        kinds, (name, *path) = {one.name: one.type for one in kind.fields} if isinstance(kind, RowType) else {}, path
    if not (isinstance(kind, AtomicType) and kind.root in TIMESTAMP_ROOTS):
        raise SchemaError(
            f"WATERMARK FOR names the column '{watermark.column}', whose type is {kind}: it takes a timestamp.",
            hint="Add a computed column that is one, such as at AS to_timestamp(…), and name that.",
        )


def computed_options(columns: Iterable[ComputedColumn], watermark: Watermark | None = None) -> dict[str, str]:
    """The options that keep computed columns and a watermark."""
    found: dict[str, str] = {}
    for one in columns:
        found |= {f"schema.{one.index}.name": one.name, f"schema.{one.index}.expr": one.sql}
        if one.type_text:
            found[f"schema.{one.index}.data-type"] = one.type_text
        if one.comment is not None:
            found[f"schema.{one.index}.comment"] = one.comment
    if watermark is not None:
        found["schema.watermark.0.rowtime"] = watermark.column
        found["schema.watermark.0.strategy.expr"] = watermark.sql
    return found


def other_options(options: Mapping[str, str]) -> dict[str, str]:
    """The options without those of computed columns and watermarks."""
    return {k: v for k, v in options.items() if not _KEY.fullmatch(k) and not _WATERMARK.fullmatch(k)}


def check_stored(options: Mapping[str, str], names: Iterable[str]) -> None:
    """Raise a SchemaError for a computed column, which only Spark evaluates."""
    computed = {one.name.lower(): one for one in computed_columns(options)}
    for name in names:
        found = computed.get(name.lower())
        if found is not None:
            raise SchemaError(
                f"Column '{found.name}' is computed (AS {found.sql}), which needs Spark.",
                hint="Read it by SQL or by TableStore.read, whose DataFrame has toArrow().",
            )


def reader_of(options: Mapping[str, str], column: str, names: Iterable[str]) -> str | None:
    """The part of the table that reads a column, one of its names, as a definition; None when none does."""
    names = tuple(names)

    def reads(sql: str) -> bool:
        return column in named_columns(sql, names)

    for one in computed_columns(options):
        if reads(one.sql):
            return f"the computed column {one.name} AS {one.sql}"
    watermark = watermark_of(options)
    if watermark is not None and (reads(quoted_name(watermark.column)) or reads(watermark.sql)):
        return f"WATERMARK FOR {watermark.column} AS {watermark.sql}"
    check = next((one for one in check_constraints(options) if reads(one.sql)), None)
    return None if check is None else f"the CHECK constraint {check.shown}"
