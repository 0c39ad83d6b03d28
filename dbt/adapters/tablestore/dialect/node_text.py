"""The text of a dbt node, in which each ephemeral model has a dialect of its own.

dbt puts the queries of ephemeral models, and the rows of a unit test, as CTEs in front of a node's own text. They are
cut out, each part is translated from its dialect, and they are put back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from dbt.adapters.tablestore.dialect.refusal import Columns
from dbt.adapters.tablestore.dialect.translate import translate
from tablestore_engine.sql.tokens.lexer import tokenize

_CTE = re.compile(r"^(?P<head>\s*\S+\s+as\s*\(\n)(?P<query>.*)(?P<tail>\n\))$", re.DOTALL)


def translated_node(
    sql: str,
    dialect: str | None,
    ctes: Sequence[Mapping[str, str]],
    dialect_of: Callable[[str], str | None],
    columns_of: Columns | None = None,
) -> str:
    """A node's compiled text in Spark's SQL.

    ctes: the CTEs that dbt added, each with `id` of its node and `sql`. dialect_of: the dialect of a node, by id.
    columns_of: the columns of a table, by the parts of its name.
    """
    texts = [one["sql"] for one in ctes if one.get("sql")]
    joined = ", ".join(texts)
    if not joined or joined not in sql:
        return translate(sql, dialect, columns_of) if dialect else sql
    given = [_translated_cte(one["sql"], dialect_of(one["id"]), columns_of) for one in ctes if one.get("sql")]
    if dialect is None:
        return sql.replace(joined, ", ".join(given), 1)
    before, after = sql.split(joined, 1)
    own = f"{before}{after.lstrip()[1:]}" if after.lstrip().startswith(",") else _without_with(before) + after
    return _with_ctes(translate(own, dialect, columns_of), ", ".join(given))


def _translated_cte(text: str, dialect: str | None, columns_of: Columns | None) -> str:
    found = _CTE.match(text)
    if dialect is None or found is None:
        return text
    return f"{found['head']}{translate(found['query'], dialect, columns_of)}{found['tail']}"


def _without_with(before: str) -> str:
    """The text before the CTEs, without the WITH that dbt wrote for them."""
    return re.sub(r"with\s*$", "", before, flags=re.IGNORECASE)


def _with_ctes(query: str, ctes: str) -> str:
    """The query with further CTEs in front of its own."""
    tokens = tokenize(query)
    if not tokens or tokens[0].key != "WITH":
        return f"WITH {ctes}\n{query}"
    first = tokens[1] if len(tokens) > 1 and tokens[1].key == "RECURSIVE" else tokens[0]
    return f"{query[: first.end]} {ctes},{query[first.end :]}"
