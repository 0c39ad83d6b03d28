"""Rules for the rows and columns of a query: QUALIFY, DISTINCT ON, PIVOT and UNPIVOT, stars, limits.

QUALIFY and DISTINCT ON keep rows by windows, before the query orders and limits them: an inner query computes the test
as a column of its own, which the outer one leaves out again. So it does for a window that a query is ordered by, and
for an aggregate where Spark does not find it below HAVING or windows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.refusal import Untranslatable
from dbt.adapters.tablestore.dialect.rules.counterparts.clauses import is_aggregate

_TEST: Final = "_kept"
_OUTSIDE: Final = ("with_", "order", "limit", "offset")
_DIGITS_OF_OTHER_BASES: Final = re.compile(r"[xXbBoO][0-9A-Fa-f_]+")


def filter_by_windows(tree: exp.Expr) -> None:
    """Change each query with QUALIFY or DISTINCT ON, or that is ordered by a window, inner ones first."""
    for select in reversed(list(tree.find_all(exp.Select))):
        qualify, distinct = select.args.get("qualify"), select.args.get("distinct")
        keys = distinct.args.get("on") if distinct is not None else None
        if qualify is None and keys is None and not _is_ordered_by_other_rows(select):
            continue
        given = {one.alias.lower(): one.this for one in select.expressions if isinstance(one, exp.Alias)}
        test = _expanded(qualify.this, given) if qualify is not None else None
        if keys is not None:
            first = exp.EQ(this=_number_by(select, keys, given), expression=exp.Literal.number(1))
            if test is not None:
                raise Untranslatable("DISTINCT ON and QUALIFY in one query")
            test = first
            select.set("distinct", None)
        if test is None and distinct is not None:
            raise Untranslatable("SELECT DISTINCT … ORDER BY a window or an aggregate (order an outer query)")
        _keep(select, test, given)


def filter_by_subqueries(tree: exp.Expr) -> None:
    """Move conditions with subqueries from the ON of inner joins to WHERE, where Spark lets them read the rows."""
    for select in tree.find_all(exp.Select):
        joins = select.args.get("joins") or []
        for at, join in enumerate(joins):
            on = join.args.get("on")
            inner = not join.side and not join.method and join.kind in ("", "INNER")
            if on is None or not inner or any(one.side in ("RIGHT", "FULL") for one in joins[at:]):
                continue
            parts = list(on.flatten()) if isinstance(on, exp.And) else [on]
            moved = [one for one in parts if one.find(exp.Query) is not None]
            if moved:
                rest = [one.copy() for one in parts if one not in moved]
                join.set("on", exp.and_(*rest, copy=False) if rest else exp.true())
                select.where(*(one.copy() for one in moved), copy=False)


def _is_ordered_by_other_rows(select: exp.Select) -> bool:
    """Whether a query is ordered by a window, or by an aggregate of groups that HAVING or a window comes after."""
    order = select.args.get("order")
    keys = [one for one in order.walk() if one.find_ancestor(exp.Select) is select] if order is not None else []
    if any(isinstance(one, exp.Window) for one in keys):
        return True
    later = select.args.get("having") is not None or any(one.find(exp.Window) for one in select.expressions)
    return later and any(map(is_aggregate, keys))


def _number_by(select: exp.Select, keys: exp.Expr, given: Mapping[str, exp.Expr]) -> exp.Expr:
    """The number of a row among those of the same keys, in the order of the query."""
    columns = [_meant(one, select, given) for one in keys.expressions or [keys]]
    order = select.args.get("order")
    sorted_by = [one.copy() for one in order.expressions] if order is not None else []
    for one in sorted_by:
        one.set("this", _meant(one.this, select, given))
    by = exp.Order(expressions=sorted_by or [exp.Ordered(this=one.copy(), nulls_first=False) for one in columns])
    return exp.Window(this=exp.RowNumber(), partition_by=columns, order=by, over="OVER")


def _meant(key: exp.Expr, select: exp.Select, given: Mapping[str, exp.Expr]) -> exp.Expr:
    """The expression of a key, which may be a number or alias of the select list."""
    if isinstance(key, exp.Literal) and key.is_int:
        chosen = select.expressions[: int(key.name)]
        if len(chosen) < int(key.name) or any(one.is_star for one in chosen):
            raise Untranslatable(f"column number {key.name} of a select list with *")
        return chosen[-1].unalias().copy()  # type: ignore[no-any-return]
    if isinstance(key, exp.Column) and not key.table and key.name.lower() in given:
        return given[key.name.lower()].copy()
    return key.copy()


def _expanded(test: exp.Expr, given: Mapping[str, exp.Expr]) -> exp.Expr:
    """A test with the expressions of the aliases that it names, unless these read a column of the same name."""
    whole = exp.paren(test.copy(), copy=False)
    for column in list(whole.find_all(exp.Column)):
        value = given.get(column.name.lower()) if not column.table else None
        if value is not None and not any(one.name.lower() == column.name.lower() for one in value.find_all(exp.Column)):
            column.replace(exp.paren(value.copy(), copy=False))
    return whole


def _keep(select: exp.Select, test: exp.Expr | None, given: Mapping[str, exp.Expr]) -> None:
    """Put a query inside of itself, with its test, if any, as a column; order and limit stay outside."""
    inner = select.copy()
    for name in (*_OUTSIDE, "qualify", "distinct"):
        inner.set(name, None)
    _group_by_keys(inner)
    hidden = [] if test is None else [_TEST]
    if test is not None:
        inner.append("expressions", exp.alias_(test, _TEST, copy=False))
    outputs = {one.alias_or_name.lower() for one in select.expressions if not one.is_star}
    order = select.args.get("order")
    for number, key in enumerate(order.expressions if order is not None else []):
        value = key.this
        named = isinstance(value, exp.Column) and not value.table and value.name.lower() in outputs
        if named or (isinstance(value, exp.Literal) and value.is_int) or value.name.upper() == "ALL":
            continue
        hidden.append(f"_order{number}")
        inner.append("expressions", exp.alias_(_expanded(value, given), hidden[-1], copy=False))
        key.set("this", exp.column(hidden[-1]))
    for name in [one for one in select.args if one not in (*_OUTSIDE, "distinct")]:
        select.set(name, None)
    select.set("expressions", [_all_but(hidden)])
    select.set("from_", exp.From(this=exp.Subquery(this=inner, alias=_alias("_t"))))
    if test is not None:
        select.set("where", exp.Where(this=exp.column(_TEST)))


def _group_by_keys(select: exp.Select) -> None:
    """GROUP BY ALL by its keys, which the test is none of."""
    group = select.args.get("group")
    if group is None or not group.args.get("all"):
        return
    if any(one.is_star for one in select.expressions):
        raise Untranslatable("GROUP BY ALL of a select list with * and QUALIFY")
    group.set("all", None)
    group.set("expressions", [one.unalias().copy() for one in select.expressions if not _is_aggregate(one)])


def _is_aggregate(value: exp.Expr) -> bool:
    return value.find(exp.Window) is not None or any(map(is_aggregate, value.walk()))


def _all_but(names: list[str]) -> exp.Expr:
    return exp.Star(except_=[exp.to_identifier(one) for one in names])


def _alias(name: str) -> exp.TableAlias:
    return exp.TableAlias(this=exp.to_identifier(name))


def name_pivoted_columns(tree: exp.Expr, dialect: str) -> None:
    """BigQuery's UNPIVOT has the column of values before that of names, and its PIVOT names by the aggregate first. A
    count of no rows is 0, and null in Spark's PIVOT."""
    if dialect in ("duckdb", "snowflake"):
        for pivot in list(tree.find_all(exp.Pivot)):
            _count_none(pivot)
    for pivot in list(tree.find_all(exp.Pivot)) if dialect == "bigquery" else ():
        source = pivot.parent
        if source is None or len(source.args.get("pivots") or []) != 1:
            raise Untranslatable("two PIVOT or UNPIVOT of one table")
        if pivot.args.get("unpivot"):
            values = [name for one in pivot.expressions for name in (one.expressions or [one])]
            names = [*values, pivot.args["fields"][0].this]
            chosen: list[exp.Expr] = [exp.column(one.name) for one in names]
            _choose(source, pivot, [one.name for one in names], chosen)
        elif any(isinstance(one, exp.Alias) for one in pivot.expressions):
            _rename(source, pivot)
        else:
            _count_none(pivot)


