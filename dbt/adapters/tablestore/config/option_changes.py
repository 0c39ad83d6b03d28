"""The options to change when a model's config no longer matches the options of its existing table.

A table remembers in its property `dbt.options` which options a model set and to what, as JSON. Invariant: an option
that the model no longer names is reset only if it still has the value that dbt gave it; options that others set stay.
So does the number of buckets, by which the files are laid out; the console says so once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from dbt_common.exceptions import DbtRuntimeError

from tablestore_engine.options import find_option, spellings
from tablestore_engine.options.declarations.merge_options import COUNT_ENGINE
from tablestore_engine.schema.table.check_constraints import PREFIX
from tablestore_engine.schema.table.schema_changes import RemoveOption, SetOption

DBT_OPTIONS = "dbt.options"
"""The property of a table that remembers the options that a model set."""
STORED_QUERY = "dbt.query"
"""The property of a materialized view: its query."""

# The engine sets these when it creates a table and the model does not. A config without them asks for no change.
_CHOSEN_BY_THE_ENGINE = ("bucket", "partition.legacy-name")
_NONE: Mapping[str, str] = MappingProxyType({})
_RESCALE = "rescale it (ALTER TABLE … CLUSTERED INTO n BUCKETS)"


@dataclass(frozen=True)
class OptionChanges:
    """Options to set, options whose default applies again, options that the model no longer names and that stay, and
    what the table remembers of the model from now on.

    `remembered` is None when that does not change, and empty when there is nothing to remember.
    """

    to_set: Mapping[str, str] = field(default_factory=dict)
    to_reset: tuple[str, ...] = ()
    kept: Mapping[str, str] = field(default_factory=dict)
    remembered: str | None = None

    def schema_changes(self) -> list[SetOption | RemoveOption]:
        """The changes of the table's schema; none when nothing changes."""
        changes: list[SetOption | RemoveOption] = [SetOption(key, text) for key, text in self.to_set.items()]
        changes += [RemoveOption(key) for key in self.to_reset]
        if self.remembered is not None:
            changes.append(SetOption(DBT_OPTIONS, self.remembered) if self.remembered else RemoveOption(DBT_OPTIONS))
        return changes

    def applied_to(self, options: Mapping[str, str]) -> dict[str, str]:
        """The options of a table after the changes, but for what it remembers."""
        return {key: text for key, text in {**options, **self.to_set}.items() if key not in self.to_reset}

    @property
    def text(self) -> str:
        """The changes, for the console: `set target-file-size = 64 mb, reset write-only`; empty for nothing."""
        parts = [f"set {key} = {text}" for key, text in self.to_set.items()]
        parts += [f"reset {key}" for key in self.to_reset]
        parts += [f"kept {key} = {text}, which --full-refresh resets" for key, text in self.kept.items()]
        return ", ".join(parts)


def remembered(options: Mapping[str, str]) -> str:
    """The options set by a model that its table remembers: those that may change, and those that the engine chooses
    where a model does not; empty when there are none."""
    own = {
        key: text
        for key, text in options.items()
        if key != DBT_OPTIONS and (key in _CHOSEN_BY_THE_ENGINE or not _is_fixed(key))
    }
    return json.dumps(own, sort_keys=True) if own else ""


def option_changes(
    table: Mapping[str, str],
    model: Mapping[str, str],
    constraints: Mapping[str, str] = _NONE,
    *,
    snapshot: bool = False,
) -> OptionChanges:
    """The changes of a table's options that make it match its model's config; a snapshot is never built anew.

    The table remembers its `constraints`, too, which `table_constraints` changes.

    Raises DbtRuntimeError when a fixed option would have to change, or is no longer set by the model.
    """
    changed = {key: text for key, text in model.items() if _value(table, key) != _value(model, key)}
    fixed = [key for key in changed if _is_fixed(key)]
    removed = [
        key
        for key in table
        if not _is_the_engines(key, table[key]) and _is_fixed(key) and _value(model, key) != _value(table, key)
    ]
    if fixed or removed:
        key = (*fixed, *removed)[0]
        had, wanted = table.get(key), model.get(key)
        ways = [] if snapshot else ["build the table anew with --full-refresh"]
        ways += [_RESCALE] if key == "bucket" and wanted else []
        raise DbtRuntimeError(
            f"The model's config {f'asks for {key!r} = {wanted!r}' if wanted else f'no longer sets {key!r}'}, but its "
            f"table {f'has {had!r}' if had else 'was made without it'}. This option is fixed when a table is made: "
            f"{''.join(f'{one}, ' for one in ways)}{'or ' if ways else ''}take the change back."
        )
    unset = _no_longer_set(table, model)
    kept = {key: table[key] for key in unset if key in _CHOSEN_BY_THE_ENGINE}
    reset = tuple(key for key in unset if key not in kept)
    own = remembered({**model, **constraints})
    return OptionChanges(changed, reset, kept, own if own != table.get(DBT_OPTIONS, "") else None)


def replaced_options(table: Mapping[str, str], model: Mapping[str, str]) -> OptionChanges:
    """The options that differ when a table is built anew; fixed ones may, too."""
    changed = {key: text for key, text in model.items() if _value(table, key) != _value(model, key)}
    named = {one for key in model for one in spellings(key)}
    fixed = [key for key in table if _is_fixed(key) and key not in named and not _is_the_engines(key, table[key])]
    return OptionChanges(changed, (*_no_longer_set(table, model), *fixed))


def _no_longer_set(table: Mapping[str, str], model: Mapping[str, str]) -> tuple[str, ...]:
    named = {one for key in model for one in spellings(key)}
    set_by_dbt = remembered_by(table)
    return tuple(
        key
        for key, text in set_by_dbt.items()
        if table.get(key) == text and key not in named and not key.startswith(PREFIX)
    )


def remembered_by(table: Mapping[str, str]) -> dict[str, str]:
    """The options and constraints that a table remembers as its model's."""
    try:
        found = json.loads(table.get(DBT_OPTIONS) or "{}")
    except ValueError:
        return {}  # not ours
    return found if isinstance(found, dict) else {}


def _is_the_engines(key: str, text: str) -> bool:
    # A table without a key counts its rows since its first retraction.
    return key in _CHOSEN_BY_THE_ENGINE or (key == "merge-engine" and text == COUNT_ENGINE)


def _is_fixed(key: str) -> bool:
    option = find_option(key)
    return option is not None and option.immutable


def _value(options: Mapping[str, str], key: str) -> object:
    """The parsed value of an option, under any of its keys; its default when it is not set."""
    option = find_option(key)
    if option is None:
        return options.get(key)
    for one in (key, *spellings(key)):
        if one in options:
            return option.parse(options[one], one)
    return option.default
