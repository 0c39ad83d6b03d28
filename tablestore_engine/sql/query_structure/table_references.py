"""Finds the tables that a query names: one pass over its tokens, which gives its structure (``query_structure.py``).

``QueryBody`` scans the clauses of a query, ``RelationScan`` one item of a FROM list. The rest of a query is
expressions, in which only subqueries, table arguments and dotted names are found. Subqueries are queued, so the scan
does not recurse into them. No token is rejected: unknown syntax may lose a predicate, but the query still runs.
"""

from __future__ import annotations

from collections.abc import Mapping

from tablestore_engine.sql.query_structure.from_item import RelationScan
from tablestore_engine.sql.query_structure.inline_table import begins_rows
from tablestore_engine.sql.query_structure.query_body import SET_OPERATORS, QueryBody
from tablestore_engine.sql.query_structure.query_structure import Cte, DottedName, Query, Select, Structure
from tablestore_engine.sql.tokens.lexer import END, QUOTED, SYMBOL, WORD, Token, behind, top_level

Ctes = Mapping[str, Cte]


def scan_query(tokens: list[Token], text: str) -> Structure:
    """The structure of a query text, given its tokens."""
    scan = _Scan(tokens, text)
    scan.query(0, {}, None, scan.structure.root)
    return scan.finish()


def scan_expression(tokens: list[Token], text: str) -> Structure:
    """The structure of an expression: its subqueries; dotted names outside of them belong to an empty
    select, the first of the root query."""
    scan = _Scan(tokens, text)
    select = Select(None, scan.structure.root)
    scan.structure.root.selects.append(select)
    scan.expression(0, len(tokens) - 1, {}, select)
    return scan.finish()


