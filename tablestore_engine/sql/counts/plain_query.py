"""The grammar of the queries that are counted, which covers every token of a text.

    query  := [WITH name AS (query), …] SELECT item, … FROM source [WHERE condition] [groups]
    item   := (* | name.name | constant | count(*) [operator number]) [[AS] name]
    source := (name.name | (query)) [[AS] name]
    groups := GROUP BY name.name, … HAVING count(*) > number

A structure (`sql/query_structure`) skips what it does not know, because Spark then says what is wrong with it. Here,
Spark may not be asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from tablestore_engine.sql.tokens.lexer import END, NUMBER, QUOTED, STRING, WORD, Token, top_level

_RESERVED: Final = """
    ALL AND ANTI ANY AS ASOF AT AUTHORIZATION BETWEEN BOTH BY CASE CAST CHECK CLUSTER COLLATE COLLATION COLUMN
    CONSTRAINT CREATE CROSS CUBE CURRENT CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER DATE DISTINCT
    DISTRIBUTE ELSE END ESCAPE EXCEPT EXECUTE EXISTS FALSE FETCH FILTER FOR FOREIGN FROM FULL GRANT GROUP GROUPING
    HAVING IDENTIFIER IN INNER INSERT INTERSECT INTERVAL INTO IS JOIN LATERAL LEADING LEFT LIKE LIMIT LOCALTIMESTAMP
    MINUS NATURAL NOT NULL OFFSET ON ONLY OPTIONS OR ORDER OUTER OVER OVERLAPS PERCENTILE_CONT PERCENTILE_DISC PIVOT
    PRIMARY QUALIFY RECURSIVE REFERENCES RIGHT ROLLUP SELECT SEMI SESSION_USER SET SETMINUS SOME SORT SQL STREAM
    SYSTEM_TIME SYSTEM_VERSION TABLE TABLESAMPLE THEN TIME TIMESTAMP TO TRAILING TRANSFORM TRUE UNION UNIQUE UNKNOWN
    UNPIVOT USER USING VALUES VERSION WHEN WHERE WINDOW WITH WITHIN
"""
_NEVER_NAMES: Final = frozenset(_RESERVED.split())
"""Words that Spark takes, in some clause at least, for a part of it or of an expression, or that it can reserve."""
_WORD: Final = re.compile(r"[A-Za-z0-9_]*[A-Za-z_][A-Za-z0-9_]*")
"""Names that Spark reads without backquotes."""
_NUMBER: Final = re.compile(r"[0-9]{1,18}(\.[0-9]{1,18})?")
"""Numbers without a suffix, which each type of numbers can be compared with."""
_OPERATORS: Final = frozenset(["=", "==", "!=", "<>", "<", "<=", ">", ">="])


def is_plain_query(tokens: Sequence[Token]) -> bool:
    """Whether tokens, with the sentinel at their end, are one query of the grammar, of less than hundreds of levels."""
    form = _Form(tokens)
    try:
        return form.query() and tokens[form.i].kind == END
    except RecursionError:
        return False


def is_constant(token: Token) -> bool:
    """Whether a token is a number, or a text in single quotes: Spark may take other quotes for those of a name."""
    if token.kind == NUMBER:
        return _NUMBER.fullmatch(token.text) is not None
    return token.kind == STRING and token.text.startswith("'")


def _is_plain(token: Token) -> bool:
    """Whether Spark reads a token of a condition as it is read here."""
    if token.kind == WORD:
        return _WORD.fullmatch(token.text) is not None
    return token.kind not in (NUMBER, STRING) or is_constant(token)


class _Form:
    """A position in the tokens. Each method consumes what it names, or returns False."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.i = 0

    def query(self) -> bool:
        if self._accept("WITH") and not self._table_expressions():
            return False
        if not self._accept("SELECT") or not self._listed(self._item):
            return False
        if not self._accept("FROM") or not self._source():
            return False
        if self._accept("WHERE") and not self._condition():
            return False
        return not self._accept("GROUP", "BY") or self._groups()

    def _table_expressions(self) -> bool:
        """Common table expressions of different names."""
        first = self.i
        if not self._listed(self._table_expression):
            return False
        listed = (self.tokens[i] for i in top_level(self.tokens, first, self.i))
        names = [one.name.lower() for one in listed if one.is_name and one.key != "AS"]
        return len(set(names)) == len(names)

    def _table_expression(self) -> bool:
        return self._name() and self._accept("AS") and self._in_parentheses()

    def _in_parentheses(self) -> bool:
        return self._accept("(") and self.query() and self._accept(")")

    def _item(self) -> bool:
        if self._accept("*"):
            return True
        if self._count():
            if self.tokens[self.i].key in _OPERATORS:
                self.i += 1
                if not self._constant():
                    return False
        elif not self._constant() and not self._dotted():
            return False
        return self._alias()

    def _count(self) -> bool:
        """`count(*)`, or of a constant; nothing is consumed where it is something else."""
        start = self.i
        if self._accept("COUNT", "(") and (self._accept("*") or self._constant()) and self._accept(")"):
            return True
        self.i = start
        return False

    def _groups(self) -> bool:
        """The columns that make groups, and the condition that those of one row are left out."""
        if not self._listed(self._dotted) or not self._accept("HAVING") or not self._count() or not self._accept(">"):
            return False
        least = self.tokens[self.i].text
        return self._constant() and least.isdigit() and int(least) > 0

    def _source(self) -> bool:
        found = self._in_parentheses() if self.tokens[self.i].key == "(" else self._dotted()
        return found and self._alias()

    def _alias(self) -> bool:
        """A name, if there is one."""
        if self._accept("AS"):
            return self._name()
        token = self.tokens[self.i]
        return not token.is_name or token.key in ("FROM", "WHERE", "GROUP") or self._name()

    def _condition(self) -> bool:
        """All tokens up to the groups or the end of the query: `ConditionReader` reads each of them, or the query does
        not fit."""
        start, tokens = self.i, self.tokens
        while tokens[self.i].kind != END and tokens[self.i].key not in (")", "GROUP"):
            partner = tokens[self.i].partner
            self.i = partner + 1 if tokens[self.i].key == "(" and partner > self.i else self.i + 1
        return self.i > start and all(map(_is_plain, tokens[start : self.i]))

    def _listed(self, part: Callable[[], bool]) -> bool:
        """One part or more, between commas."""
        while part():
            if not self._accept(","):
                return True
        return False

    def _dotted(self) -> bool:
        while self._name():
            if not self._accept("."):
                return True
            if self._accept("*"):
                return True
        return False

    def _name(self) -> bool:
        token = self.tokens[self.i]
        is_word = token.kind == WORD and _WORD.fullmatch(token.text) is not None and token.key not in _NEVER_NAMES
        return (is_word or (token.kind == QUOTED and token.name != "")) and self._step()

    def _constant(self) -> bool:
        return is_constant(self.tokens[self.i]) and self._step()

    def _accept(self, *keys: str) -> bool:
        if tuple(token.key for token in self.tokens[self.i : self.i + len(keys)]) != keys:
            return False
        self.i += len(keys)
        return True

    def _step(self) -> bool:
        self.i += 1
        return True
