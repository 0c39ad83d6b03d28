"""Rules for aggregates: lists in an order, shares of a sum, quantiles; those that Spark has not; random numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.refusal import Untranslatable, about
from dbt.adapters.tablestore.dialect.rules.counterparts.clauses import around
from dbt.adapters.tablestore.dialect.rules.counterparts.filling import filled
from dbt.adapters.tablestore.dialect.rules.counterparts.lookup import counterpart

_MOST_QUANTILES: Final = 1_000
_ORDERED: Final = (
    exp.ArrayAgg,
    exp.ArrayConcatAgg,
    exp.JSONArrayAgg,
    exp.GroupConcat,
    exp.First,
    exp.Last,
    exp.AnyValue,
)
_ORDERED_BY_NAME: Final = ("JSONB_AGG", "JSON_AGG", "JSON_GROUP_ARRAY")


def share(window: exp.Expr) -> exp.Expr | None:
    """RATIO_TO_REPORT(…) OVER (…): the value divided by the sum of the window; None for another function."""
    call = window.this
    if not isinstance(call, exp.Anonymous) or call.name.upper() != "RATIO_TO_REPORT":
        return None
    value = call.expressions[0]
    total = window.copy()
    total.set("this", exp.Sum(this=value.copy()))
    return exp.Anonymous(this="TRY_DIVIDE", expressions=[value.copy(), total])


def _quantiles(node: exp.Expr, dialect: str) -> exp.Expr:
    """APPROX_QUANTILES(x, n): the n + 1 borders of n equal parts."""
    parts = node.expression
    if not isinstance(parts, exp.Literal) or not parts.is_int or not 0 < int(parts.name) <= _MOST_QUANTILES:
        raise Untranslatable(f"APPROX_QUANTILES without a constant number of parts up to {_MOST_QUANTILES}")
    count = int(parts.name)
    shares = [exp.Var(this=f"{i / count:.12g}D") for i in range(count + 1)]  # a cast of each is slow to write
    listed = exp.Anonymous(this="ARRAY", expressions=shares)
    return exp.Anonymous(this="PERCENTILE_APPROX", expressions=[node.this, listed])


def _first(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """FIRST(x ORDER BY y): of the values by that order, nulls included."""
    name = type(node).__name__.upper()
    if not isinstance(node.this, exp.Order):
        return None
    listed = sorted_by(node.this.this, node.this.expressions, name)
    behind = exp.Neg(this=exp.Literal.number(1)) if isinstance(node, exp.Last) else exp.Literal.number(1)
    return exp.Anonymous(this="TRY_ELEMENT_AT", expressions=[listed, behind])


def _any(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """ANY_VALUE(x HAVING MAX y)."""
    if isinstance(node.this, exp.Order) and isinstance(node.parent, exp.IgnoreNulls):
        whole, outer = around(node)
        listed = sorted_by(node.this.this, node.this.expressions, "ANY_VALUE", outer)
        present = exp.Anonymous(this="ARRAY_COMPACT", expressions=[listed])
        whole.replace(exp.Anonymous(this="GET", expressions=[present, exp.Literal.number(0)]))
        return None
    if isinstance(node.this, exp.Order):
        return _first(node, dialect)
    if not isinstance(node.this, exp.HavingMax):
        return None
    name = "MAX_BY" if node.this.args.get("max") else "MIN_BY"
    return exp.Anonymous(this=name, expressions=[node.this.this, node.this.expression])


def array_of_rows(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """ARRAY_AGG with an order, which Spark's COLLECT_LIST does not have: structs of order and value, sorted."""
    value: exp.Expr = node.this
    limit: exp.Expr | None = None
    if isinstance(value, exp.Limit):
        limit, value = value.expression, value.this
    whole, outer = around(node)
    within = next((one for one in outer if isinstance(one, exp.WithinGroup)), None)
    order = within.expression if within is not None else value if isinstance(value, exp.Order) else None
    skipping = dialect in ("snowflake", "databricks") or any(isinstance(one, exp.IgnoreNulls) for one in outer)
    item = value.this if isinstance(value, exp.Order) else value
    distinct = isinstance(item, exp.Distinct)
    if distinct and len(item.expressions) != 1:
        raise Untranslatable("ARRAY_AGG(DISTINCT …) of several values")
    item = item.expressions[0] if distinct else item
    if order is not None:
        if distinct and not all(_is_same(key.this, item) for key in order.expressions):
            raise Untranslatable("ARRAY_AGG(DISTINCT a ORDER BY b)")
        result = sorted_by(item, order.expressions, "ARRAY_AGG", outer, distinct)
        result = exp.Anonymous(this="ARRAY_COMPACT", expressions=[result]) if skipping else result
    elif skipping:
        result = _collected(item, outer, distinct)
    else:
        struct = exp.Anonymous(this="NAMED_STRUCT", expressions=[exp.Literal.string("v"), item.copy()])
        result = exp.Dot(this=_collected(struct, outer, distinct), expression=exp.to_identifier("v"))
    if _may_be_empty(node, outer, dialect):
        result = _null_of_none(result)
    if limit is not None:
        result = exp.Anonymous(this="SLICE", expressions=[result, exp.Literal.number(1), limit])
    if whole is node:
        return result
    whole.replace(result)
    return None


