"""The kinds of the numbers in quotients, whose types decide what a quotient is.

A column is searched in the queries, common table expressions and tables that it comes from, before any rule changes
them. What is found is noted at the column, and at the quotient for both of its sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.aliases import columns_of_sources, cte_of, sources_of
from dbt.adapters.tablestore.dialect.refusal import Columns
from dbt.adapters.tablestore.dialect.rules.numbers.kinds import MARK, kind_of, kind_of_column, united, value_of
from dbt.adapters.tablestore.dialect.rules.numbers.quotients import KINDS

_MOST_LEVELS: Final = 50


def mark_quotients(tree: exp.Expr, dialect: str, columns_of: Columns | None) -> None:
    """Note the kinds of the sides of all quotients that are integers where both sides are, and of DuckDB's, which are
    DOUBLEs, as its averages are."""
    search = _Search(dialect, columns_of)
    for one in tree.find_all(exp.Div, exp.IntDiv, exp.Avg):
        sides = [one.this, one.expression] if isinstance(one, exp.Binary) else [value_of(one)]
        if dialect == "duckdb" or (isinstance(one, exp.Div) and one.args.get("typed")):
            one.meta[KINDS] = tuple(search.kind(side, _MOST_LEVELS) for side in sides)


def number_kind(value: exp.Expr, dialect: str, columns_of: Columns | None) -> str | None:
    """The kind of a number in a query."""
    return _Search(dialect, columns_of).kind(value, _MOST_LEVELS)


@dataclass(frozen=True)
class _Search:
    dialect: str
    columns_of: Columns | None
    asked: set[int] = field(default_factory=set)

    def kind(self, value: exp.Expr, levels: int) -> str | None:
        """The kind of an expression, whose columns are marked."""
        for column in value.find_all(exp.Column):
            if id(column) in self.asked or not levels or column.is_star:
                continue
            self.asked.add(id(column))
            kind = self._of_column(column, levels - 1)
            if kind is not None:
                column.meta[MARK] = kind
        return kind_of(value, self.dialect)

    def _of_column(self, column: exp.Column, levels: int) -> str | None:
        select = column.find_ancestor(exp.Select)
        own = select
        while select is not None:
            kind = self._of_sources(select, column.table, column.name.lower(), levels)
            if kind is not None:
                return kind
            select = select.find_ancestor(exp.Select)
        return None if own is None or column.table else self._of_alias(own, column, levels)

    def _of_alias(self, select: exp.Select, column: exp.Column, levels: int) -> str | None:
        """The kind of `n` in `select count(*) as n, n / 2`, where no table has such a column."""
        name = column.name.lower()
        known = columns_of_sources(select, self.columns_of)
        given = [one for one in select.expressions if isinstance(one, exp.Alias) and one.alias.lower() == name]
        if known is None or name in known or len(given) != 1 or column.find_ancestor(exp.Alias) is given[0]:
            return None
        return self.kind(given[0].this, levels)

    def _of_sources(self, select: exp.Select, table: str, name: str, levels: int) -> str | None:
        for source in sources_of(select):
            if table and source.alias_or_name.lower() != table.lower():
                continue
            kind = self._of_source(source, name, levels)
            if kind is not None:
                return kind
        return None

    def _of_source(self, source: exp.Expr, name: str, levels: int) -> str | None:
        if source.args.get("pivots") or not levels:
            return None
        names = _names(source.args.get("alias"))
        position = names.index(name) if name in names else None
        if names and position is None:
            return None
        inner = source.this
        if isinstance(source, exp.Lateral):
            return self._of_source(inner, name, levels) if not names else self._of_query(inner, name, position, levels)
        if isinstance(source, exp.Unnest) and position is not None and position < len(source.expressions):
            return self._of_elements(source.expressions[position], levels)
        if isinstance(inner, exp.Func):
            only = position == 0 or source.alias_or_name.lower() == name
            return self._of_elements(inner, levels) if only else None
        if not isinstance(source, exp.Table):
            return self._of_query(source, name, position, levels)
        found = None if source.db else cte_of(source)
        if found is not None:
            return self._of_cte(found, name, position, levels)
        types = self.columns_of([one.name for one in source.parts]) if self.columns_of is not None else None
        listed = list((types or {}).items())
        given = listed[position : position + 1] if position is not None else listed
        return next((kind_of_column(of.lower()) for key, of in given if names or key.lower() == name), None)

    def _of_cte(self, cte: exp.CTE, name: str, position: int | None, levels: int) -> str | None:
        names = _names(cte.args.get("alias"))
        at = names.index(name) if position is None and name in names else position
        query = cte.this
        recursive = isinstance(query, exp.SetOperation) and any(
            one.name.lower() == cte.alias.lower() for one in query.find_all(exp.Table)
        )
        return self._of_query(query.this if recursive else query, name, at, levels)

    def _of_query(self, query: exp.Expr, name: str, position: int | None, levels: int) -> str | None:
        if isinstance(query, exp.Subquery):
            return self._of_query(query.this, name, position, levels)
        if isinstance(query, exp.SetOperation):
            at = _position(query.left, name) if position is None else position
            return united(self._of_query(one, name, at, levels) for one in (query.left, query.right))
        if isinstance(query, exp.Values) and position is not None:
            rows = [one.expressions if isinstance(one, exp.Tuple) else [one] for one in query.expressions]
            cells = [one[position] for one in rows if position < len(one)]
            return united(self.kind(one, levels) for one in cells if not isinstance(one, exp.Null))
        if not isinstance(query, exp.Select) or not levels:
            return None
        return self._of_output(query, name, position, levels - 1)

    def _of_output(self, query: exp.Select, name: str, position: int | None, levels: int) -> str | None:
        given: Sequence[exp.Expr] = query.expressions
        starred = [one for one in given if one.is_star]
        if position is not None and not any(one.is_star for one in given[: position + 1]):
            return self.kind(given[position].unalias(), levels) if position < len(given) else None
        for one in given:
            if position is None and not one.is_star and one.alias_or_name.lower() == name:
                return self.kind(one.unalias(), levels)
        if position is not None or len(starred) != 1:
            return None
        return self._of_sources(query, getattr(starred[0], "table", ""), name, levels)

    def _of_elements(self, listed: exp.Expr, levels: int) -> str | None:
        """The kind of the values of a series or of an array."""
        if isinstance(listed, exp.Array):
            return united(self.kind(one, levels) for one in listed.expressions)
        if not isinstance(listed, (exp.GenerateSeries, exp.ExplodingGenerateSeries)):
            return None
        return united(self.kind(listed.args[one], levels) for one in ("start", "end"))


def _names(alias: exp.Expr | None) -> list[str]:
    return [one.name.lower() for one in alias.columns] if isinstance(alias, exp.TableAlias) else []


def _position(query: exp.Expr, name: str) -> int | None:
    """The position of a column among those of a query; None where a star is before it."""
    while isinstance(query, (exp.Subquery, exp.SetOperation)):
        query = query.this
    given = query.expressions if isinstance(query, exp.Select) else []
    names = [one.alias_or_name.lower() for one in given]
    found = names.index(name) if name in names else None
    return None if found is None or any(one.is_star for one in given[: found + 1]) else found
