"""A function as it is stored: one JSON file.

Its *body* is the text of a SQL expression or query, or Python code. Types and defaults are the user's own SQL text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

SQL, PYTHON = "SQL", "PYTHON"


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function."""

    name: str
    type_sql: str
    default_sql: str | None = None
    comment: str | None = None


@dataclass(frozen=True)
class FunctionDefinition:
    """A function without its name: its signature, and what computes it.

    Attributes:
        parameters: in order.
        returns_sql: the type of the answer; None if Spark shall derive it from a SQL body.
        language: SQL or PYTHON.
        body: what follows RETURN, or Python code.
        handler: the function or class in Python code; None if the code is the body of one.
        aggregate: whether it takes the rows of a group.
        deterministic: None when nothing was said.
        comment: for people.
        options: the rest of what was said: packages, the version of Python.
    """

    parameters: tuple[Parameter, ...]
    returns_sql: str | None
    language: str
    body: str
    handler: str | None = None
    aggregate: bool = False
    deterministic: bool | None = None
    comment: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)

    def named(self, database: str, name: str) -> Function:
        """The function of that name."""
        return Function(**vars(self), database=database, name=name.lower())


@dataclass(frozen=True, kw_only=True)
class Function(FunctionDefinition):
    """A function as it is stored.

    Attributes:
        database: the database of its name, which the bare names of a SQL body mean, too.
        name: lower-cased.
    """

    database: str
    name: str

    @property
    def full_name(self) -> str:
        """`database.name`."""
        return f"{self.database}.{self.name}"

    @property
    def is_inlined(self) -> bool:
        """Whether its body replaces the calls of it."""
        return self.aggregate and self.language == SQL

    @property
    def kind(self) -> str:
        """`SCALAR` or `AGGREGATE`."""
        return "AGGREGATE" if self.aggregate else "SCALAR"

    def to_json(self) -> bytes:
        """The persisted form."""
        named = {"database": self.database, "name": self.name}
        return json.dumps({"version": 1, **named, **asdict(self)}, indent=2, ensure_ascii=False).encode()

    @classmethod
    def from_json(cls, data: bytes) -> Function:
        """The function of a persisted text. Raises ValueError, KeyError or TypeError when it is none."""
        values = json.loads(data)
        del values["version"]
        return cls(**{**values, "parameters": tuple(Parameter(**one) for one in values["parameters"])})
