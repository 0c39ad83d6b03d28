"""Reads a query as counts of the rows of one table.

`SELECT count(*) AS n, count(*) > 10 AS many FROM (SELECT a FROM t WHERE a IS NULL) q`: the outputs are counts and
comparisons of counts, the rows are those of one table, and each select in between picks columns and compares them with
constants. dbt's tests have this form. A text is only read as such if nothing in it is left for Spark to check: every
name is a column of the select below it, and every constant is of a kind that can be compared with its column.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Final

from tablestore_engine.metadata.warehouse.view import COMPENSATION, View
from tablestore_engine.schema.table.predicate import (
    And,
    Compare,
    Constant,
    In,
    IsNotNull,
    IsNull,
    Predicate,
    columns_of,
)
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.schema.types.types import AtomicType, DataType
from tablestore_engine.sql.counts.plain_query import is_plain_query
from tablestore_engine.sql.query.bind import TableReference, references
from tablestore_engine.sql.query.predicate_reader import ConditionReader
from tablestore_engine.sql.query.pushdown import Column, Output, find_column, is_transparent
from tablestore_engine.sql.query_structure.query_structure import Query, Relation, Select
from tablestore_engine.sql.query_structure.table_references import scan_query
from tablestore_engine.sql.tokens.lexer import END, NUMBER, Token, tokenize, top_level

_OPERATORS: Final[Mapping[str, Callable[[int, int], bool]]] = {
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_NUMBERS: Final = frozenset(["TINYINT", "SMALLINT", "INT", "BIGINT", "DECIMAL", "FLOAT", "DOUBLE"])
_TEXTS: Final = frozenset(["CHAR", "VARCHAR", "STRING"])
_READ_FIRST: Final = ("/*+", "${")  # hints, and variables that Spark replaces in a text before it reads it
_ROWS_OF_VIEW: Final = "rows_of_view"
_MOST_DIGITS: Final = 18  # of a number that is certainly a BIGINT
Columns = Mapping[str, DataType]


@dataclass(frozen=True)
class Count:
    """One output: `count(*)`, or its comparison with a number."""

    name: str
    operator: str | None = None
    number: int = 0

    @property
    def type(self) -> str:
        """Spark's name of its type."""
        return "bigint" if self.operator is None else "boolean"

    def value(self, rows: int) -> int | bool:
        """Its value for a number of rows."""
        return rows if self.operator is None else _OPERATORS[self.operator](rows, self.number)


@dataclass(frozen=True)
class CountQuery:
    """A query that counts the rows of `reference`, of which `selects` pick columns and rows, the outermost first."""

    sql: str
    counts: tuple[Count, ...]
    reference: TableReference
    filters: bool
    selects: tuple[Select, ...]
    tokens: tuple[Token, ...]

    def fits(self, columns: Columns) -> bool:
        """Whether the selects are certainly right on a table of these columns, whose names differ not only in case."""
        levels = _Levels(list(self.tokens), columns)
        inner, outer = self.selects[:0:-1], self.selects[0]
        try:
            # From the table outwards, so that the names of a select are known when those that read it are followed.
            return all(map(levels.picks_columns, inner)) and all(map(levels.compares, (*inner, outer)))
        except RecursionError:  # a condition of hundreds of levels
            return False

    def through(self, view: View) -> CountQuery | None:
        """The counts with the text of the view that is counted, instead of its name; None where that may read others.

        It counts no rows if a column of the view is no longer there, or is renamed by it, so it does not fit then.
        """
        names = tuple(one.name for one in view.columns)
        if view.mode == COMPENSATION or names != view.query_columns:
            return None
        if not self.fits({one.name: one.type for one in view.columns}):
            return None
        (start, end), alias = self.selects[-1].relations[0].name_span, self.selects[-1].relations[0].alias
        columns = ", ".join(map(quoted_name, names))
        rows = f"(SELECT {columns} FROM (\n{view.sql}\n) {_ROWS_OF_VIEW})"
        named = rows if alias else f"{rows} AS {quoted_name(self.reference.name)}"
        found = count_query(f"{self.sql[:start]}{named}{self.sql[end:]}")
        if found is None or (found.reference.database is None and self._names(found.reference.name)):
            return None
        known = found.reference
        return replace(found, reference=replace(known, database=known.database or view.database))

    def _names(self, name: str) -> bool:
        """Whether a name is somewhere in the text: it may be that of a common table expression."""
        return any(token.is_name and token.name.lower() == name.lower() for token in self.tokens)


