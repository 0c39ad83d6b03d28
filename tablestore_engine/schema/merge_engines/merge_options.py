"""From a table's options to its merge engine: which options work together, and how each column is folded.

Every mistake is an OptionError when the table is made, never an answer that is wrong later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tablestore_engine.errors import OptionError, did_you_mean
from tablestore_engine.options import CoreOptions
from tablestore_engine.options.declarations.merge_options import MergeOptions
from tablestore_engine.options.option_type import COLUMNS
from tablestore_engine.schema.merge_engines.aggregate_functions import DEFAULT_FUNCTION, RetractRule
from tablestore_engine.schema.merge_engines.column_fold import fold_of, key_of, partition_fold
from tablestore_engine.schema.merge_engines.engine_rules import RULES, Functions, Kept, engine_with, rules_of
from tablestore_engine.schema.merge_engines.merge_engine import Fold, MergeEngine
from tablestore_engine.schema.merge_engines.multiset_columns import check_engine
from tablestore_engine.schema.types.types import BINARY_ROOTS, STRING_ROOTS, AtomicType, DataField

_DEFAULT_KEY = MergeOptions.default_aggregate_function.key
_REMOVING_KEY = MergeOptions.partial_update_removes_on_sequence_group.key

Settings = Mapping[str, Mapping[str, Any]]
"""The options ``fields.<column>.<setting>``, by column and setting."""
Groups = Mapping[tuple[str, ...], tuple[str, ...]]
"""The members of each sequence group, by the columns that order it."""


def merge_engine_of(
    fields: Sequence[DataField], keys: Sequence[str], options: CoreOptions, partition_keys: Sequence[str] = ()
) -> MergeEngine:
    """The merge engine that options ask for.

    Partition columns are not folded, even if the key does not contain them: all records of a row are in one partition.

    Raises:
        OptionError: an unknown function or column, a function on a type that it does not support, or options that
            contradict each other.
    """
    name = options.merge_engine
    rules = rules_of(name)
    if rules.kept is Kept.EVERY:
        check_engine(fields, keys, options.rowkind_field)
    elif rules.needs_key and not keys:
        raise OptionError(f"Option 'merge-engine' = '{name}' needs a primary key.")
    _check_kind_column(fields, options.rowkind_field)
    settings, groups = _column_settings(fields, options), _sequence_groups(fields, options)
    _check_engine_options(name, settings, groups, options)
    removes = options.aggregation_removes_on_delete or options.partial_update_removes_on_delete
    if rules.kept is not Kept.FOLD:
        folds: tuple[Fold, ...] = ()
    elif rules.functions is Functions.NAMED:
        folds = _of_named_functions(fields, keys, settings, options, partition_keys)
    else:
        fixed = (*keys, *partition_keys, *(name for group in groups for name in group))
        named = _with_default(settings, [f.name for f in fields if f.name not in fixed], groups, options)
        folds = _of_last_values(fields, keys, named, groups, partition_keys)
    removing = _removing_groups(fields, folds, groups, options)
    return MergeEngine(name, folds, options.ignore_delete, options.ignore_update_before, removes, removing)


# -- what the options say ------------------------------------------------------------------------------


def _check_kind_column(fields: Sequence[DataField], name: str | None) -> None:
    if name is None:
        return
    found = next((f for f in fields if f.name == name), None)
    if found is None or not (isinstance(found.type, AtomicType) and found.type.root in STRING_ROOTS):
        texts = [f.name for f in fields if isinstance(f.type, AtomicType) and f.type.root in STRING_ROOTS]
        raise OptionError(
            f"Option 'rowkind.field' names '{name}', which is no column of texts.",
            hint=did_you_mean(name, texts),
        )


def _column_settings(fields: Sequence[DataField], options: CoreOptions) -> Settings:
    names = {f.name for f in fields}
    given: dict[str, Mapping[str, Any]] = {
        "function": options.column_aggregate_functions,
        "list-agg-delimiter": options.column_list_agg_delimiters,
        "distinct": options.column_distinct,
        "nested-key": options.column_nested_keys,
        "nested-key-null-strategy": options.column_nested_key_null_strategies,
        "nested-sequence-field": options.column_nested_sequence_fields,
        "count-limit": options.column_count_limits,
        "ts-field": options.column_ts_fields,
        "ignore-retract": options.column_ignore_retract,
    }
    found: dict[str, dict[str, Any]] = {}
    for setting, values in given.items():
        for column, value in values.items():
            _check_column(key_of(column, setting), column, names)
            found.setdefault(column, {})[setting] = value
    return found


def _sequence_groups(fields: Sequence[DataField], options: CoreOptions) -> Groups:
    names = {f.name for f in fields}
    groups = {}
    for ordering, members in options.column_sequence_groups.items():
        sequence = COLUMNS.parse(ordering)
        for one in (*sequence, *members):
            _check_column(key_of(ordering, "sequence-group"), one, names)
        groups[sequence] = members
    return groups


def _check_column(key: str, column: str, names: set[str]) -> None:
    if column not in names:
        raise OptionError(
            f"Option '{key}' names '{column}', which is not a column.",
            hint=did_you_mean(column, sorted(names)),
        )


def _check_engine_options(name: str, settings: Settings, groups: Groups, options: CoreOptions) -> None:
    """Raise for an option that the merge engine does not support, and for two that contradict each other."""
    rules = rules_of(name)
    if options.sequence_field and rules.no_sequence_field is not None:
        raise OptionError(
            f"Option 'sequence.field' is not supported with 'merge-engine' = '{name}'.", hint=rules.no_sequence_field
        )
    for key, option in _options_of_one_engine(groups, options):
        if engine_with(option) != name:
            _refuse(key, engine_with(option), name)
    named = next((key_of(column, setting) for column, given in settings.items() for setting in given), None)
    if named is not None and rules.kept is not Kept.FOLD:
        _refuse(named, next(one for one, row in RULES.items() if row.functions is Functions.NAMED), name)
    if options.partial_update_removes_on_delete and groups:
        raise OptionError(
            "Option 'partial-update.remove-record-on-delete' is not supported with sequence groups.",
            hint="In a sequence group a delete clears the columns that its sequence orders; "
            f"'{_REMOVING_KEY}' names the groups in which it removes the row.",
        )


def _options_of_one_engine(groups: Groups, options: CoreOptions) -> Iterator[tuple[str, str]]:
    """The options that are set and belong to one merge engine: their keys, also as in `EngineRules.options`."""
    for sequence in groups:
        yield key_of(",".join(sequence), "sequence-group"), MergeOptions.column_sequence_groups.key
    given = {
        MergeOptions.aggregation_removes_on_delete.key: options.aggregation_removes_on_delete,
        MergeOptions.partial_update_removes_on_delete.key: options.partial_update_removes_on_delete,
        _REMOVING_KEY: options.partial_update_removes_on_sequence_group,
    }
    yield from ((key, key) for key, value in given.items() if value)


def _refuse(key: str, needed: str, name: str) -> None:
    raise OptionError(
        f"Option '{key}' needs 'merge-engine' = '{needed}'; the table has '{name}'.",
        hint="Set merge-engine, or leave the option out.",
    )


# -- aggregation ---------------------------------------------------------------------------------------


def _of_named_functions(
    fields: Sequence[DataField],
    keys: Sequence[str],
    settings: Settings,
    options: CoreOptions,
    partition_keys: Sequence[str],
) -> tuple[Fold, ...]:
    default = options.default_aggregate_function
    folds = []
    for field in fields:
        given = settings.get(field.name, {})
        if field.name in keys:
            if given:
                raise OptionError(f"Column '{field.name}' is part of the key, which no function aggregates.")
            continue
        if field.name in partition_keys:
            if given:
                raise OptionError(f"Column '{field.name}' says the partition, which no function aggregates.")
            folds.append(partition_fold(field))
            continue
        if field.name in options.sequence_field:
            if "function" in given:
                raise OptionError(
                    f"Column '{field.name}' orders records ('sequence.field'), so no function aggregates it.",
                    hint=f"Leave '{key_of(field.name, 'function')}' out.",
                )
            folds.append(_sequence_fold(field, given))
            continue
        folds.append(fold_of(field, given.get("function", default), given))
    return tuple(folds)


def _sequence_fold(field: DataField, given: Mapping[str, Any]) -> Fold:
    """The fold of a column that orders records: a retraction that is the last one leaves null there."""
    ignores = given.get("ignore-retract", MergeOptions.column_ignore_retract.default)
    rule = RetractRule.IN_ORDER if field.type.nullable else RetractRule.KEEP
    return Fold(field.name, "last_value", ignore_retract=ignores, retract_rule=rule)


# -- partial update ------------------------------------------------------------------------------------


def _of_last_values(
    fields: Sequence[DataField],
    keys: Sequence[str],
    settings: Settings,
    groups: Groups,
    partition_keys: Sequence[str],
) -> tuple[Fold, ...]:
    group_of = _group_of_columns(fields, (*keys, *partition_keys), groups)
    folds = []
    for field in fields:
        given = settings.get(field.name, {})
        sequence = group_of.get(field.name, ())
        ordered = bool(sequence) and field.name not in (*keys, *sequence)
        if given and not (ordered and "function" in given) and given != {"function": DEFAULT_FUNCTION}:
            setting = next(iter(given))
            raise OptionError(
                f"Option '{key_of(field.name, setting)}' needs a column of a sequence group"
                f"{'' if setting == 'function' else ' that has an aggregate function'}.",
                hint="For example 'fields.<sequence column>.sequence-group' = 'a, b'; or "
                "use 'merge-engine' = 'aggregation'.",
            )
        if field.name in keys:
            continue
        if field.name in partition_keys:
            folds.append(partition_fold(field))
            continue
        if not sequence:
            # A retraction does not change a column outside all sequence groups.
            folds.append(Fold(field.name, DEFAULT_FUNCTION, ignore_retract=True, retract_rule=RetractRule.CLEAR))
        elif field.name in sequence:
            folds.append(_of_group(field, sequence, RetractRule.KEEP))
        elif not given:
            folds.append(_of_group(field, sequence, RetractRule.CLEAR if field.type.nullable else RetractRule.REFUSE))
        else:
            folds.append(fold_of(field, given["function"], given, sequence))
    return tuple(folds)


def _of_group(field: DataField, sequence: tuple[str, ...], retract_rule: RetractRule) -> Fold:
    """The fold of a column that takes the value of the record that is greatest in the sequence."""
    return Fold(field.name, "last_value", sequence=sequence, retract_rule=retract_rule, nullable=field.type.nullable)


def _with_default(settings: Settings, names: Sequence[str], groups: Groups, options: CoreOptions) -> Settings:
    """The settings, with the default function, if there is one, of those of the named columns that are in a group.

    Raises:
        OptionError: a column outside of all groups would have a function other than the last value that is not null.
    """
    if _DEFAULT_KEY not in options.raw:
        return settings
    default = options.default_aggregate_function
    members = {name for named in groups.values() for name in named}
    for name in names:
        if default != DEFAULT_FUNCTION and name not in members and "function" not in settings.get(name, {}):
            raise OptionError(
                f"Option '{_DEFAULT_KEY}' = '{default}' needs each column to be in a sequence group, and '{name}' "
                "is in none.",
                hint=f"Name it in a sequence group, or set 'fields.{name}.aggregate-function' = '{DEFAULT_FUNCTION}'.",
            )
    return {**settings, **{n: {"function": default, **settings.get(n, {})} for n in names if n in members}}


def _group_of_columns(
    fields: Sequence[DataField],
    keys: Sequence[str],
    groups: Groups,
) -> dict[str, tuple[str, ...]]:
    types = {f.name: f.type for f in fields}
    group_of: dict[str, tuple[str, ...]] = {}
    for sequence, members in groups.items():
        what = f"The sequence group of {', '.join(sequence)}"
        if twice := next((name for name in sequence if sequence.count(name) > 1), None):
            raise OptionError(f"{what} names '{twice}' twice.", hint="Name it once.")
        for name in (*sequence, *members):
            kind = types[name]
            if name in keys:
                raise OptionError(f"{what} names '{name}', which is part of the key or says the partition.")
            if name in group_of:
                raise OptionError(f"{what} names '{name}', which is in a sequence group already.")
            if name in sequence and (not isinstance(kind, AtomicType) or kind.root in BINARY_ROOTS):
                raise OptionError(f"Column '{name}' has type {kind}, which orders no sequence group.")
            group_of[name] = sequence
    return group_of


def _removing_groups(
    fields: Sequence[DataField],
    folds: Sequence[Fold],
    groups: Groups,
    options: CoreOptions,
) -> tuple[tuple[str, ...], ...]:
    """The sequence groups in which a delete removes the row."""
    named = options.partial_update_removes_on_sequence_group
    if not named:
        return ()
    if options.ignore_delete:
        raise OptionError(
            f"Option '{_REMOVING_KEY}' is not supported with 'ignore-delete', which leaves deletes out.",
            hint="Leave one of them out.",
        )
    ordering = sorted({name for sequence in groups for name in sequence})
    for name in named:
        if name not in ordering:
            raise OptionError(
                f"Option '{_REMOVING_KEY}' names '{name}', which orders no sequence group.",
                hint=f"Columns that do: {', '.join(ordering)}."
                if ordering
                else "Make one: 'fields.<column>.sequence-group' = 'a, b'.",
            )
    folded = {fold.column for fold in folds}
    for field in fields:
        if field.name in folded and not field.type.nullable and field.name not in ordering:
            raise OptionError(
                f"Column '{field.name}' is NOT NULL, but a delete removes all values of a row ('{_REMOVING_KEY}').",
                hint="Let it be null.",
            )
    return tuple(sequence for sequence in groups if any(name in sequence for name in named))
