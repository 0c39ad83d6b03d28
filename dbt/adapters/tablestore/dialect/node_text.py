"""The text of a dbt node, in which each ephemeral model has a dialect of its own.

dbt puts the queries of ephemeral models, and the rows of a unit test, as CTEs in front of a node's own text. They are
cut out, each part is translated from its dialect, and they are put back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dbt.adapters.tablestore.dialect.refusal import Columns
from dbt.adapters.tablestore.dialect.translate import Translation, translation_of
from tablestore_engine.sql.tokens.lexer import tokenize

_CTE = re.compile(r"^(?P<head>\s*\S+\s+as\s*\(\n)(?P<query>.*)(?P<tail>\n\))$", re.DOTALL)


@dataclass(frozen=True)
class NodeText:
    """A node's text in Spark's SQL, and the translations of which it is made; none where nothing is translated."""

    text: str
    translations: tuple[Translation, ...] = ()


def translated_node(
    sql: str,
    dialect: str | None,
    ctes: Sequence[Mapping[str, str]],
    dialect_of: Callable[[str], str | None],
    columns_of: Columns | None = None,
    subject: str = "This text",
) -> NodeText:
    """A node's compiled text in Spark's SQL.

    ctes: the CTEs that dbt added, each with `id` of its node and `sql`. dialect_of: the dialect of a node, by id.
    columns_of: the columns of a table, by the parts of its name. subject: the node, for messages.
    """
    texts = [one["sql"] for one in ctes if one.get("sql")]
    joined = ", ".join(texts)
    if not joined or joined not in sql:
        if dialect is None:
            return NodeText(sql)
        made = translation_of(subject, sql, dialect, columns_of)
        return NodeText(made.text, (made,))
    parts: list[Translation] = []
    given = [_translated_cte(one, dialect_of(one["id"]), columns_of, parts) for one in ctes if one.get("sql")]
    if dialect is None:
        return NodeText(sql.replace(joined, ", ".join(given), 1), tuple(parts))
    before, after = sql.split(joined, 1)
    gap = _blank(joined)
    if after.lstrip().startswith(","):
        own = f"{before}{gap}{after.replace(',', ' ', 1)}"
    else:
        own = f"{_without_with(before)}{gap}{after}"
    made = translation_of(subject, own, dialect, columns_of)
    return NodeText(_with_ctes(made.text, ", ".join(given)), (*parts, made))


def untranslated(sql: str, why: str) -> str:
    """A text that cannot be translated, behind the reason, as comments."""
    reason = "".join(f"-- {line}\n" for line in why.splitlines())
    return f"{reason}{sql}"


def _translated_cte(
    cte: Mapping[str, str], dialect: str | None, columns_of: Columns | None, parts: list[Translation]
) -> str:
    found = _CTE.match(cte["sql"])
    if dialect is None or found is None:
        return cte["sql"]
    name = cte["id"].rpartition(".")[2]
    made = translation_of(f"The ephemeral model '{name}'", found["query"], dialect, columns_of)
    parts.append(made)
    return f"{found['head']}{made.text}{found['tail']}"


def _blank(text: str) -> str:
    """A text of as many lines and columns, so that what is behind it keeps its position."""
    return re.sub(r"[^\n]", " ", text)


def _without_with(before: str) -> str:
    """The text before the CTEs, without the WITH that dbt wrote for them."""
    return re.sub(r"with\s*$", lambda found: _blank(found[0]), before, flags=re.IGNORECASE)


def _with_ctes(query: str, ctes: str) -> str:
    """The query with further CTEs in front of its own."""
    tokens = tokenize(query)
    if not tokens or tokens[0].key != "WITH":
        return f"WITH {ctes}\n{query}"
    first = tokens[1] if len(tokens) > 1 and tokens[1].key == "RECURSIVE" else tokens[0]
    return f"{query[: first.end]} {ctes},{query[first.end :]}"