def count_query(sql: str) -> CountQuery | None:
    """The counts that a query is; None for any other query."""
    tokens = tokenize(sql)
    if tokens[0].key not in ("SELECT", "WITH") or not any(_is_count(tokens, i) for i in range(len(tokens))):
        return None
    if any(mark in sql for mark in _READ_FIRST) or not is_plain_query(tokens):
        return None
    structure = scan_query(tokens, sql)
    selects = tuple(_selects(structure.root))
    written = sum(token.key == "SELECT" for token in tokens)
    if len(structure.tables) != 1 or not selects or len(selects) != written:
        return None
    outer, table = selects[0], structure.tables[0]
    if table.renames_columns or table.sampled or selects[-1].relations != [table]:
        return None
    if not all(is_transparent(one.query, tokens) and _is_whole(one, tokens) for one in selects):
        return None
    if sum(token.key == "WHERE" for token in tokens) != sum(one.where is not None for one in selects):
        return None
    counts = _counts(outer, tokens)
    if counts is None:
        return None
    named = references(sql)
    if len(named) != 1:
        return None
    filters = any(one.where is not None for one in selects)
    return CountQuery(sql, counts, named[0], filters, selects, tuple(tokens))


def _is_whole(select: Select, tokens: list[Token]) -> bool:
    """Whether the items end at FROM, and the condition at the end of the query, as in `plain_query`."""
    if select.items is None or tokens[select.items[1]].key != "FROM":
        return False
    return select.where is None or tokens[select.where[1]].kind == END or tokens[select.where[1]].key == ")"


def _selects(query: Query) -> Iterator[Select]:
    """The selects from a query down to its table, as long as each reads the next one alone."""
    at: Query | None = query
    while at is not None and len(at.selects) == 1 and len(at.selects[0].relations) == 1:
        select = at.selects[0]
        yield select
        at = _query_of(select.relations[0])


def _query_of(relation: Relation) -> Query | None:
    if relation.renames_columns or relation.sampled:
        return None
    if relation.cte is not None:
        return None if relation.cte.recursive or relation.cte.renames_columns else relation.cte.query
    return relation.query


def _is_count(tokens: list[Token], i: int) -> bool:
    """Whether `count(*)` or `count(1)` is at a token."""
    if tokens[i].key != "COUNT" or tokens[i + 1].key != "(" or tokens[i + 1].partner != i + 3:
        return False
    return tokens[i + 2].text in ("*", "1")


def _counts(select: Select, tokens: list[Token]) -> tuple[Count, ...] | None:
    """The outputs of a select, if all of them are counts with different names."""
    start, end = select.items or (0, 0)
    commas = [i for i in top_level(tokens, start, end) if tokens[i].key == ","]
    found: list[Count] = []
    for first, last in zip([start, *(i + 1 for i in commas)], [*commas, end], strict=True):
        one = _count(tokens[first:last]) if _is_count(tokens, first) else None
        if one is None:
            return None
        found.append(one)
    return tuple(found) if len({one.name.lower() for one in found}) == len(found) else None


