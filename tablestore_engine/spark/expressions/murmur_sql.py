"""Murmur3 (x86, 32 bits) of a sequence of words as SQL arithmetic on BIGINTs, for Spark to compile.

Spark's own `hash()` finishes after every column, so it cannot hash the words of one row. Numbers stay below 2**63, so
nothing overflows: a word is in [0, 2**32), and the factors are taken as signed 32-bit numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

from tablestore_engine.metadata.bucket_hash import C1, C2, F1, F2, MASK, SEED, N

Word = str | int  # SQL of a BIGINT in [0, 2**32), or a constant

_FINAL = ((16, F1), (13, F2))


def murmur_sql(words: Sequence[Word]) -> str:
    """SQL of the signed 32-bit hash, as a BIGINT."""
    h: Word = SEED
    for word in words:
        h = _add(_multiply(_rotate(_xor(h, _mixed(word)), 13), 5), N)
    h = _xor(h, 4 * len(words))
    for shift, factor in _FINAL:
        h = _multiply(_fold(h, shift), factor)
    return f"(({_fold(h, 16)} ^ {1 << 31}L) - {1 << 31}L)"


def _mixed(word: Word) -> Word:
    return _multiply(_rotate(_multiply(word, C1), 15), C2)


def _signed(factor: int) -> int:
    return factor - (1 << 32) if factor >> 31 else factor


def _multiply(value: Word, factor: int) -> Word:
    if isinstance(value, int):
        return value * factor & MASK
    return f"({value} * {_signed(factor)}L & {MASK}L)"


def _add(value: Word, number: int) -> Word:
    return value + number & MASK if isinstance(value, int) else f"({value} + {number}L & {MASK}L)"


def _xor(left: Word, right: Word) -> Word:
    if isinstance(left, int) and isinstance(right, int):
        return left ^ right
    return f"({_text(left)} ^ {_text(right)})"


def _rotate(value: Word, bits: int) -> Word:
    if isinstance(value, int):
        return (value << bits | value >> (32 - bits)) & MASK
    # Modulo 2**32 - 1 a shift is a rotation, and the operand occurs in the text once. Taking one off before and adding
    # it after keeps the two residues of zero apart: 0 stays 0, and 2**32 - 1 stays itself.
    return f"(({value} * {1 << bits}L - 1L) % {MASK}L + 1L)"


def _fold(value: Word, bits: int) -> Word:
    if isinstance(value, int):
        return value ^ value >> bits
    return f"({value} ^ shiftright({value}, {bits}))"


def _text(word: Word) -> str:
    return f"{word}L" if isinstance(word, int) else word
