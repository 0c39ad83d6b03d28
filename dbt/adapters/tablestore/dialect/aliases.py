"""Aliases of a select list that its windows or its WHERE clause name: Spark does not know them there.

An alias is replaced by its expression where no table of the query has a column of its name, because such a column
counts first. Where the columns of a table are not known, the alias stays, and is Spark's error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.refusal import Columns

_DIALECTS: Final = ("snowflake", "redshift", "duckdb")
_FLATTENED: Final = frozenset(["seq", "key", "path", "index", "value", "this"])
_MOST_LEVELS: Final = 50
# Expressions whose copy would be another value.
_NEVER_COPIED: Final = (exp.Window, exp.Rand, exp.Randn, exp.Uuid)


def inline_aliases(tree: exp.Expr, dialect: str, columns_of: Columns | None) -> None:
    """Replace the aliases of all queries in a text. columns_of: the columns of a table by its name's parts."""
    if dialect not in _DIALECTS:
        return
    for select in list(tree.find_all(exp.Select)):
        given = {one.alias.lower(): one.this for one in select.expressions if isinstance(one, exp.Alias)}
        used = list(_uses(select, given))
        if not used:
            continue
        known = _sources(select, columns_of, _MOST_LEVELS)
        if known is None:
            continue
        free = {name: value for name, value in given.items() if name not in known}
        for column in used:
            value = _expanded(column.name.lower(), free, _MOST_LEVELS)
            if value is not None and value.find(*_NEVER_COPIED) is None:
                column.replace(exp.paren(value, copy=False))


def _uses(select: exp.Select, given: Mapping[str, exp.Expr]) -> Iterator[exp.Column]:
    """The names of aliases in windows behind them, in those of QUALIFY, and in WHERE."""
    before: set[str] = set()
    for one in select.expressions:
        yield from (
            column for window in one.find_all(exp.Window) for column in _own(window, select) if _named(column, before)
        )
        if isinstance(one, exp.Alias):
            before.add(one.alias.lower())
    qualify, where = select.args.get("qualify"), select.args.get("where")
    for window in qualify.find_all(exp.Window) if qualify is not None else ():
        yield from (column for column in _own(window, select) if _named(column, before))
    if where is not None:
        yield from (column for column in _own(where, select) if _named(column, before))


def _own(part: exp.Expr, select: exp.Select) -> list[exp.Column]:
    """The columns in a part of a query, without those of its subqueries."""
    return [one for one in part.find_all(exp.Column) if one.find_ancestor(exp.Select) is select]


def _named(column: exp.Column, names: set[str]) -> bool:
    return not column.table and column.name.lower() in names


def _expanded(name: str, free: Mapping[str, exp.Expr], levels: int) -> exp.Expr | None:
    """The expression of an alias, in which other aliases are replaced, too."""
    if name not in free or not levels:
        return None
    value = exp.paren(free[name].copy(), copy=False)
    for column in list(value.find_all(exp.Column)):
        inner = None if column.table else _expanded(column.name.lower(), free, levels - 1)
        if inner is not None:
            column.replace(exp.paren(inner, copy=False))
    return value.this


def sources_of(select: exp.Select) -> list[exp.Expr]:
    """The tables, subqueries and lateral views that a query reads, in order."""
    first = select.args.get("from_")
    found = [first.this] if first is not None else []
    found += [one.this for one in select.args.get("joins") or []]
    return [*found, *(select.args.get("laterals") or [])]


def _sources(select: exp.Select, columns_of: Columns | None, levels: int) -> frozenset[str] | None:
    """All columns of the tables that a query reads, in lower case; None where they are not known."""
    return _union(_columns(one, columns_of, levels) for one in sources_of(select))


def columns_of_sources(select: exp.Select, columns_of: Columns | None) -> frozenset[str] | None:
    """All columns of the tables that a query reads, in lower case; None where they are not known."""
    return _sources(select, columns_of, _MOST_LEVELS)


def _columns(source: exp.Expr, columns_of: Columns | None, levels: int) -> frozenset[str] | None:
    alias = source.args.get("alias")
    if alias is not None and isinstance(alias, exp.TableAlias) and alias.columns:
        return frozenset(one.name.lower() for one in alias.columns)
    if isinstance(source, exp.Subquery):
        return _outputs(source.this, columns_of, levels)
    if isinstance(source, exp.Lateral) and isinstance(source.this, exp.Explode):
        return _FLATTENED
    if not isinstance(source, exp.Table) or not isinstance(source.this, exp.Identifier) or not levels:
        return None
    if not source.db:
        found = cte_of(source)
        if found is not None:
            return _outputs(found.this, columns_of, levels - 1)
    names = columns_of([one.name for one in source.parts]) if columns_of is not None else None
    return frozenset(one.lower() for one in names) if names else None


def _outputs(query: exp.Expr, columns_of: Columns | None, levels: int) -> frozenset[str] | None:
    """The columns that a query gives, or more; None where they are not known."""
    while isinstance(query, (exp.SetOperation, exp.Subquery)):
        query = query.this
    if not isinstance(query, exp.Select) or not levels:
        return None
    names = frozenset(one.alias_or_name.lower() for one in query.expressions)
    if not any(one.is_star for one in query.expressions):
        return names
    return _union([names, _sources(query, columns_of, levels - 1)])


def cte_of(table: exp.Table) -> exp.CTE | None:
    """The common table expression that a name means."""
    query: exp.Expr | None = table
    while query is not None:
        query = query.find_ancestor(exp.Query)
        clause = query.args.get("with_") if query is not None else None
        for one in clause.expressions if clause is not None else ():
            if one.alias.lower() == table.name.lower():
                return one  # type: ignore[no-any-return]
    return None


def _union(parts: Iterator[frozenset[str] | None] | list[frozenset[str] | None]) -> frozenset[str] | None:
    found: frozenset[str] = frozenset()
    for one in parts:
        if one is None:
            return None
        found |= one
    return found