def _count(item: list[Token]) -> Count | None:
    """`count(*)`, an operator and a number if there is one, and a name; Spark names a plain count itself."""
    rest, compared, number = item[4:], None, 0
    if len(rest) > 1 and rest[0].key in _OPERATORS:
        if rest[1].kind != NUMBER or not rest[1].text.isdigit() or len(rest[1].text) > _MOST_DIGITS:
            return None
        compared, number, rest = rest[0].key, int(rest[1].text), rest[2:]
    if rest and rest[0].key == "AS":
        rest = rest[1:]
        if len(rest) != 1:
            return None
    if not rest:
        return Count("count(1)") if compared is None else None
    return Count(rest[0].name, compared, number) if len(rest) == 1 and rest[0].is_name else None


class _Levels:
    """The selects of a query, whose names are followed down to columns of the table. Each name is followed once: a
    chain of views has many selects, and each of them may name hundreds of columns."""

    def __init__(self, tokens: list[Token], columns: Columns) -> None:
        self._tokens = tokens
        self._columns = columns
        self._outputs: dict[Select, Output] = {}
        self._types: dict[Column, DataType | None] = {}

    def picks_columns(self, select: Select) -> bool:
        """Whether all that a select gives is there. One that counts is a single row, however many it counts: so this
        holds for each but the outermost."""
        output = self._output(select)
        if output.hidden or None in output.stars or len(output.stars) > 1 or (output.stars and output.plain):
            return False
        return all(column is not None and self._type(column) is not None for column in output.plain.values())

    def compares(self, select: Select) -> bool:
        """Whether all that a select compares is there, and can be compared."""
        return select.where is None or all(map(_is_comparable, self._atoms(select, *select.where)))

    def _output(self, select: Select) -> Output:
        if select not in self._outputs:
            self._outputs[select] = Output(select, self._tokens)
        return self._outputs[select]

    def _type(self, column: Column) -> DataType | None:
        """The type of a column of a relation; None if it is not certain that there is one."""
        if column not in self._types:
            self._types[column] = self._type_below(*column)
        return self._types[column]

    def _type_below(self, relation: Relation, name: str) -> DataType | None:
        query = _query_of(relation)
        if query is None:
            return self._columns.get(name)
        output = self._output(query.selects[0])
        if not output.stars and output.spelled.get(name.lower()) != name:
            return None
        below = output.owner(name)
        return None if below is None else self._type(below)

    def _atoms(self, select: Select, start: int, end: int) -> Iterator[tuple[DataType, Predicate] | None]:
        """The comparisons that AND and OR join, each with the type of its column; None for any other condition."""
        reader = ConditionReader(self._tokens, lambda parts: find_column(select, parts))
        branches = reader.split(start, end, "OR")
        parts = branches if len(branches) != 1 else reader.split(start, end, "AND")
        if len(parts) != 1:
            yield from (atom for part in parts for atom in self._atoms(select, *part))
            if not parts:
                yield None
        elif reader.in_parentheses(start, end):
            yield from self._atoms(select, start + 1, end - 1)
        else:
            found = reader.comparison(start, end)
            kind = None if found is None else self._type((found[0], next(columns_of(found[1]))))
            yield None if found is None or kind is None else (kind, found[1])


def _is_comparable(atom: tuple[DataType, Predicate] | None) -> bool:
    if atom is None:
        return False
    kind, predicate = atom
    if isinstance(predicate, (IsNull, IsNotNull)):
        return True
    return isinstance(kind, AtomicType) and all(_fits(one, kind.root) for one in _constants(predicate))


def _constants(predicate: Predicate) -> Iterator[Constant | None]:
    if isinstance(predicate, And):
        for child in predicate.children:
            yield from _constants(child)
    elif isinstance(predicate, Compare):
        yield predicate.value
    elif isinstance(predicate, In):
        yield from predicate.values
    else:
        yield None


def _fits(value: Constant | None, root: str) -> bool:
    """Whether Spark compares a constant with a column of a type without a cast that can fail."""
    if isinstance(value, bool):
        return root == "BOOLEAN"
    if isinstance(value, (int, float, Decimal)):
        return root in _NUMBERS
    if isinstance(value, str):
        return root in _TEXTS
    return root == "DATE" if isinstance(value, date) and not isinstance(value, datetime) else False