class _Scan(RelationScan):
    """The scan. Every method takes the index of a token and returns the index after the tokens it consumed."""

    def __init__(self, tokens: list[Token], text: str) -> None:
        self.tokens = tokens
        self.text = text
        self.structure = Structure(Query())
        self.waiting: list[tuple[int, Ctes, Select | None, Query]] = []

    def later(self, i: int, ctes: Ctes, parent: Select | None, query: Query) -> int:
        """Queues the query between the parentheses that open at ``i``; returns the index after them.

        So the depth of subqueries does not add to the depth of recursion.
        """
        self.waiting.append((i + 1, ctes, parent, query))
        return self.behind_parentheses(i)

    def finish(self) -> Structure:
        """The structure, after the queued queries are scanned too."""
        while self.waiting:
            self.query(*self.waiting.pop())
        self.structure.tables.sort(key=lambda table: table.name_span[0])
        self.structure.names.sort(key=lambda name: name.spans[0][0])
        return self.structure

    # -- queries -------------------------------------------------------------------------------------

    def query(self, i: int, ctes: Ctes, parent: Select | None, query: Query) -> int:
        """A whole query from its first token; returns the index of the closing parenthesis or the end."""
        if self.tokens[i].key == "WITH" and self.tokens[i + 1].is_name:
            i, ctes = self._with(i + 1, ctes, parent)
        return QueryBody(self, query, ctes, parent).run(i)

    def _with(self, i: int, ctes: Ctes, parent: Select | None) -> tuple[int, Ctes]:
        tokens = self.tokens
        recursive = tokens[i].key == "RECURSIVE" and tokens[i + 1].is_name  # WITH RECURSIVE AS (…) names it AS
        if recursive:
            i += 1
        while tokens[i].is_name:
            cte = Cte(tokens[i].name, Query(), recursive=recursive)
            cte.query.owner = cte
            i += 1
            if tokens[i].key == "(" and not self.starts_query(i + 1):
                cte.renames_columns = True
                i = self.behind_parentheses(i)
            if tokens[i].key == "MAX":
                while tokens[i].kind != END and tokens[i].key not in ("AS", "("):
                    i += 1
            if tokens[i].key == "AS":
                i += 1
            if tokens[i].key != "(":
                break
            key = cte.name.lower()
            i = self.later(i, {**ctes, key: cte} if recursive else ctes, parent, cte.query)
            ctes = {**ctes, key: cte}
            if tokens[i].key != ",":
                break
            i += 1
        return i, ctes

    def starts_query(self, i: int) -> bool:
        """Whether the tokens from ``i``, which follow a parenthesis, are a query."""
        token = self.tokens[i]
        if token.key in ("SELECT", "WITH"):
            return self.tokens[i + 1].key not in (".", ",", ")", "=")
        if token.key == "FROM":
            return self.tokens[i - 2].key != "TRIM" and not self._is_operand(i)
        if token.key == "VALUES":
            return begins_rows(self.tokens, i + 1)
        if token.key == "TABLE":
            return self.tokens[i + 1].is_name
        return False

    def _is_operand(self, i: int) -> bool:
        """Whether the keyword at ``i`` is a column: a sign follows, or AS and a type. Spark takes other words, also
        those that are operators, for a table."""
        token, after = self.tokens[i], self.tokens[i + 1]
        if after.key == ".":
            return after.start == token.end
        return after.key == "AS" or (after.kind == SYMBOL and after.key != "(")

    # -- expressions ---------------------------------------------------------------------------------

    def expression(self, i: int, end: int, ctes: Ctes, select: Select) -> None:
        """Expression tokens up to ``end`` (exclusive)."""
        tokens = self.tokens
        while i < end:
            key = tokens[i].key
            if key in ("(", ")") and not (key == "(" and self.starts_query(i + 1)):
                i += 1
            elif key == "SELECT" and tokens[i - 1].key in ("ALL", "DISTINCT", *SET_OPERATORS):
                i = self.query(i, ctes, select, Query())
            else:
                i = self.atom(i, ctes, select)

    def atom(self, i: int, ctes: Ctes, select: Select) -> int:
        """One token of an expression, or one parenthesized group, dotted name or table argument."""
        tokens = self.tokens
        token = tokens[i]
        key = token.key
        if key == "(":
            return self.parentheses(i, ctes, select)
        if token.kind in (WORD, QUOTED):
            after = tokens[i + 1]
            if after.key == ".":
                return self._dotted_name(i, select)
            if key == "AS" and after.is_name:
                return i + 2
            if key == "TABLE" and tokens[i - 1].key in ("(", ",", "=>"):
                if after.is_name:
                    return self.bare_table(i + 1, ctes, select)
                if after.key == "(" and tokens[i + 2].is_name and not self.starts_query(i + 2):
                    return min(self.bare_table(i + 2, ctes, select) + 1, len(tokens) - 1)  # it may stay open
            return i + 1
        if key == ".":  # a field of a value: ``f(x).from``
            return i + 2 if tokens[i + 1].is_name else i + 1
        return i + 1

    def parentheses(self, i: int, ctes: Ctes, select: Select) -> int:
        """A group in an expression, from its opening parenthesis; returns the index after it."""
        if self.starts_query(i + 1) and (self.tokens[i + 1].key != "TABLE" or self._combines(i)):
            return self.later(i, ctes, select, Query())
        after = self.behind_parentheses(i)
        self.expression(i + 1, after - 1 if self.tokens[i].partner > i else after, ctes, select)
        return after

    def _combines(self, i: int) -> bool:
        """Whether queries are combined between the parentheses that open at ``i``: ``(TABLE a EXCEPT TABLE b)``."""
        inside = top_level(self.tokens, i + 1, max(self.tokens[i].partner, i + 1))
        return any(self.tokens[at].key in SET_OPERATORS for at in inside)

    def nested_relations(self, i: int, ctes: Ctes, select: Select) -> int:
        """``FROM (a JOIN b …)`` starting after the parenthesis; returns the index of the closing one. Also
        scans a set operation of queries in parentheses."""
        body = QueryBody(self, select.query, ctes, select.parent, select)
        return body.run(self.relation(i, ctes, select, "inner"))

    def behind_parentheses(self, i: int) -> int:
        """The index after the group that opens at ``i``; the end when the group is not closed."""
        return behind(self.tokens, i) if self.tokens[i].partner > i else len(self.tokens) - 1

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
            i += 2
        self.structure.names.append(DottedName(tuple(parts), tuple(spans), star, select))
        return i
