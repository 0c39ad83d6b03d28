"""A cursor over the tokens of one statement, with the methods that the parsers need.

``accept`` consumes tokens if they match, ``expect`` raises an error if they do not, ``error`` makes an error with the
position. Text between two tokens is sliced, never rebuilt.
"""

from __future__ import annotations

import re
from typing import Final

from tablestore_engine.errors import ParseError, SqlError
from tablestore_engine.sql.statements.statement import Existing, TableName
from tablestore_engine.sql.tokens.keyword_or_name import needs_operand
from tablestore_engine.sql.tokens.lexer import BAD, END, NUMBER, STRING, Token, behind, comments, position_of, tokenize

NO_CATALOG: Final = "none"  # the text of `{{ this.database }}` when a relation has no database
OWN_CATALOGS: Final = (NO_CATALOG, "spark_catalog", "paimon", "tablestore")
QUERY_STARTS: Final = frozenset(["SELECT", "WITH", "FROM", "VALUES", "TABLE", "MAP", "REDUCE", "("])

_ESCAPE: Final = re.compile(r"\\u([0-9a-fA-F]{4})|\\U([0-9a-fA-F]{8})|\\([0-3][0-7]{2})|\\(.)|''|\"\"", re.DOTALL)
_ESCAPED: Final = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}


