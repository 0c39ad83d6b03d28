"""Records of JSON, parsed together by Arrow. Those that do not parse are found by halving, and read by Python's parser,
as are all where Arrow's parser has no form for a column.

Invariant: the records that were parsed and the bad ones are all records that were given, each once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.json

from tablestore_engine.kafka.from_json.connect_schema import Declared, member_of
from tablestore_engine.kafka.from_json.json_convert import VARYING_DECIMAL, fit, members
from tablestore_engine.schema.types.arrow import from_arrow_type

_BLOCK = 1 << 28
SAMPLED = 100
_REFUSED = (pa.ArrowException, ValueError, TypeError, OverflowError)
_ENVELOPE, _PAYLOAD = re.compile(rb'\s*\{\s*"(schema|payload)"\s*:'), re.compile(rb'"payload"\s*:')
_AT_ONCE = 8192
_MANY = 8  # refused as often, on average, records are not halved further
_SHOWN = 50  # characters of a value in a reason
_FEW = 16  # as many are read by Python's parser rather than halved further


Positions = npt.NDArray[np.int64]


@dataclass(frozen=True)
class BadRecord:
    """A record that is of no use: its position among those given, and why."""

    position: int
    reason: str


@dataclass(frozen=True)
class Records:
    """Parsed records in order: columns, the position of each among those given, and the bad ones."""

    table: pa.Table
    positions: Positions
    bad: tuple[BadRecord, ...] = ()


def samples(values: Sequence[bytes]) -> Iterator[dict[str, Any]]:
    """Some records that are objects, from the first one on to the end, parsed by Python."""
    for value in values[:: -(-len(values) // SAMPLED) or 1]:
        try:
            found = json.loads(value)
        except ValueError:
            continue
        if isinstance(found, dict):
            yield found


def by_envelope(values: Sequence[bytes]) -> list[Positions]:
    """The positions of the records that have the same envelope around them: the same schema before the payload, or
    none. A schema says what the numbers in the payload mean."""
    if not any(b'"payload"' in one for one in values):
        return [np.arange(len(values))]
    found: dict[bytes, list[int]] = {}
    for at, value in enumerate(values):
        found.setdefault(_envelope(value), []).append(at)
    return [np.array(one, np.int64) for one in found.values()]


def _envelope(value: bytes) -> bytes:
    begin = _ENVELOPE.match(value)
    if begin is None:
        return b""
    if begin[1] == b"schema":
        payload = _PAYLOAD.search(value)
        return b"?" if payload is None else value[: payload.start()]
    with suppress(ValueError):
        return json.dumps(json.loads(value).get("schema")).encode()
    return b"?"


def with_new_spellings(
    sampled: list[dict[str, Any]], rows: Sequence[Mapping[str, Any]], texts: Sequence[bytes], names: Iterable[str]
) -> list[dict[str, Any]]:
    """The samples, and for each spelling of a name that none of their rows has, a record that has it. Only some records
    are searched, those that lack a value."""
    lines = b"\n".join(texts)
    lowered = lines.lower() if lines.isascii() else lines.decode(errors="replace").lower().encode()
    known = set(_names_in(rows))
    found: dict[str, dict[str, Any]] = {}
    for name in {one.lower() for one in names}:
        spellings = [one for one in known if one.lower() == name]
        if lowered.count(_quoted(name)) == sum(lines.count(_quoted(one)) for one in spellings):
            continue
        key = re.compile(rf'"({re.escape(name)})"\s*:', re.IGNORECASE)
        for text in texts:
            for spelling in key.findall(text.decode(errors="replace")):
                if spelling not in known and spelling not in found:
                    with suppress(ValueError):
                        found[spelling] = json.loads(text)
    return [*sampled, *(one for one in found.values() if isinstance(one, dict))]


def _quoted(name: str) -> bytes:
    return json.dumps(name, ensure_ascii=False).encode()


def _names_in(value: Any) -> Iterator[str]:
    """The names of all members at any depth."""
    if isinstance(value, dict):
        yield from value
    if isinstance(value, (dict, list)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _names_in(one)


def parse_records(
    values: Sequence[bytes],
    schema: pa.Schema | None,
    wanted: pa.Schema,
    finish: Callable[[pa.Table], pa.Table],
    *,
    seen: Callable[[Mapping[str, Any]], None] | None = None,
    inside: str | None = None,
    declared: Declared | None = None,
) -> Records:
    """The records of JSON objects.

    Args:
        values: one object each.
        schema: the columns as Arrow's parser reads them; others are left out, or with `seen` read by what they hold.
            None: it cannot read them.
        wanted: the types of the columns in the end.
        finish: makes columns of these types of those that were read; raises ArrowInvalid.
        seen: is given each record that Python's parser read; with it, `finish` has columns that `schema` does not name.
        declared: what a schema says of the columns.
        inside: the field that may hold the record, in a record that is read by itself.
    """
    parser = _Parser(values, schema, wanted, finish, seen=seen, inside=inside, declared=declared)
    if schema is not None:
        parser.parse(0, len(values))
    else:
        for start in range(0, len(values), _AT_ONCE):
            parser.parse_each(start, min(start + _AT_ONCE, len(values)))
    empty = wanted.empty_table()
    table = pa.concat_tables([empty, *parser.tables], promote_options="permissive")
    return Records(table, np.concatenate([np.zeros(0, np.int64), *parser.positions]), tuple(parser.bad))


class _Parser:
    def __init__(
        self,
        values: Sequence[bytes],
        schema: pa.Schema | None,
        wanted: pa.Schema,
        finish: Callable[[pa.Table], pa.Table],
        *,
        seen: Callable[[Mapping[str, Any]], None] | None,
        inside: str | None,
        declared: Declared | None,
    ) -> None:
        behaviour = "infer" if seen else "ignore"
        self._options = pa.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior=behaviour)
        self._values = values
        self._wanted = wanted
        self._finish = finish
        self._inside = inside
        self._seen = seen
        self._declared = declared
        self._refused_records = 0
        self.tables: list[pa.Table] = []
        self.positions: list[Positions] = []
        self.bad: list[BadRecord] = []

    def parse(self, start: int, end: int) -> None:
        """Parse some records at once, or their halves."""
        if start == end:
            return
        try:
            table = self._finish(self._read(self._values[start:end]))
        except (pa.ArrowException, ValueError):
            self._refused_records += end - start
            if end - start <= _FEW or self._refused_records > _MANY * len(self._values):
                self.parse_each(start, end)
                return
            middle = (start + end) // 2
            self.parse(start, middle)
            self.parse(middle, end)
            return
        self.tables.append(table)
        self.positions.append(np.arange(start, end))

    def _read(self, values: Sequence[bytes]) -> pa.Table:
        lines = b"\n".join(values)
        if lines.count(b"\n") != len(values) - 1:
            lines = b"\n".join(one.replace(b"\n", b" ") for one in values)
        # Arrow's parser dies of lines that are all `null`.
        begun = lines.count(b"\n{") + lines.startswith(b"{")
        if begun < len(values) and not all(one.lstrip().startswith(b"{") for one in values):
            raise ValueError("a record is no JSON object")
        read = pa.json.ReadOptions(use_threads=True, block_size=min(_BLOCK, len(lines) + 1))
        table = pa.json.read_json(pa.BufferReader(lines), read_options=read, parse_options=self._options)
        if table.num_rows != len(values):
            raise ValueError("a record is empty")
        return table

    def parse_each(self, start: int, end: int) -> None:
        """Records that Arrow's parser refuses, each by itself: more lenient, or bad."""
        columns: list[list[Any]] = [[] for _ in self._wanted]
        positions, known = [], len(self.bad)
        for position in range(start, end):
            try:
                row = self._row(self._values[position])
            except _REFUSED as error:
                self.bad.append(_bad(position, error))
                continue
            positions.append(position)
            for column, value in zip(columns, row, strict=True):
                column.append(value)
        arrays = []
        for field, column in zip(self._wanted, columns, strict=True):
            try:
                arrays.append(pa.array(column, field.type))
            except _REFUSED as error:
                del self.bad[known:]
                what = "it is no Unicode text" if isinstance(error, UnicodeError) else str(error)
                self._refused(start, end, Unfit(what, (field.name,)))
                return
        self.tables.append(pa.Table.from_arrays(arrays, schema=self._wanted))
        self.positions.append(np.array(positions, np.int64))
        if self._seen is not None:
            for position in positions:
                self._seen(self._record(json.loads(self._values[position])))

    def _refused(self, start: int, end: int, error: Exception) -> None:
        if end - start == 1:
            self.bad.append(_bad(start, error))
            return
        middle = (start + end) // 2
        self.parse_each(start, middle)
        self.parse_each(middle, end)

    def _record(self, found: dict[str, Any]) -> dict[str, Any]:
        held = found.get(self._inside) if self._inside else None
        return held if isinstance(held, dict) else found

    def _row(self, record: bytes) -> list[Any]:
        found = json.loads(record, parse_float=_Fraction)
        if not isinstance(found, dict):
            raise TypeError("it is no JSON object")
        given = members(self._record(found), self._wanted)
        return [_member(field, value, self._declared) for field, value in given]


