"""A query bound to pinned views: the same text with the names of tables, and nothing else, replaced.

*References* are the tables that a query names, in order. `resolve` returns the view that replaces a
reference, or None to keep it (a temporary view, a table of Spark's). Invariant: the bound text differs from
the query only as follows:

* the name of a bound table becomes the view's name, in backquotes;
* a bound table without an alias gets its own last name as the alias, so that its columns can still be
  qualified by it. When tables that one expression can see share that last name they keep the view's name instead;
* the time-travel clause and the hint of a bound table are removed, because the view is already pinned;
* ``database.table.column`` of a bound table loses its database;
* ``*`` leaves out the hidden columns of a bound table.

If `resolve` returns None for every reference, the text is unchanged. Bad syntax raises no error here:
Spark's parser reports it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from tablestore_engine.errors import SqlError
from tablestore_engine.schema.table.predicate import Predicate
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.sql.query.hidden_columns import hidden_columns, stars
from tablestore_engine.sql.query.joined_keys import Pairs, joined_with, named_columns
from tablestore_engine.sql.query.options_hint import time_travel_of
from tablestore_engine.sql.query.pushdown import table_predicates
from tablestore_engine.sql.query_structure.query_structure import (
    DottedName,
    Relation,
    Select,
    Span,
    Structure,
    TimeTravel,
)
from tablestore_engine.sql.query_structure.table_references import scan_expression, scan_query
from tablestore_engine.sql.tokens.cursor import NO_CATALOG, OWN_CATALOGS
from tablestore_engine.sql.tokens.lexer import Token, edited, tokenize

FILE_FORMATS: Final = frozenset(
    ["parquet", "orc", "csv", "json", "text", "avro", "xml", "binaryfile", "delta", "iceberg", "hudi"]
)


@dataclass(frozen=True)
class TableReference:
    """A table that a query reads.

    ``database`` is None when the query names none. ``name`` may end in a system table's suffix
    (``t$snapshots``). ``predicate`` holds for every row that can matter; None is no restriction.
    ``hidden`` are the hidden columns that the query names. ``changes`` are the bounds of ``table_changes``, as written,
    for a query that reads the table's changes; ``options`` are those of a hint. ``without_catalog``: the text has an
    empty catalog before the database (``None.db.t``, ``.db.t``), so Spark could not resolve the name.
    ``joined`` are the tables that it is joined with, and ``columns`` the names in the query (None: any).
    """

    database: str | None
    name: str
    time_travel: TimeTravel | None = None
    predicate: Predicate | None = None
    without_catalog: bool = False
    hidden: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    joined: tuple[tuple[TableReference, Pairs], ...] = ()
    columns: frozenset[str] | None = None

    @property
    def is_plain(self) -> bool:
        """Whether it reads the rows of a table as they are now."""
        return not (self.time_travel or self.changes or self.options or self.without_catalog or "$" in self.name)

    @property
    def asked(self) -> str:
        """All that it asks of its table, for comparison."""
        return repr(replace(self, database=None, name="", without_catalog=False))

    def in_database(self, current: str) -> TableReference:
        """The reference, of which the tables that it is joined with name their database."""
        named = ((replace(one, database=one.database or current), pairs) for one, pairs in self.joined)
        return replace(self, joined=tuple(named)) if self.joined else self


@dataclass(frozen=True)
class Binding:
    """The replacement of a table: the name of a temporary view, and the table's database. A query may qualify
    columns by the database even if it names the table without one."""

    view: str
    database: str | None = None


@dataclass(frozen=True)
class BoundQuery:
    """The rewritten text and its bound references in order of appearance; also the original query and the edits (start,
    end, replacement) in order."""

    text: str
    references: tuple[TableReference, ...]
    source: str
    edits: tuple[tuple[int, int, str], ...] = ()

    def origin(self, offset: int) -> int:
        """The offset in the query that corresponds to an offset in the rewritten text."""
        shift = 0
        for start, end, replacement in self.edits:
            if offset < start + shift:
                break
            if offset < start + shift + len(replacement):
                return start
            shift += len(replacement) - (end - start)
        return offset - shift


ViewOf = Callable[[TableReference], "Binding | None"]
Qualifiers = Mapping[tuple[str, str], str]


def bind(query_sql: str, resolve: ViewOf) -> BoundQuery:
    """Binds the tables of a query. ``resolve`` is called once for each reference, in order."""
    return _Rewrite(_analyze(query_sql, False), query_sql, resolve, {}).result()


def bind_expression(expression_sql: str, resolve: ViewOf, qualifiers: Qualifiers | None = None) -> BoundQuery:
    """Binds the subqueries of an expression: a condition, the value of an assignment.

    ``qualifiers`` maps ``(database, table)`` (lower-cased) of the statement's own tables to the alias that
    replaces the qualifier of columns written as ``database.table.column``.
    """
    return _Rewrite(_analyze(expression_sql, True), expression_sql, resolve, qualifiers or {}).result()


def references(query_sql: str, asked: Predicate | None = None) -> tuple[TableReference, ...]:
    """Every table that a query names, bound or not, temporary views among them. ``asked`` is a predicate
    on the query's output, which restricts the tables' rows further."""
    tables = _analyze(query_sql, False).tables if asked is None else _tables(query_sql, False, asked).tables
    return tuple(reference for _, reference in tables if reference is not None)


def names_table(sql: str, *, is_query: bool) -> bool:
    """Whether a query, or the subqueries of an expression, name a table."""
    return any(reference is not None for _, reference in _analyze(sql, not is_query).tables)


@dataclass(frozen=True)
class _Analysis:
    structure: Structure
    tokens: Sequence[Token]
    tables: tuple[tuple[Relation, TableReference | None], ...]
    # The characters of the ON condition of each SEMI and ANTI JOIN: nothing else sees its table.
    seen_only_in: Mapping[Relation, Span]


@lru_cache(maxsize=512)
def _analyze(text: str, expression: bool) -> _Analysis:
    return _tables(text, expression, None)


def _tables(text: str, expression: bool, asked: Predicate | None) -> _Analysis:
    tokens = tokenize(text)
    try:
        structure = (scan_expression if expression else scan_query)(tokens, text)
    except RecursionError:  # FROM ((((a JOIN b) JOIN c) … with hundreds of levels; subqueries have no such limit
        raise SqlError(
            "The query nests parentheses in FROM too deeply.", hint="Name parts of it in WITH, or make them views."
        ) from None
    predicates = table_predicates(structure, tokens, asked)
    hidden = hidden_columns(structure, tokens)
    tables = {
        table: _reference(table, predicate, text, hidden.get(table, ()))
        for table, predicate in zip(structure.tables, predicates, strict=True)
    }
    bound = tuple(_with_joined(tables, structure, tokens).items())
    return _Analysis(structure, tokens, bound, dict(_seen_only_in_condition(structure, tokens)))


def _with_joined(
    tables: dict[Relation, TableReference | None], structure: Structure, tokens: list[Token]
) -> dict[Relation, TableReference | None]:
    joined = joined_with(structure, tokens)
    columns = named_columns(structure, tokens)
    named = {table: one and replace(one, columns=columns) for table, one in tables.items()}
    found = dict(named)
    for table, ones in joined.items():
        known = tuple((other, one.pairs) for one in ones if (other := named[one.relation]) is not None)
        if (reference := found[table]) is not None and known:
            found[table] = replace(reference, joined=known)
    return found


def _seen_only_in_condition(structure: Structure, tokens: list[Token]) -> Iterator[tuple[Relation, Span]]:
    for table in structure.tables:
        if table.join in ("semi", "anti"):
            start, end = table.on or (0, 0)
            yield table, (tokens[start].start, tokens[end].start)


def _reference(
    table: Relation, predicate: Predicate | None, text: str, hidden: tuple[str, ...]
) -> TableReference | None:
    """The reference; None for a path or a table of another catalog, which cannot be managed."""
    parts = table.parts
    if "" in parts:
        name = text[slice(*table.name_span)]
        raise SqlError(f"{name} names no table: a part of it is empty.", hint="Write database.table, or the table.")
    nothing = text[table.name_span[0]] == "." or (len(parts) == 3 and parts[0].lower() == NO_CATALOG)
    if len(parts) == 3 and parts[0].lower() in OWN_CATALOGS:
        parts = parts[1:]
    if len(parts) > 2:
        return None
    if len(parts) == 2 and parts[0].lower() in FILE_FORMATS and any(c in parts[1] for c in "/:\\.*"):
        return None
    database = parts[0] if len(parts) == 2 else None
    travel, options = time_travel_of(table.options, table.time_travel)
    return TableReference(database, parts[-1], travel, predicate, nothing, hidden, table.changes, options)


class _Rewrite:
    """The edits of one binding."""

    def __init__(self, analysis: _Analysis, text: str, resolve: ViewOf, qualifiers: Qualifiers) -> None:
        self.structure = analysis.structure
        self.tokens = analysis.tokens
        self.seen_only_in = analysis.seen_only_in
        self.text = text
        self.qualifiers = qualifiers
        self.edits: list[tuple[int, int, str]] = []
        self.bound: dict[Relation, tuple[TableReference, Binding]] = {}
        for table, reference in analysis.tables:
            binding = None if reference is None else resolve(reference)
            if reference is not None and binding is not None:
                self.bound[table] = (reference, binding)
        # Bound relations that keep the view's name, because with an alias some names would mean another table.
        self.renamed = {
            table
            for table in self.bound
            if self._shares_last_name(table) or (_is_bare(table) and table.last_text != _spelled(table))
        }

    def result(self) -> BoundQuery:
        if self.bound or self.qualifiers:
            owners = [(name, self._owner(name)) for name in self.structure.names]
            for name, owner in owners:
                if owner is not None:
                    self._rename_shadows(name, *owner)
            for name, owner in owners:
                self._rewrite_name(name, owner)
        self._hide_columns({table: one.hidden for table, (one, _) in self.bound.items() if one.hidden})
        for table in self.bound:
            self._bind(table)
        self.edits.sort()
        bound = tuple(reference for reference, _ in self.bound.values())
        return BoundQuery(edited(self.text, self.edits), bound, self.text, tuple(self.edits))

    def _bind(self, table: Relation) -> None:
        view = quoted_name(self.bound[table][1].view)
        self.edits.append((*table.name_span, view))
        if table.travel_span is not None:
            self.edits.append((*table.travel_span, ""))
        if table.hint_span is not None:
            self.edits.append((*table.hint_span, ""))
        if table.alias_at is not None and table not in self.renamed:
            self.edits.append((table.alias_at, table.alias_at, f" AS {_spelled(table)}"))

    def _shares_last_name(self, table: Relation) -> bool:
        """Whether another bound table of the same FROM list, read by another view, has the same last name, and one
        expression can see both."""
        return _is_bare(table) and any(
            other is not table
            and other.select is table.select
            and _is_bare(other)
            and _same_name(other.parts[-1], table.parts[-1])
            and self.bound[other][1].view != self.bound[table][1].view
            and min(table, other, key=lambda one: one.name_span) not in self.seen_only_in
            for other in self.bound
        )

    def _sees(self, name: DottedName, relation: Relation) -> bool:
        """Whether a name can mean a relation of its select, or of one around it."""
        start, end = self.seen_only_in.get(relation, name.spans[0])
        return start <= name.spans[0][0] < end

    def _hide_columns(self, hidden: Mapping[Relation, tuple[str, ...]]) -> None:
        """Lets no star return the hidden columns."""
        for select in {table.select: None for table in hidden}:
            for star in stars(select, self.tokens):
                self._leave_out(star, {t: names for t, names in hidden.items() if t.select is select})
        for name in self.structure.names if hidden else ():
            owner = self._owner(name)
            table = self._visible_as(name) if owner is None else owner[0]
            if name.star and isinstance(table, Relation) and table in hidden:
                end = name.spans[-1][1]
                star = next(i for i, token in enumerate(self.tokens) if token.key == "*" and token.start >= end)
                self._leave_out(star, {table: hidden[table]})

    def _leave_out(self, star: int, hidden: Mapping[Relation, tuple[str, ...]]) -> None:
        after = self.tokens[star + 1 : star + 3]
        names = ", ".join(
            f"{self._qualifier(table) if table.alias is None else quoted_name(table.alias)}.{name}"
            for table, columns in hidden.items()
            for name in columns
        )
        if [token.key for token in after] == ["EXCEPT", "("]:
            self.edits.append((after[1].end, after[1].end, f"{names}, "))
        else:
            self.edits.append((self.tokens[star].end, self.tokens[star].end, f" EXCEPT ({names})"))

    # -- names in expressions ----------------------------------------------------------------------------

    def _owner(self, name: DottedName) -> tuple[Relation | str, int] | None:
        """The owner of the column ``database.table.column`` (a bound relation, or the alias of one of the
        statement's own tables) and the number of qualifying parts. None for every other name."""
        skip = 1 if len(name.parts) > 2 and name.parts[0].lower() in OWN_CATALOGS else 0
        if len(name.parts) - skip < (2 if name.star else 3):
            return None
        database, table = name.parts[skip].lower(), name.parts[skip + 1].lower()
        for scope in _scopes(name.select):
            for relation in scope.relations:
                known = relation in self.bound and _is_bare(relation) and self._is_called(relation, database, table)
                if known and self._sees(name, relation):
                    return relation, skip + 2
        alias = self.qualifiers.get((database, table))
        return None if alias is None else (alias, skip + 2)

    def _is_called(self, relation: Relation, database: str, table: str) -> bool:
        if relation not in self.bound or not _is_bare(relation):
            return False
        reference, binding = self.bound[relation]
        mine = reference.database or binding.database
        return mine is not None and mine.lower() == database and reference.name.lower() == table

    def _rename_shadows(self, name: DottedName, owner: Relation | str, _: int) -> None:
        """Prevents an inner relation from capturing a name that means an outer relation with the same last name."""
        alias = owner if isinstance(owner, str) else owner.parts[-1]
        for scope in _scopes(name.select):
            if not isinstance(owner, str) and scope is owner.select:
                return
            for relation in scope.relations:
                if relation.visible_name is not None and _same_name(relation.visible_name, alias):
                    if relation in self.bound and _is_bare(relation):
                        self.renamed.add(relation)
                    elif not isinstance(owner, str):
                        self.renamed.add(owner)

    def _rewrite_name(self, name: DottedName, owner: tuple[Relation | str, int] | None) -> None:
        if owner is not None:
            relation, length = owner
            qualifier = relation if isinstance(relation, str) else self._qualifier(relation)
            self.edits.append((name.spans[0][0], name.spans[length - 1][1], qualifier))
        elif self.renamed and (len(name.parts) > 1 or name.star):
            named = self._visible_as(name)
            if named in self.renamed:
                self.edits.append((*name.spans[0], self._qualifier(named)))

    def _visible_as(self, name: DottedName) -> Relation | None:
        """The relation that a name's first part means as a qualifier; None when there is none or more than one."""
        for scope in _scopes(name.select):
            found = [r for r in scope.relations if r.visible_name and _same_name(r.visible_name, name.parts[0])]
            if len(found) > 1:
                found = [r for r in found if self._sees(name, r)]
            if found:
                return found[0] if len(found) == 1 else None
        return None

    def _qualifier(self, relation: Relation) -> str:
        if relation in self.renamed:
            return quoted_name(self.bound[relation][1].view)
        return _spelled(relation)


def _scopes(select: Select | None) -> Iterator[Select]:
    """A select and the selects around it, from the inside outwards."""
    while select is not None:
        yield select
        select = select.parent


def _is_bare(table: Relation) -> bool:
    """Whether a table has no alias and may get one."""
    return table.alias_at is not None


def _same_name(left: str, right: str) -> bool:
    return left.lower() == right.lower()


def _spelled(table: Relation) -> str:
    """The last part of a table's name in Spark's spelling: ``$`` needs backquotes."""
    return table.last_text if "$" not in table.last_text else quoted_name(table.parts[-1])
