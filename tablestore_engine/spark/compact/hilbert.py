"""Hilbert order: a curve through all ranks of several columns, on which neighbours differ by one in one column.

It replaces the interleaved bits of `z_order`. Where a range of z-values may consist of several boxes that are
far apart, a range of this curve is connected, so that with many columns the files are narrower. The method is that of
Skilling (2004): ranks are rotated and reflected bit by bit into another set of numbers, whose interleaved bits are the
position on the curve.
"""

from __future__ import annotations

from collections.abc import Sequence


def hilbert_sql(ranks: Sequence[str], bits: int) -> str:
    """Expression for the array of numbers whose interleaved bits are the position of the ranks on the curve."""
    masks = [1 << bit for bit in reversed(range(1, bits))]
    steps = [f"struct({mask} AS q, {i} AS i)" for mask in masks for i in range(len(ranks))]
    given = f"array({', '.join(f'cast({rank} AS int)' for rank in ranks)})"
    turned = f"aggregate(array({', '.join(steps)}), {given}, (x, s) -> {_TURNED})" if steps else given
    folded = f"aggregate({turned}, cast(array() AS array<int>), (x, v) -> {_FOLDED})"
    last = ", ".join(str(mask - 1) for mask in masks) or "0"
    flip = f"aggregate(array({last}), 0, (t, p) -> if((element_at(y, -1) & (p + 1)) <> 0, t ^ p, t))"
    return f"element_at(transform(array({folded}), y -> transform(y, v -> v ^ {flip})), 1)"


_SET = "(element_at(x, s.i + 1) & s.q) <> 0"
_CHANGE = f"if({_SET}, s.q - 1, (element_at(x, 1) ^ element_at(x, s.i + 1)) & (s.q - 1))"
# One bit of one rank: it reflects the first rank, or exchanges its lower bits with those of the first.
_TURNED = f"transform(x, (v, j) -> if(j = 0 OR (j = s.i AND NOT ({_SET})), v ^ ({_CHANGE}), v))"
# Each number differs from the rank by the number before it.
_FOLDED = "concat(x, array(if(size(x) = 0, v, v ^ element_at(x, -1))))"