class _Fraction(str):
    """The text of a number with a fraction."""

    __slots__ = ()


class Unfit(ValueError):
    """A value that a column, or the field of a record in it, does not take."""

    def __init__(self, what: str, path: tuple[str, ...] = ()) -> None:
        super().__init__(f"column '{'.'.join(path)}': {what}" if path else what)
        self._what = what
        self._path = path

    def within(self, name: str) -> Unfit:
        """The same, of a field that is in a record."""
        return Unfit(self._what, (name, *self._path))


def _member(field: pa.Field, value: Any, declared: Declared | None) -> Any:
    """The value of a field of a record, as `lenient`."""
    try:
        return lenient(value, field.type, member_of(declared, field.name))
    except Unfit as error:
        raise error.within(field.name) from None


def lenient(value: Any, kind: pa.DataType, declared: Declared | None = None) -> Any:
    """A value of Python's JSON parser, where numbers with a fraction are texts, as one that Arrow takes for a type.

    Raises Unfit.
    """
    if value is None:
        return None
    if pa.types.is_struct(kind) and isinstance(value, dict):
        return {field.name: _member(field, one, declared) for field, one in members(value, kind)}
    if pa.types.is_map(kind) and isinstance(value, dict):
        element = declared and declared.element
        return [(lenient(k, kind.key_type), lenient(one, kind.item_type, element)) for k, one in value.items()]
    if pa.types.is_list(kind) and isinstance(value, list):
        return [lenient(one, kind.value_type, declared and declared.element) for one in value]
    try:
        if declared is not None and not pa.types.is_nested(kind):
            if declared.scale is not None and type(value) is str:
                return fit(pa.array([value]), kind, declared)[0].as_py()
            if declared.scale_varies and isinstance(value, dict):
                return fit(pa.array([value], VARYING_DECIMAL), kind, declared)[0].as_py()
        if pa.types.is_string(kind):
            return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if pa.types.is_nested(kind) or isinstance(value, (dict, list)):
            raise ValueError
        return _leaf(value, kind, declared)
    except _REFUSED:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        shown = text[:_SHOWN].encode(errors="backslashreplace").decode()
        raise Unfit(f"'{shown}{'…' if len(text) > _SHOWN else ''}' is no {from_arrow_type(kind)}") from None


def _leaf(value: Any, kind: pa.DataType, declared: Declared | None) -> Any:
    """A number, text or boolean as a value of a type. Raises ValueError, OverflowError or ArrowInvalid."""
    if pa.types.is_boolean(kind):
        if type(value) is int:
            return value != 0  # as Arrow casts a column of numbers
        if str(value).lower() not in ("true", "false", "0", "1"):
            raise ValueError
        return str(value).lower() in ("true", "1")
    if pa.types.is_integer(kind) and type(value) is int:
        pa.scalar(value, kind)  # raises if it is too large
        return value
    # The casts of whole columns, for a column of one value. Arrow casts not every integer to a fraction, but its text.
    fractions = pa.types.is_decimal(kind) or pa.types.is_floating(kind)
    is_number = type(value) is int and not fractions and -(1 << 63) <= value < 1 << 63
    given = pa.array([value if is_number else str(value)])
    unit = None if declared is None else Declared(unit=declared.unit)
    return fit(given, kind, unit)[0].as_py()


def _bad(position: int, error: Exception) -> BadRecord:
    if isinstance(error, UnicodeDecodeError):
        return BadRecord(position, "it is no UTF-8 text")
    return BadRecord(position, " ".join(str(error).split()))
