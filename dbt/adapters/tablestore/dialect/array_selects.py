"""ARRAY(SELECT …) of any query: a query of one list, or a function of the array whose rows it selects.

`array_queries` has replaced those over one array before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.refusal import Untranslatable, about
from dbt.adapters.tablestore.dialect.rules.json_parts import call, listed_rows

_DIALECTS: Final = ("postgres", "bigquery", "duckdb")
_MORE: Final = ("group", "having", "qualify", "limit", "offset", "windows", "with_")
_ITEM: Final = "_item"
_ROW: Final = "_row"


def read_lists_of_queries(tree: exp.Expr, dialect: str) -> None:
    """Replace them, inner ones first. Raises Untranslatable."""
    for node in reversed(list(tree.find_all(exp.Array))) if dialect in _DIALECTS else ():
        query = node.expressions[0] if len(node.expressions) == 1 else None
        if not isinstance(query, (exp.Select, exp.SetOperation)) or node.args.get("value_constructor"):
            continue
        with about(node):
            made = _of_rows(query) if dialect == "postgres" else None
            listed = made if made is not None else exp.Subquery(this=_one_list(query))
            node.replace(exp.Coalesce(this=listed, expressions=[call("ARRAY")]))


def _one_list(query: exp.Query) -> exp.Expr:
    """A query that aggregates the only column of another one."""
    items = query.selects
    if len(items) != 1 or items[0].is_star or query.args.get("kind"):
        raise Untranslatable("ARRAY(SELECT …) of several columns (aggregate with ARRAY_AGG)")
    item, order, distinct = items[0].unalias(), query.args.get("order"), query.args.get("distinct")
    several = any(query.args.get(one) for one in _MORE)
    several = several or (isinstance(distinct, exp.Distinct) and bool(distinct.args.get("on")))
    rows = [one for one in item.find_all(exp.Explode, exp.Anonymous) if array_of(one) is not None]
    if not isinstance(query, exp.Select) or several or rows or item.find(exp.AggFunc, exp.Window):
        if order is not None:
            raise Untranslatable("ARRAY(SELECT … ORDER BY …) with GROUP BY or LIMIT (aggregate with ARRAY_AGG)")
        alias = exp.TableAlias(this=exp.to_identifier("_rows"), columns=[exp.to_identifier(_ITEM)])
        inner = exp.Subquery(this=query.copy(), alias=alias)
        return exp.select(exp.ArrayAgg(this=exp.column(_ITEM)), copy=False).from_(inner, copy=False)
    select = query.copy()
    value: exp.Expr = item.copy()
    if distinct is not None:
        value = exp.Distinct(expressions=[value])
    if order is not None:
        value = exp.Order(this=value, expressions=_keys(order.expressions, items[0]))
    select.set("expressions", [exp.ArrayAgg(this=value)])
    select.set("order", None)
    select.set("distinct", None)
    return select


def _keys(keys: Sequence[exp.Expr], item: exp.Expr) -> list[exp.Expr]:
    """Copies of the keys of an order, with the item for its number and its alias."""
    made = [one.copy() for one in keys]
    for one in made:
        if _is_item(one.this, item):
            one.set("this", item.unalias().copy())
    return made


def _is_item(key: exp.Expr, item: exp.Expr) -> bool:
    number = isinstance(key, exp.Literal) and key.name == "1"
    named = isinstance(key, exp.Column) and not key.table and key.name.lower() == item.alias.lower()
    return number or named or key == item.unalias()


def _of_rows(query: exp.Query) -> exp.Expr | None:
    """Postgres' ARRAY(SELECT unnest(a)), and such of other functions that give rows; None for another query."""
    items = query.selects
    plain = isinstance(query, exp.Select) and not any(query.args.get(one) for one in ("from_", "where", *_MORE))
    value = items[0].unalias() if plain and len(items) == 1 else None
    found = [one for one in value.walk() if array_of(one) is not None] if value is not None else []
    if value is None or len(found) != 1:
        return None
    listed = array_of(found[0])
    if listed is not None and found[0] is not value:
        each = value.copy()
        next(one for one in each.walk() if one == found[0]).replace(exp.column(_ROW))
        listed = call("TRANSFORM", listed, exp.Lambda(this=each, expressions=[exp.to_identifier(_ROW)]))
    if listed is not None and query.args.get("distinct") is not None:
        listed = call("ARRAY_DISTINCT", listed)
    order = query.args.get("order")
    return listed if order is None or listed is None else _sorted(listed, order.expressions, items[0])


def _sorted(listed: exp.Expr, keys: Sequence[exp.Expr], item: exp.Expr) -> exp.Expr:
    if len(keys) != 1 or not _is_item(keys[0].this, item):
        raise Untranslatable("ARRAY(SELECT …) of rows that are ordered by another value (select them in FROM)")
    down = bool(keys[0].args.get("desc"))
    if bool(keys[0].args.get("nulls_first")) is not down:
        raise Untranslatable("ARRAY(SELECT …) with NULLS FIRST or NULLS LAST (select the rows in FROM)")
    made = call("ARRAY_SORT", listed)
    return call("REVERSE", made) if down else made


def elements_of(name: str, given: Sequence[exp.Expr]) -> exp.Expr | None:
    """The array of the rows that a function of Postgres makes of JSON; None for another function. Its functions are
    Spark's, which later rules leave as they are."""
    rows = listed_rows(name, given, "postgres")
    for one in rows.find_all(exp.Anonymous) if rows is not None else ():
        if one.name in ("TO_JSON", "JSON_OBJECT_KEYS"):
            one.set("this", f"spark__{one.name}")
    return None if rows is None else rows.expressions[0]


def array_of(node: exp.Expr) -> exp.Expr | None:
    """The array of which a function of Postgres gives the elements as rows; None for another node."""
    if isinstance(node, exp.Explode):
        return node.this.copy()  # type: ignore[no-any-return]
    if isinstance(node, exp.ExplodingGenerateSeries):
        return exp.GenerateSeries(**{key: one.copy() for key, one in node.args.items() if isinstance(one, exp.Expr)})
    if not isinstance(node, exp.Anonymous):
        return None
    name, given = node.name.upper(), [one.copy() for one in node.expressions]
    if name == "REGEXP_SPLIT_TO_TABLE" and len(given) == 2:
        return call("SPLIT", *given)
    if name == "STRING_TO_TABLE" and len(given) == 2:
        return exp.StringToArray(this=given[0], expression=given[1])
    return elements_of(name, given)
