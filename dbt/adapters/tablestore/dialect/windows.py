"""Windows that Spark does not have: numbers and ranks without an order or with a frame, and named windows that are made
of others.

A window without an order gets a constant one: its rows are all equal then, as they are without an order.
"""

from __future__ import annotations

from typing import Final

from sqlglot import exp

_PARTS: Final = ("partition_by", "order", "spec")
_MOST_LEVELS: Final = 50
# Functions that Spark refuses in a window without an order.
_BY_ORDER: Final = (
    exp.RowNumber, exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist, exp.Ntile, exp.Lag, exp.Lead, exp.NthValue,
)  # fmt: skip
# Functions of the whole partition, for which a frame means nothing; Spark refuses it.
_WITHOUT_FRAME: Final = tuple(one for one in _BY_ORDER if one is not exp.NthValue)


def order_windows(tree: exp.Expr, dialect: str) -> None:
    """Write out windows that extend a named one, and give an order to those that need one."""
    if dialect == "databricks":
        return
    for window in list(tree.find_all(exp.Window)):
        select = window.find_ancestor(exp.Select)
        named = {one.this.name.lower(): one for one in (select.args.get("windows") or [])} if select is not None else {}
        if window.arg_key == "windows":
            _write_out(window, named)
            continue
        _count_events(window)
        base = named.get(window.alias.lower())
        unordered = window.args.get("order") is None and (base is None or _inherited(base, named, "order") is None)
        framed = window.args.get("spec") or (base is not None and _inherited(base, named, "spec"))
        if framed and isinstance(_function(window), _WITHOUT_FRAME):
            _write_out(window, named)
            window.set("spec", None)
        needed = unordered and (isinstance(_function(window), _BY_ORDER) or _is_range(window))
        if needed or any(window.args.get(one) for one in _PARTS):
            _write_out(window, named)
        if needed:
            window.set("order", exp.Order(expressions=[exp.Ordered(this=exp.Literal.number(1), nulls_first=True)]))


def _count_events(window: exp.Expr) -> None:
    """Snowflake's CONDITIONAL_TRUE_EVENT: how often the condition was true up to a row."""
    call = window.this
    if isinstance(call, exp.Anonymous) and call.name.upper() == "CONDITIONAL_TRUE_EVENT" and window.args.get("order"):
        window.set("this", exp.CountIf(this=call.expressions[0].copy()))
        window.set(
            "spec",
            exp.WindowSpec(kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW"),
        )


def _function(window: exp.Expr) -> exp.Expr:
    call: exp.Expr = window.this
    while isinstance(call, (exp.IgnoreNulls, exp.RespectNulls, exp.Filter)):
        call = call.this
    return call


def _is_range(window: exp.Expr) -> bool:
    spec = window.args.get("spec")
    return spec is not None and str(spec.args.get("kind")).upper() == "RANGE"


def _write_out(window: exp.Expr, named: dict[str, exp.Expr]) -> None:
    """Give a window the parts of the named one that it extends."""
    base = named.get(window.alias.lower())
    if base is None:
        return
    for part in _PARTS:
        if not window.args.get(part):
            found = _inherited(base, named, part)
            copied = [one.copy() for one in found] if isinstance(found, list) else found and found.copy()
            window.set(part, copied)
    window.set("alias", None)


def _inherited(base: exp.Expr, named: dict[str, exp.Expr], part: str) -> exp.Expr | list[exp.Expr] | None:
    """A part of a named window, or of those that it extends."""
    window: exp.Expr | None = base
    for _ in range(_MOST_LEVELS):
        if window is None:
            return None
        if window.args.get(part):
            return window.args[part]  # type: ignore[no-any-return]
        window = named.get(window.alias.lower())
    return None
