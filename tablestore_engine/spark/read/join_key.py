"""The join keys of a table: expressions by which rows with equal keys are joined."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tablestore_engine.operation.scan.file_skipping import FileBounds
from tablestore_engine.operation.scan.stats_may_match import Bounds
from tablestore_engine.schema.types.types import INTEGER_ROOTS, AtomicType, DataField
from tablestore_engine.spark.expressions.format_braces import formatted
from tablestore_engine.spark.read.key_blocks import block_bits, block_table

Sql = Callable[[str], str]
"""An SQL expression on the columns of an alias."""
_BYTES = {"TINYINT": 1, "SMALLINT": 2, "INT": 4, "BIGINT": 8}


@dataclass(frozen=True)
class KeyRanges:
    """The integer columns of a key and the least and greatest value of each in some files."""

    names: tuple[str, ...]
    ranges: tuple[tuple[int, int], ...]
    bytes: int  # width of all columns

    @classmethod
    def of(cls, fields: Sequence[DataField], bounds: Iterable[FileBounds]) -> KeyRanges | None:
        """None when a column is no integer, or when the files' statistics do not bound it."""
        if not all(_is_integer(f) for f in fields):
            return None
        columns: list[list[Bounds]] = [[] for _ in fields]
        for one in bounds:
            known = one.of(None)
            for field, column in zip(fields, columns, strict=True):
                found = known(field.name)
                if found is None or found[1].minimum is None or found[1].maximum is None:
                    return None
                column.append(found[1])
        return cls(
            tuple(f.name for f in fields),
            tuple((min(b.minimum for b in c), max(b.maximum for b in c)) for c in columns),
            sum(_BYTES[str(getattr(f.type, "root", ""))] for f in fields),
        )

    @property
    def widths(self) -> list[int]:
        """How many values each column may have."""
        return [high - low + 1 for low, high in self.ranges]

    @property
    def packs(self) -> bool:
        """Whether one BIGINT holds all columns."""
        return math.prod(self.widths) < 2**62 and all(abs(x) < 2**62 for one in self.ranges for x in one)

    def packed(self, alias: str) -> str:
        """All columns as one BIGINT, in SQL, ordered as they are."""
        text = "0L"
        for name, (low, _), width in zip(self.names, self.ranges, self.widths, strict=True):
            text = f"({text} * {width}L + (cast({alias}.{formatted(name)} as bigint) - {low}L))"
        return text

    def pack(self, keys: pa.Table) -> npt.NDArray[np.int64]:
        """The same, of the keys of a table that has the columns."""
        packed = np.zeros(keys.num_rows, np.int64)
        for name, (low, _), width in zip(self.names, self.ranges, self.widths, strict=True):
            packed = packed * width + (_numbers(keys, name) - low)
        return packed


def join_keys(names: Sequence[str], ranges: KeyRanges | None) -> tuple[Sql, ...]:
    """The key columns as join keys: one BIGINT where statistics say that all keys fit into it.

    Spark looks up one long several times faster than a row of several columns.
    """
    # Spark packs eight bytes by itself.
    if ranges and len(names) > 1 and ranges.bytes > _BYTES["BIGINT"] and ranges.packs:
        return (ranges.packed,)
    return tuple(_column(name) for name in names)


@dataclass(frozen=True)
class KeyBlocks:
    """Changed keys by block: `block` and `columns` are SQL of a row's block and of the parts of its key.

    `table` has a row for each block, with `slots` for keys (`key_blocks.slot`).
    """

    block: Sql
    columns: tuple[Sql, ...]
    table: pa.Table
    slots: int


def key_blocks(ranges: KeyRanges, keys: pa.Table) -> KeyBlocks | None:
    """Blocks of neighbouring keys for the changed `keys`; None when no blocks suit them.

    Blocks of the first column are best, because the other columns are compared only in blocks with changed keys. Where
    its values repeat too often, all columns make them.
    """
    first = ranges.names[0]
    numbers = [_numbers(keys, name) for name in ranges.names]
    bits = block_bits(numbers[0], *ranges.ranges[0])
    if bits is not None:
        block = _shifted(lambda alias: f"cast({_column(first)(alias)} as bigint)", bits)
        columns = tuple(_column(name) for name in ranges.names)
        return KeyBlocks(block, columns, *block_table(numbers[0], bits, numbers))
    if len(ranges.names) == 1 or not ranges.packs:
        return None
    packed = ranges.pack(keys)
    bits = block_bits(packed, 0, math.prod(ranges.widths) - 1)
    if bits is None:
        return None
    return KeyBlocks(_shifted(ranges.packed, bits), (ranges.packed,), *block_table(packed, bits, [packed]))


def _shifted(number: Sql, bits: int) -> Sql:
    return lambda alias: f"shiftright({number(alias)}, {bits})"


def _column(name: str) -> Sql:
    return lambda alias: f"{alias}.{formatted(name)}"


def _numbers(keys: pa.Table, name: str) -> npt.NDArray[np.int64]:
    index = keys.schema.get_field_index(name)
    numbers: npt.NDArray[np.int64] = keys.column(index).cast(pa.int64()).to_numpy()
    return numbers


def _is_integer(field: DataField) -> bool:
    return isinstance(field.type, AtomicType) and field.type.root in INTEGER_ROOTS
