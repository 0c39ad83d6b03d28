"""Names in double quotes, which Spark reads under ``spark.sql.ansi.doubleQuotedIdentifiers``.

They become names in backquotes before other code reads the text, so only this module handles the setting. Every other
character keeps its position, unless a name contains a quote.
"""

from __future__ import annotations

from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.sql.tokens.lexer import STRING, tokenize


def with_backquotes(text: str) -> str:
    """The text with backquotes around the names that are in double quotes."""
    pieces, position = [], 0
    for token in tokenize(text):
        if token.kind == STRING and token.text[0] == '"':
            pieces += [text[position : token.start], quoted_name(token.text[1:-1].replace('""', '"'))]
            position = token.end
    return "".join([*pieces, text[position:]])