def _count_none(pivot: exp.Pivot) -> None:
    """The counts of a PIVOT, which are 0 where a column has no rows."""
    names = [one.name for one in pivot.args.get("columns") or []]
    aggregates = [one.unalias() for one in pivot.expressions]
    source, fields = pivot.parent, pivot.args.get("fields") or []
    counts = [isinstance(one, (exp.Count, exp.CountIf)) for one in aggregates]
    if source is None or pivot.args.get("unpivot") or not any(counts) or len(source.args.get("pivots") or []) != 1:
        return
    if len(fields) == 1 and len(names) == len(fields[0].expressions) * len(aggregates):
        chosen = [_counted(name, name, counts[at % len(counts)]) for at, name in enumerate(names)]
        _choose(source, pivot, names, chosen)


def _counted(column: str, name: str, is_count: bool) -> exp.Expr:
    value: exp.Expr = exp.column(column, quoted=True)
    if is_count:
        value = exp.Coalesce(this=value, expressions=[exp.Literal.number(0)])
    return exp.alias_(value, name, quoted=True) if is_count or column != name else value


def _rename(source: exp.Expr, pivot: exp.Pivot) -> None:
    """Number what Spark makes the names of, and rename the columns."""
    names = [one.name for one in pivot.args.get("columns") or []]
    values = pivot.args["fields"][0].expressions
    aggregates = [one.unalias() for one in pivot.expressions]
    if len(names) != len(values) * len(aggregates):
        raise Untranslatable("PIVOT with aliases and a number of columns that is not known")
    pivot.args["fields"][0].set(
        "expressions",
        [exp.PivotAlias(this=one.this if isinstance(one, exp.PivotAlias) else one, alias=exp.to_identifier(f"_v{i}"))
         for i, one in enumerate(values)],
    )  # fmt: skip
    pivot.set("expressions", [exp.alias_(one, f"_a{j}") for j, one in enumerate(aggregates)])
    pivot.set("columns", None)
    several = len(aggregates) > 1
    made = [f"_v{i}__a{j}" if several else f"_v{i}" for i in range(len(values)) for j in range(len(aggregates))]
    counts = [isinstance(one, (exp.Count, exp.CountIf)) for one in aggregates]
    pairs = enumerate(zip(made, names, strict=True))
    _choose(source, pivot, made, [_counted(a, b, counts[at % len(counts)]) for at, (a, b) in pairs])


