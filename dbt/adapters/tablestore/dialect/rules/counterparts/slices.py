"""Parts of arrays and texts between two positions: ARRAY_SLICE, `l[2:3]`."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.refusal import Untranslatable
from dbt.adapters.tablestore.dialect.rules.json_parts import call

_LISTS: Final = (exp.Array, exp.Split, exp.ArrayAgg, exp.Transform, exp.ArrayFilter, exp.ArraySort, exp.ArrayDistinct)
_LISTS_BY_NAME: Final = frozenset(["ARRAY", "SPLIT", "TRANSFORM", "FILTER", "SLICE", "ARRAY_SORT", "COLLECT_LIST"])
_TEXTS: Final = (exp.Concat, exp.Upper, exp.Lower, exp.Trim, exp.Replace, exp.Substring, exp.TimeToStr)
_UNKNOWN: Final = "a slice such as a[1:3] of a value whose type is not in the text (write LIST_SLICE, or SUBSTRING)"


def of_numbers(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """ARRAY_SLICE. Snowflake, BigQuery and DuckDB name the end; Snowflake and BigQuery count from 0."""
    start, end = node.args.get("start"), node.args.get("end")
    if dialect not in ("snowflake", "duckdb", "bigquery"):
        return None
    if start is None or node.args.get("step"):
        raise Untranslatable("ARRAY_SLICE without a beginning, or with a step")
    plain = isinstance(start, exp.Literal) and isinstance(end, exp.Literal) and start.is_int and end.is_int
    if not plain:
        return _computed(node.this, start, end, dialect)
    assert end is not None
    first = int(start.name) + (dialect != "duckdb")
    return _between(node.this, first, int(end.name) + (dialect == "bigquery"))


def of_bounds(of: exp.Expr, bounds: exp.Expr, dialect: str) -> exp.Expr:
    """The elements `l[2:3]` of DuckDB or Postgres, both ends included; in DuckDB, it may be a part of a text. Positions
    below 0 count from the end in DuckDB, and are before the first element in Postgres."""
    start, end = bounds.this, bounds.expression
    if not isinstance(bounds, exp.Slice):
        start, end = None, _end(bounds)
    elif bounds.args.get("step"):
        raise Untranslatable("a slice with a step")
    value = of.unnest()
    if dialect == "postgres":
        return _clipped(of, start, end)
    if is_list(value):
        if _whole(end) is None and end is not None:
            return _computed(of, start or exp.Literal.number(1), end, dialect)
        first, last = 1 if start is None else _whole(start), _whole(end)
        if first is None or first < 1 or (last is not None and last < 0):
            return _computed(of, start or exp.Literal.number(1), end, dialect)
        return _from(of, first) if last is None else _between(of, first, last)
    if value.is_string or isinstance(value, _TEXTS) or value.meta.get("text") or _is_text(value):
        return _part_of_text(of, start, end)
    raise Untranslatable(_UNKNOWN)


def is_slice(index: exp.Expr) -> bool:
    """Whether an index is a slice; sqlglot reads l[:n + 1] as one of a placeholder."""
    return isinstance(index, exp.Slice) or index.find(exp.Placeholder) is not None


def _end(bounds: exp.Expr) -> exp.Expr:
    """The end of l[:n + 1]."""
    held = exp.paren(bounds.copy(), copy=False)
    mark = held.find(exp.Placeholder)
    if mark is None or not mark.name:
        raise Untranslatable(_UNKNOWN)
    if not isinstance(mark.parent, exp.Dot):
        mark.replace(exp.column(mark.name))
        return held.this  # type: ignore[no-any-return]
    whole: exp.Expr = mark
    steps: list[exp.Expr] = [exp.to_identifier(mark.name)]
    while isinstance(whole.parent, exp.Dot) and whole.arg_key == "this":
        whole = whole.parent
        steps.append(whole.expression.copy())
    whole.replace(exp.Dot.build(steps) if len(steps) > 2 else exp.Column(this=steps[1], table=steps[0]))
    return held.this  # type: ignore[no-any-return]


def refuse_dimensions(node: exp.Expr, dialect: str) -> None:
    """Raise Untranslatable for a[1:2][1] of Postgres, which is a slice of two dimensions, and (a[1:2])[1] is not."""
    outer = node.parent
    if dialect != "postgres" or not isinstance(outer, exp.Bracket) or node.arg_key != "this":
        return
    if any(is_slice(one) for one in (*node.expressions, *outer.expressions)):
        raise Untranslatable("a slice of several dimensions (write (a[1:2])[1] for an element of a slice)")


def is_list(value: exp.Expr) -> bool:
    if isinstance(value, exp.Cast):
        return bool(value.to.is_type("array"))
    if isinstance(value, exp.Dot):  # a field of each struct
        return is_list(value.this)
    named = isinstance(value, exp.Anonymous) and value.name.upper() in _LISTS_BY_NAME
    return named or isinstance(value, _LISTS) or bool(value.meta.get("list"))


def _is_text(value: exp.Expr) -> bool:
    if isinstance(value, exp.DPipe):  # lists are joined by it, too
        return any(one.is_string for one in value.flatten())
    return isinstance(value, exp.Cast) and bool(value.to.is_type("text", "varchar", "char"))


def _whole(number: exp.Expr | None) -> int | None:
    """The value of a constant integer; None for another expression."""
    inner = number.this if isinstance(number, exp.Neg) else number
    if not isinstance(inner, exp.Literal) or not inner.is_int:
        return None
    return -int(inner.name) if isinstance(number, exp.Neg) else int(inner.name)


def _between(array: exp.Expr, first: int, last: int) -> exp.Expr:
    numbers = [exp.Literal.number(max(first, 1)), exp.Literal.number(max(last - max(first, 1) + 1, 0))]
    return call("SLICE", array, *numbers)


def _from(array: exp.Expr, first: int) -> exp.Expr:
    return array if first <= 1 else call("SLICE", array, exp.Literal.number(first), call("SIZE", array.copy()))


def _clipped(array: exp.Expr, start: exp.Expr | None, end: exp.Expr | None) -> exp.Expr:
    """Postgres' slice, whose bounds before or behind all elements are the outermost ones; null if a bound is."""
    first, last = 1 if start is None else _whole(start), _whole(end)
    if first is not None and (end is None or last is not None):
        return _from(array, first) if last is None else _between(array, first, last)
    one = exp.Literal.number(1)
    begins = one if start is None else call("GREATEST", start.copy(), one.copy())
    ends = call("SIZE", array.copy()) if end is None else exp.paren(end)
    length = exp.Add(this=exp.Sub(this=ends, expression=begins.copy()), expression=one.copy())
    numbers = [exp.cast(begins.copy(), "int"), exp.cast(call("GREATEST", length, exp.Literal.number(0)), "int")]
    nulls = [exp.paren(one).is_(exp.null()) for one in (start, end) if one is not None and _whole(one) is None]
    return call("IF", exp.or_(*nulls), exp.null(), call("SLICE", array, *numbers))