class Cursor:
    """The tokens of one statement and the index of the next one."""

    def __init__(self, text: str, tokens: list[Token] | None = None) -> None:
        self.text = text
        self.tokens = tokenize(text) if tokens is None else tokens
        self.i = 0
        self.read_query_hints: set[int] = set()  # offsets of the query hints that were understood

    # -- looking ---------------------------------------------------------------------------------------

    @property
    def token(self) -> Token:
        return self.tokens[self.i]

    @property
    def key(self) -> str:
        return self.tokens[self.i].key

    @property
    def at_end(self) -> bool:
        return self.tokens[self.i].kind == END

    def key_at(self, ahead: int) -> str:
        """The key of the token ``ahead`` of the next one; empty after the end."""
        at = self.i + ahead
        return self.tokens[at].key if at < len(self.tokens) else ""

    def sees(self, *keys: str) -> bool:
        """Whether exactly these keywords or symbols come next."""
        return all(self.key_at(ahead) == key for ahead, key in enumerate(keys))

    def sees_query(self) -> bool:
        """Whether a query starts here."""
        if self.key == "WITH":
            return self.key_at(1) != "("
        if self.key == "TABLE":
            return self.tokens[self.i + 1].is_name
        if self.key in ("MAP", "REDUCE"):
            return self.key_at(1) != "("
        return self.key in QUERY_STARTS

    # -- consuming -------------------------------------------------------------------------------------

    def accept(self, *keys: str) -> bool:
        """Consumes these keywords or symbols if all of them come next."""
        if not self.sees(*keys):
            return False
        self.i += len(keys)
        return True

    def accept_one(self, *keys: str) -> str | None:
        """Consumes one of several keywords, and returns it."""
        if self.key and self.key in keys:
            self.i += 1
            return self.tokens[self.i - 1].key
        return None

    def expect(self, *keys: str, hint: str | None = None) -> None:
        """Consumes these keywords or symbols in order; raises ParseError when one is missing."""
        for key in keys:
            if not self.accept(key):
                raise self.error(f"Expected {key}", hint=hint)

    def expect_end(self) -> None:
        """Raises ParseError unless the statement ends here."""
        if not self.at_end:
            raise self.error("The statement should end here")

    def accept_if_exists(self) -> bool:
        return self.accept("IF", "EXISTS")

    def accept_if_not_exists(self) -> bool:
        return self.accept("IF", "NOT", "EXISTS")

    def accept_existing(self, verb: Existing = Existing.REFUSED) -> Existing:
        """Treatment of an existing object: as the verb says, unless IF NOT EXISTS comes next."""
        if not self.accept_if_not_exists():
            return verb
        if verb.is_replaced:
            raise SqlError("OR REPLACE and IF NOT EXISTS exclude each other.")
        return Existing.KEPT

    def name(self, what: str = "a name") -> str:
        """One identifier."""
        if not self.token.is_name:
            raise self.error(f"Expected {what}")
        if not self.token.name:
            raise self.error(f"Expected {what}, and this name is empty", kind=SqlError)
        self.i += 1
        return self.tokens[self.i - 1].name

    def dotted(self, what: str = "a name") -> tuple[str, ...]:
        """``a.b.c``, or ``IDENTIFIER('a.' || 'b.c')`` with plain literals."""
        if self.sees("IDENTIFIER", "("):
            text, end = literal_at(self.tokens, self.i + 2)
            if self.tokens[end].key != ")":
                self.i += 2
                raise self.error("IDENTIFIER takes literals here")
            self.i = end + 1
            inner = Cursor(text)
            named = inner.dotted(what)
            inner.expect_end()
            return named
        parts = [self.name(what)]
        while self.accept("."):
            parts.append(self.name(what))
        return tuple(parts)

    def table_name(self, what: str = "a table name") -> TableName:
        """``table``, ``database.table`` or the same with the name of our own catalog before it."""
        start = self.i
        parts = self.dotted(what)
        if len(parts) > 3 or (len(parts) == 3 and parts[0].lower() not in OWN_CATALOGS):
            self.i = start
            raise self.error(
                f"'{'.'.join(parts)}' names another catalog, but all managed tables are in one warehouse",
                kind=SqlError,
                hint="Write database.table.",
            )
        return TableName(parts[-2] if len(parts) > 1 else None, parts[-1])

    def database_name(self) -> str:
        """``database`` or ``catalog.database`` with our own catalog."""
        start = self.i
        parts = self.dotted("a schema name")
        if len(parts) > 2 or (len(parts) == 2 and parts[0].lower() not in OWN_CATALOGS):
            self.i = start
            raise self.error(f"'{'.'.join(parts)}' is not a schema: schemas have a name of one part", kind=SqlError)
        return parts[-1]

    def string(self, what: str = "a string in quotes") -> str:
        """The value of a string literal; adjacent literals are concatenated."""
        if self.token.kind != STRING:
            raise self.error(f"Expected {what}")
        pieces = []
        while self.token.kind == STRING:
            pieces.append(string_value(self.token.text))
            self.i += 1
        return "".join(pieces)

    def comment(self, before: str | None) -> str:
        """The text of a clause COMMENT; `before` is that of an earlier clause, of which there may be none."""
        if before is not None:
            self.i -= 1
            raise self.error("There are two COMMENT clauses", kind=SqlError, hint="Leave one out.")
        return self.string()

    def names_in_parentheses(self, what: str = "a column name") -> tuple[str, ...]:
        """``(a, b)``."""
        self.expect("(")
        names = [self.name(what)]
        while self.accept(","):
            names.append(self.name(what))
        self.expect(")")
        return tuple(names)

    def skip_group(self) -> None:
        """Moves after the group in parentheses that starts here."""
        self.i = self.closing(self.i) + 1

    # -- slicing ---------------------------------------------------------------------------------------

    def closing(self, start: int) -> int:
        """The index of the parenthesis that closes the one at ``start``."""
        if self.tokens[start].partner < 0:
            self.i = start
            raise self.error("This parenthesis is never closed")
        return self.tokens[start].partner

    def slice(self, start: int, end: int) -> str:
        """The user's text of the tokens ``start`` to ``end`` (exclusive)."""
        if end <= start:
            return ""
        return self.text[self.tokens[start].start : self.tokens[end - 1].end]

    def rest(self, what: str = "a query") -> str:
        """The text from here to the end of the statement."""
        if self.at_end:
            raise self.error(f"Expected {what}")
        start, self.i = self.i, len(self.tokens) - 1
        last = self.tokens[self.i - 1].end
        hints = (at + len(one) for at, one in comments(self.text, last, self.token.start) if one[:3] == "/*+")
        return self.text[self.tokens[start].start : next(hints, last)]

    def until(self, *keys: str, what: str = "an expression") -> str:
        """The text of an expression up to one of the keys, at this level of brackets and outside of CASE, or to
        the end or the closing parenthesis of this level."""
        start = self.i
        while not self.at_end and self.key != ")" and not (self.key in keys and self._is_keyword(start)):
            self.i = behind(self.tokens, self.i)
        if self.i == start:
            raise self.error(f"Expected {what}")
        return self.slice(start, self.i)

    def _is_keyword(self, start: int) -> bool:
        """Whether the next token, a keyword or a comma, ends the expression that begins at ``start``. It may also be a
        name (``SET v = where WHERE …``) or a part of an operator."""
        before = self.tokens[self.i - 1].key
        if self.key == "FROM" and before == "DISTINCT":  # IS DISTINCT FROM
            return False
        if self.key == ",":
            return True
        return self.i > start and before != "." and not needs_operand(self.tokens, self.i) and self.key_at(1) != "."

    # -- errors ----------------------------------------------------------------------------------------

    def error(self, message: str, *, hint: str | None = None, kind: type[SqlError] = ParseError) -> SqlError:
        """An error with the position and the text of the next token."""
        return error_at(self.text, self.token, message, hint=hint, kind=kind)

    def refuse_unfinished(self) -> None:
        """Raises ParseError when a quote or a comment of the statement is not closed."""
        for token in self.tokens:
            if token.kind == BAD:
                what = "comment" if token.text.startswith("/*") else "quote"
                raise error_at(self.text, token, f"This {what} is never closed")


