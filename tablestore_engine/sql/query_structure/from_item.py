"""The parser of one item of a FROM list: its name, time travel, sample and alias.

Spark allows almost any keyword as an alias, so a word after a relation is its alias unless it can begin a
clause at this position; ``_ends_relation`` decides this.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tablestore_engine.sql.query_structure.inline_table import AFTER_OPERAND, begins_rows
from tablestore_engine.sql.query_structure.query_structure import Cte, Query, Relation, Select, Structure, TimeTravel
from tablestore_engine.sql.tokens.cursor import literal_at, names_of_text
from tablestore_engine.sql.tokens.lexer import END, NUMBER, QUOTED, STRING, WORD, Token, behind
from tablestore_engine.sql.tokens.query_hints import option_hint, options_clause

Ctes = Mapping[str, Cte]

_NEVER_ALIAS: Final = frozenset(
    [
        "WHERE",
        "HAVING",
        "LIMIT",
        "UNION",
        "INTERSECT",
        "EXCEPT",
        "MINUS",
        "SETMINUS",
        "JOIN",
        "INNER",
        "LEFT",
        "RIGHT",
        "FULL",
        "CROSS",
        "SEMI",
        "ANTI",
        "NATURAL",
        "ON",
        "USING",
        "LATERAL",
        "SELECT",
        "WHEN",
        "SET",
        "AS",
        "INSERT",
    ]
)
_ALIAS_UNLESS: Final[Mapping[str, frozenset[str]]] = {
    # a keyword and what must follow for it to begin a clause
    "GROUP": frozenset(["BY"]),
    "ORDER": frozenset(["BY"]),
    "SORT": frozenset(["BY"]),
    "CLUSTER": frozenset(["BY"]),
    "DISTRIBUTE": frozenset(["BY"]),
    "PARTITION": frozenset(["BY"]),
    "PIVOT": frozenset(["("]),
    "UNPIVOT": frozenset(["(", "INCLUDE", "EXCLUDE"]),
    "TABLESAMPLE": frozenset(["("]),
    "MATCH_CONDITION": frozenset(["("]),
    "ASOF": frozenset(["JOIN", "LEFT", "INNER"]),
    "APPROX": frozenset(["NEAREST"]),
    "EXACT": frozenset(["NEAREST"]),
    "CHANGES": frozenset(["FROM"]),
    "FOR": frozenset(["VERSION", "TIMESTAMP", "SYSTEM_TIME", "SYSTEM_VERSION"]),
    "WITH": frozenset(["("]),
    "MAP": frozenset(),
}
_NOT_AFTER_QUALIFY: Final = frozenset([",", ")", "ON", "JOIN", "WHERE", "GROUP", "LEFT", "INNER", ""])
_VERSION_WORDS: Final = frozenset(["VERSION", "SYSTEM_VERSION"])
_TIME_WORDS: Final = frozenset(["TIMESTAMP", "SYSTEM_TIME"])
_OPERATORS: Final = frozenset(["+", "-", "*", "/", "%", "||", "DIV"])


class RelationScan:
    """The part of the scan that reads relations; ``_Scan`` implements queries and expressions."""

    tokens: list[Token]
    text: str
    structure: Structure

    def query(self, i: int, ctes: Ctes, parent: Select | None, query: Query) -> int:
        raise NotImplementedError

    def starts_query(self, i: int) -> bool:
        raise NotImplementedError

    def parentheses(self, i: int, ctes: Ctes, select: Select) -> int:
        raise NotImplementedError

    def later(self, i: int, ctes: Ctes, parent: Select | None, query: Query) -> int:
        raise NotImplementedError

    def behind_parentheses(self, i: int) -> int:
        raise NotImplementedError

    def atom(self, i: int, ctes: Ctes, select: Select) -> int:
        raise NotImplementedError

    def nested_relations(self, i: int, ctes: Ctes, select: Select) -> int:
        raise NotImplementedError

    # -- relations -----------------------------------------------------------------------------------

    def relation(self, i: int, ctes: Ctes, select: Select, join: str) -> int:
        """One relation from its first token, alias included."""
        tokens = self.tokens
        if tokens[i].key == "LATERAL" or self._is_stream(i):
            i += 1
        relation = Relation(select, join=join)
        token, after = tokens[i], tokens[i + 1] if tokens[i].kind != END else tokens[i]
        if token.key == "(":
            if not self.starts_query(i + 1):
                select.opaque = True
                i = min(self.nested_relations(i + 1, ctes, select) + 1, len(tokens) - 1)
            else:
                relation.query = Query(owner=relation)
                i = self.later(i, ctes, select, relation.query)
            select.relations.append(relation)
        elif token.key == "VALUES" and begins_rows(tokens, i + 1):
            select.relations.append(relation)
            return self._inline_table(i + 1, ctes, select, relation)
        elif token.is_name:
            select.relations.append(relation)
            i = self._name(i, ctes, select, relation)
        elif token.key == "." and after.is_name:
            # Macros write the database before the dot, and here it is empty.
            select.relations.append(relation)
            i = self._name(i + 1, ctes, select, relation)
            relation.name_span = (token.start, relation.name_span[1])
        else:
            return i
        return self._alias(self._suffix(i, relation), relation)

    def _is_stream(self, i: int) -> bool:
        """Whether the word at ``i`` is STREAM before a table, and not a table before its alias."""
        return self.tokens[i].key == "STREAM" and self.tokens[i + 1].is_name and not self._ends_relation(i + 1)

    def bare_table(self, i: int, ctes: Ctes, select: Select) -> int:
        """``TABLE name``: a table where no alias is legal."""
        relation = Relation(select)
        i = self._name(i, ctes, select, relation)
        relation.alias_at = None
        select.opaque = True
        select.relations.append(relation)
        return i

    def _name(self, i: int, ctes: Ctes, select: Select, relation: Relation) -> int:
        tokens = self.tokens
        first = i
        if tokens[i].key == "IDENTIFIER" and tokens[i + 1].key == "(":
            return self._identifier_clause(i, ctes, select, relation)
        parts = [tokens[i].name]
        while tokens[i + 1].key == "." and tokens[i + 2].is_name:
            i += 2
            parts.append(tokens[i].name)
        last = tokens[i]
        if tokens[i].key == "STREAM" and tokens[i + 1].key == "(" and tokens[i + 2].is_name:
            self._name(i + 2, ctes, select, relation)
            return self.behind_parentheses(i + 1)
        if tokens[i].key == "TABLE" and tokens[i + 1].key == "(" and tokens[i + 2].key == "TABLE_CHANGES":
            end = self._changes(i + 2, ctes, relation)
            if end and tokens[end].key == ")":
                relation.name_span = (tokens[i].start, tokens[end].end)
                return end + 1
        if tokens[i].key == "TABLE_CHANGES" and len(parts) == 1 and (end := self._changes(i, ctes, relation)):
            return end
        if tokens[i + 1].key == "(":  # a table function
            return self.parentheses(i + 1, ctes, select)
        relation.parts = tuple(parts)
        relation.name_span = (tokens[first].start, last.end)
        relation.last_text = last.text
        relation.alias_at = last.end
        self._register(relation, ctes)
        return i + 1

    def _identifier_clause(self, i: int, ctes: Ctes, select: Select, relation: Relation) -> int:
        """``IDENTIFIER('db.' || 't')``: only plain literals can be evaluated here."""
        tokens = self.tokens
        text, end = literal_at(tokens, i + 2)
        names = names_of_text(text)
        if tokens[end].key == ")" and names:
            relation.parts = tuple(name.name for name in names)
            relation.name_span = (tokens[i].start, tokens[end].end)
            relation.last_text = names[-1].text
            relation.alias_at = tokens[end].end
            self._register(relation, ctes)
        return self.parentheses(i + 1, ctes, select)

    def _changes(self, i: int, ctes: Ctes, relation: Relation) -> int:
        """The index after ``table_changes('db.t', from, to)``; 0 when it does not have these arguments."""
        tokens = self.tokens
        text, at = literal_at(tokens, i + 2)
        names = names_of_text(text)
        bounds: list[str] = []
        while tokens[at].key == ",":
            end = self._value(at + 1)
            if end == at + 1:
                return 0
            bounds.append(self.text[tokens[at + 1].start : tokens[end - 1].end])
            at = end
        if tokens[i + 1].key != "(" or tokens[at].key != ")" or len(bounds) not in (1, 2) or not names:
            return 0
        relation.parts = tuple(name.name for name in names)
        relation.name_span = (tokens[i].start, tokens[at].end)
        relation.changes = tuple(bounds)
        self.structure.tables.append(relation)
        return at + 1

    def _register(self, relation: Relation, ctes: Ctes) -> None:
        cte = ctes.get(relation.parts[0].lower()) if len(relation.parts) == 1 else None
        if cte is None:
            self.structure.tables.append(relation)
        else:
            relation.cte = cte
            relation.alias_at = None
            cte.readers.append(relation)

    def _inline_table(self, i: int, ctes: Ctes, select: Select, relation: Relation) -> int:
        """The rows of VALUES, separated by commas, up to and including the alias."""
        tokens = self.tokens
        after_operand = False
        while True:
            token = tokens[i]
            if token.kind == END or token.key == ")":
                return i
            if token.key == "AS" or (after_operand and token.is_name and token.key not in AFTER_OPERAND):
                return self._alias(i, relation)
            if token.kind == WORD and not after_operand and token.key in ("DATE", "TIME", "TIMESTAMP", "INTERVAL"):
                i += 1  # a typed literal: the operand is the string after it
                continue
            after_operand = token.key == ")" or token.kind in (NUMBER, STRING, WORD, QUOTED)
            if token.kind == WORD and token.key in AFTER_OPERAND:
                after_operand = False
            if token.key == "(":
                after_operand = True
            i = self.atom(i, ctes, select)

    # -- what may follow a relation --------------------------------------------------------------------

    def _suffix(self, i: int, relation: Relation) -> int:
        """Time travel, options, sample and watermark."""
        tokens = self.tokens
        if relation.parts and not relation.changes:
            before = tokens[i - 1].end
            i = self._time_travel(i, relation, before)
            hint = option_hint(self.text, tokens, i)
            clause = options_clause(self.text, tokens, i)
            said = [one for one in (hint, clause) if one is not None]
            if said:
                relation.hint_span = (said[0][0], said[-1][1])
                relation.options = tuple((key, value) for one in said for key, value in one[2].items())
        if tokens[i].key == "WITH" and tokens[i + 1].key == "(":
            i = self.behind_parentheses(i + 1)
        if tokens[i].key == "TABLESAMPLE" and tokens[i + 1].key == "(":
            relation.sampled = True
            i = self.behind_parentheses(i + 1)
            if tokens[i].key == "REPEATABLE" and tokens[i + 1].key == "(":
                i = self.behind_parentheses(i + 1)
        if tokens[i].key == "WATERMARK" and (end := self._watermark_end(i)):
            i = end
        if relation.alias_at is not None:
            relation.alias_at = tokens[i - 1].end
        return i

    def _time_travel(self, i: int, relation: Relation, before: int) -> int:
        tokens = self.tokens
        if tokens[i].key == "@" and tokens[i + 1].text[:1] in ("v", "V") and tokens[i + 1].text[1:].isdigit():
            relation.time_travel = TimeTravel(version_sql=tokens[i + 1].text[1:])
            relation.travel_span = (before, tokens[i + 1].end)
            return i + 2
        at = i + 1 if tokens[i].key == "FOR" else i
        word = tokens[at].key
        if word not in _VERSION_WORDS and word not in _TIME_WORDS:
            return i
        if tokens[at + 1].key != "AS" or tokens[at + 2].key != "OF":
            return i
        first = at + 3
        if word in _VERSION_WORDS:
            end = first + 1 if tokens[first].kind in (NUMBER, STRING) else self._value(first)
        else:
            end = self._value(first)
        if end == first:
            return i
        value = self.text[tokens[first].start : tokens[end - 1].end]
        relation.travel_span = (before, tokens[end - 1].end)
        if word in _VERSION_WORDS:
            relation.time_travel = TimeTravel(version_sql=value)
        else:
            relation.time_travel = TimeTravel(timestamp_sql=value)
        return end

    def _value(self, i: int) -> int:
        """The index after one value expression: operands joined by arithmetic operators. Its subqueries are not
        scanned: the expression is removed from the query and bound when it is evaluated."""
        tokens = self.tokens
        while True:
            end = self._operand(i)
            if end == i:
                return i
            if tokens[end].key == "::" and tokens[end + 1].is_name:
                end += 2
                if tokens[end].key == "(":
                    end = self.behind_parentheses(end)
            if tokens[end].key not in _OPERATORS:
                return end
            i = end + 1

    def _operand(self, i: int) -> int:
        tokens = self.tokens
        while tokens[i].key in ("-", "+"):
            i += 1
        token = tokens[i]
        if token.kind in (NUMBER, STRING):
            return i + 1
        if token.key == "(":
            return self.behind_parentheses(i)
        if token.key == "INTERVAL":
            return self._interval(i + 1)
        if token.key == "CASE" and token.partner > i:
            return behind(tokens, i)
        if not token.is_name:
            return i
        if tokens[i + 1].kind == STRING:  # DATE '…'
            return i + 2
        i += 1
        while tokens[i].key == "." and tokens[i + 1].is_name:
            i += 2
        return self.behind_parentheses(i) if tokens[i].key == "(" else i

    def _interval(self, i: int) -> int:
        """The index after ``'1' DAY``, ``2 HOURS 3 MINUTES``, ``'1-2' YEAR TO MONTH``, ``'1 day'``."""
        tokens = self.tokens
        while tokens[i].kind in (NUMBER, STRING) or tokens[i].key in ("-", "+"):
            if tokens[i].key in ("-", "+"):
                i += 1
                continue
            i += 1
            if tokens[i].kind == WORD and tokens[i].key.rstrip("S") in _UNITS:
                i += 1
                if tokens[i].key == "TO":
                    i = min(i + 2, len(tokens) - 1)
            if tokens[i].key in ("-", "+"):
                break
        return i

    def _watermark_end(self, i: int) -> int:
        """The index after ``WATERMARK column DELAY OF INTERVAL …``; 0 when the word is an alias."""
        tokens = self.tokens
        for at in range(i + 1, min(i + 20, len(tokens) - 2)):
            if tokens[at].key == "DELAY" and tokens[at + 1].key == "OF":
                return self._interval(at + 3) if tokens[at + 2].key == "INTERVAL" else min(at + 3, len(tokens) - 1)
            if tokens[at].key in _NEVER_ALIAS and tokens[at].key != "AS":
                break
        return 0

    def _alias(self, i: int, relation: Relation) -> int:
        tokens = self.tokens
        if tokens[i].key == "AS" and tokens[i + 1].is_name:
            i += 1
        elif tokens[i].kind != QUOTED and (tokens[i].kind != WORD or self._ends_relation(i)):
            return i
        relation.alias = tokens[i].name
        relation.alias_at = None
        i += 1
        if tokens[i].key == "(":
            relation.renames_columns = True
            i = self.behind_parentheses(i)
        return i

    def _ends_relation(self, i: int) -> bool:
        """Whether the word at ``i``, directly after a relation, begins a clause and is not its alias."""
        key, after = self.tokens[i].key, self.tokens[i + 1]
        if key in _NEVER_ALIAS:
            return True
        if key in _ALIAS_UNLESS:
            return after.key in _ALIAS_UNLESS[key]
        if key == "OFFSET":
            return after.kind == NUMBER or after.key in (":", "?")
        if key == "WINDOW":
            return after.is_name and self.tokens[i + 2].key == "AS"
        if key == "QUALIFY":
            return after.key not in _NOT_AFTER_QUALIFY
        return False


_UNITS: Final = frozenset(
    ["NANOSECOND", "MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "YEAR"]
)