def _part_of_text(text: exp.Expr, start: exp.Expr | None, end: exp.Expr | None) -> exp.Expr:
    """A part of a text between constant positions; the one at the end may count from the end of the text."""
    first, last = 1 if start is None else _whole(start), _whole(end)
    if first is None or (end is not None and (last is None or first < 1)):
        raise Untranslatable("a slice of a text between computed positions, or from one before its end (SUBSTRING)")
    if last is None:
        return call("SUBSTRING", text, exp.Literal.number(first or 1))
    length: exp.Expr = exp.Literal.number(max(last - first + 1, 0))
    if last < 0:
        rest = exp.Literal.number(first - last - 2)
        length = exp.Sub(this=exp.Length(this=text.copy()), expression=rest)
    return call("SUBSTRING", text, exp.Literal.number(first), length)


def _computed(array: exp.Expr, start: exp.Expr, end: exp.Expr | None, dialect: str) -> exp.Expr:
    """A slice between computed positions; those below 0 count from the end. All positions here are between elements."""
    bounds: list[exp.Expr] = []
    size = call("SIZE", array.copy())
    for given, shift in ((start, int(dialect == "duckdb")), (end, -int(dialect == "bigquery"))):
        if given is None:
            bounds.append(size.copy())
            continue
        below = exp.LT(this=exp.paren(given.copy()), expression=exp.Literal.number(0))
        # DuckDB's -1 is the last element, and so is a beginning; as an end, it is behind that element.
        behind = 1 if bounds and dialect in ("duckdb", "bigquery") else 0
        from_end = exp.Add(this=size.copy(), expression=exp.paren(given.copy()))
        if behind:
            from_end = exp.Add(this=from_end, expression=exp.Literal.number(1))
        plain = exp.Sub(this=exp.paren(given.copy()), expression=exp.Literal.number(shift)) if shift else given.copy()
        bounds.append(call("GREATEST", call("IF", below, from_end, plain), exp.Literal.number(0)))
    first = exp.cast(exp.Add(this=bounds[0], expression=exp.Literal.number(1)), "int")
    length = exp.Sub(this=bounds[1], expression=bounds[0].copy())
    found = call("SLICE", array, first, exp.cast(call("GREATEST", length, exp.Literal.number(0)), "int"))
    nulls = [one.copy().is_(exp.null()) for one in (start, end) if one is not None and not isinstance(one, exp.Literal)]
    return call("IF", exp.or_(*nulls), exp.null(), found) if nulls else found  # GREATEST passes over nulls