def literal_at(tokens: list[Token], i: int) -> tuple[str, int]:
    """The text of string literals that are adjacent or joined by ``||``, and the index after them."""
    pieces = []
    while tokens[i].kind == STRING:
        pieces.append(string_value(tokens[i].text))
        i += 2 if tokens[i + 1].key == "||" and tokens[i + 2].kind == STRING else 1
    return "".join(pieces), i


def names_of_text(text: str) -> list[Token]:
    """The parts of a text that is a dotted name; none of any other text."""
    *tokens, _ = tokenize(text)
    dotted = len(tokens) % 2 and all(one.key == "." if at % 2 else one.is_name for at, one in enumerate(tokens))
    return tokens[::2] if dotted else []


def literal_text(expression_sql: str) -> str | None:
    """The value of an expression that consists of string literals only; None for any other."""
    tokens = tokenize(expression_sql)
    text, end = literal_at(tokens, 0)
    return text if end and tokens[end].kind == END else None


def error_at(
    text: str, token: Token, message: str, *, hint: str | None = None, kind: type[SqlError] = ParseError
) -> SqlError:
    """An error about one token of a text, with line and column."""
    line, column = position_of(text, token.start)
    if token.kind == END:
        where = "at the end of the statement"
    else:
        piece = token.text if len(token.text) <= 40 else token.text[:37] + "..."
        where = f"at line {line}, column {column}, near {piece!r}"
    return kind(f"{message} {where}.", hint=hint)


def string_value(text: str) -> str:
    """The value of a string token; escapes are resolved like in Spark's parser by default."""
    if text[0] in "rR":
        return text[2:-1]
    if text[0] == "$":
        edge = text.index("$", 1) + 1
        return text[edge:-edge]
    return _ESCAPE.sub(lambda found: _unescape(found, text[0]), text[1:-1])


def _unescape(found: re.Match[str], quote: str) -> str:
    wide, wider, octal, single = found.groups()
    if wide or wider:
        return chr(int(wide or wider, 16))
    if octal:
        return chr(int(octal, 8))
    if single is not None:
        return _ESCAPED.get(single, single)
    return quote if found.group()[0] == quote else found.group()


def properties(cursor: Cursor) -> dict[str, str]:
    """``('k' = 'v', a.b = 1, …)`` as strings; the equals sign is optional, as in Spark."""
    found: dict[str, str] = {}
    cursor.expect("(")
    if cursor.accept(")"):
        return found
    while True:
        key = property_key(cursor)
        cursor.accept_one("=", "==")
        found[key] = _property_value(cursor, key)
        if not cursor.accept(","):
            break
    cursor.expect(")")
    return found


def property_key(cursor: Cursor) -> str:
    """``'a.b'``, ``a.b``, or ``a-b`` in quotes or backquotes."""
    if cursor.token.kind == STRING:
        cursor.i += 1
        return string_value(cursor.tokens[cursor.i - 1].text)
    return ".".join(cursor.dotted("a property name"))


def _property_value(cursor: Cursor, key: str) -> str:
    token = cursor.token
    if token.kind == STRING:
        return cursor.string()
    sign = "-" if cursor.accept("-") else ""
    if cursor.token.kind == NUMBER:
        cursor.i += 1
        return sign + cursor.tokens[cursor.i - 1].text
    if cursor.key in ("TRUE", "FALSE"):
        cursor.i += 1
        return cursor.tokens[cursor.i - 1].text.lower()
    raise cursor.error(f"Property '{key}' needs a value in quotes")
