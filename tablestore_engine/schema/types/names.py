"""How the names of columns and fields are compared; nothing else says it.

Names do not depend on case, as in Spark. The exception are names of one table or struct that differ in case only,
which Spark has under `spark.sql.caseSensitive`: their case distinguishes them. In a table with `id` and `Id`,
both names mean their own column, and `ID` means none. Under this setting a statement also names every other column as
it is spelled: `Resolver`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Final

from tablestore_engine.errors import ColumnNotFound, SchemaError

CASE_HINT: Final = "SET spark.sql.caseSensitive = true distinguishes names by their case."


class Names:
    """The names of the columns of one table or query, or of the fields of one struct."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = tuple(names)
        often = Counter(name.lower() for name in set(self._names))
        self._alike = frozenset(lowered for lowered, number in often.items() if number > 1)

    def key(self, name: str) -> str:
        """The text that two names share if and only if they mean the same column."""
        lowered = name.lower()
        return name if lowered in self._alike else lowered

    @property
    def alike(self) -> tuple[str, ...]:
        """The first names that differ in case only; none in most tables."""
        first = next((name.lower() for name in self._names if name.lower() in self._alike), None)
        return tuple(name for name in self._names if name.lower() == first)

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {self.key(name): at for at, name in reversed(list(enumerate(self._names)))}

    def position(self, name: str) -> int | None:
        """The position of the column of that name, the first one where it occurs twice; None if there is none."""
        return self._positions.get(self.key(name))

    def find(self, name: str) -> str | None:
        """The name as it is written here; None if there is none."""
        at = self.position(name)
        return None if at is None else self._names[at]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.position(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    @property
    def has_repeated(self) -> bool:
        """Whether a name occurs twice."""
        return len(self._positions) < len(self._names)

    def check_once(self, name: str, owner: str) -> None:
        """Raise SchemaError if the columns of `owner`, which are these, have a name more than once."""
        if self.has_repeated and [self.key(one) for one in self._names].count(self.key(name)) > 1:
            raise SchemaError(
                f"{owner} has more than one column '{name}'.", hint="Give each its own name, or leave one out."
            )


class Resolver:
    """Whether two spellings are one name to a session, which is asked only where they differ in case (Spark's
    word)."""

    def __init__(self, is_case_sensitive: Callable[[], bool] = lambda: False) -> None:
        self._is_case_sensitive = is_case_sensitive

    @property
    def distinguishes(self) -> bool:
        """Whether names that differ in case only are two. Asks the session."""
        return self._is_case_sensitive()

    def is_same(self, given: str, found: str) -> bool:
        """Whether a name that was found in any case is the one that was given."""
        return given == found or not self.distinguishes

    def check_spelling(self, given: str, found: str) -> None:
        """Raise a ColumnNotFound for a name under which a column or field of another spelling was found."""
        if not self.is_same(given, found):
            raise ColumnNotFound(
                f"Column '{given}' does not exist: this session distinguishes names by their case.",
                hint=f"Did you mean '{found}'?",
            )

    def check_alike(self, names: Iterable[str]) -> None:
        """Raise a SchemaError for new columns whose names differ in case only, unless the session distinguishes
        them."""
        self.refuse_alike(Names(names).alike, "columns")

    def refuse_alike(self, alike: tuple[str, ...], what: str) -> None:
        """Raise a SchemaError for names that differ in case only, of columns or fields, unless the session
        distinguishes them."""
        if alike and not self.distinguishes:
            raise SchemaError(
                f"Two {what} are named '{alike[1]}' (the other one '{alike[0]}').",
                hint=f"Give one of them another name. {CASE_HINT}",
            )


ANY_CASE: Final = Resolver()
