"""Which rows of a table a query can use, as a predicate for pruning.

A conjunct of WHERE, of an ON condition, or of the query around a subquery is *pushed* to a relation when
removing the rows for which it is not true cannot change the result:

* WHERE is pushed to every relation of its select; on the nullable side of an outer join, only conditions
  that are never true for nulls are pushed;
* ON is pushed to both sides of an inner or semi join; for other joins, only to the side that the join does
  not preserve;
* a condition of the outer select on a plain or renamed output column is pushed through a subquery or common
  table expression that only filters, projects and joins; a common table expression gets the OR of the
  conditions of all its readers.

No other condition is pushed. A table that is sampled, pivoted, piped or read without FROM gets no predicate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tablestore_engine.schema.table.predicate import Predicate, conjunction, disjunction, rejects_null
from tablestore_engine.sql.query.predicate_reader import Facts, read_condition, translate
from tablestore_engine.sql.query_structure.query_structure import Cte, Query, Relation, Select, Span, Structure
from tablestore_engine.sql.tokens.lexer import END, QUOTED, WORD, Token, tokenize, top_level

Column = tuple[Relation, str]


def table_predicates(
    structure: Structure, tokens: list[Token], asked: Predicate | None = None
) -> list[Predicate | None]:
    """One predicate, or None, for each of ``structure.tables``. ``asked`` is a predicate on the query's output.

    A query with hundreds of nested levels gets no predicates.
    """
    pushed = _Pushed(tokens, structure.root, asked)
    try:
        return _of_tables(structure, pushed)
    except RecursionError:
        return [None] * len(structure.tables)


def condition_predicate(condition_sql: str, owner: Callable[[tuple[str, ...]], str | None]) -> Predicate | None:
    """The predicate that a condition implies for one table's rows, or None. ``owner`` maps a dotted name to a column of
    the table, or None."""
    tokens = tokenize(condition_sql)

    def owned(parts: tuple[str, ...]) -> tuple[str, str] | None:
        column = owner(parts)
        return None if column is None else ("", column)

    try:
        return conjunction(read_condition(tokens, 0, len(tokens) - 1, owned).get("", []))
    except RecursionError:
        return None


def _of_tables(structure: Structure, pushed: _Pushed) -> list[Predicate | None]:
    return [None if table.sampled else pushed.to(table) for table in structure.tables]


class _Pushed:
    """Computes on demand, from the outer to the inner selects, which predicates are pushed to a relation."""

    def __init__(self, tokens: list[Token], root: Query, asked: Predicate | None) -> None:
        self.tokens = tokens
        self.root = root
        self.asked = asked
        self.by_select: dict[int, Facts[Relation]] = {}
        self.by_query: dict[int, Predicate | None] = {}

    def to(self, relation: Relation) -> Predicate | None:
        """The predicate that is pushed to a relation, or None."""
        if relation.renames_columns or relation.sampled:
            return None
        return conjunction(self._select(relation.select).get(relation, []))

    def _select(self, select: Select) -> Facts[Relation]:
        found = self.by_select.get(id(select))
        if found is None:
            found = {} if select.opaque else self._facts(select)
            self.by_select[id(select)] = found
        return found

    def _facts(self, select: Select) -> Facts[Relation]:
        facts: Facts[Relation] = {}
        nullable = _nullable(select)

        def add(found: Facts[Relation], may_be_null: set[Relation], only: set[Relation]) -> None:
            for relation, predicates in found.items():
                if relation in only:
                    kept = [p for p in predicates if relation not in may_be_null or rejects_null(p)]
                    facts.setdefault(relation, []).extend(kept)

        visible = _visible(select)
        if select.where is not None:
            add(self._read(select, *select.where), nullable, visible)
        around = self._around(select.query)
        if around is not None:
            add(translate(around, Output(select, self.tokens).owner), nullable, visible)
        for index, relation in enumerate(select.relations):
            if relation.on is not None:
                add(self._read(select, *relation.on), _nullable(select, index), _sides_of_on(select, index))
        return facts

    def _read(self, select: Select, start: int, end: int) -> Facts[Relation]:
        return read_condition(self.tokens, start, end, lambda parts: find_column(select, parts))

    def _around(self, query: Query) -> Predicate | None:
        """The predicate of a query's readers on its output, if it may be applied to the input too."""
        key = id(query)
        if key not in self.by_query:
            self.by_query[key] = None
            self.by_query[key] = self._asked(query) if is_transparent(query, self.tokens) else None
        return self.by_query[key]

    def _asked(self, query: Query) -> Predicate | None:
        if query is self.root:
            return self.asked
        if isinstance(query.owner, Relation):
            return self.to(query.owner)
        if not isinstance(query.owner, Cte) or query.owner.recursive or query.owner.renames_columns:
            return None
        wanted = [self.to(reader) for reader in query.owner.readers]
        known = [predicate for predicate in wanted if predicate is not None]
        return disjunction(known) if known and len(known) == len(wanted) else None


def is_transparent(query: Query, tokens: list[Token]) -> bool:
    """Whether filtering the output of a query is the same as filtering its input."""
    if query.combined or len(query.selects) != 1:
        return False
    select = query.selects[0]
    if select.opaque or select.grouped or select.limited or select.items is None:
        return False
    return all(tokens[i].key != "OVER" for i in range(*select.items))


