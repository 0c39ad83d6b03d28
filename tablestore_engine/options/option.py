"""A table option: a typed descriptor that declares everything about it once.

Vocabulary: a *key* is the option's name in a table's schema; *fallback keys* are other spellings of it. A *pattern*
has ``*`` in its key and covers many keys; the pattern ``fields.*.x`` gives columns a value each.
An option is *supported* when this engine acts on it. *Accepted* names the values that it acts on when these are not
all. *Effect* says what would be wrong if a value that it does not act on were ignored: nothing, writes, or all answers;
*ignored* describes that for the user, as the reason why the value is refused. *Needs* says what a table must have so
that the option means anything in it.

A declaration is an attribute of a class: ``bucket = Option("bucket", INT, -1, "…")``. Read on an instance of the class,
the attribute is the value, of the option's type; read on the class, it is the declaration.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, TypeVar, cast, overload

from tablestore_engine.errors import OptionError
from tablestore_engine.options.option_type import OptionType

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Effect(Enum):
    """The operations that would be wrong if a value that is not acted on were ignored."""

    NONE = "nothing"
    WRITE = "writes"
    READ = "reads and writes"


@dataclass(frozen=True)
class Derived(Generic[T_co]):
    """A default that follows from other options; ``of`` computes it from their values."""

    of: Callable[[Any], T_co]


@dataclass(frozen=True)
class Need:
    """A condition on tables that an option has. ``met`` answers for a table's schema; ``otherwise`` ends the
    sentence that begins with "no effect", for a table in which it is not met."""

    otherwise: str
    met: Callable[[Any], bool]


@dataclass(frozen=True)
class TableOption(Generic[T]):
    """A declaration. ``default`` is parsed already (bytes, milliseconds, a tuple of columns, …); None is no value."""

    key: str
    type: OptionType[T]
    default: T | Derived[T]
    description: str
    choices: tuple[str, ...] = ()
    accepted: tuple[str, ...] | None = None
    minimum: int | None = None
    maximum: int | None = None
    immutable: bool = False
    fallback_keys: tuple[str, ...] = ()
    supported: bool = True
    effect: Effect = Effect.NONE
    ours: bool = False
    ignored: str = ""
    needs: Need | None = None

    @property
    def is_pattern(self) -> bool:
        """True when the key covers many keys, such as ``fields.*.aggregate-function``."""
        return "*" in self.key

    @property
    def keys(self) -> tuple[str, ...]:
        """The key and the other spellings that are accepted for it."""
        return (self.key, *self.fallback_keys)

    def parse(self, text: str, key: str | None = None, *, nearest: bool = False) -> T:
        """The value that ``text`` means; with ``nearest``, for a number out of its range the nearest one within.

        Raises an OptionError that names the key, the text and what was expected.
        """
        name = key or self.key
        try:
            value = self.type.parse(text)
        except ValueError as error:
            raise OptionError(f"Option '{name}' cannot be '{text}': {error}.") from None
        if self.choices and not set(_parts(value)) <= set(self.choices):
            raise OptionError(f"Option '{name}' cannot be '{text}': one of {', '.join(self.choices)} is expected.")
        if not isinstance(value, (int, float)):
            return value
        limit, beyond = self._exceeded(value)
        if limit is None:
            return value
        if nearest:
            return cast("T", type(value)(limit))
        raise OptionError(f"Option '{name}' cannot be '{text}': at {beyond} {limit} is expected.")

    def _exceeded(self, value: float) -> tuple[int | None, str]:
        """The limit that a number is beyond, if any, and its name. Not a number is beyond either."""
        if self.minimum is not None and not value >= self.minimum:
            return self.minimum, "least"
        if self.maximum is not None and not value <= self.maximum:
            return self.maximum, "most"
        return None, ""

    def acts_on(self, value: Any) -> bool:
        """True when this engine acts on ``value``, or when ignoring it changes nothing."""
        if self.effect is Effect.NONE or value == self.default:
            return True
        if self.accepted is not None:
            return set(_parts(value)) <= set(self.accepted)
        return self.supported


def _parts(value: Any) -> tuple[Any, ...]:
    """The single values of a list; a value that is no list is the only one."""
    return value if isinstance(value, tuple) else (value,)


@dataclass(frozen=True)
class Option(TableOption[T]):
    """An option that has one value in a table."""

    @overload
    def __get__(self, options: None, owner: type) -> Option[T]: ...
    @overload
    def __get__(self, options: object, owner: type) -> T: ...
    def __get__(self, options: object, owner: type) -> Option[T] | T:
        """The declaration on a class; on an instance that has no value of its own, the default."""
        return self if options is None else self.default_in(options)

    def default_in(self, options: object) -> T:
        """The default, which may follow from the values of other options."""
        return self.default.of(options) if isinstance(self.default, Derived) else self.default


@dataclass(frozen=True)
class ColumnOption(TableOption[T]):
    """An option that has a value in each of some columns, ``fields.*.x``. ``default`` is that of a column."""

    @overload
    def __get__(self, options: None, owner: type) -> ColumnOption[T]: ...
    @overload
    def __get__(self, options: object, owner: type) -> Mapping[str, T]: ...
    def __get__(self, options: object, owner: type) -> ColumnOption[T] | Mapping[str, T]:
        """The declaration on a class; on an instance that has no values of its own, an empty mapping."""
        return self if options is None else {}

    def column_of(self, key: str) -> str:
        """The column that a key of this option names. Its name may have dots; some keys name several, with commas."""
        for one in self.keys:
            if match := re.fullmatch(re.escape(one).replace(r"\*", "(.+)"), key):
                return match[1]
        raise ValueError(f"'{key}' is not of the form '{self.key}'.")


def declared_on(owner: type) -> dict[str, Option[Any] | ColumnOption[Any]]:
    """The options that a class and its bases declare, by attribute, in the order of declaration."""
    return {
        name: one
        for each in (*owner.__bases__, owner)
        for name, one in vars(each).items()
        if isinstance(one, (Option, ColumnOption))
    }
