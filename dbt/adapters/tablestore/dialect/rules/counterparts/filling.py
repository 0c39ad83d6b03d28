"""Expressions of Spark's by their texts, in which `:a` to `:d` are the arguments of a function, in order."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from sqlglot import exp, parse_one

MARK: Final = re.compile(r":([abcd])\b")
_LETTERS: Final = "abcd"
_SIMPLE: Final = (exp.Column, exp.Literal, exp.Paren, exp.Dot, exp.Lambda, exp.Star, exp.Null, exp.Boolean)


@lru_cache(maxsize=256)
def _template(text: str) -> exp.Expr:
    return parse_one(text, read="spark")


def filled(text: str, given: list[exp.Expr]) -> exp.Expr:
    """An expression of Spark's by its text, in which `:a` to `:d` are the arguments."""
    made = exp.paren(_template(text).copy(), copy=False)
    for mark in list(made.find_all(exp.Placeholder)):
        mark.replace(_operand(given[_LETTERS.index(mark.name)]))
    inner = made.this
    return made if isinstance(inner, (exp.Binary, exp.Unary)) and not isinstance(inner, exp.Paren) else inner


def _operand(value: exp.Expr) -> exp.Expr:
    simple = isinstance(value, _SIMPLE) or (isinstance(value, exp.Func) and not isinstance(value, exp.Binary))
    return value.copy() if simple else exp.paren(value)
