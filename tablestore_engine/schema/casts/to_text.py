"""Casts to texts, in Java's forms, and the lengths of CHAR and VARCHAR."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.schema.casts.numbers import kept

_SUBNORMAL = -30  # the exponent of a float; those of few digits are all much closer to 0


def by_distinct(values: pa.Array, function: Callable[[Any], Any], target: pa.DataType) -> pa.Array:
    """A function of each value that is not null, called once for each distinct one."""
    encoded = values.dictionary_encode()
    made = pa.array([function(one) for one in encoded.dictionary.to_pylist()], target)
    return made.take(encoded.indices)


def decimal_text(values: pa.Array) -> pa.Array:
    """Decimals with all digits of their scale, never with an exponent."""
    scale = values.type.scale
    # The same bytes without a scale are the digits.
    values = pa.concat_arrays([values])
    digits = pa.Array.from_buffers(pa.decimal128(38, 0), len(values), values.buffers(), offset=values.offset)
    text = digits.cast(pa.string())
    if scale == 0:
        return text
    negative = pc.starts_with(text, "-")
    text = pc.utf8_lpad(pc.utf8_ltrim(text, "-"), scale + 1, "0")
    whole = pc.utf8_slice_codeunits(text, 0, -scale)
    fraction = pc.utf8_slice_codeunits(text, -scale)
    return pc.binary_join_element_wise(pc.if_else(negative, "-", ""), whole, ".", fraction, "")


def bytes_text(values: pa.Array) -> pa.Array:
    """Bytes as UTF-8, with U+FFFD for those that are not, as Java shows them. Spark's texts keep these bytes, which no
    text of Arrow may have."""
    try:
        return values.cast(pa.string())
    except pa.ArrowInvalid:
        return by_distinct(values, lambda data: data.decode("utf-8", "replace"), pa.string())


def float_text(values: pa.Array) -> pa.Array:
    """Floats and doubles as Java writes them: ``1.0``, ``1.0E10``, ``NaN``."""
    read = np.float32 if values.type == pa.float32() else np.float64
    return by_distinct(values.cast(pa.string()), lambda text: _java_text(text, read), pa.string())


def _java_text(text: str, read: Callable[[str], Any]) -> str:
    """The shortest digits of a float, of which Java has two at least, in Java's form."""
    special = {"nan": "NaN", "-nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(text)
    if special is not None:
        return special
    minus, number = ("-", text[1:]) if text[0] == "-" else ("", text)
    mantissa, _, exponent = number.partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    if len(digits) == 1 and point < _SUBNORMAL:
        digits = f"{float(read(number)):.1e}".partition("e")[0].replace(".", "").rstrip("0")
    if not digits:
        return f"{minus}0.0"
    if -3 < point <= 7:
        if point <= 0:
            return f"{minus}0.{'0' * -point}{digits}"
        return f"{minus}{digits[:point].ljust(point, '0')}.{digits[point:] or '0'}"
    return f"{minus}{digits[0]}.{digits[1:] or '0'}E{point - 1}"


def timestamp_text(values: pa.Array) -> pa.Array:
    """Clock values with the digits of their fraction that are not zero."""
    text = pc.replace_substring(values.cast(pa.timestamp("us")).cast(pa.string()), "T", " ")
    return date_text(without_zeros(text))


def without_zeros(text: pa.Array) -> pa.Array:
    """Times without zeros at the end of their fraction."""
    return pc.replace_substring_regex(pc.replace_substring_regex(text, r"(\.\d*?)0+$", r"\1"), r"\.$", "")


def date_text(text: pa.Array) -> pa.Array:
    """Dates, of which those after the year 9999 have a sign."""
    return pc.replace_substring_regex(text, r"^(\d{5,}-)", r"+\1")


def sized(text: pa.Array, length: int, *, fill: bool) -> pa.Array:
    """Texts of at most a length: blanks at the end are left out, other texts that are too long are null. With `fill`
    blanks make them as long (CHAR)."""
    fits = pc.less_equal(pc.utf8_length(pc.utf8_rtrim(text, " ")), length)
    text = pc.utf8_slice_codeunits(kept(text, fits), 0, length)
    return pc.utf8_rpad(text, length, " ") if fill else text


def nested_text(values: pa.Array, element_text: Callable[[pa.Array], pa.Array]) -> pa.Array:
    """Lists, maps and structs as Spark shows them: ``[1, null]``, ``{a -> 1}``, ``{1, x}``."""
    if pa.types.is_struct(values.type):
        parts = [element_text(values.field(i)).fill_null("null") for i in range(values.type.num_fields)]
        inner = pc.binary_join_element_wise(*parts, ", ") if parts else pa.array([""] * len(values))
        return _enclosed(values, inner, "{", "}")
    if pa.types.is_map(values.type):
        keys, items = element_text(values.keys), element_text(values.items).fill_null("null")
        flat = pc.binary_join_element_wise(keys, items, " -> ")
        return _enclosed(values, _joined(values, flat), "{", "}")
    return _enclosed(values, _joined(values, element_text(values.values).fill_null("null")), "[", "]")


def _joined(values: pa.Array, flat: pa.Array) -> pa.Array:
    offsets = np.asarray(values.offsets)
    lists = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), flat)
    return pc.binary_join(lists, ", ")


def _enclosed(values: pa.Array, inner: pa.Array, first: str, last: str) -> pa.Array:
    return kept(pc.binary_join_element_wise(first, inner, last, ""), values.is_valid())
