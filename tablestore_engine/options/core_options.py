"""The parsed options of one table: a frozen value that the rest of the engine asks.

``CoreOptions.parse(mapping)`` is strict, for tables that are created or altered here: a misspelt key, a bad value, or
a value that this engine does not act on although it would change answers is an OptionError.
``parse(mapping, strict=False)`` is for tables that exist, in which other writers may have stored anything: of a number
that is out of its range, the nearest one within is taken. There ``check_readable`` and ``check_writable`` decide
whether it would be wrong to ignore what is not acted on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError
from operator import attrgetter
from types import MappingProxyType
from typing import Any, NoReturn
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tablestore_engine.errors import OptionError
from tablestore_engine.options.all_options import ATTRIBUTES, DECLARED, Declarations, check_spelling, find_option
from tablestore_engine.options.declarations.commit_options import PERIODS
from tablestore_engine.options.declarations.merge_options import COUNT_ENGINE
from tablestore_engine.options.option import ColumnOption, Derived, Effect, TableOption
from tablestore_engine.options.option_type import ENUM, ENUMS

_NO_COLUMNS: Mapping[str, Any] = MappingProxyType({})
_PLAIN_DEFAULTS: dict[str, Any] = {
    name: _NO_COLUMNS if isinstance(option, ColumnOption) else option.default
    for name, option in DECLARED.items()
    if not isinstance(option.default, Derived)
}
_DERIVED_DEFAULTS: dict[str, Callable[[object], Any]] = {
    name: option.default.of for name, option in DECLARED.items() if isinstance(option.default, Derived)
}


class CoreOptions(Declarations):
    """The options of a table. Sizes are bytes, times are milliseconds, column lists are tuples of names.

    ``keyed`` is whether the table has a primary key; ``raw`` are the texts that were parsed. Two values are equal
    when all options mean the same, however they are spelt.
    """

    # A slot for each declared option holds its value, and comes before the declaration of the same name.
    __slots__ = ("keyed", "raw", *DECLARED)

    keyed: bool
    raw: Mapping[str, str]

    @classmethod
    def parse(cls, mapping: Mapping[str, str], *, strict: bool = True, keyed: bool = False) -> CoreOptions:
        """The parsed options. Some defaults depend on whether the table is ``keyed``.

        Raises:
            OptionError: strict: misspelt key (with the nearest known one), bad value, or a value that is known but
                not acted on and would change answers. Not strict: only texts that are no value of an option that is
                acted on.
        """
        given: dict[str, Any] = {}
        for key, text in mapping.items():
            if strict:
                check_spelling(key)
            option = find_option(key)
            if option is None:
                continue
            value = _parse_one(option, key, str(text), strict)
            if strict and not option.acts_on(value):
                raise _not_acted_on(key, str(text), option)
            name = ATTRIBUTES.get(option.key)
            if name is not None and isinstance(option, ColumnOption):
                given.setdefault(name, {})[option.column_of(key)] = value
            elif name is not None and value is not None:
                given[name] = value
        if strict:
            _check_buckets(given.get("bucket", -1))
            _check_zone(given.get("schema_evolution_time_zone"))
        parsed = cls._of(given, dict(mapping), keyed)
        if strict:
            _check_tags(parsed)
            _check_done_actions(parsed)
        return parsed

    @classmethod
    def _of(cls, given: Mapping[str, Any], raw: Mapping[str, str], keyed: bool) -> CoreOptions:
        self = cls.__new__(cls)
        put = object.__setattr__
        put(self, "keyed", keyed)
        put(self, "raw", raw)
        for name, value in {**_PLAIN_DEFAULTS, **given}.items():
            put(self, name, value)
        for name, default_of in _DERIVED_DEFAULTS.items():
            if name not in given:
                put(self, name, default_of(self))
        return self

    @property
    def sequence_field_descending(self) -> bool:
        """Whether the record with the smallest sequence wins, instead of the greatest."""
        return self.sequence_field_sort_order == "descending"

    @property
    def tag_period_millis(self) -> int:
        """The length of a period of automatic tags."""
        return self.tag_creation_period_duration_millis or PERIODS[self.tag_creation_period]

    def stats_mode(self, column: str) -> str:
        """``none``, ``counts``, ``full`` or ``truncate(n)``: the statistics to keep of a column."""
        return self.column_stats_modes.get(column) or self.metadata_stats_mode

    def check_readable(self) -> None:
        """Raise an OptionError if this engine would read a table with these options wrongly."""
        self._check(lambda option: option.effect not in (Effect.NONE, Effect.WRITE))

    def check_writable(self) -> None:
        """Raise an OptionError if this engine would write a table with these options wrongly."""
        self._check(lambda option: option.effect is not Effect.NONE)
        _check_buckets(self.bucket)

    def _check(self, matters: Callable[[TableOption[Any]], bool]) -> None:
        for key, text in self.raw.items():
            option = find_option(key)
            if option is None or not matters(option):
                continue
            value = _parse_one(option, key, str(text), strict=False)
            if value is not None and not option.acts_on(value):
                raise _not_acted_on(key, str(text), option)
        if self.keyed and self.merge_engine == COUNT_ENGINE:
            raise OptionError(
                f"Option 'merge-engine' = '{COUNT_ENGINE}' is not supported by this "
                f"engine for a table with a primary key."
            )

    # -- a frozen value

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign to field '{name}'")

    def __delattr__(self, name: str) -> NoReturn:
        raise FrozenInstanceError(f"cannot delete field '{name}'")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CoreOptions) and _values_of(self) == _values_of(other)

    def __hash__(self) -> int:
        return hash(_hashed_values_of(self))

    def __reduce__(self) -> tuple[Callable[..., CoreOptions], tuple[object, ...]]:
        return _parse_again, (self.raw, self.keyed)

    def __repr__(self) -> str:
        return f"CoreOptions({self.raw!r}, keyed={self.keyed})"


_values_of = attrgetter("keyed", *DECLARED)
_hashed_values_of = attrgetter("keyed", *(n for n, one in DECLARED.items() if not isinstance(one, ColumnOption)))


def _parse_again(raw: Mapping[str, str], keyed: bool) -> CoreOptions:
    """The options that another process had parsed."""
    return CoreOptions.parse(raw, strict=False, keyed=keyed)


def validate(mapping: Mapping[str, str], *, keyed: bool = False) -> None:
    """Raise an OptionError unless every option is spelt right, well formed and acted on. ``keyed``: has a key."""
    CoreOptions.parse(mapping, keyed=keyed)


def _parse_one(option: TableOption[Any], key: str, text: str, strict: bool) -> Any:
    try:
        return option.parse(text, key, nearest=not strict)
    except OptionError:
        named = option.type in (ENUM, ENUMS)
        if strict or (option.supported and not named):
            raise
        # An enum value of a newer writer is kept, so that it can be refused where it matters.
        return option.type.parse(text) if named else None


def _not_acted_on(key: str, value: str, option: TableOption[Any]) -> OptionError:
    accepted = ", ".join(_text_of(one) for one in (option.accepted or (option.default,)) if one is not None)
    hint = f"Only {accepted} is, so far." if accepted else "Leave it out."
    reason = f": if it were ignored, {option.ignored}" if option.ignored else ""
    return OptionError(f"Option '{key}' = '{value}' is not supported by this engine{reason}.", hint=hint)


def _text_of(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(value) if isinstance(value, tuple) else str(value)


def _check_tags(options: CoreOptions) -> None:
    period, delay = options.tag_period_millis, options.tag_creation_delay_millis
    if delay >= period:
        raise OptionError(
            f"Option 'tag.creation-delay' ({delay} ms) must be shorter than the period of the tags ({period} ms)."
        )
    for zone in (options.sink_process_time_zone, options.sink_watermark_time_zone):
        _check_zone(zone)


def _check_done_actions(options: CoreOptions) -> None:
    """Other engines may have set any: their tables are refused only where partitions are marked."""
    declared = Declarations.partition_mark_done_action
    refused = set(options.partition_mark_done_action) - set(declared.accepted or ())
    if refused:
        raise _not_acted_on(declared.key, ",".join(sorted(refused)), declared)


def _check_zone(zone: str | None) -> None:
    try:
        if zone is not None and zone != "UTC":
            ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError):
        raise OptionError(f"'{zone}' is not a time zone.", hint="Write one such as 'Europe/Berlin'.") from None


def _check_buckets(bucket: int) -> None:
    if bucket == 0:
        raise OptionError("Option 'bucket' cannot be '0': at least 1 is expected.")
    if bucket == -2:
        raise OptionError(
            "Option 'bucket' = '-2' is not supported for writing here.",
            hint="Set a number of buckets, for example 'bucket' = '4', or '-1' for as many as the rows need.",
        )
