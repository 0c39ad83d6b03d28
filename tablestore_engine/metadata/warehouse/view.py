"""A view as it is stored: one JSON file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tablestore_engine.schema.types.types import DataField, parse_field


@dataclass(frozen=True)
class View:
    """A view: the query's text, the database that its bare names mean, and the columns it had when created.

    `query_columns` are the names that the query itself gave them then; empty for a view of an earlier version.
    """

    sql: str
    database: str
    columns: tuple[DataField, ...] = ()
    comment: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    query_columns: tuple[str, ...] = ()

    def to_json(self) -> bytes:
        """The persisted form."""
        data: dict[str, Any] = {
            "version": 1,
            "sql": self.sql,
            "database": self.database,
            "columns": [f.to_json() for f in self.columns],
            "options": dict(self.options),
        }
        if self.query_columns:
            data["query_columns"] = list(self.query_columns)
        if self.comment is not None:
            data["comment"] = self.comment
        return json.dumps(data, indent=2, ensure_ascii=False).encode()

    @classmethod
    def from_json(cls, text: bytes) -> View:
        """The view of a persisted text. Raises ValueError, KeyError or TypeError when it is none."""
        data = json.loads(text)
        columns = tuple(parse_field(one) for one in data["columns"])
        return cls(
            data["sql"],
            data["database"],
            columns,
            data.get("comment"),
            data.get("options") or {},
            tuple(map(str, data.get("query_columns") or ())),
        )
