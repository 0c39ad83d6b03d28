"""Columns of values as columns of JSON text, by Arrow's kernels: no value passes through Python.

Numbers and booleans are JSON's, except NaN and infinities, which are texts. Times are texts as SQL writes them, with a
`Z` where they are instants; bytes are texts in Base64. A null stays a null; the caller that joins texts writes `null`
for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

NULL = "null"
_SHORT = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_CONTROLS = {chr(code): f"\\u{code:04x}" for code in range(32) if chr(code) not in _SHORT}
_SHORT_CODES = np.array([ord(one) for one in _SHORT], np.uint8)
ALPHABET = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", np.uint8)


def row_text(arrays: Sequence[pa.Array], names: Sequence[str], opening: Any = "", closing: Any = "") -> pa.Array:
    """Rows of columns, of which there is at least one, as JSON objects; a text or texts before and behind each."""
    parts: list[Any] = [opening, "{"]
    for number, (array, name) in enumerate(zip(arrays, names, strict=True)):
        parts += [f"{',' if number else ''}{json.dumps(name, ensure_ascii=False)}:", *_value_parts(array)]
    return joined(*parts, "}", closing)


def joined(*parts: Any) -> pa.Array:
    """Texts and columns of texts one after the other in each row; a null is written as JSON's."""
    return pc.binary_join_element_wise(*_fewer(parts), "", null_handling="replace", null_replacement=NULL)


def _fewer(parts: Iterable[Any]) -> Iterator[Any]:
    """The same, where texts that follow each other are one: each part costs time in each row."""
    for is_text, some in groupby(parts, lambda part: isinstance(part, str)):
        if is_text:
            yield "".join(some)
        else:
            yield from some


def value_text(array: pa.Array) -> pa.Array:
    """The JSON text of each value; null for a null."""
    text, in_quotes = _text(array)
    return _quoted(text) if in_quotes else text


def _value_parts(array: pa.Array) -> list[Any]:
    """The parts that, joined, are the JSON text of each value."""
    text, in_quotes = _text(array)
    if not in_quotes:
        return [text]
    return [_quoted(text)] if text.null_count else ['"', text, '"']


def _text(array: pa.Array) -> tuple[pa.Array, bool]:
    """The text of each value, and whether it lacks the quotes that JSON wants."""
    kind = array.type
    if pa.types.is_string(kind):
        return _escaped(array), True
    if pa.types.is_temporal(kind):
        return array.cast(pa.string()), True
    if pa.types.is_binary(kind):
        return base64_text(array), True
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_decimal(kind):
        return array.cast(pa.string()), False
    if pa.types.is_floating(kind):
        return _floating_text(array), False
    return _nested_text(array), False


def _floating_text(array: pa.Array) -> pa.Array:
    text, finite = array.cast(pa.string()), pc.is_finite(array)
    negative_zero = pc.equal(text, "-0")
    if pc.any(negative_zero).as_py():  # a reader would take it for the integer 0, which has no sign
        text = pc.if_else(negative_zero, "-0.0", text)
    return text if pc.all(finite).as_py() in (True, None) else pc.if_else(finite, text, _quoted(_no_numbers(text)))


def _nested_text(array: pa.Array) -> pa.Array:
    kind = array.type
    if pa.types.is_map(kind):
        return _map_text(array)
    if pa.types.is_list(kind):
        offsets, elements = _elements(array, array.values)
        return _in_brackets(array, offsets, joined(value_text(elements)), "[", "]")
    if pa.types.is_struct(kind):
        fields = [_own(array, number) for number in range(kind.num_fields)]
        names = [kind.field(number).name for number in range(kind.num_fields)]
        return _null_where(array, row_text(fields, names)) if names else _null_where(array, _repeated("{}", array))
    raise TypeError(f"values of type {kind} have no JSON form")


def _quoted(text: pa.Array) -> pa.Array:
    """Texts in quotes; a null stays one."""
    return pc.binary_join_element_wise('"', text, '"', "")


