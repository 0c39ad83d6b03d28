"""Decimals whose unscaled number is given as bytes, the first one first, in two's complement (Java's BigDecimal)."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_BYTES, _DIGITS = 16, 38
_PLAIN_SCALE = 6  # Arrow writes small numbers with more digits than these behind the point with an exponent


def decimals(raw: pa.BinaryArray, scale: int, kind: pa.DataType) -> pa.Array:
    """Numbers of such bytes, all with the same scale, in a type of numbers or of text. Raises ArrowInvalid."""
    sizes = pc.fill_null(pc.binary_length(raw), 1).to_numpy(zero_copy_only=False).astype(np.int64)
    if (sizes == 0).any():
        raise pa.ArrowInvalid("a decimal has no bytes")
    is_text = pa.types.is_string(kind)
    if (sizes > _BYTES).any() or not 0 <= scale <= (_PLAIN_SCALE if is_text else _DIGITS):
        texts = [_text(one, scale) for one in raw.to_pylist()]
        if pa.types.is_decimal(kind):
            return pa.array([None if one is None else Decimal(one) for one in texts], kind)
        return pa.array(texts, pa.string()).cast(kind)
    filled = raw.fill_null(b"\0").cast(pa.large_binary())
    offsets = np.frombuffer(filled.buffers()[1], np.int64)[filled.offset : filled.offset + len(filled) + 1]
    content = np.frombuffer(filled.buffers()[2], np.uint8)[offsets[0] : offsets[-1]] if len(filled) else np.zeros(0)
    starts = offsets[:-1] - offsets[0]
    rows = np.zeros((len(filled), _BYTES), np.uint8)
    rows[content[starts] >= 128] = 255
    owner = np.repeat(np.arange(len(filled)), sizes)
    rows[owner, np.arange(len(content)) - starts[owner] + _BYTES - sizes[owner]] = content
    numbers = pa.py_buffer(np.ascontiguousarray(rows[:, ::-1]))
    found = pa.Array.from_buffers(pa.decimal128(_DIGITS, scale), len(filled), [None, numbers])
    found.validate(full=True)
    found = pc.if_else(raw.is_null(), None, found) if raw.null_count else found
    # Arrow notices not every number that has too many digits with another scale, but these fit in twice the width.
    return (found.cast(pa.decimal256(2 * _DIGITS, scale)) if pa.types.is_decimal(kind) else found).cast(kind)


def decimals_of_records(raw: pa.BinaryArray, scales: pa.Array, kind: pa.DataType) -> pa.Array:
    """The same, each with its own scale."""
    known = pc.unique(scales.drop_null()).to_pylist()
    parts = [decimals(pc.if_else(pc.equal(scales, one), raw, None), one, kind) for one in known]
    return pc.coalesce(pa.nulls(len(raw), kind), *parts)


def _text(raw: bytes | None, scale: int) -> str | None:
    if raw is None:
        return None
    number = int.from_bytes(raw, "big", signed=True)
    digits = tuple(map(int, str(abs(number))))
    return format(Decimal((int(number < 0), digits, -scale)), "f")
