"""From which other tables a query takes the values by which it joins a table, or looks for its rows: `t JOIN s ON t.k =
s.k`, `t WHERE k IN (SELECT k FROM s)`.

Rows of `t` without a value of `s.k` in `k` cannot change the result wherever a condition on `t` could be pushed to it
(`pushdown`): an equality is never true for nulls. The values of `s.k` are at most those of the table that the column
is copied from, through subqueries and common table expressions. A query after IN is one SELECT, with such a table or
common table expression in its own FROM.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from tablestore_engine.sql.query.hidden_columns import stars
from tablestore_engine.sql.query.membership import items_between, read_memberships
from tablestore_engine.sql.query.predicate_reader import read_column, read_equalities
from tablestore_engine.sql.query.pushdown import Column, Output, find_column, is_transparent, pushed_sides
from tablestore_engine.sql.query_structure.query_structure import Cte, Query, Relation, Select, Span, Structure
from tablestore_engine.sql.tokens.lexer import QUOTED, Token

Path = tuple[Relation, ...]
"""A relation, that which its query copies a column from, and so on up to a table. Columns that come by one path are of
one row of the table; a common table expression that is read twice has two paths."""
Pairs = tuple[tuple[str, str], ...]
"""A column of a table and one of the table that it is joined with, as written."""
_UNNAMED: Final = frozenset(["NATURAL", "PIVOT", "UNPIVOT", "TABLE", "|>"])  # these use columns without their names
_BY_NUMBER: Final = frozenset(["ORDER", "SORT"])  # by the number of a column
_OPENS: Final = frozenset("([")
_CLOSES: Final = frozenset(")]")
_REGEX_SIGNS: Final = frozenset(".*+?|()[]{}^$\\")


@dataclass(frozen=True)
class JoinedWith:
    """A table whose rows have the values of the columns of another table: `relation` names it."""

    relation: Relation
    pairs: Pairs


def joined_with(structure: Structure, tokens: list[Token]) -> dict[Relation, list[JoinedWith]]:
    """For each table that a query names, the tables that it is joined with."""
    joins = _Joins(structure, tokens)
    try:
        found = {table: joins.of(table) for table in structure.tables}
    except RecursionError:
        return {}
    return {table: ones for table, ones in found.items() if ones}


def named_columns(structure: Structure, tokens: list[Token]) -> frozenset[str] | None:
    """The names in a query, in lower case: a column that is not among them is not used. None for all columns."""
    # FROM t JOIN s ON …, TABLE t; and t AS q(x, y), which has other names for the columns
    if any(table.select.items is None or table.renames_columns for table in structure.tables):
        return None
    selects = _selects(structure)
    known = {one.items[0] for one in selects if one.items and _is_copy(one, one.items, tokens)}
    lists: dict[Select, bool] = {}
    with suppress(RecursionError):  # of hundreds of levels, it is not known what a star means
        known |= {i for one in selects if _reads_lists(one, tokens, lists) for i in stars(one, tokens)}
    for i, token in enumerate(tokens):
        if token.key in _UNNAMED or (_is_star(tokens, i) and i not in known) or names_others(tokens, i):
            return None
    return frozenset(token.name.lower() for token in tokens if token.is_name)


def _selects(structure: Structure) -> set[Select]:
    """The selects that read tables, and those that read their output."""
    found: set[Select] = set()
    left = [table.select for table in structure.tables]
    while left:
        select = left.pop()
        if select not in found:
            found.add(select)
            left += [reader.select for reader in _readers(select.query)]
    return found


def _readers(query: Query) -> list[Relation]:
    owner = query.owner
    return owner.readers if isinstance(owner, Cte) else [] if owner is None else [owner]


def _is_copy(select: Select, items: Span, tokens: list[Token]) -> bool:
    """Whether a select is `SELECT * FROM t` in FROM or as a common table expression: its readers use columns by the
    names that they have in `t`."""
    query, readers = select.query, _readers(select.query)
    if isinstance(query.owner, Cte) and (query.owner.recursive or query.owner.renames_columns):
        return False
    if not readers or any(one.renames_columns or one.select.items is None or one.select.opaque for one in readers):
        return False
    if items[1] - items[0] > 1 or len(select.relations) > 1 or not is_transparent(query, tokens):
        return False
    depth = 0
    for token in tokens[items[1] :]:
        depth += (token.key in _OPENS) - (token.key in _CLOSES)
        if depth < 0 or token.key in _BY_NUMBER:
            return depth < 0
    return False


def _reads_lists(select: Select, tokens: list[Token], known: dict[Select, bool]) -> bool:
    """Whether all that a select reads are subqueries and common table expressions that name each of their columns: its
    star means these. `known` are the answers for other selects."""
    if select not in known:
        known[select] = False
        queries = [
            one.query or (one.cte.query if one.cte and not one.cte.recursive else None) for one in select.relations
        ]
        known[select] = bool(queries) and not select.opaque and all(_is_list(one, tokens, known) for one in queries)
    return known[select]


def _is_list(query: Query | None, tokens: list[Token], known: dict[Select, bool]) -> bool:
    if query is None or not query.selects:
        return False
    for select in query.selects:
        own = set(stars(select, tokens))
        found = {i for i in range(*(select.items or (0, 0))) if _is_star(tokens, i)}
        if select.items is None or select.opaque or not found <= own:
            return False
        if found and not _reads_lists(select, tokens, known):
            return False
    return True


def _is_star(tokens: list[Token], i: int) -> bool:
    """Whether a token may be a star that means columns: in a select list, or as the argument of a function. The star
    of `count(*)` means none, if it is Spark's own `count`."""
    if tokens[i].key != "*":
        return False
    counts = tokens[i - 2].key == "COUNT" and tokens[i - 3].key != "." and tokens[i - 1].key == "("
    return not (counts and tokens[i + 1].key == ")")


