"""The counterpart of one function: built from its arguments, or by a text of Spark's."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from sqlglot import exp, parse_one

from dbt.adapters.tablestore.dialect.refusal import Untranslatable
from dbt.adapters.tablestore.dialect.rules.counterparts.composed import composed
from dbt.adapters.tablestore.dialect.rules.counterparts.templates import REASONS, TEMPLATES

_LETTERS: Final = "abc"
_MARK: Final = re.compile(r":([abc])\b")
_SIMPLE: Final = (exp.Column, exp.Literal, exp.Paren, exp.Dot, exp.Lambda, exp.Star, exp.Null, exp.Boolean)


def counterpart(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """The expression of Spark's that a function is; None for one that is not known here. Raises Untranslatable."""
    if isinstance(node.parent, exp.Dot) and node.arg_key == "expression":
        return None  # a function of a schema
    name, given = called(node)
    made = composed(name, given, node, dialect)
    if made is not None:
        return made
    reason = REASONS.get((dialect, name))
    if reason is not None:
        raise Untranslatable(reason)
    text = _text(TEMPLATES.get(dialect, {}).get(name, ()), len(given))
    return _filled(text, given) if text else None


def called(node: exp.Expr) -> tuple[str, list[exp.Expr]]:
    """The name and the arguments of a function."""
    if isinstance(node, exp.Anonymous):
        return node.name.upper(), list(node.expressions)
    given: list[exp.Expr] = []
    for key in node.arg_types:
        value = node.args.get(key)
        given += [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, exp.Expr)]
    return (node.sql_name() if isinstance(node, exp.Func) else ""), given


def _text(texts: str | tuple[str, ...], count: int) -> str | None:
    """The text for a number of arguments."""
    if isinstance(texts, str):
        return texts if len(set(_MARK.findall(texts))) == count else None
    return texts[count - 1] if 0 < count <= len(texts) else None


@lru_cache(maxsize=256)
def _template(text: str) -> exp.Expr:
    return parse_one(text, read="spark")


def _filled(text: str, given: list[exp.Expr]) -> exp.Expr:
    made = exp.paren(_template(text).copy(), copy=False)
    for mark in list(made.find_all(exp.Placeholder)):
        mark.replace(_operand(given[_LETTERS.index(mark.name)]))
    inner = made.this
    return made if isinstance(inner, (exp.Binary, exp.Unary)) and not isinstance(inner, exp.Paren) else inner


def _operand(value: exp.Expr) -> exp.Expr:
    simple = isinstance(value, _SIMPLE) or (isinstance(value, exp.Func) and not isinstance(value, exp.Binary))
    return value.copy() if simple else exp.paren(value)
