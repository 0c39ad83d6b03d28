"""Texts of several statements, which hooks, headers and packages join by semicolons.

Invariant: `split` returns slices of the text; nothing is rewritten. Transaction words (BEGIN, COMMIT …) and texts that
consist of comments are dropped: every statement commits its own work, so there is nothing to do.
"""

from __future__ import annotations

from tablestore_engine.sql.text.lexer import END, Token, tokenize

_TRANSACTION = {"BEGIN", "COMMIT", "ROLLBACK", "START"}
_TRANSACTION_REST = {"TRANSACTION", "WORK", "READ", "ONLY", "WRITE"}


def split(text: str) -> list[str]:
    """The statements of a text in order, without their semicolons."""
    tokens = [one for one in tokenize(text) if one.kind != END]
    if _is_script(tokens):
        return [text.rstrip().rstrip(";")]
    statements: list[str] = []
    start, held = 0, list[Token]()
    for token in tokens:
        if token.key == ";":
            _keep(statements, text[start : token.start], held)
            start, held = token.end, []
        else:
            held.append(token)
    _keep(statements, text[start:], held)
    return statements


def _keep(statements: list[str], text: str, tokens: list[Token]) -> None:
    if tokens and not _is_transaction(tokens):
        statements.append(text.strip())


def _is_transaction(tokens: list[Token]) -> bool:
    return tokens[0].key in _TRANSACTION and all(one.key in _TRANSACTION_REST for one in tokens[1:])


def _is_script(tokens: list[Token]) -> bool:
    """Whether the text is one SQL script (`BEGIN … END`), whose semicolons belong to it."""
    words = [one for one in tokens if one.key != ";"]
    return len(words) > 2 and words[0].key == "BEGIN" and words[-1].key == "END" and tokens[1].key != ";"


def changes_session(statement: str) -> bool:
    """Whether a statement changes its session: by a setting, a temporary view or a temporary function."""
    words = [one.key for one in tokenize(statement[:400])[:6] if one.key]
    if not words:
        return False
    if words[0] in ("SET", "RESET", "USE", "CACHE", "ADD", "DECLARE", "BEGIN"):
        return True
    return words[0] in ("CREATE", "DROP") and ("TEMPORARY" in words or "TEMP" in words)