def names_others(tokens: list[Token], i: int) -> bool:
    """Whether a token may mean columns of other names: `IDENTIFIER('v')`, or a regular expression of names."""
    token = tokens[i]
    if token.kind == QUOTED:
        return not _REGEX_SIGNS.isdisjoint(token.name)
    return token.key == "IDENTIFIER" and tokens[i + 1].key == "("


class _Joins:
    """Computes on demand what relations are joined with."""

    def __init__(self, structure: Structure, tokens: list[Token]) -> None:
        self._tokens = tokens
        owners = [table.select.query.owner for table in structure.tables]
        readers = [reader.select for owner in owners if isinstance(owner, Cte) for reader in owner.readers]
        selects = [*(table.select for table in structure.tables), *readers]
        self._by_begin = {one.items[0]: one for one in selects if one.items is not None}
        self._by_select: dict[Select, dict[Relation, list[JoinedWith]]] = {}

    def of(self, relation: Relation) -> list[JoinedWith]:
        """The tables that rows of a relation are joined with."""
        if relation.renames_columns or relation.sampled:
            return []
        return [*self._select(relation.select).get(relation, []), *self._around(relation)]

    def _around(self, relation: Relation) -> list[JoinedWith]:
        """The tables that the output of its query is joined with, where it is copied from the relation."""
        query = relation.select.query
        owner = query.owner
        if isinstance(owner, Cte):
            owner = (
                owner.readers[0] if len(owner.readers) == 1 and not (owner.recursive or owner.renames_columns) else None
            )
        if owner is None or relation.join in ("semi", "anti") or not is_transparent(query, self._tokens):
            return []
        output = Output(relation.select, self._tokens)
        found = []
        for one in self.of(owner):
            owned = [(output.owner(name), column) for name, column in one.pairs]
            pairs = tuple((own[1], column) for own, column in owned if own is not None and own[0] is relation)
            if pairs:
                found.append(JoinedWith(one.relation, pairs))
        return found

    def _select(self, select: Select) -> dict[Relation, list[JoinedWith]]:
        if select not in self._by_select:
            self._by_select[select] = {} if select.opaque else self._equal(select)
        return self._by_select[select]

    def _equal(self, select: Select) -> dict[Relation, list[JoinedWith]]:
        pairs: dict[tuple[Relation, Path], list[tuple[str, str]]] = {}
        for span, pushed in pushed_sides(select):
            for both in read_equalities(self._tokens, *span, lambda parts: find_column(select, parts)):
                for (own, name), other in (both, both[::-1]):
                    found = self._origin(other) if own in pushed and own is not other[0] else None
                    if found is not None:
                        pairs.setdefault((own, found[0]), []).append((name, found[1]))
            for (own, path), (name, column) in self._members(select, span):
                if own in pushed:
                    pairs.setdefault((own, path), []).append((name, column))
        joined: dict[Relation, list[JoinedWith]] = {}
        for (own, path), columns in pairs.items():
            joined.setdefault(own, []).append(JoinedWith(path[-1], tuple(columns)))
        return joined

    def _members(self, select: Select, span: Span) -> Iterator[tuple[tuple[Relation, Path], tuple[str, str]]]:
        """The columns that a condition looks for in queries, and the columns of tables that these return."""
        for one in read_memberships(self._tokens, *span, lambda parts: find_column(select, parts)):
            for (own, name), other in zip(one.columns, self._returned(one.query[0], len(one.columns)), strict=True):
                found = None if other is None else self._origin(other)
                if found is not None:
                    yield (own, found[0]), (name, found[1])

    def _returned(self, begin: int, count: int) -> list[Column | None]:
        """The columns of relations that the query of one SELECT, which begins at a token, returns."""
        select, tokens = self._by_begin.get(begin + 1), self._tokens
        if select is None or select.items is None or select.opaque or select.query.combined:
            return [None] * count
        start, end = select.items
        items = items_between(tokens, start + (tokens[start].key in ("DISTINCT", "ALL")), end)
        spans = [(first, last - 2 if tokens[last - 2].key == "AS" else last) for first, last in items]
        found = [read_column(tokens, *span, lambda parts: find_column(select, parts)) for span in spans]
        return found if len(found) == count else [None] * count

    def _origin(self, column: Column) -> tuple[Path, str] | None:
        """The column of a table that a column of a relation is copied from, and how its rows come here."""
        path: Path = ()
        found: Column | None = column
        while found is not None:
            relation, name = found
            path = (*path, relation)
            if relation.renames_columns or (relation.cte and (relation.cte.recursive or relation.cte.renames_columns)):
                return None
            query = relation.cte.query if relation.cte else relation.query
            if query is None:
                return (path, name) if relation.parts else None
            found = self._output_of(query, name)
        return None

    def _output_of(self, query: Query, name: str) -> Column | None:
        """The column of a relation that a column of a query is copied from."""
        if query.combined or len(query.selects) != 1:
            return None
        (select,) = query.selects
        return None if select.opaque or select.items is None else Output(select, self._tokens).owner(name)