def _is_same(key: exp.Expr, item: exp.Expr) -> bool:
    """Whether two expressions are one, of which a column may be written once with and once without its table."""
    pair = [key.copy(), item.copy()]
    columns = list(zip(*(list(one.find_all(exp.Column)) for one in pair), strict=False))
    for one, other in columns:
        if not (one.table and other.table):
            one.set("table", None)
            other.set("table", None)
    return bool(pair[0] == pair[1])


def _joined_lists(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """ARRAY_CONCAT_AGG(a ORDER BY b LIMIT n), which passes over null arrays."""
    limit = node.this.expression if isinstance(node.this, exp.Limit) else None
    value = node.this.this if limit is not None else node.this
    if limit is None and not isinstance(value, exp.Order):
        return counterpart(node, dialect)
    whole, outer = around(node)
    if isinstance(value, exp.Order):
        listed = sorted_by(value.this, value.expressions, "ARRAY_CONCAT_AGG", outer)
        listed = exp.Anonymous(this="ARRAY_COMPACT", expressions=[listed])
    else:
        listed = _collected(value, outer, False)
    if limit is not None:
        listed = exp.Anonymous(this="SLICE", expressions=[listed, exp.Literal.number(1), limit])
    made = exp.Anonymous(this="FLATTEN", expressions=[listed])
    if whole is node:
        return made
    whole.replace(made)
    return None


def _collected(value: exp.Expr, outer: list[exp.Expr], distinct: bool) -> exp.Expr:
    """The list of an aggregate's values, with its FILTER and OVER."""
    given = exp.Distinct(expressions=[value.copy()]) if distinct else value.copy()
    windowed = any(isinstance(one, exp.Window) for one in outer)
    name = "COLLECT_SET" if distinct and windowed else "COLLECT_LIST"
    listed: exp.Expr = exp.Anonymous(this=name, expressions=[value.copy() if name == "COLLECT_SET" else given])
    for one in outer:
        if isinstance(one, (exp.Filter, exp.Window)):
            clause = one.copy()
            clause.set("this", listed)
            listed = clause
    return exp.paren(listed, copy=False) if isinstance(listed, (exp.Filter, exp.Window)) else listed


def sorted_by(
    item: exp.Expr, keys: list[exp.Expr], name: str, outer: list[exp.Expr] | None = None, distinct: bool = False
) -> exp.Expr:
    """The list of an aggregate's values in an order. `name` is that of the aggregate, `outer` has its clauses."""
    return sorted_structs(item, keys, name, lambda struct: _collected(struct, outer or [], distinct))


def sorted_structs(
    item: exp.Expr, keys: list[exp.Expr], name: str, listed_of: Callable[[exp.Expr], exp.Expr]
) -> exp.Expr:
    """The values of structs that are sorted by keys. `listed_of` makes the list of a struct of keys and value."""
    down = bool(keys[0].args.get("desc"))
    if any(bool(one.args.get("desc")) is not down for one in keys):
        raise Untranslatable(f"{name} ordered upwards by one column and downwards by another")
    parts: list[exp.Expr] = []
    for number, key in enumerate(keys):
        # Where the order is turned round afterwards, so are its nulls.
        nulls_last = bool(key.args.get("nulls_first")) if down else not key.args.get("nulls_first")
        absent: exp.Expr = exp.Is(this=key.this.copy(), expression=exp.Null())
        parts += [
            exp.Literal.string(f"n{number}"), absent if nulls_last else exp.Not(this=absent),
            exp.Literal.string(f"k{number}"), key.this.copy(),
        ]  # fmt: skip
    struct = exp.Anonymous(this="NAMED_STRUCT", expressions=[*parts, exp.Literal.string("v"), item.copy()])
    listed = exp.Anonymous(this="ARRAY_SORT", expressions=[listed_of(struct)])
    ordered = exp.Anonymous(this="REVERSE", expressions=[listed]) if down else listed
    return exp.Dot(this=ordered, expression=exp.to_identifier("v"))


def _may_be_empty(node: exp.Expr, outer: list[exp.Expr], dialect: str) -> bool:
    """Whether ARRAY_AGG may have no rows, and is null then: a group or a window has some."""
    if dialect in ("snowflake", "databricks"):
        return False
    if any(isinstance(one, exp.Filter) for one in outer):
        return True
    select = node.find_ancestor(exp.Select)
    grouped = select is not None and select.args.get("group") is not None
    return not grouped and not any(isinstance(one, exp.Window) for one in outer)


def _null_of_none(listed: exp.Expr) -> exp.Expr:
    size = exp.Anonymous(this="SIZE", expressions=[listed.copy()])
    none = exp.EQ(this=size, expression=exp.Literal.number(0))
    return exp.Anonymous(this="IF", expressions=[none, exp.Null(), listed])


def _random(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """RANDOM of Snowflake is an integer of 64 bits, and that of Trino with a bound one below it."""
    if dialect == "snowflake":
        return exp.Anonymous(this="XXHASH64", expressions=[exp.Anonymous(this="RAND", expressions=[])])
    if dialect != "trino" or node.this is None:
        return None
    first, end = (node.this, node.args["lower"]) if node.args.get("lower") is not None else (None, node.this)
    width = end if first is None else exp.paren(exp.Sub(this=end.copy(), expression=exp.paren(first)), copy=False)
    drawn = exp.Mul(this=exp.Anonymous(this="RAND", expressions=[]), expression=exp.paren(width))
    whole = exp.cast(exp.Anonymous(this="FLOOR", expressions=[drawn]), "bigint")
    return whole if first is None else exp.paren(exp.Add(this=exp.paren(first), expression=whole), copy=False)


def _uniform(node: exp.Expr, dialect: str) -> None:
    """Spark's UNIFORM needs no generator."""
    node.set("gen", None)
    node.set("seed", None)


def _joined_texts(node: exp.Expr, dialect: str) -> None:
    """LISTAGG(DISTINCT a, ','), whose separator sqlglot takes for a second value. Without one, texts are joined as they
    are in some warehouses."""
    if isinstance(node.this, exp.Limit):
        raise Untranslatable("STRING_AGG with LIMIT (write array_to_string(array_agg(… LIMIT …), ','))")
    distinct = node.this.this if isinstance(node.this, exp.Order) else node.this
    if isinstance(distinct, exp.Distinct) and len(distinct.expressions) == 2:
        node.set("separator", distinct.expressions[1].copy())
        distinct.set("expressions", distinct.expressions[:1])
    if dialect in ("redshift", "trino") and node.args.get("separator") is None:
        node.set("separator", exp.Literal.string(""))


def _texts_of_nothing(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """Snowflake's LISTAGG without values is an empty text."""
    _joined_texts(node, dialect)
    whole, outer = around(node)
    made = whole
    # Spark has no such window, and fails of an order next to another aggregate of distinct values.
    sorted_ = any(isinstance(one, (exp.Window, exp.WithinGroup)) for one in outer) or isinstance(node.this, exp.Order)
    if sorted_ and dialect != "databricks" and node.this.find(exp.Distinct) is not None:
        made = _joined_set(node, outer)
    if dialect == "snowflake":
        made = exp.Coalesce(this=made.copy(), expressions=[exp.Literal.string("")])
    if whole is node or made is whole:
        return None if made is whole else made
    whole.replace(made)
    return None


def _joined_set(node: exp.Expr, outer: list[exp.Expr]) -> exp.Expr:
    """LISTAGG(DISTINCT …) in an order or a window: the texts of a set, in their order."""
    separator = node.args.get("separator") or exp.Literal.string(",")
    order = next((one.expression for one in outer if isinstance(one, exp.WithinGroup)), None) or node.find(exp.Order)
    item = node.this
    while isinstance(item, (exp.Order, exp.Distinct)):
        item = item.this if isinstance(item, exp.Order) else item.expressions[0]
    if order is not None and not all(_is_same(key.this, item) for key in order.expressions):
        raise Untranslatable("LISTAGG(DISTINCT a) ordered by another value")
    listed = (
        _collected(item, outer, True) if order is None else sorted_by(item, order.expressions, "LISTAGG", outer, True)
    )
    present = exp.Anonymous(this="ARRAY_COMPACT", expressions=[listed])
    size = exp.Anonymous(this="SIZE", expressions=[present.copy()])
    joined = exp.Anonymous(this="ARRAY_JOIN", expressions=[exp.cast(present, "array<string>"), separator.copy()])
    none = exp.EQ(this=size, expression=exp.Literal.number(0))
    return exp.Anonymous(this="IF", expressions=[none, exp.Null(), joined])


def _greatest_values(node: exp.Expr, dialect: str) -> None:
    if dialect != "databricks" and (node.expressions or node.args.get("count")):
        raise Untranslatable(f"{type(node).__name__.upper()}(value, number)")


def _most_frequent(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """BigQuery's APPROX_TOP_COUNT, whose structs have other names in Spark."""
    if dialect != "bigquery" or len(node.args) < len(("this", "expression")):
        return None
    found = exp.Anonymous(this="APPROX_TOP_K", expressions=[node.this, node.expression])
    return filled("transform(:a, _x -> named_struct('value', _x.item, 'count', _x.count))", [found])


def _count(node: exp.Expr, dialect: str) -> None:
    """DuckDB's COUNT() of all rows."""
    if node.this is None and not node.expressions:
        node.set("this", exp.Star())


def refuse_orders(tree: exp.Expr) -> None:
    """Raise Untranslatable for an order inside of an aggregate that Spark has without one."""
    for order in tree.find_all(exp.Order):
        call = order.parent
        name = call.name if isinstance(call, exp.Anonymous) else call.sql_name() if isinstance(call, exp.Func) else ""
        ordered = isinstance(call, _ORDERED) or name.upper() in _ORDERED_BY_NAME
        if isinstance(call, (exp.AggFunc, exp.Anonymous)) and not ordered:
            with about(call):
                raise Untranslatable(f"{name.upper()}(… ORDER BY …)")


CORRECTIONS: Final[Mapping[type, Callable[[exp.Expr, str], exp.Expr | None]]] = {
    exp.ApproxQuantiles: _quantiles,
    exp.ArrayAgg: array_of_rows,
    exp.ArrayConcatAgg: _joined_lists,
    exp.Rand: _random,
    exp.Uniform: _uniform,
    exp.First: _first,
    exp.Last: _first,
    exp.AnyValue: _any,
    exp.GroupConcat: _texts_of_nothing,
    exp.ApproxTopK: _most_frequent,
    exp.Count: _count,
    exp.Max: _greatest_values,
    exp.Min: _greatest_values,
}
