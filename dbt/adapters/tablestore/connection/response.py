"""The response to a statement, which dbt prints in brackets and keeps in run_results: the change and its row count."""

from __future__ import annotations

from dataclasses import replace

from dbt.adapters.contracts.connection import AdapterResponse


def row_count(rows: int) -> str:
    """`1,204 rows`, `1 row`."""
    return f"{rows:,} row" if rows == 1 else f"{rows:,} rows"


def response(kind: str, rows: int | None = None) -> AdapterResponse:
    """The response to a statement: `UPSERT 1,204 rows`, `CREATE VIEW`, `OK` for a query."""
    if kind == "SELECT":
        return AdapterResponse(_message="OK", code="SELECT")
    message = kind if rows is None else f"{kind} {row_count(rows)}"
    return AdapterResponse(_message=message, code=kind, rows_affected=rows)


def with_note(answer: AdapterResponse, note: str) -> AdapterResponse:
    """The response with a note behind its message: `UPSERT 3 rows; reset write-only`."""
    return replace(answer, _message=f"{answer._message}; {note}") if note else answer
