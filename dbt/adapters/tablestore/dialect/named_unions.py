"""UNION BY NAME, which Spark does not have: both sides are made to have the same columns, in the order of the first.

A column that one side lacks is null there, except in BigQuery, where both have the same ones. The names of all columns
must be known: those of `*` are, where those of the tables are.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from dbt.adapters.tablestore.dialect.aliases import cte_of
from dbt.adapters.tablestore.dialect.refusal import Columns, Untranslatable, about

_MOST_LEVELS = 50


def unite_by_name(tree: exp.Expr, dialect: str, columns_of: Columns | None) -> None:
    """Replace BY NAME, in inner queries first. Raises Untranslatable where the names of columns are not known."""
    for node in reversed(list(tree.find_all(exp.SetOperation))):
        if not node.args.get("by_name"):
            continue
        with about(node):
            if any(node.args.get(one) for one in ("side", "kind", "on")):
                raise Untranslatable("UNION BY NAME with FULL, LEFT, INNER or ON")
            given = [_outputs(one, columns_of, _MOST_LEVELS) for one in (node.this, node.expression)]
            pads = isinstance(node, exp.Union) and dialect != "bigquery"
            left, right = (_keys(names) for names in given)
            if not pads and set(left) != set(right):
                alone = ", ".join(sorted(set(left) ^ set(right)))
                raise Untranslatable(f"UNION BY NAME of other columns ({alone} on one side)")
            names = [*given[0], *(one for one in given[1] if one.name.lower() not in left)]
        node.set("by_name", None)
        for key, own in zip(("this", "expression"), (left, right), strict=True):
            if own != _keys(names):
                node.set(key, _chosen(node.args[key], own, names))


def _keys(names: Iterable[exp.Identifier]) -> list[str]:
    return [one.name.lower() for one in names]


def _chosen(query: exp.Expr, own: list[str], names: list[exp.Identifier]) -> exp.Expr:
    """A query that has the columns of other names, too, as nulls."""
    columns = [
        exp.column(one.copy()) if one.name.lower() in own else exp.alias_(exp.Null(), one.copy()) for one in names
    ]
    inner = exp.Subquery(this=query.copy(), alias=exp.TableAlias(this=exp.to_identifier("_side")))
    return exp.select(*columns, copy=False).from_(inner, copy=False)


def _outputs(query: exp.Expr, columns_of: Columns | None, levels: int) -> list[exp.Identifier]:
    """The names of the columns that a query gives, in order. Raises Untranslatable where they are not known."""
    while isinstance(query, (exp.Subquery, exp.SetOperation)):
        query = query.this
    if not isinstance(query, exp.Select) or not levels:
        raise Untranslatable("UNION BY NAME of something else than SELECT")
    names: list[exp.Identifier] = []
    for one in query.expressions:
        name = one.args.get("alias") or (one.expression if isinstance(one, exp.Dot) else one.this)
        if one.is_star:
            names += _of_star(one, query, columns_of, levels)
        elif isinstance(one, (exp.Alias, exp.Column, exp.Dot)) and isinstance(name, exp.Identifier):
            names.append(name)
        else:
            raise Untranslatable(f"UNION BY NAME of the column {one.sql()}, which has no name (give it an alias)")
    if len(set(_keys(names))) < len(names):
        raise Untranslatable("UNION BY NAME of a query with two columns of one name")
    return names


def _of_star(star: exp.Expr, select: exp.Select, columns_of: Columns | None, levels: int) -> list[exp.Identifier]:
    """The columns of `*` or `t.*`, without those that it leaves out."""
    table = star.args.get("table") if isinstance(star, exp.Column) else None
    inner = star.this if isinstance(star, exp.Column) else star
    first = select.args.get("from_")
    joins = select.args.get("joins") or []
    sources = [*([first.this] if first is not None else []), *(one.this for one in joins)]
    if table is not None:
        sources = [one for one in sources if one.alias_or_name.lower() == table.name.lower()]
    known = not select.args.get("laterals") and not any(one.args.get("using") or one.method for one in joins)
    if not sources or not (known or table is not None):
        raise _unknown(star.sql())
    left_out = {one.name.lower() for one in inner.args.get("except_") or []}
    names = (name for one in sources for name in _of_source(one, columns_of, levels))
    return [one for one in names if one.name.lower() not in left_out]


def _of_source(source: exp.Expr, columns_of: Columns | None, levels: int) -> list[exp.Identifier]:
    alias = source.args.get("alias")
    if isinstance(alias, exp.TableAlias) and alias.columns:
        return list(alias.columns)
    if source.args.get("pivots"):
        raise _unknown(source.sql())
    if isinstance(source, exp.Subquery):
        return _outputs(source.this, columns_of, levels - 1)
    if not isinstance(source, exp.Table) or not isinstance(source.this, exp.Identifier):
        raise _unknown(source.sql())
    found = None if source.db else cte_of(source)
    if found is not None:
        return list(found.args["alias"].columns) or _outputs(found.this, columns_of, levels - 1)
    names = columns_of([one.name for one in source.parts]) if columns_of is not None else None
    if not names:
        raise _unknown(source.sql())
    return [exp.to_identifier(one, quoted=True) for one in names]


def _unknown(what: str) -> Untranslatable:
    return Untranslatable(f"UNION BY NAME of {what}, whose columns are not known (name them)")
