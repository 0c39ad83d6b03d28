"""All options, and which of them a key belongs to."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from tablestore_engine.errors import OptionError, nearest
from tablestore_engine.options.commit_options import CommitOptions
from tablestore_engine.options.compaction_options import CompactionOptions
from tablestore_engine.options.file_options import FileOptions
from tablestore_engine.options.foreign_options import FOREIGN_OPTIONS
from tablestore_engine.options.layout_options import LayoutOptions
from tablestore_engine.options.merge_options import MergeOptions
from tablestore_engine.options.option import ColumnOption, TableOption, declared_on


class Declarations(LayoutOptions, FileOptions, MergeOptions, CompactionOptions, CommitOptions):
    """The options that have a value in every table: all that this engine acts on."""

    __slots__ = ()


DECLARED = declared_on(Declarations)
"""The declared options, by attribute."""
ATTRIBUTES = {option.key: name for name, option in DECLARED.items()}
"""The attributes of the declared options, by key."""
OPTIONS: tuple[TableOption[Any], ...] = (*DECLARED.values(), *FOREIGN_OPTIONS)
"""Every known option once."""

_EXACT = {key: option for option in OPTIONS if not option.is_pattern for key in option.keys}
_PATTERNS = tuple(
    # Any '*' may stand for a name with dots, that of a column in the middle too.
    (re.compile(re.escape(key).replace(r"\*", ".+")), option)
    for option in OPTIONS
    if option.is_pattern
    for key in option.keys
)


@lru_cache(maxsize=1024)
def find_option(key: str) -> TableOption[Any] | None:
    """The option that a key belongs to, by its exact key, another spelling, or a pattern; None if unknown."""
    if key in _EXACT:
        return _EXACT[key]
    for pattern, option in _PATTERNS:
        if pattern.fullmatch(key):
            return option
    return None


def spellings(key: str) -> tuple[str, ...]:
    """All keys that set what `key` sets, the option's own one first; `key` alone when it is unknown."""
    option = find_option(key)
    if option is None or not option.is_pattern:
        return (key,) if option is None else option.keys
    if isinstance(option, ColumnOption):
        column = option.column_of(key)
        return tuple(one.replace("*", column) for one in option.keys)
    return (key,)


def unknown_option(key: str) -> OptionError:
    """The error of a key that belongs to no option; its hint is the nearest key that does."""
    near = nearest(key.replace("_", "-"), _EXACT)
    return OptionError(f"Unknown table option '{key}'.", hint=f"Did you mean '{near}'?" if near else None)
