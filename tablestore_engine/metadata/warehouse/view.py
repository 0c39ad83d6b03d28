"""A view as it is stored: one JSON file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tablestore_engine.schema.types.types import DataField, parse_field

TYPE_EVOLUTION: Final = "TYPE EVOLUTION"
"""A view keeps its columns, which take the types that its query gives them."""
COMPENSATION: Final = "COMPENSATION"
"""A view keeps its columns and their types: the query's values are cast."""
EVOLUTION: Final = "EVOLUTION"
"""A view has the columns of its query, unless it names its own."""


@dataclass(frozen=True)
class View:
    """A view: the query's text, the database that its bare names mean, and the columns it had when created.

    `query_columns` are the names that the query itself gave them then; empty for a view of an earlier version. `mode`
    says what becomes of the columns when those of the query change.
    """

    sql: str
    database: str
    columns: tuple[DataField, ...] = ()
    comment: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    query_columns: tuple[str, ...] = ()
    mode: str = TYPE_EVOLUTION

    @property
    def evolves(self) -> bool:
        """Whether the view has the columns that its query has now."""
        return self.mode == EVOLUTION and self.query_columns == tuple(one.name for one in self.columns)

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
        if self.mode != TYPE_EVOLUTION:
            data["mode"] = self.mode
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
            data.get("mode", TYPE_EVOLUTION),
        )
