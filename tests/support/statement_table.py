"""The table of statements under `tests/spark/sql/statements`, and the tables that the door finds in one of them.

Each statement follows a line `-- verdict: what it shows`. The verdicts:

* `ours`: Spark reads it, and the engine runs it (or refuses it for the table that it meets);
* `ours alone`: the same, but Spark does not read it;
* `spark`: Spark reads it and gets it untouched, because it names no table;
* `refused "part of the message"`: Spark reads it, and the engine says that it does not support it;
* `unread`: Spark does not read it, and the engine refuses it or leaves that to Spark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

from tablestore_engine.sql.parse.parse import parse
from tablestore_engine.sql.query.bind import Binding, TableReference, bind, bind_expression
from tablestore_engine.sql.statements.function import (
    CreateFunction,
    DescribeFunction,
    DropFunction,
    RefreshFunction,
    ShowFunctions,
)
from tablestore_engine.sql.statements.script import ExecuteImmediate, QueriesInside, Script
from tablestore_engine.sql.statements.statement import Statement, TableName
from tablestore_engine.sql.tokens.cursor import Cursor, literal_text

FOLDER = Path(__file__).parents[1] / "spark" / "sql" / "statements"
_HEADER = re.compile(r'-- (ours|ours alone|spark|refused "([^"]+)"|unread): (.+)')

Name = tuple[str, ...]


@dataclass(frozen=True)
class StatementCase:
    """One statement: what becomes of it, and for `refused` a part of the message."""

    family: str
    title: str
    verdict: str
    fragment: str
    sql: str

    @property
    def id(self) -> str:
        return f"{self.family}: {self.title}"


def statement_cases() -> list[StatementCase]:
    """All statements, in the order of files and lines."""
    return [case for path in sorted(FOLDER.glob("*.sql")) for case in _cases_of(path)]


def _cases_of(path: Path) -> Iterator[StatementCase]:
    header: re.Match[str] | None = None
    lines: list[str] = []
    for line in [*path.read_text(encoding="utf-8").splitlines(), None]:
        found = None if line is None else _HEADER.fullmatch(line)
        if line is not None and found is None:
            lines.append(line)
            continue
        sql = "\n".join(lines).strip()
        if header is not None:
            assert sql, f"{path.name} has no statement behind {header.group()!r}"
            verdict, fragment, title = header.groups()
            yield StatementCase(path.stem, title, verdict.partition(' "')[0], fragment or "", sql)
        header, lines = found, []


def tables_of(statement: Statement) -> set[Name]:
    """The tables that a parsed statement names: those it is about, and those that its queries and conditions read."""
    return set(_tables(statement))


def _tables(value: Any) -> Iterator[Name]:
    if isinstance(value, TableName):
        yield (value.name,) if value.database is None else (value.database, value.name)
    elif isinstance(value, tuple):
        for item in value:
            yield from _tables(item)
    elif isinstance(value, QueriesInside):
        for piece in value.pieces:
            yield from _bound(value.sql[piece.start : piece.end], bind if piece.is_query else bind_expression)
    elif isinstance(value, Script):
        for text in value.statements:
            yield from _tables(parse(text))
    elif isinstance(value, ExecuteImmediate):
        text = literal_text(value.text_sql)
        yield from () if text is None else _tables(parse(text))
    elif isinstance(value, CreateFunction):
        made = value.definition
        if made.language == "SQL":
            yield from _bound(made.body, bind if _is_query(made.body) else bind_expression)
    elif isinstance(value, (DropFunction, DescribeFunction, RefreshFunction, ShowFunctions)):
        return
    elif is_dataclass(value):
        for field in fields(value):
            if field.name != "new":  # of RENAME TO, which names no table yet
                yield from _read(field.name, getattr(value, field.name))


def _is_query(body: str) -> bool:
    cursor = Cursor(body)
    return cursor.sees_query() and cursor.key != "("


def _read(field: str, value: Any) -> Iterator[Name]:
    """The tables of one field; a text is a query, an item of a FROM list, or an expression."""
    if not isinstance(value, str):
        for one in value if field == "values_sql" else ():
            yield from _bound(one, bind_expression)
        yield from _tables(value)
    elif field == "query_sql":
        yield from _bound(value, bind)
    elif field == "source_sql":
        yield from _bound(f"SELECT * FROM {value}", bind)
    elif field in ("where_sql", "on_sql", "condition_sql", "value_sql", "replace_where_sql"):
        yield from _bound(value, bind_expression)


def _bound(text: str, binder: Any) -> list[Name]:
    """The names that the binder asks for. The clause of a time is cut out, and its subqueries bound apart."""
    found: list[Name] = []

    def look(reference: TableReference) -> Binding | None:
        found.append((reference.name,) if reference.database is None else (reference.database, reference.name))
        travel = reference.time_travel
        if travel is not None and travel.timestamp_sql is not None:
            bind_expression(travel.timestamp_sql, look)
        return None

    binder(text, look)
    return found
