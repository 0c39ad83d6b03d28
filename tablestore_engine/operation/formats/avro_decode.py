"""Blocks of Avro records as Arrow arrays, without a loop over rows.

Where a value begins is known only when the one before it is read. So many blocks are read at once: a *lane* is a block,
and a step reads the same value in each lane. `_Node.read` takes the positions of its value in some lanes and returns
the positions after it; a node keeps its values in the order in which they were read, and `_Node.array` makes them an
array in that order. In the end records are brought into the order of the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

_Bytes = npt.NDArray[np.uint8]
_Numbers = npt.NDArray[np.int64]
_NONE: _Numbers = np.zeros(0, np.int64)
_INTEGERS = {"int": pa.int32(), "long": pa.int64()}
_LOGICAL = {"date": pa.date32(), "time-millis": pa.time32("ms"), "time-micros": pa.time64("us")}
_LOGICAL |= {
    f"{zone}timestamp-{name}": pa.timestamp(unit)
    for zone in ("", "local-")
    for name, unit in (("millis", "ms"), ("micros", "us"), ("nanos", "ns"))
}
_FLOATS = {"float": (4, np.float32), "double": (8, np.float64)}
_DECIMAL_BYTES = 16


def decode_blocks(blocks: Sequence[tuple[int, bytes]], schema: Any, names: Sequence[str]) -> pa.RecordBatch:
    """Fields of the records of blocks, each with its number of records, by the schema of the file.

    Timestamps come without a zone, because the table's type knows it.

    Raises:
        IndexError, ValueError: the blocks are damaged.
    """
    # Longer lanes first: those that still have a record are always the first ones.
    order = sorted(range(len(blocks)), key=lambda i: -blocks[i][0])
    counts = np.array([blocks[i][0] for i in order], np.int64)
    # Eight bytes more, so that a number at the end may be read whole.
    data = np.frombuffer(b"".join([*(blocks[i][1] for i in order), bytes(8)]), np.uint8)
    ends = np.cumsum([len(blocks[i][1]) for i in order])
    at = np.concatenate([[0], ends[:-1]]).astype(np.int64)
    is_union = isinstance(schema, list)
    record = _Record(data, next(one for one in schema if one != "null") if is_union else schema, {})
    lanes = []
    for step in range(int(counts.max(initial=0))):
        active = int(np.searchsorted(-counts, -step, side="left"))
        begin = varints(data, at[:active])[1] if is_union else at[:active]
        at[:active] = record.read(begin)
        lanes.append(np.arange(active))
    if not np.array_equal(at, ends):
        raise ValueError("a block holds more or fewer records than it says")
    first = np.empty(len(blocks), np.int64)
    first[order] = np.cumsum([0, *(count for count, _ in blocks[:-1])])[order]
    rows = [first[[order[i] for i in range(len(one))]] + step for step, one in enumerate(lanes)]
    order_of = np.argsort(np.concatenate(rows)) if rows else _NONE
    found = [name for name in names if name in record.children]
    arrays = [record.children[name].array().take(pa.array(order_of)) for name in found]
    if not found:
        return pa.RecordBatch.from_struct_array(pa.StructArray.from_buffers(pa.struct([]), len(order_of), [None]))
    return pa.RecordBatch.from_arrays(arrays, names=found)


def varints(data: _Bytes, at: _Numbers) -> tuple[_Numbers, _Numbers]:
    """The numbers at some positions, and the positions behind them."""
    byte = data[at].astype(np.uint64)
    rest, at = byte & np.uint64(0x7F), at + 1
    going, shift = np.flatnonzero(byte & np.uint64(0x80)), 7
    while len(going):
        byte = data[at[going]].astype(np.uint64)
        rest[going] |= (byte & np.uint64(0x7F)) << np.uint64(shift)
        at[going] += 1
        going, shift = going[(byte & np.uint64(0x80)) != 0], shift + 7
        if shift > 70:
            raise ValueError("a number is too long")
    return (rest >> np.uint64(1)).view(np.int64) ^ -(rest & np.uint64(1)).view(np.int64), at


class _Node:
    """A value of the schema. `kept` are its values in parts, as they were read."""

    def __init__(self, data: _Bytes) -> None:
        self.data = data
        self.kept: list[Any] = []

    def read(self, at: _Numbers) -> _Numbers:
        """Read a value at each position."""
        raise NotImplementedError

    def array(self) -> Any:
        """All values that were read."""
        raise NotImplementedError

    def _all(self) -> Any:
        return np.concatenate(self.kept) if self.kept else _NONE


class _Integer(_Node):
    def __init__(self, data: _Bytes, stored: pa.DataType, kind: pa.DataType) -> None:
        super().__init__(data)
        self._stored, self._kind = stored, kind

    def read(self, at: _Numbers) -> _Numbers:
        numbers, at = varints(self.data, at)
        self.kept.append(numbers)
        return at

    def array(self) -> Any:
        return pa.array(self._all()).cast(self._stored).cast(self._kind)


class _Fixed(_Node):
    """Values of one width: BOOLEAN, FLOAT and DOUBLE, which keep their positions."""

    def __init__(self, data: _Bytes, width: int, kind: Any) -> None:
        super().__init__(data)
        self._width, self._kind = width, kind

    def read(self, at: _Numbers) -> _Numbers:
        self.kept.append(at.copy())
        return at + self._width

    def array(self) -> Any:
        stored = np.ascontiguousarray(self.data[self._all()[:, None] + np.arange(self._width)])
        return pa.array(stored.reshape(-1) != 0 if self._kind is bool else stored.view(self._kind).reshape(-1))


class _Text(_Node):
    """Texts and bytes: their positions and lengths are kept. With a precision and scale they are decimals."""

    def __init__(self, data: _Bytes, kind: pa.DataType) -> None:
        super().__init__(data)
        self._kind = kind
        self._lengths: list[_Numbers] = []

    def read(self, at: _Numbers) -> _Numbers:
        lengths, at = varints(self.data, at)
        if len(lengths) and lengths.min() < 0:
            raise ValueError("a text has a negative length")
        self.kept.append(at)
        self._lengths.append(lengths)
        return at + lengths

    def array(self) -> Any:
        starts, lengths = self._all(), np.concatenate(self._lengths) if self._lengths else _NONE
        if pa.types.is_decimal(self._kind):
            return self._decimals(starts, lengths)
        ends = np.cumsum(lengths)
        stored = self.data[np.repeat(starts - (ends - lengths), lengths) + np.arange(int(lengths.sum()))]
        offsets = np.concatenate([[0], ends]).astype(np.int64)
        wide = pa.large_string() if self._kind == pa.string() else pa.large_binary()
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(stored)]
        found = pa.Array.from_buffers(wide, len(starts), buffers)
        found.validate(full=True)
        return found.cast(self._kind)

    def _decimals(self, starts: _Numbers, lengths: _Numbers) -> Any:
        if len(lengths) and (lengths.min() < 1 or lengths.max() > _DECIMAL_BYTES):
            raise ValueError("a decimal has no byte, or too many")
        back = np.arange(_DECIMAL_BYTES)
        sign = np.where(self.data[starts] >= 0x80, 0xFF, 0).astype(np.uint8)
        last = (starts + lengths - 1)[:, None]
        little = np.where(back < lengths[:, None], self.data[np.maximum(last - back, 0)], sign[:, None])
        stored = pa.py_buffer(np.ascontiguousarray(little, np.uint8))
        return pa.Array.from_buffers(self._kind, len(starts), [None, stored])


class _Null(_Node):
    def read(self, at: _Numbers) -> _Numbers:
        self.kept.append(at)
        return at

    def array(self) -> Any:
        return pa.nulls(len(self._all()))


class _Union(_Node):
    """Null and one type, in this order or the other."""

    def __init__(self, data: _Bytes, null: int, child: _Node) -> None:
        super().__init__(data)
        self._null, self._child = null, child

    def read(self, at: _Numbers) -> _Numbers:
        branch, at = varints(self.data, at)
        if len(branch) and (branch.min() < 0 or branch.max() > 1):
            raise ValueError("a value is of no type of its union")
        filled = branch != self._null
        self.kept.append(filled)
        if filled.all():
            return self._child.read(at)
        at[filled] = self._child.read(at[filled])
        return at

    def array(self) -> Any:
        filled = self._all().astype(bool)
        dense = self._child.array()
        if filled.all():
            return dense
        return dense.take(pa.array(np.cumsum(filled) - 1, mask=~filled))


class _Record(_Node):
    def __init__(self, data: _Bytes, schema: Mapping[str, Any], named: dict[str, Any]) -> None:
        super().__init__(data)
        named[_name(schema)] = schema
        self.children = {one["name"]: _node(data, one["type"], named) for one in schema["fields"]}

    def read(self, at: _Numbers) -> _Numbers:
        for child in self.children.values():
            at = child.read(at)
        return at

    def array(self) -> Any:
        arrays = [child.array() for child in self.children.values()]
        return pa.StructArray.from_arrays(arrays, list(self.children))


class _Repeated(_Node):
    """Arrays and maps: blocks of items. `_owners` says to which value each item belongs."""

    def __init__(self, data: _Bytes, item: _Node, *, is_map: bool) -> None:
        super().__init__(data)
        self._item, self._is_map = item, is_map
        self._owners: list[_Numbers] = []
        self._count = 0

    def read(self, at: _Numbers) -> _Numbers:
        owners = np.arange(self._count, self._count + len(at))
        self._count += len(at)
        at = at.copy()
        open_lanes = np.arange(len(at))
        while len(open_lanes):
            left, behind = varints(self.data, at[open_lanes])
            sized = left < 0  # the size of such a block follows
            if sized.any():
                behind[sized] = varints(self.data, behind[sized])[1]
                left = np.abs(left)
            at[open_lanes] = behind
            open_lanes, left = open_lanes[left > 0], left[left > 0]
            lanes = open_lanes
            while len(lanes):
                at[lanes] = self._item.read(at[lanes])
                self._owners.append(owners[lanes])
                left = left - 1
                lanes, left = lanes[left > 0], left[left > 0]
        return at

    def array(self) -> Any:
        owners = np.concatenate(self._owners) if self._owners else _NONE
        items = self._item.array().take(pa.array(np.argsort(owners, kind="stable")))
        offsets = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=self._count))]).astype(np.int32)
        if self._is_map:
            return pa.MapArray.from_arrays(pa.array(offsets), items.field(0), items.field(1))
        return pa.ListArray.from_arrays(pa.array(offsets), items)


def _node(data: _Bytes, schema: Any, named: dict[str, Any]) -> _Node:
    """The node of a type; `named` are the records that the schema has defined so far, by their full names."""
    if isinstance(schema, list):
        others = [one for one in schema if one != "null"]
        if len(schema) != 2 or len(others) != 1:
            raise ValueError(f"its schema has the union {schema}")
        return _Union(data, schema.index("null"), _node(data, others[0], named))
    kind = schema["type"] if isinstance(schema, dict) else schema
    more = schema if isinstance(schema, dict) else {}
    if kind in _INTEGERS:
        stored = _INTEGERS[kind]
        return _Integer(data, stored, _LOGICAL.get(more.get("logicalType", ""), stored))
    if kind == "boolean":
        return _Fixed(data, 1, bool)
    if kind in _FLOATS:
        return _Fixed(data, *_FLOATS[kind])
    if kind == "string":
        return _Text(data, pa.string())
    if kind == "bytes":
        decimal = more.get("logicalType") == "decimal"
        return _Text(data, pa.decimal128(more["precision"], more.get("scale", 0)) if decimal else pa.binary())
    if kind == "record":
        return _Record(data, more, named)
    if kind == "array":
        return _Repeated(data, _node(data, more["items"], named), is_map=more.get("logicalType") == "map")
    if kind == "map":
        pair = [{"name": "key", "type": "string"}, {"name": "value", "type": more["values"]}]
        entry = {"name": "", "fields": pair}
        return _Repeated(data, _Record(data, entry, named), is_map=True)
    if kind == "null":
        return _Null(data)
    if kind in named:
        return _Record(data, named[kind], named)
    raise ValueError(f"its schema has the type {kind}")


def _name(schema: Mapping[str, Any]) -> str:
    name = str(schema["name"])
    return name if "." in name or "namespace" not in schema else f"{schema['namespace']}.{name}"
