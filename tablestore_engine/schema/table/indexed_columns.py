"""Which columns of a table have file indexes, by the options `file-index.*`.

An indexed column is written as its name, or as `map[key]` for the values of one key of a map whose keys are texts. Its
*kind* is `bloom-filter` or `bitmap`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tablestore_engine.errors import OptionError, did_you_mean
from tablestore_engine.options import CoreOptions
from tablestore_engine.schema.types.types import STRING_ROOTS, AtomicType, DataField, DataType, MapType

BLOOM_FILTER, BITMAP = "bloom-filter", "bitmap"
# Types that Paimon's indexes cannot hold.
_NOT_INDEXED = {BLOOM_FILTER: ("BOOLEAN", "DECIMAL"), BITMAP: ("DECIMAL", "BINARY", "VARBINARY", "BYTES")}
_BITMAP_VERSIONS = (1, 2)
BITMAP_BLOCK_BYTES = 16 << 10  # of values, where no option says how many
_MOST_BITS = 2**31 - 8  # of a bloom filter: readers count them in 32 bits


@dataclass(frozen=True)
class IndexedColumn:
    """One index of one column; with `map_key` of that key's values, which have the type.

    `items` and `fpp` are those of a bloom filter, `version` and `block_bytes` those of a bitmap index.
    """

    column: str
    map_key: str | None
    type: AtomicType
    kind: str
    items: int
    fpp: float
    version: int
    block_bytes: int

    @property
    def name(self) -> str:
        """How options and index files call it."""
        return self.column if self.map_key is None else f"{self.column}[{self.map_key}]"


def indexed_columns(options: CoreOptions, fields: Sequence[DataField]) -> tuple[IndexedColumn, ...]:
    """The indexes that data files get.

    Raises:
        OptionError: a column does not exist, or has a type that cannot be indexed; a parameter of a column without
            an index, or one that is out of its range.
    """
    named = {BLOOM_FILTER: options.bloom_filter_columns, BITMAP: options.bitmap_columns}
    _check_parameters(options, named)
    by_name = {one.name: one.type for one in fields}
    return tuple(
        _indexed(options, by_name, kind, name) for kind, names in named.items() for name in dict.fromkeys(names)
    )


def _indexed(options: CoreOptions, by_name: Mapping[str, DataType], kind: str, name: str) -> IndexedColumn:
    key = f"file-index.{kind}.columns"
    column, map_key = split_name(name)
    if column not in by_name:
        hint = did_you_mean(column, list(by_name))
        raise OptionError(f"Option '{key}' names '{column}', which is not a column.", hint=hint)
    data_type = by_name[column]
    if map_key is not None:
        if not (isinstance(data_type, MapType) and _is_text(data_type.key)):
            raise OptionError(f"Option '{key}' names '{name}', but '{column}' is no map whose keys are texts.")
        data_type = data_type.value
    if not isinstance(data_type, AtomicType) or data_type.root in _NOT_INDEXED[kind]:
        raise OptionError(
            f"Option '{key}' cannot name '{name}': values of type {data_type} cannot have such an index.",
            hint=f"To index the values of some keys of a map, name these: '{name}[key]'."
            if isinstance(data_type, MapType)
            else None,
        )
    items = _parameter(options.bloom_filter_items, name, column, 1_000_000)
    fpp = _parameter(options.bloom_filter_fpp, name, column, 0.1)
    if -items * math.log(fpp) / math.log(2) ** 2 > _MOST_BITS:
        raise OptionError(f"The bloom filter of '{name}' would be too large: {items} items with an fpp of {fpp}.")
    return IndexedColumn(
        column,
        map_key,
        data_type,
        kind,
        items,
        fpp,
        _parameter(options.bitmap_versions, name, column, 2),
        _parameter(options.bitmap_block_sizes, name, column, BITMAP_BLOCK_BYTES),
    )


def split_name(name: str) -> tuple[str, str | None]:
    """Column and key of an indexed column; no key without brackets."""
    column, bracket, key = name.partition("[")
    return (column, key[:-1]) if bracket and name.endswith("]") else (name, None)


def _is_text(data_type: DataType) -> bool:
    return isinstance(data_type, AtomicType) and data_type.root in STRING_ROOTS


def _parameter(given: Mapping[str, Any], name: str, column: str, default: Any) -> Any:
    """The options of the column itself, or of all keys of its map."""
    return given.get(name, given.get(column, default))


def _check_parameters(options: CoreOptions, named: Mapping[str, Sequence[str]]) -> None:
    for kind, parameter, given, accepted, expected in (
        (BLOOM_FILTER, "fpp", options.bloom_filter_fpp, lambda v: 0 < v < 1, "a probability between 0 and 1"),
        (BLOOM_FILTER, "items", options.bloom_filter_items, lambda v: v > 0, "a positive number"),
        (BITMAP, "version", options.bitmap_versions, lambda v: v in _BITMAP_VERSIONS, "1 or 2"),
        (BITMAP, "index-block-size", options.bitmap_block_sizes, lambda v: v > 0, "a positive size"),
    ):
        known = {*named[kind], *(split_name(one)[0] for one in named[kind])}
        for name, value in given.items():
            key = f"file-index.{kind}.{name}.{parameter}"
            if name not in known:
                raise OptionError(
                    f"Option '{key}' is for '{name}', which 'file-index.{kind}.columns' does not name.",
                    hint=did_you_mean(name, sorted(known)),
                )
            if not accepted(value):
                raise OptionError(f"Option '{key}' cannot be '{value}': {expected} is expected.")
