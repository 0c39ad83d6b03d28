"""The tables and views that bound texts read, on which their rows depend."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tablestore_engine.catalog import View
from tablestore_engine.sql.pinned_views.text_facts import TextFacts, reads_files

_VARIES = re.compile(
    r"\b(rand|randn|random|randstr|uniform|uuid|shuffle|tablesample|monotonically_increasing_id)\b"
    r"|['\"]\s*(now|today|tomorrow|yesterday)\b",
    re.IGNORECASE,
)
"""Spark chooses a seed, or the day, when it analyses such a text."""


@dataclass
class BoundReads:
    """The reads of the texts of a statement, or of one view of it.

    `sizes`: bytes, by what is read. `states`: of the tables by their names. `views`: likewise, as they are. `unknown`:
    other sources are read, too. `varies`: the rows may depend on more than tables, views and settings. `looks_up`: rows
    may have been looked up for it. `nested`: the names of fields of structs in its tables.
    """

    sizes: dict[Hashable, int] = field(default_factory=dict)
    states: dict[tuple[str, str], Hashable] = field(default_factory=dict)
    views: dict[tuple[str, str], View] = field(default_factory=dict)
    texts: TextFacts = field(default_factory=TextFacts)
    unknown: bool = False
    varies: bool = False
    looks_up: bool = False
    nested: frozenset[str] = frozenset()

    @classmethod
    def of_text(cls, sql: str) -> BoundReads:
        """The reads that a text shows before it is bound."""
        varies = _VARIES.search(sql) is not None
        return cls(texts=TextFacts.of(sql), unknown=reads_files(sql), varies=varies)

    def add(self, other: BoundReads) -> None:
        """Note all that another text reads."""
        self.sizes.update(other.sizes)
        self.states.update(other.states)
        self.views.update(other.views)
        self.texts = self.texts.and_facts(other.texts)
        self.unknown = self.unknown or other.unknown
        self.varies = self.varies or other.varies
        self.looks_up = self.looks_up or other.looks_up
        self.nested |= other.nested

    @property
    def size(self) -> int | None:
        """Bytes that are read; None when other sources are read, too."""
        return None if self.unknown else sum(self.sizes.values())


@contextmanager
def reading(around: list[BoundReads], reads: BoundReads) -> Iterator[None]:
    """Note in `reads`, too, what is bound meanwhile."""
    around.append(reads)
    try:
        yield
    finally:
        around.pop()
