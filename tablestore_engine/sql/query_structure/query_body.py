"""The selects of one query, found by the clause keywords of one parenthesis level.

SQL is flat at one level: a machine with one state, the open *clause*, decides by keyword what comes next. Spark also
allows keywords as column names and aliases, so a word counts as a keyword only where the grammar allows a keyword.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tablestore_engine.sql.query_structure.from_item import RelationScan
from tablestore_engine.sql.query_structure.query_structure import Cte, DottedName, Query, Relation, Select, Span
from tablestore_engine.sql.tokens.keyword_or_name import needs_operand
from tablestore_engine.sql.tokens.lexer import BAD, END, WORD
from tablestore_engine.sql.tokens.query_hints import names_in_hints

Ctes = Mapping[str, Cte]

_JOIN_WORDS: Final = frozenset(["NATURAL", "INNER", "CROSS", "LEFT", "RIGHT", "FULL", "OUTER", "SEMI", "ANTI", "ASOF"])
SET_OPERATORS: Final = frozenset(["UNION", "INTERSECT", "EXCEPT", "MINUS", "SETMINUS"])
_QUERY_STARTS: Final = frozenset(["SELECT", "FROM", "VALUES", "TABLE", "MAP", "REDUCE", "WITH", "("])
_COLUMN_NAMES: Final = frozenset(
    ["FROM", "WHERE", "HAVING", "LIMIT", "OFFSET", "WINDOW", "QUALIFY", "MAP", "REDUCE", "APPROX", "EXACT"]
)
_BY_CLAUSES: Final = frozenset(["ORDER", "SORT", "CLUSTER", "DISTRIBUTE"])


class QueryBody:
    """The selects of one query: a state machine over the clause keywords of one parenthesis level."""

    def __init__(
        self,
        scan: RelationScan,
        query: Query,
        ctes: Ctes,
        parent: Select | None,
        within: Select | None = None,
    ) -> None:
        self.scan = scan
        self.query = query
        self.ctes = ctes
        self.parent = parent
        self.select = within or self._new_select()
        self.clause = "from" if within else "start"
        self.clause_start = 0
        self.on_relation: Relation | None = None

    def _new_select(self) -> Select:
        select = Select(self.parent, self.query)
        self.query.selects.append(select)
        return select

    def run(self, i: int) -> int:
        """Consumes tokens up to the closing parenthesis or the end; returns its index."""
        tokens = self.scan.tokens
        while True:
            token = tokens[i]
            key = token.key
            if key == ")" or token.kind == END:
                self._close(i)
                return i
            if key == "(" and self.clause == "start":
                i = self._nested_query(i)
            elif key == "," and self.clause in ("from", "on"):
                self._close(i)
                self.clause = "from"
                i = self._relation(i + 1, "inner")
            elif token.kind == WORD and (tokens[i + 1].key != "." or self._before_empty_name(i)):
                i = self._word(i)
            elif key == "|>":
                self._close(i)
                self.select.opaque = True
                self.clause = "pipe"
                i += 1
            else:
                if self.clause == "start" and token.kind != BAD:
                    self.clause = "other"
                i = self.scan.atom(i, self.ctes, self.select)

    def _before_empty_name(self, i: int) -> bool:
        """Whether a relation with an empty database follows: `FROM .schema.table`, but not `from.column`."""
        tokens = self.scan.tokens
        return tokens[i].key in ("FROM", "JOIN") and tokens[i + 1].start > tokens[i].end

    def _word(self, i: int) -> int:
        """A word that may open a clause."""
        tokens = self.scan.tokens
        key, after = tokens[i].key, tokens[i + 1].key
        handler = _CLAUSES.get(key)
        if handler is not None and not (key in _COLUMN_NAMES and self._is_column(i)):
            moved = handler(self, i)
            if moved is not None:
                return moved
        elif key in SET_OPERATORS:
            star_except = key == "EXCEPT" and tokens[i - 1].key == "*" and self.clause == "items"
            if not star_except and (after in _QUERY_STARTS or after in ("ALL", "DISTINCT")):
                return self._set_operator(i)
        elif key in _BY_CLAUSES and after == "BY":
            return self._tail(i)
        return self.scan.atom(i, self.ctes, self.select)

    def _is_column(self, i: int) -> bool:
        """Whether the keyword at ``i`` is at the position of an operand, or is an implicit alias."""
        tokens = self.scan.tokens
        if self.clause == "start":
            return False
        if needs_operand(tokens, i) or self.clause != "items":
            return needs_operand(tokens, i)
        after = tokens[i + 1].key
        if tokens[i].key == "FROM":  # FROM FROM t: an alias and the keyword, but FROM FROM names a table
            return after == "," or (after == "FROM" and (tokens[i + 2].is_name or tokens[i + 2].key == "("))
        return after in (",", "FROM", "AS")

    # -- clauses: each returns the next index, or None when the word is no keyword here -----------------

    def _select(self, i: int) -> int | None:
        if self.clause == "pipe":
            return i + 1
        if self.select.items is not None:
            self._close(i)
            if self.select.relations and self.clause != "start":  # FROM t SELECT a SELECT b
                self.select.opaque = True
            else:
                self.query.combined = True
                self.select = self._new_select()
        elif self.clause not in ("start", "from", "on", "lateral", "where"):
            return None
        else:
            self._close(i)
        self.clause, self.clause_start = "items", i + 1
        self.select.items = (i + 1, i + 1)
        self._hints(i)
        if self.scan.tokens[i + 1].key == "TRANSFORM":
            self.select.opaque = True
        return i + 1

    def _hints(self, i: int) -> None:
        """Records the tables that a hint after SELECT names as qualifiers, like the ``t`` of ``t.*``."""
        scan = self.scan
        for parts, spans in names_in_hints(scan.text, scan.tokens[i].end, scan.tokens[i + 1].start):
            scan.structure.names.append(DottedName(parts, spans, True, self.select))

    def _script(self, i: int) -> int | None:
        """MAP and REDUCE: queries that run a script."""
        if self.clause != "start" or self.scan.tokens[i + 1].key == "(":
            return None
        self.select.opaque = True
        self.clause, self.clause_start = "items", i + 1
        self.select.items = (i + 1, i + 1)
        return i + 1

    def _from(self, i: int) -> int | None:
        tokens = self.scan.tokens
        if self.clause not in ("start", "items") and (self.clause != "tail" or self.select.relations):
            return None
        if tokens[i - 1].key == "DISTINCT" and tokens[i - 2].key in ("IS", "NOT", "!"):
            return None
        self._close(i)
        self.clause = "from"
        return self._relation(i + 1, "inner")

    def _join(self, i: int) -> int | None:
        if self.clause not in ("from", "on", "lateral", "pipe"):
            return None
        tokens = self.scan.tokens
        first = i
        while tokens[first - 1].key in _JOIN_WORDS:
            first -= 1
        self._close(first)
        words = {tokens[k].key for k in range(first, i)}
        if "ASOF" in words:
            self.select.opaque = True
        kinds = [kind for kind in ("semi", "anti", "left", "right", "full") if kind.upper() in words]
        if self.clause != "pipe":
            self.clause = "from"
        return self._relation(i + 1, kinds[0] if kinds else "inner")

    def _on(self, i: int) -> int | None:
        if self.clause != "from" or not self.select.relations:
            return None
        self.clause, self.clause_start = "on", i + 1
        self.on_relation = self.select.relations[-1]
        return i + 1

    def _where(self, i: int) -> int | None:
        if self.clause not in ("from", "on", "lateral", "items", "pipe"):
            return None
        self._close(i)
        if self.select.where is not None:
            self.select.opaque = True
        self.clause, self.clause_start = "where", i + 1
        return i + 1

    def _grouped(self, i: int) -> int | None:
        tokens = self.scan.tokens
        if tokens[i].key == "GROUP" and tokens[i + 1].key != "BY":
            return None
        self.select.grouped = True
        return self._tail(i)

    def _limit(self, i: int) -> int | None:
        self.select.limited = True
        return self._tail(i)

    def _window(self, i: int) -> int | None:
        tokens = self.scan.tokens
        if not (tokens[i + 1].is_name and tokens[i + 2].key == "AS"):
            return None
        return self._tail(i)

    def _tail(self, i: int) -> int:
        self._close(i)
        if self.clause != "pipe":
            self.clause = "tail"
        return i + 1

    def _lateral(self, i: int) -> int | None:
        if self.scan.tokens[i + 1].key != "VIEW":
            return None
        self._close(i)
        self.clause = "lateral"
        return i + 2

    def _pivot(self, i: int) -> int | None:
        after = self.scan.tokens[i + 1].key
        if self.clause not in ("from", "on", "lateral") or after not in ("(", "INCLUDE", "EXCLUDE"):
            return None
        self.select.opaque = True
        return i + 1

    def _nearest(self, i: int) -> int | None:
        if self.clause == "from" and self.scan.tokens[i + 1].key == "NEAREST":
            self.select.opaque = True
        return None

    def _table(self, i: int) -> int | None:
        if self.clause != "start" or not self.scan.tokens[i + 1].is_name:
            return None
        self.clause = "other"
        return self.scan.bare_table(i + 1, self.ctes, self.select)

    # -- parts -----------------------------------------------------------------------------------------

    def _set_operator(self, i: int) -> int:
        self._close(i)
        self.query.combined = True
        self.select = self._new_select()
        self.clause = "start"
        return i + 2 if self.scan.tokens[i + 1].key in ("ALL", "DISTINCT") else i + 1

    def _nested_query(self, i: int) -> int:
        """A query in parentheses where a query may start; it sees the names of WITH."""
        self.clause = "other"
        return self.scan.later(i, self.ctes, self.parent, Query())

    def _relation(self, i: int, join: str) -> int:
        return self.scan.relation(i, self.ctes, self.select, join)

    def _close(self, i: int) -> None:
        """Ends the open clause before token ``i``."""
        span: Span = (self.clause_start, i)
        if self.clause == "items":
            self.select.items = span
        elif self.clause == "where":
            self.select.where = span
        elif self.clause == "on" and self.on_relation is not None:
            self.on_relation.on = span
            self.on_relation = None


_CLAUSES: Final = {
    "SELECT": QueryBody._select,
    "MAP": QueryBody._script,
    "REDUCE": QueryBody._script,
    "FROM": QueryBody._from,
    "JOIN": QueryBody._join,
    "ON": QueryBody._on,
    "WHERE": QueryBody._where,
    "GROUP": QueryBody._grouped,
    "HAVING": QueryBody._grouped,
    "QUALIFY": QueryBody._grouped,
    "LIMIT": QueryBody._limit,
    "OFFSET": QueryBody._limit,
    "WINDOW": QueryBody._window,
    "LATERAL": QueryBody._lateral,
    "PIVOT": QueryBody._pivot,
    "UNPIVOT": QueryBody._pivot,
    "APPROX": QueryBody._nearest,
    "EXACT": QueryBody._nearest,
    "TABLE": QueryBody._table,
}
