"""The names of the columns that a query gives, in order: those of `*` are known where those of the tables are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.aliases import cte_of
from dbt.adapters.tablestore.dialect.refusal import Columns, Untranslatable

_MOST_LEVELS: Final = 50


def keys_of(names: Iterable[exp.Identifier]) -> list[str]:
    return [one.name.lower() for one in names]


def outputs_of(query: exp.Expr, columns_of: Columns | None, subject: str) -> list[exp.Identifier]:
    """The names of the columns of a query. Raises Untranslatable about the subject where they are not known."""
    return _Search(columns_of, subject).outputs(query, _MOST_LEVELS)


def columns_of_star(
    star: exp.Expr, select: exp.Select, columns_of: Columns | None, subject: str
) -> list[tuple[str, exp.Identifier]]:
    """The columns of `*` or `t.*` in a query, without those that it leaves out, each with the name of its source."""
    return list(_Search(columns_of, subject).star(star, select, _MOST_LEVELS))


@dataclass(frozen=True)
class _Search:
    columns_of: Columns | None
    subject: str

    def outputs(self, query: exp.Expr, levels: int) -> list[exp.Identifier]:
        while isinstance(query, (exp.Subquery, exp.SetOperation)):
            query = query.this
        if not isinstance(query, exp.Select) or not levels:
            raise Untranslatable(f"{self.subject} of something else than SELECT")
        names: list[exp.Identifier] = []
        for one in query.expressions:
            name = one.args.get("alias") or (one.expression if isinstance(one, exp.Dot) else one.this)
            if one.is_star:
                names += [column for _, column in self.star(one, query, levels)]
            elif isinstance(one, (exp.Alias, exp.Column, exp.Dot)) and isinstance(name, exp.Identifier):
                names.append(name)
            else:
                raise Untranslatable(f"{self.subject} of the column {one.sql()}, which has no name (give it an alias)")
        if len(set(keys_of(names))) < len(names):
            raise Untranslatable(f"{self.subject} of a query with two columns of one name")
        return names

    def star(self, star: exp.Expr, select: exp.Select, levels: int) -> Iterator[tuple[str, exp.Identifier]]:
        table = star.args.get("table") if isinstance(star, exp.Column) else None
        inner = star.this if isinstance(star, exp.Column) else star
        first = select.args.get("from_")
        joins = select.args.get("joins") or []
        sources = [*([first.this] if first is not None else []), *(one.this for one in joins)]
        if table is not None:
            sources = [one for one in sources if one.alias_or_name.lower() == table.name.lower()]
        known = not select.args.get("laterals") and not any(one.args.get("using") or one.method for one in joins)
        if not sources or not (known or table is not None):
            raise self._unknown(star.sql())
        left_out = {one.name.lower() for one in inner.args.get("except_") or []}
        for source in sources:
            for name in self._of_source(source, levels):
                if name.name.lower() not in left_out:
                    yield source.alias_or_name, name

    def _of_source(self, source: exp.Expr, levels: int) -> list[exp.Identifier]:
        alias = source.args.get("alias")
        if isinstance(alias, exp.TableAlias) and alias.columns:
            return list(alias.columns)
        if source.args.get("pivots"):
            raise self._unknown(source.sql())
        if isinstance(source, exp.Subquery):
            return self.outputs(source.this, levels - 1)
        if not isinstance(source, exp.Table) or not isinstance(source.this, exp.Identifier):
            raise self._unknown(source.sql())
        found = None if source.db else cte_of(source)
        if found is not None:
            return list(found.args["alias"].columns) or self.outputs(found.this, levels - 1)
        names = self.columns_of([one.name for one in source.parts]) if self.columns_of is not None else None
        if not names:
            raise self._unknown(source.sql())
        return [exp.to_identifier(one, quoted=True) for one in names]

    def _unknown(self, what: str) -> Untranslatable:
        return Untranslatable(f"{self.subject} of {what}, whose columns are not known (name them)")
