"""The options to change when a model's config no longer matches the options of its existing table."""

from __future__ import annotations

from collections.abc import Mapping

from dbt_common.exceptions import DbtRuntimeError

from tablestore_engine.options import find_option, spellings
from tablestore_engine.options.merge_options import COUNT_ENGINE

# The engine sets these when it creates a table and the model does not. A config without them asks for no change.
_CHOSEN_BY_THE_ENGINE = ("bucket", "partition.legacy-name")
_RESCALE = ", rescale it (ALTER TABLE … CLUSTERED INTO n BUCKETS)"


def option_changes(table: Mapping[str, str], model: Mapping[str, str]) -> dict[str, str]:
    """The options to set on a table so that it matches its model's config.

    Options that the model no longer sets are kept.

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
        raise DbtRuntimeError(
            f"The model's config {f'asks for {key!r} = {wanted!r}' if wanted else f'no longer sets {key!r}'}, but its "
            f"table {f'has {had!r}' if had else 'was made without it'}. This option is fixed when a table is made: "
            f"build the table anew with "
            f"--full-refresh{_RESCALE if key == 'bucket' and wanted else ''}, or take the change back."
        )
    return changed


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
