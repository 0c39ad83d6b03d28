"""One pass over the tokens of a query that finds its structure (``structure.py``).

The pass is flat where SQL is flat: at one parenthesis level the keywords SELECT, FROM, JOIN, ON, WHERE, …
and the commas of a FROM list say what comes next, and whatever else stands there is an expression, of
which only subqueries, table arguments and dotted names are looked at. Parentheses recurse. No token is
ever rejected, so syntax that this module does not know costs at most a predicate, not the query.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tablestore_engine.sql.lexer import BAD, END, QUOTED, WORD, Token
from tablestore_engine.sql.relation_scan import RelationScan
from tablestore_engine.sql.structure import Cte, DottedName, Query, Relation, Select, Span, Structure

Ctes = Mapping[str, Cte]

_JOIN_WORDS: Final = frozenset(
    ["NATURAL", "INNER", "CROSS", "LEFT", "RIGHT", "FULL", "OUTER", "SEMI", "ANTI", "ASOF"]
)
_SET_OPERATORS: Final = frozenset(["UNION", "INTERSECT", "EXCEPT", "MINUS", "SETMINUS"])
_QUERY_STARTS: Final = frozenset(["SELECT", "FROM", "VALUES", "TABLE", "MAP", "REDUCE", "WITH", "("])
_COLUMN_NAMES: Final = frozenset(["LIMIT", "OFFSET", "WINDOW", "QUALIFY", "MAP", "REDUCE", "APPROX", "EXACT"])
_BEFORE_OPERAND: Final = frozenset(
    [
        "SELECT",
        "DISTINCT",
        ",",
        "(",
        "=",
        "<",
        ">",
        "<=",
        ">=",
        "<>",
        "!=",
        "==",
        "<=>",
        "+",
        "-",
        "/",
        "%",
        "||",
        "|",
        "&",
        "^",
        "~",
        "!",
        "->",
        "=>",
        "::",
        "AND",
        "OR",
        "NOT",
        "WHERE",
        "ON",
        "HAVING",
        "BY",
        "WHEN",
        "THEN",
        "ELSE",
        "CASE",
        "BETWEEN",
        "IN",
        "LIKE",
        "RLIKE",
        "ILIKE",
        "IS",
        "AS",
    ]
)
_BY_CLAUSES: Final = frozenset(["ORDER", "SORT", "CLUSTER", "DISTRIBUTE"])


def scan_query(tokens: list[Token], text: str) -> Structure:
    """The structure of a query text, given its tokens."""
    scan = _Scan(tokens, text)
    scan.query(0, {}, None, scan.structure.root)
    return scan.structure


def scan_expression(tokens: list[Token], text: str) -> Structure:
    """The structure of an expression: its subqueries; dotted names outside of these belong to an empty
    select, the first of the root query."""
    scan = _Scan(tokens, text)
    select = Select(None, scan.structure.root)
    scan.structure.root.selects.append(select)
    position = 0
    while tokens[position].kind != END:
        position = scan.expression(position, {}, select) + 1
        if tokens[position - 1].kind == END:
            break
    return scan.structure


class _Scan(RelationScan):
    """The walk. Every method takes the index of a token and returns the index behind what it consumed."""

    def __init__(self, tokens: list[Token], text: str) -> None:
        self.tokens = tokens
        self.text = text
        self.structure = Structure(Query())

    # -- queries -------------------------------------------------------------------------------------

    def query(self, i: int, ctes: Ctes, parent: Select | None, query: Query) -> int:
        """A whole query from its first token; returns the index of the closing parenthesis or the end."""
        if self.tokens[i].key == "WITH" and self.tokens[i + 1].is_name:
            i, ctes = self._with(i + 1, ctes, parent)
        return _Body(self, query, ctes, parent).run(i)

    def _with(self, i: int, ctes: Ctes, parent: Select | None) -> tuple[int, Ctes]:
        tokens = self.tokens
        recursive = tokens[i].key == "RECURSIVE" and tokens[i + 1].is_name and tokens[i + 1].key != "AS"
        if recursive:
            i += 1
        while tokens[i].is_name:
            cte = Cte(tokens[i].name, Query(), recursive=recursive)
            cte.query.owner = cte
            i += 1
            if tokens[i].key == "(" and not self.starts_query(i + 1):
                cte.renames_columns = True
                i = self.skip_parentheses(i)
            if tokens[i].key == "MAX":
                while tokens[i].kind != END and tokens[i].key not in ("AS", "("):
                    i += 1
            if tokens[i].key == "AS":
                i += 1
            if tokens[i].key != "(":
                break
            key = cte.name.lower()
            i = self.query(i + 1, {**ctes, key: cte} if recursive else ctes, parent, cte.query) + 1
            ctes = {**ctes, key: cte}
            if tokens[min(i, len(tokens) - 1)].key != ",":
                break
            i += 1
        return min(i, len(tokens) - 1), ctes

    def starts_query(self, i: int) -> bool:
        """Whether the tokens from ``i``, which follow a parenthesis, are a query."""
        token = self.tokens[i]
        if token.key == "SELECT" or token.key == "WITH":
            return self.tokens[i + 1].key not in (".", ",", ")", "=")
        if token.key == "FROM":
            return self.tokens[i - 2].key != "TRIM"
        if token.key == "VALUES":
            return self.tokens[i + 1].key not in (".", ",", ")", "=")
        if token.key == "TABLE":
            return self.tokens[i + 1].is_name
        return False

    # -- expressions ---------------------------------------------------------------------------------

    def expression(self, i: int, ctes: Ctes, select: Select) -> int:
        """Expression tokens up to the closing parenthesis of this level, or the end; returns its index."""
        tokens = self.tokens
        while True:
            token = tokens[i]
            if token.key == ")" or token.kind == END:
                return i
            if token.key == "SELECT" and tokens[i - 1].key in ("ALL", "DISTINCT", *_SET_OPERATORS):
                return self.query(i, ctes, select, Query())
            i = self.atom(i, ctes, select)

    def atom(self, i: int, ctes: Ctes, select: Select) -> int:
        """One token of an expression, or one parenthesized group, dotted name or table argument."""
        tokens = self.tokens
        token = tokens[i]
        key = token.key
        if key == "(":
            return self.parentheses(i, ctes, select)
        if token.kind == WORD or token.kind == QUOTED:
            after = tokens[i + 1]
            if after.key == ".":
                return self._dotted_name(i, select)
            if key == "AS" and after.is_name:
                return i + 2
            if key == "TABLE" and tokens[i - 1].key in ("(", ",", "=>"):
                if after.is_name:
                    return self.bare_table(i + 1, ctes, select)
                if after.key == "(" and tokens[i + 2].is_name and not self.starts_query(i + 2):
                    return self.bare_table(i + 2, ctes, select) + 1
            return i + 1
        if key == ".":  # a field of a value: ``f(x).from``
            return i + 2 if tokens[i + 1].is_name else i + 1
        if key == "*" and self._is_star(i):
            self.structure.needs_all_columns = True
        return i + 1

    def parentheses(self, i: int, ctes: Ctes, select: Select) -> int:
        """A group in an expression, from its opening parenthesis; returns the index behind it."""
        if self.starts_query(i + 1) and self.tokens[i + 1].key != "TABLE":
            end = self.query(i + 1, ctes, select, Query())
        else:
            end = self.expression(i + 1, ctes, select)
        return min(end + 1, len(self.tokens) - 1)

    def nested_relations(self, i: int, ctes: Ctes, select: Select) -> int:
        """``FROM (a JOIN b …)`` from behind the parenthesis; returns the index of the closing one. A set
        operation of parenthesized queries comes this way too."""
        body = _Body(self, select.query, ctes, select.parent, select)
        return body.run(self.relation(i, ctes, select, "inner"))

    def skip_parentheses(self, i: int) -> int:
        """Behind the group that opens at ``i``, without looking into it."""
        depth = 0
        while self.tokens[i].kind != END:
            key = self.tokens[i].key
            depth += 1 if key == "(" else -1 if key == ")" else 0
            i += 1
            if depth == 0:
                break
        return i

    def _dotted_name(self, i: int, select: Select) -> int:
        tokens = self.tokens
        parts, spans = [tokens[i].name], [(tokens[i].start, tokens[i].end)]
        i += 1
        while tokens[i].key == "." and tokens[i + 1].is_name:
            parts.append(tokens[i + 1].name)
            spans.append((tokens[i + 1].start, tokens[i + 1].end))
            i += 2
        star = tokens[i].key == "." and tokens[i + 1].key == "*"
        if star:
            self.structure.needs_all_columns = True
            i += 2
        self.structure.names.append(DottedName(tuple(parts), tuple(spans), star, select))
        return i

    def _is_star(self, i: int) -> bool:
        before = self.tokens[i - 1].key
        if before == "(":
            return self.tokens[i - 2].key != "COUNT"
        return before in ("SELECT", "DISTINCT", "ALL", ",")


class _Body:
    """The selects of one query: a state machine over the clause keywords of one parenthesis level."""

    def __init__(
        self, scan: _Scan, query: Query, ctes: Ctes, parent: Select | None, within: Select | None = None
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
            elif token.kind == WORD and tokens[i + 1].key != ".":
                i = self._word(i)
            elif key == "|>":
                self._close(i)
                self.select.opaque = self.scan.structure.needs_all_columns = True
                self.clause = "pipe"
                i += 1
            else:
                if self.clause == "start" and token.kind != BAD:
                    self.clause = "other"
                i = self.scan.atom(i, self.ctes, self.select)

    def _word(self, i: int) -> int:
        """A word that may open a clause."""
        tokens = self.scan.tokens
        key, after = tokens[i].key, tokens[i + 1].key
        handler = _CLAUSES.get(key)
        if handler is not None and not (key in _COLUMN_NAMES and self._is_column(i)):
            moved = handler(self, i)
            if moved is not None:
                return moved
        elif key in _SET_OPERATORS:
            star_except = key == "EXCEPT" and tokens[i - 1].key == "*" and self.clause == "items"
            if not star_except and (after in _QUERY_STARTS or after in ("ALL", "DISTINCT")):
                return self._set_operator(i)
        elif key in _BY_CLAUSES and after == "BY":
            return self._tail(i)
        return self.scan.atom(i, self.ctes, self.select)

    def _is_column(self, i: int) -> bool:
        """Whether the keyword at ``i`` stands where an operand must stand, or is an implicit alias."""
        tokens = self.scan.tokens
        before, after = tokens[i - 1].key, tokens[i + 1].key
        if before == "ALL":
            return tokens[i - 2].key == "SELECT"
        return before in _BEFORE_OPERAND or (self.clause == "items" and after in (",", "FROM", "AS"))

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
        after = self.scan.tokens[i + 1].key
        if after == "DISTINCT":
            self.select.distinct = True
        elif after == "TRANSFORM":
            self.select.opaque = self.scan.structure.needs_all_columns = True
        return i + 1

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
        if self.clause == "start":
            self.scan.structure.needs_all_columns = True
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
        if "NATURAL" in words:
            self.scan.structure.needs_all_columns = True
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
        self.select.opaque = self.scan.structure.needs_all_columns = True
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
        """A parenthesized query where a query may start; WITH names stay visible in it."""
        self.clause = "other"
        end = self.scan.query(i + 1, self.ctes, self.parent, Query())
        return min(end + 1, len(self.scan.tokens) - 1)

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
    "SELECT": _Body._select,
    "MAP": _Body._script,
    "REDUCE": _Body._script,
    "FROM": _Body._from,
    "JOIN": _Body._join,
    "ON": _Body._on,
    "WHERE": _Body._where,
    "GROUP": _Body._grouped,
    "HAVING": _Body._grouped,
    "QUALIFY": _Body._grouped,
    "LIMIT": _Body._limit,
    "OFFSET": _Body._limit,
    "WINDOW": _Body._window,
    "LATERAL": _Body._lateral,
    "PIVOT": _Body._pivot,
    "UNPIVOT": _Body._pivot,
    "APPROX": _Body._nearest,
    "EXACT": _Body._nearest,
    "TABLE": _Body._table,
}
