"""The views and functions whose texts are being bound, from the outermost to the innermost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tablestore_engine.errors import BrokenViewError, SqlError
from tablestore_engine.metadata.warehouse.function import Function

MOST_NESTED = 100


class Nesting:
    """The names of what is being bound. Each is bound within the one before it."""

    def __init__(self) -> None:
        self._names: list[str] = []

    def __bool__(self) -> bool:
        """Whether a text of the warehouse is being bound, and not that of the user."""
        return bool(self._names)

    @contextmanager
    def view(self, name: str) -> Iterator[None]:
        """Bind the text of a view meanwhile. Raises BrokenViewError: it reads itself, or it is nested too deeply."""
        if name in self._names:
            circle = " → ".join([*self._names[self._names.index(name) :], name])
            raise BrokenViewError(
                f"View '{name}' reads itself: {circle}.", hint="Create one of them again on something else."
            )
        if len(self._names) >= MOST_NESTED:
            raise BrokenViewError(
                f"View '{self._names[0]}' reads a view that reads a view, more than {MOST_NESTED} deep.",
                hint="Make one of them a table.",
            )
        with self._bound(name):
            yield

    @contextmanager
    def function(self, function: Function) -> Iterator[None]:
        """Bind the text of a function meanwhile. Raises SqlError: it calls itself."""
        name = f"{function.full_name}()"
        if name in self._names:
            raise SqlError(f"Function '{function.full_name}' calls itself.", hint="Write it without recursion.")
        with self._bound(name):
            yield

    @contextmanager
    def _bound(self, name: str) -> Iterator[None]:
        self._names.append(name)
        try:
            yield
        finally:
            self._names.pop()