def _choose(source: exp.Expr, pivot: exp.Pivot, without: list[str], chosen: list[exp.Expr]) -> None:
    """Replace a pivoted table by a query of its other columns and the chosen ones."""
    alias = pivot.args.get("alias")
    pivot.set("alias", None)
    query = exp.select(_all_but(without), *chosen).from_(source.copy())
    source.replace(exp.Subquery(this=query, alias=alias.copy() if alias is not None else None))


def _star(node: exp.Expr, dialect: str) -> None:
    for word in ("rename", "replace", "ilike"):
        if node.args.get(word):
            raise Untranslatable(f"{word.upper()} in SELECT * (name the columns)")


def _join(node: exp.Expr, dialect: str) -> None:
    method = str(node.args.get("method") or "").upper()
    if method in ("ASOF", "POSITIONAL"):
        way = "number the rows of both by row_number()"
        if method == "ASOF":
            way = "join all rows, and keep the nearest one by QUALIFY row_number() over (…) = 1"
        raise Untranslatable(f"{method} JOIN ({way})")


def _limit(node: exp.Expr, dialect: str) -> None:
    options = node.args.get("limit_options")
    if options is not None and options.args.get("with_ties"):
        raise Untranslatable("FETCH … WITH TIES (write QUALIFY rank() over (order by …) <= n)")
    if options is not None and options.args.get("percent"):
        raise Untranslatable("a limit in percent")


def _cte(node: exp.Expr, dialect: str) -> None:
    """AS MATERIALIZED says how a query runs. Snowflake's WITH r AS (… UNION ALL … FROM r) needs no RECURSIVE."""
    node.set("materialized", None)
    tables = node.this.find_all(exp.Table) if dialect == "snowflake" and isinstance(node.this, exp.SetOperation) else ()
    if any(not one.db and one.name.lower() == node.alias.lower() for one in tables) and node.parent is not None:
        node.parent.set("recursive", True)


def _grouping(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """GROUPING(a, b)."""
    several = len(node.expressions) > 1
    return exp.Anonymous(this="GROUPING_ID", expressions=node.expressions) if several else None


def _named_zero(node: exp.Expr, dialect: str) -> None:
    """0x1F, which sqlglot takes for a zero with the alias x1F."""
    zero, name = node.this, node.args["alias"]
    if not isinstance(zero, exp.Literal) or zero.is_string or not _DIGITS_OF_OTHER_BASES.fullmatch(name.name):
        return
    end, start = zero.meta.get("end"), name.meta.get("start")
    if end is not None and end + 1 == start:
        raise Untranslatable(f"the number {zero.name}{name.name} (write it in decimal digits)")


CORRECTIONS: Final[Mapping[type, Callable[[exp.Expr, str], exp.Expr | None]]] = {
    exp.Star: _star,
    exp.Fetch: _limit,
    exp.Join: _join,
    exp.Limit: _limit,
    exp.CTE: _cte,
    exp.Grouping: _grouping,
    exp.Alias: _named_zero,
}
