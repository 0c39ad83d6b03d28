"""Reads a query as counts of the rows of one table.

`SELECT count(*) AS n, count(*) > 10 AS many FROM (SELECT a FROM t WHERE a IS NULL) q`: the outputs are counts and
comparisons of counts, the rows are those of one table, and each select in between picks columns and compares them with
constants; one of them may pick values that several rows have. dbt's tests have this form. A text is only read as such
if nothing in it is left for Spark to check: every name is a column of the select below it, and every constant is of a
kind that can be compared with its column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
from tablestore_engine.sql.counts.counted import Count, is_count, read_counts
from tablestore_engine.sql.counts.plain_query import is_plain_query
from tablestore_engine.sql.counts.repeated_groups import grouping_columns
from tablestore_engine.sql.query.bind import TableReference, references
from tablestore_engine.sql.query.predicate_reader import ConditionReader
from tablestore_engine.sql.query.pushdown import Column, Output, find_column, is_transparent
from tablestore_engine.sql.query_structure.query_structure import Query, Relation, Select
from tablestore_engine.sql.query_structure.table_references import scan_query
from tablestore_engine.sql.tokens.lexer import END, Token, tokenize

_NUMBERS: Final = frozenset(["TINYINT", "SMALLINT", "INT", "BIGINT", "DECIMAL", "FLOAT", "DOUBLE"])
_TEXTS: Final = frozenset(["CHAR", "VARCHAR", "STRING"])
_READ_FIRST: Final = ("/*+", "${")  # hints, and variables that Spark replaces in a text before it reads it
_ROWS_OF_VIEW: Final = "rows_of_view"
Columns = Mapping[str, DataType]


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

    @property
    def is_grouped(self) -> bool:
        """Whether values that several rows have are counted, not rows."""
        return any(one.grouped for one in self.selects)

    def repeated(self, columns: Columns) -> frozenset[str]:
        """The columns of which it counts the values that several rows have; only for what `fits` and is grouped."""
        grouped = next(one for one in self.selects if one.grouped)
        return _Levels(list(self.tokens), columns).repeated(grouped)

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
    if tokens[0].key not in ("SELECT", "WITH") or not any(is_count(tokens, i) for i in range(len(tokens))):
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
    if not all(_is_plain(one, tokens) and _is_whole(one, tokens) for one in selects):
        return None
    if sum(token.key == "WHERE" for token in tokens) != sum(one.where is not None for one in selects):
        return None
    groups = sum(token.key == "GROUP" for token in tokens)
    if groups > 1 or groups != sum(one.grouped for one in selects) or outer.grouped:
        return None
    counts = read_counts(tokens, *(outer.items or (0, 0)))
    if counts is None:
        return None
    named = references(sql)
    if len(named) != 1:
        return None
    filters = any(one.where is not None for one in selects)
    return CountQuery(sql, counts, named[0], filters, selects, tuple(tokens))


def _is_plain(select: Select, tokens: list[Token]) -> bool:
    """Whether nothing but its columns, its condition and its groups says which rows it has."""
    if select.grouped:
        return not (select.query.combined or len(select.query.selects) != 1 or select.opaque or select.limited)
    return is_transparent(select.query, tokens)


def _is_whole(select: Select, tokens: list[Token]) -> bool:
    """Whether the items end at FROM, and the condition at the groups or the end of the query, as in `plain_query`."""
    if select.items is None or tokens[select.items[1]].key != "FROM":
        return False
    if select.where is None:
        return True
    behind = tokens[select.where[1]]
    return behind.key == "GROUP" if select.grouped else behind.kind == END or behind.key == ")"


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


class _Levels:
    """The selects of a query, whose names are followed down to columns of the table. Each name is followed once: a
    chain of views has many selects, and each of them may name hundreds of columns."""

    def __init__(self, tokens: list[Token], columns: Columns) -> None:
        self._tokens = tokens
        self._columns = columns
        self._outputs: dict[Select, Output] = {}
        self._fields: dict[Column, tuple[str, DataType] | None] = {}

    def picks_columns(self, select: Select) -> bool:
        """Whether all that a select gives is there. One that counts is a single row, however many it counts: so this
        holds for each but the outermost."""
        if select.grouped:
            return bool(self.repeated(select))
        output = self._output(select)
        if output.hidden or None in output.stars or len(output.stars) > 1 or (output.stars and output.plain):
            return False
        return all(column is not None and self._field(column) is not None for column in output.plain.values())

    def compares(self, select: Select) -> bool:
        """Whether all that a select compares is there, and can be compared."""
        return select.where is None or all(map(_is_comparable, self._atoms(select, *select.where)))

    def _output(self, select: Select) -> Output:
        if select not in self._outputs:
            self._outputs[select] = Output(select, self._tokens)
        return self._outputs[select]

    def repeated(self, select: Select) -> frozenset[str]:
        """The columns of the table by which a select groups rows; none where it is not certain that it is right."""
        fields = [self._field(column) for column in grouping_columns(select, self._tokens) or ()]
        names = frozenset(field[0] for field in fields if field is not None)
        return names if len(names) == len(fields) else frozenset()

    def _field(self, column: Column) -> tuple[str, DataType] | None:
        """The column of the table that a column of a relation is, with its type; None if it is not certain that there
        is one."""
        if column not in self._fields:
            self._fields[column] = self._field_below(*column)
        return self._fields[column]

    def _field_below(self, relation: Relation, name: str) -> tuple[str, DataType] | None:
        query = _query_of(relation)
        if query is None:
            return (name, self._columns[name]) if name in self._columns else None
        output = self._output(query.selects[0])
        if not output.stars and output.spelled.get(name.lower()) != name:
            return None
        below = output.owner(name)
        return None if below is None else self._field(below)

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
            field = None if found is None else self._field((found[0], next(columns_of(found[1]))))
            yield None if found is None or field is None else (field[1], found[1])


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
