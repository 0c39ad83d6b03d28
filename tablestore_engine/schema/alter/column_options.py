"""Which options of a table name its columns, and what becomes of them when a column is renamed or dropped.

Keys name columns (`fields.<column>.…`, `file-index.<kind>.<column>.…`), and so do values (`sequence.field`,
`file-index.<kind>.columns`, …). A renamed column takes its options along. A dropped one takes along those that are
about nothing else; one that orders records, or chooses their bucket or kind, cannot be dropped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from tablestore_engine.errors import SchemaError
from tablestore_engine.options import find_option
from tablestore_engine.options.option_type import COLUMNS
from tablestore_engine.schema.table.indexed_columns import split_name
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.system_columns import OWN_PREFIX

Options = Mapping[str, str]

_GROUP: Final = "fields.*.sequence-group"
_NESTED: Final = ("fields.*.nested-key", "fields.*.nested-sequence-field", "fields.*.ts-field")
_INDEXED: Final = (
    "file-index.bloom-filter.columns",
    "file-index.bitmap.columns",
    "file-index.bsi.columns",
    "file-index.range-bitmap.columns",
)
_LISTS_OF_OTHERS: Final = (
    "clustering.columns",
    "sink.clustering.by-columns",
    "changelog-producer.row-deduplicate-ignore-fields",
)
_SINGLE: Final = ("rowkind.field", "record-level.time-field")
# Lists that are right without one of their columns.
_SHORTENED: Final = (*_INDEXED, *_LISTS_OF_OTHERS)
_KEYS: Final = ("primary-key", "partition")
_COLUMN_PREFIXES: Final = ("fields.", "file-index.")
_NOT_STORED: Final = -1  # the id of a schema that no file has, so that every file is read as an older one


def renamed_in_options(options: Options, old: str, new: str) -> dict[str, str]:
    """The options after a column got another name."""

    def name(one: str) -> str:
        column, key = split_name(one)
        return one if column != old else new if key is None else f"{new}[{key}]"

    return {_mapped_key(key, name): _mapped_value(key, value, name) for key, value in options.items()}


def with_names(schema: TableSchema, names: Sequence[str]) -> TableSchema:
    """A schema with other names for its columns, in their order, as a view shows the table; it is not stored."""
    shown = dict(zip(schema.field_names, names, strict=True))
    options = dict(schema.options)
    for i, old in enumerate(shown):  # in two steps: one column may get the name that another one had
        options = renamed_in_options(options, old, f"{OWN_PREFIX}{i}")
    for i, new in enumerate(names):
        options = renamed_in_options(options, f"{OWN_PREFIX}{i}", new)
    return replace(
        schema,
        id=_NOT_STORED,
        fields=tuple(replace(one, name=shown[one.name]) for one in schema.fields),
        partition_keys=tuple(shown[one] for one in schema.partition_keys),
        primary_keys=tuple(shown[one] for one in schema.primary_keys),
        options=options,
    )


def nested_renamed_in_options(options: Options, column: str, old: str, new: str) -> dict[str, str]:
    """The options after a field of the rows in a column got another name."""
    own = _own_nested(options, column)
    return {
        key: _join(new if one == old else one for one in _split(value)) if key in own else value
        for key, value in options.items()
    }


def check_nested_drop(options: Options, column: str, field: str) -> None:
    """Raise a SchemaError if an option of a column names a field of its rows."""
    for key in _own_nested(options, column):
        if field in _split(options[key]):
            raise SchemaError(
                f"Field '{field}' of column '{column}' cannot be dropped: option '{key}' names it.",
                hint="Create a new table without it and copy the rows.",
            )


def without_columns(options: Options, dropped: Collection[str]) -> dict[str, str]:
    """The options after columns were dropped.

    Raises:
        SchemaError: an option names one of them as a column that orders records, or chooses their bucket or kind.
    """
    kept: dict[str, str] = {}
    for key, value in options.items():
        if find_key(key) == _GROUP:
            if _keeps_group(key, value, dropped):
                kept[key] = _join(one for one in _split(value) if one not in dropped)
        elif not set(key_columns(key)).intersection(dropped):
            left = _left(key, value, dropped)
            if left:
                kept[key] = left
    return kept


def key_columns(key: str) -> tuple[str, ...]:
    """The columns in the key of an option, without the keys of maps."""
    parts = _parts(key)
    return () if parts is None else tuple(split_name(one)[0] for one in _names_in(key, parts[1]))


def find_key(key: str) -> str | None:
    """The key of the declaration of an option."""
    option = find_option(key)
    return None if option is None else option.key


# -- keys and values -----------------------------------------------------------------------------------


def _parts(key: str) -> tuple[str, str, str] | None:
    """The text before the columns in a key, the columns, and the text behind them; None for a key that names none."""
    option = find_option(key)
    for one in option.keys if option is not None and option.is_pattern else ():
        before, _, behind = one.partition("*")
        if before.startswith(_COLUMN_PREFIXES):
            found = re.fullmatch(re.escape(before) + "(.+)" + re.escape(behind).replace(r"\*", ".+"), key)
            if found is not None:
                return before, found[1], key[found.end(1) :]
    return None


def _names_in(key: str, named: str) -> tuple[str, ...]:
    return _split(named) if find_key(key) == _GROUP else (named,)


def _mapped_key(key: str, name: Callable[[str], str]) -> str:
    parts = _parts(key)
    if parts is None:
        return key
    before, named, behind = parts
    names = _names_in(key, named)
    mapped = tuple(name(one) for one in names)
    return key if mapped == names else f"{before}{_join(mapped)}{behind}"


def _names_columns(key: str) -> bool:
    """Whether the value of an option is a list of columns."""
    option = find_option(key)
    if option is None or option.key in (*_NESTED, *_KEYS):
        return False
    return option.type is COLUMNS or option.key in (*_INDEXED, *_LISTS_OF_OTHERS, *_SINGLE)


def _mapped_value(key: str, value: str, name: Callable[[str], str]) -> str:
    if not _names_columns(key):
        return value
    names = _split(value)
    mapped = tuple(name(one) for one in names)
    return value if mapped == names else _join(mapped)


def _left(key: str, value: str, dropped: Collection[str]) -> str:
    """The value of an option without the dropped columns; empty when it names nothing else."""
    if not _names_columns(key):
        return value
    names = _split(value)
    lost = [one for one in names if split_name(one)[0] in dropped]
    if not lost:
        return value
    if find_key(key) in _SHORTENED:
        return _join(one for one in names if one not in lost)
    raise SchemaError(
        f"Column '{lost[0]}' cannot be dropped: option '{key}' names it.",
        hint="Create a new table without it and copy the rows.",
    )


def _keeps_group(key: str, value: str, dropped: Collection[str]) -> bool:
    """Whether a sequence group is left. Raises SchemaError if it would lose what orders it, or all that it orders."""
    ordering, members = key_columns(key), _split(value)
    lost = [one for one in ordering if one in dropped]
    left = [one for one in members if one not in dropped]
    if not lost and (left or not members):
        return True
    if len(lost) == len(ordering) and not left:
        return False
    reason = f"orders {', '.join(left)}" if left else "is all that its sequence group has left"
    raise SchemaError(
        f"Column '{lost[0] if lost else members[0]}' cannot be dropped: by option '{key}' it {reason}.",
        hint="Drop the columns of the sequence group in one statement.",
    )


def _own_nested(options: Options, column: str) -> tuple[str, ...]:
    """The options of a column that name fields of its rows."""
    return tuple(key for key in options if find_key(key) in _NESTED and key_columns(key) == (column,))


def _split(text: str) -> tuple[str, ...]:
    return tuple(one.strip() for one in text.split(",") if one.strip())


def _join(names: Iterable[str]) -> str:
    return ",".join(names)
