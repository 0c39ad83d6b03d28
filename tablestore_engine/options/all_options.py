"""All options, and which of them a key belongs to.

A key that belongs to none is *misspelt* when it is similar to one that does; else it is a *property*, which is kept.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any

from tablestore_engine.errors import OptionError
from tablestore_engine.options.declarations.changelog_options import ChangelogOptions
from tablestore_engine.options.declarations.commit_options import CommitOptions
from tablestore_engine.options.declarations.compaction_options import CompactionOptions
from tablestore_engine.options.declarations.file_options import FileOptions
from tablestore_engine.options.declarations.foreign_options import FOREIGN_OPTIONS
from tablestore_engine.options.declarations.format_keys import FORMAT_KEYS
from tablestore_engine.options.declarations.layout_options import LayoutOptions
from tablestore_engine.options.declarations.log_options import LogOptions
from tablestore_engine.options.declarations.merge_options import MergeOptions
from tablestore_engine.options.option import ColumnOption, Effect, TableOption, declared_on


class Declarations(
    LayoutOptions, FileOptions, MergeOptions, CompactionOptions, CommitOptions, ChangelogOptions, LogOptions
):
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
    # Any '*' may be a name with dots, also that of a column in the middle.
    (re.compile(re.escape(key).replace(r"\*", ".+")), option)
    for option in OPTIONS
    if option.is_pattern
    for key in option.keys
)
# Patterns such as `fields.*.distinct`, whose last part is a name of ours, and `log.kafka.*`: the text before and after
# the '*'. Patterns of one word, such as `text.*`, are left out: `test.x` may be the user's own.
_MIDDLES = tuple(
    tuple(key.split("*"))
    for option in OPTIONS
    for key in option.keys
    if key.count("*") == 1 and (not key.endswith("*") or key.count(".") > 1)
)
_SIMILAR, _SIMILAR_FIRST, _SIMILAR_LAST = 0.8, 0.75, 0.6
# Names of other software, of which any may be the user's own.
_PLAIN_WORDS = ("owner", "provider", "connector", "path", "type")
# Families of one word, such as `avro.*`: any of their settings is kept.
_FAMILIES = tuple(key[:-2] for option in OPTIONS for key in option.keys if key.endswith(".*") and key.count(".") == 1)
_SIMILAR_FAMILY, _SIMILAR_WORD = 0.85, 0.75


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


def check_spelling(key: str) -> None:
    """Raise an OptionError, with the nearest key as its hint, if a key is misspelt.

    So is any key `fields.…` that is unknown: it is for the merge engine, and ignoring it could change answers.
    """
    option = find_option(key)
    if option is not None and not option.key.endswith(".*"):
        return
    near = nearest_key(key)
    if near is not None:
        raise OptionError(f"Unknown table option '{key}'.", hint=f"Did you mean '{near}'?")
    if option is None and key.startswith("fields."):
        known = ", ".join(sorted(behind[1:] for before, behind in _MIDDLES if before == "fields."))
        raise OptionError(f"Unknown table option '{key}'.", hint=f"Options of a column, fields.<column>.…: {known}.")


@lru_cache(maxsize=1024)
def nearest_key(key: str) -> str | None:
    """The known key that is similar to an unknown one; None when none is, and for a known one."""
    if key in _EXACT or key.partition("#")[0] in FORMAT_KEYS:  # Parquet has settings of a column: key#column
        return None
    wanted = key.lower().replace("_", "-")
    found = [(_similarity(wanted, one), one) for one in (*_EXACT, *FORMAT_KEYS) if one not in _PLAIN_WORDS]
    for before, behind in _MIDDLES:
        middle = _middle(key, before, behind)
        if middle is not None:
            outside = wanted.replace(middle.lower().replace("_", "-"), "*", 1)
            if not behind and outside == f"{before}*":
                continue  # any setting of it is known; it may be a misspelt name of one that is declared
            found.append((_similarity(outside, f"{before}*{behind}"), f"{before}{middle}{behind}"))
    score, near = max(found)
    if score >= _SIMILAR:
        return near
    word, near = _nearest_word(key, _FAMILIES)
    swapped = len(word) > 3 and sorted(word) == sorted(key.partition(".")[0])
    return near if swapped or (len(word) > 5 and _ratio(key.partition(".")[0], word) >= _SIMILAR_FAMILY) else None


def _nearest_word(key: str, words: Collection[str]) -> tuple[str, str]:
    """The word that the first one of an unknown key is similar to, and the key with it; empty when none is."""
    first, dot, rest = key.partition(".")
    if find_option(key) is not None:
        return "", ""
    found = [(1.0 if sorted(first) == sorted(one) else _ratio(first, one), one) for one in words]
    score, word = max(found)
    return (word, f"{word}{dot}{rest}") if score >= _SIMILAR_WORD else ("", "")


def _middle(key: str, before: str, behind: str) -> str | None:
    """The part of a key for the '*' of a pattern, by the number of words before and after it."""
    words, first, last = key.split("."), before.count("."), behind.count(".")
    return ".".join(words[first : len(words) - last]) if len(words) > first + last else None


def _similarity(given: str, known: str) -> float:
    """From 0 to 1. Keys whose first or last words differ mean different things, however alike the rest is."""
    if _letters(given) == _letters(known):
        return 1
    if abs(len(given) - len(known)) > len(known) // 2:
        return 0
    ours, theirs = given.split("."), known.split(".")
    swapped = sorted(ours[0]) == sorted(theirs[0])  # two swapped letters are much of a short word
    if (not swapped and _ratio(ours[0], theirs[0]) < _SIMILAR_FIRST) or _ratio(ours[-1], theirs[-1]) < _SIMILAR_LAST:
        return 0
    return _ratio(given, known)


def _letters(key: str) -> str:
    """A key without what parts its words."""
    return key.replace(".", "").replace("-", "").lower()


def _ratio(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other, autojunk=False).ratio()


def notes_of(options: Mapping[str, str], schema: Any) -> tuple[str, ...]:
    """Sentences for options that a table of that schema sets and that have no effect: here at all, because the table
    lacks what they need, or because they are no options; and for two which together hide new rows."""
    kept = [key for key in options if _has_no_effect(key)]
    unknown = [key for key in options if find_option(key) is None]
    return (
        *_sentences_on_needs(options, schema),
        *_sentences_on_hidden_rows(options, schema),
        *_sentences(kept, unknown),
    )


def _sentences_on_hidden_rows(options: Mapping[str, str], schema: Any) -> Iterator[str]:
    keys = {CompactionOptions.write_only.key, FileOptions.deletion_vectors.key}
    if keys & options.keys() and schema.core_options.write_only and schema.reads_files_alone:
        yield (
            f"With '{CompactionOptions.write_only.key}' and deletion vectors, new rows can be read when another process"
            " has compacted the table."
        )


def _has_no_effect(key: str) -> bool:
    option = find_option(key)
    return (
        option is not None
        and not (key == "comment" or option.ours)
        and not option.supported
        and option.effect is Effect.NONE
    )


def _sentences_on_needs(options: Mapping[str, str], schema: Any) -> Iterator[str]:
    unmet: dict[str, list[str]] = {}
    for key, text in options.items():
        option = find_option(key)
        if option is None or option.needs is None or option.needs.met(schema):
            continue
        if option.parse(str(text), key) != option.default:
            unmet.setdefault(option.needs.otherwise, []).append(key)
    for otherwise, keys in unmet.items():
        yield f"{_named('Option', keys)} {'has' if len(keys) == 1 else 'have'} no effect {otherwise}."


def _sentences(kept: Collection[str], unknown: Collection[str]) -> Iterator[str]:
    if kept:
        yield f"{_listed('Option', kept)} kept for other engines, without effect here."
    if unknown:
        what = "no table option" if len(unknown) == 1 else "no table options"
        near = {one: _nearest_word(one, _FAMILIES if "." in one else _PLAIN_WORDS)[1] for one in unknown}
        meant = [f"'{found}' instead of '{one}'" for one, found in near.items() if found]
        hint = f" Did you mean {', '.join(meant)}?" if meant else ""
        yield f"{_listed('Property', unknown)} {what}; kept without effect.{hint}"


def _listed(noun: str, keys: Collection[str]) -> str:
    return f"{_named(noun, keys)} {'is' if len(keys) == 1 else 'are'}"


def _named(noun: str, keys: Collection[str]) -> str:
    names = ", ".join(f"'{one}'" for one in keys)
    plural = {"Option": "Options", "Property": "Properties"}[noun]
    return f"{noun if len(keys) == 1 else plural} {names}"