def pushed_sides(select: Select) -> list[tuple[Span, set[Relation]]]:
    """The conditions of a select, which are never true for nulls, each with the relations that it is pushed to."""
    found = [] if select.where is None else [(select.where, _visible(select))]
    on = ((one.on, _sides_of_on(select, i)) for i, one in enumerate(select.relations))
    return [*found, *((span, sides) for span, sides in on if span is not None)]


def _visible(select: Select) -> set[Relation]:
    """The relations that WHERE sees."""
    return {relation for relation in select.relations if relation.join not in ("semi", "anti")}


def _sides_of_on(select: Select, index: int) -> set[Relation]:
    """The relations that the ON condition of relation number ``index`` is pushed to."""
    relation, before = select.relations[index], set(select.relations[:index])
    if relation.join in ("inner", "semi"):
        return before | {relation}
    if relation.join == "full":
        return set()
    return {relation} if relation.join in ("left", "anti") else before


def _nullable(select: Select, upto: int | None = None) -> set[Relation]:
    """The relations that an outer join may fill with nulls, before relation number ``upto`` joins."""
    nullable: set[Relation] = set()
    seen: set[Relation] = set()
    for relation in select.relations[:upto]:
        if relation.join in ("right", "full"):
            nullable |= seen
        if relation.join in ("left", "full"):
            nullable.add(relation)
        seen.add(relation)
    return nullable


def find_column(select: Select, parts: tuple[str, ...]) -> Column | None:
    """The relation of a select that owns a column, and the column; None when that is not certain.

    A bare name is certain only when there is one relation (which may turn out not to have it).
    """
    *qualifier, column = parts
    if not qualifier:
        return (select.relations[0], column) if len(select.relations) == 1 else None
    wanted = [part.lower() for part in qualifier]
    owners = [relation for relation in select.relations if _answers_to(relation, wanted)]
    return (owners[0], column) if len(owners) == 1 else None


def _answers_to(relation: Relation, qualifier: list[str]) -> bool:
    if len(qualifier) == 1:
        name = relation.visible_name
        return name is not None and name.lower() == qualifier[0]
    names = [part.lower() for part in relation.parts]
    return relation.alias is None and names[-len(qualifier) :] == qualifier


@dataclass
class Output:
    """The output columns of a select that are plain columns of its relations, without expressions."""

    select: Select
    tokens: list[Token]
    plain: dict[str, Column | None] = field(default_factory=dict)  # None: computed, or named twice
    spelled: dict[str, str] = field(default_factory=dict)  # the names in `plain` as they are written
    stars: list[Relation | None] = field(default_factory=list)  # None: the star of no single relation
    hidden: set[str] = field(default_factory=set)  # names that EXCEPT removes from a star

    def __post_init__(self) -> None:
        start, end = self.select.items or (0, 0)
        if self.tokens[start].key in ("DISTINCT", "ALL"):
            start += 1
        first = start
        for i in top_level(self.tokens, start, end):
            if self.tokens[i].key == ",":
                self._item(first, i)
                first = i + 1
        self._item(first, end)

    def owner(self, name: str) -> Column | None:
        """The column of a relation from which an output column is copied."""
        key = name.lower()
        if key in self.plain:
            # Of columns whose names differ in case only, a session that distinguishes them may mean the star's.
            return self.plain[key] if not self.stars or self.spelled[key] == name else None
        if len(self.stars) != 1 or key in self.hidden:
            return None
        relation = self.stars[0]
        return None if relation is None else (relation, name)

    def _item(self, start: int, end: int) -> None:
        tokens = self.tokens
        i, parts = start, []
        while i < end and (tokens[i].is_name or tokens[i].key == "*"):
            parts.append(tokens[i])
            i += 1
            if i < end and tokens[i].key == "." and parts[-1].is_name:
                i += 1
            else:
                break
        if parts and parts[-1].key == "*":
            self._star(parts[:-1], i, end)
        elif parts and i == end:
            self._column(parts, parts[-1].name)
        elif parts and tokens[i].key == "AS" and i + 2 == end and tokens[i + 1].is_name:
            self._column(parts, tokens[i + 1].name)
        elif parts and i + 1 == end and tokens[i].is_name:
            self._column(parts, tokens[i].name)
        else:
            self._computed(start, end)

    def _column(self, parts: list[Token], name: str) -> None:
        found = find_column(self.select, tuple(part.name for part in parts))
        if parts[0].kind not in (WORD, QUOTED):
            found = None
        key = name.lower()
        self.plain[key] = None if key in self.plain else found
        self.spelled[key] = name

    def _computed(self, start: int, end: int) -> None:
        """An expression. Its name hides a column of a star, so every name it may have without an alias is excluded."""
        for token in self.tokens[start:end]:
            if token.is_name and token.kind != END:
                self.plain[token.name.lower()] = None
                self.spelled[token.name.lower()] = token.name

    def _star(self, qualifier: list[Token], i: int, end: int) -> None:
        if not qualifier:
            relations = self.select.relations
            self.stars.append(relations[0] if len(relations) == 1 else None)
        else:
            found = find_column(self.select, (*(part.name for part in qualifier), "*"))
            self.stars.append(found[0] if found else None)
        self.hidden.update(token.name.lower() for token in self.tokens[i:end] if token.is_name)
