"""Which names of columns DuckDB's COLUMNS(…) chooses: by a pattern, a list, or a condition on the name."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.refusal import Untranslatable


def _matches(pattern: str, name: str) -> bool:
    try:
        return re.search(pattern, name) is not None
    except re.error:
        raise Untranslatable(f"the pattern '{pattern}' of COLUMNS (name the columns)") from None


def is_like(name: str, pattern: str, *, ignore_case: bool = False) -> bool:
    """Whether a name is as the pattern of LIKE, or of ILIKE, says."""
    parts = (".*" if one == "%" else "." if one == "_" else re.escape(one) for one in pattern)
    flags = re.DOTALL | re.IGNORECASE if ignore_case else re.DOTALL
    return re.fullmatch("".join(parts), name, flags) is not None


_SIDES: Final[Mapping[type[exp.Expr], Callable[[Any, Any], Any]]] = {
    exp.EQ: operator.eq,
    exp.NEQ: operator.ne,
    exp.LT: operator.lt,
    exp.LTE: operator.le,
    exp.GT: operator.gt,
    exp.GTE: operator.ge,
    exp.StartsWith: lambda name, part: name.startswith(part),
    exp.EndsWith: lambda name, part: name.endswith(part),
    exp.Contains: lambda name, part: part in name,
    exp.Like: is_like,
    exp.ILike: partial(is_like, ignore_case=True),
    exp.RegexpLike: lambda name, pattern: _matches(pattern, name),
    exp.RegexpFullMatch: lambda name, pattern: _matches(f"^(?:{pattern})$", name),
    exp.And: lambda one, other: one and other,
    exp.Or: lambda one, other: one or other,
}
_ONE: Final[Mapping[type[exp.Expr], Callable[[Any], Any]]] = {
    exp.Not: operator.not_, exp.Lower: str.lower, exp.Upper: str.upper, exp.Length: len, exp.Paren: lambda value: value,
}  # fmt: skip


def test_of(given: exp.Expr) -> Callable[[str], bool] | None:
    """The test of what is in COLUMNS(…); None for something else. Raises Untranslatable for an unknown condition."""
    if given.is_string:
        return lambda name: _matches(given.name, name)
    if isinstance(given, exp.Array) and all(one.is_string for one in given.expressions):
        listed = {one.name.lower() for one in given.expressions}
        return lambda name: name.lower() in listed
    if isinstance(given, exp.Lambda) and len(given.expressions) == 1:
        variable = given.expressions[0].name.lower()
        return lambda name: bool(_value(given.this, variable, name))
    return None


def _value(part: exp.Expr, variable: str, name: str) -> Any:
    if isinstance(part, (exp.Identifier, exp.Column)) and part.name.lower() == variable:
        return name
    if isinstance(part, exp.Literal):
        return part.name if part.is_string else part.to_py()
    if type(part) in _SIDES:
        return _SIDES[type(part)](_value(part.this, variable, name), _value(part.expression, variable, name))
    if type(part) in _ONE:
        return _ONE[type(part)](_value(part.this, variable, name))
    if isinstance(part, exp.In) and part.expressions:
        return _value(part.this, variable, name) in [_value(one, variable, name) for one in part.expressions]
    raise Untranslatable(f"COLUMNS(…) by the condition {part.sql('duckdb')} (name the columns, or write a pattern)")