def _escaped(text: pa.Array) -> pa.Array:
    content = _content(text)
    controls = content < ord(" ")
    if not (controls.any() or (content == ord('"')).any() or (content == ord("\\")).any()):
        return text
    for plain, escape in _SHORT.items():
        text = pc.replace_substring(text, plain, escape)
    if not np.isin(content[controls], _SHORT_CODES).all():
        for plain, escape in _CONTROLS.items():
            text = pc.replace_substring(text, plain, escape)
    return text


def _content(text: pa.Array) -> npt.NDArray[np.uint8]:
    """The bytes of all texts; those of nulls, too."""
    _, ends, data = text.buffers()
    if data is None or not len(text):
        return np.zeros(0, np.uint8)
    offsets = np.frombuffer(ends, np.int32)
    return np.frombuffer(data, np.uint8)[offsets[text.offset] : offsets[text.offset + len(text)]]


def _no_numbers(text: pa.Array) -> pa.Array:
    for arrow, name in (("nan", "NaN"), ("inf", "Infinity")):
        text = pc.replace_substring(text, arrow, name)
    return text


def _own(array: pa.StructArray, number: int) -> pa.Array:
    """A field of a struct, whose values count only where the struct is not null."""
    return array.field(number)


def _repeated(text: str, like: pa.Array) -> pa.Array:
    return pa.repeat(pa.scalar(text), len(like))


def _null_where(array: pa.Array, text: pa.Array) -> pa.Array:
    return pc.if_else(array.is_null(), None, text) if array.null_count else text


def _elements(array: pa.Array, values: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Offsets from 0, and the elements that they point into; a slice of an array points into those of the whole."""
    offsets = array.offsets
    first, last = offsets[0].as_py(), offsets[-1].as_py()
    return pc.subtract(offsets, pa.scalar(first, offsets.type)), values.slice(first, last - first)


def _in_brackets(array: pa.Array, offsets: pa.Array, elements: pa.Array, opening: str, closing: str) -> pa.Array:
    lists = pa.ListArray.from_arrays(offsets, elements)
    return _null_where(array, joined(opening, pc.binary_join(lists, ","), closing))


def _map_text(array: pa.MapArray) -> pa.Array:
    offsets, keys = _elements(array, array.keys)
    _, items = _elements(array, array.items)
    names = value_text(keys)
    if not _is_text(keys.type):
        names = _quoted(names)
    return _in_brackets(array, offsets, joined(names, ":", value_text(items)), "{", "}")


def _is_text(kind: pa.DataType) -> bool:
    """Whether the JSON of values has quotes already."""
    return bool(pa.types.is_string(kind) or pa.types.is_temporal(kind) or pa.types.is_binary(kind))


def base64_text(array: pa.Array) -> pa.Array:
    """Bytes in Base64, computed for all values at once: each value is padded to whole groups of three bytes."""
    values = array.cast(pa.large_binary()).fill_null(b"")
    offsets = np.frombuffer(values.buffers()[1], np.int64)[values.offset : values.offset + len(values) + 1]
    data = values.buffers()[2]
    content = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    sizes = np.diff(offsets)
    groups = -(-sizes // 3)
    starts = np.concatenate(([0], np.cumsum(groups)))
    padded = np.zeros(3 * int(starts[-1]), np.uint8)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    at = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    padded[3 * starts[owner] + at] = content[offsets[0] : offsets[-1]]
    first, second, third = (padded[i::3].astype(np.uint32) for i in range(3))
    bits = first << 16 | second << 8 | third
    text = np.stack([ALPHABET[bits >> shift & 63] for shift in (18, 12, 6, 0)], axis=1).ravel()
    for row in range(1, 3):  # how many characters of the last group are padding
        lacking = (sizes > 0) & ((3 - sizes % 3) % 3 >= row)
        text[4 * starts[1:][lacking] - row] = ord("=")
    made = pa.LargeStringArray.from_buffers(len(sizes), pa.py_buffer(4 * starts.astype(np.int64)), pa.py_buffer(text))
    return _null_where(array, made.cast(pa.string()))
