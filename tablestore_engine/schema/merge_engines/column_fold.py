"""From the options of one column to its fold: whether the function supports the type and the settings.

Every mistake is an OptionError when the table is made, never an answer that is wrong later.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tablestore_engine.errors import OptionError, did_you_mean
from tablestore_engine.options.declarations.merge_options import AGGREGATE_FUNCTIONS, MergeOptions
from tablestore_engine.schema.merge_engines.aggregate_functions import (
    FUNCTIONS,
    UNORDERED,
    RetractRule,
    has_equality,
    retract_rule_of,
    rounds,
    supports,
)
from tablestore_engine.schema.merge_engines.merge_engine import Fold
from tablestore_engine.schema.types.types import (
    STRING_ROOTS,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    RowType,
)

_OLD_NAMES = {"first_not_null_value": "first_non_null_value"}


def key_of(column: str, setting: str) -> str:
    """The option by which a column is given a setting."""
    return f"fields.{column}.{'aggregate-function' if setting == 'function' else setting}"


def partition_fold(field: DataField) -> Fold:
    """The fold of a partition column that the key leaves out."""
    return Fold(field.name, "last_value", retract_rule=RetractRule.KEEP)


def fold_of(field: DataField, function: str, given: Mapping[str, Any], sequence: tuple[str, ...] = ()) -> Fold:
    """The fold of a column by a function, with the column's other settings. Raises OptionError."""
    _check_function(function, field)
    function = _OLD_NAMES.get(function, function)
    ignores = given.get("ignore-retract", MergeOptions.column_ignore_retract.default)
    rows = rows_in(field)
    times = "" if rows is None or not FUNCTIONS[function].takes_out else rows.fields[-1].name
    fold = Fold(
        field.name,
        function,
        given.get("list-agg-delimiter", MergeOptions.column_list_agg_delimiters.default),
        given.get("distinct", MergeOptions.column_distinct.default),
        given.get("nested-key", MergeOptions.column_nested_keys.default),
        ignores,
        sequence,
        retract_rule_of(function, field.type, ignores=ignores, in_group=bool(sequence)),
        rounds(function, field.type),
        given.get("count-limit", MergeOptions.column_count_limits.default),
        named=True,
        nullable=field.type.nullable,
        null_keys=given.get("nested-key-null-strategy", MergeOptions.column_nested_key_null_strategies.default),
        nested_sequence=given.get("nested-sequence-field", MergeOptions.column_nested_sequence_fields.default),
        nested_fields=() if rows is None else tuple(f.name for f in rows.fields),
        time_field=given.get("ts-field", times),
    )
    _check_settings(fold, given, field)
    return fold


def _check_function(function: str, field: DataField) -> None:
    if function not in AGGREGATE_FUNCTIONS:
        raise OptionError(
            f"Unknown aggregate function '{function}' for column '{field.name}'.",
            hint=did_you_mean(function.replace("-", "_"), AGGREGATE_FUNCTIONS),
        )
    if not supports(_OLD_NAMES.get(function, function), field.type):
        raise OptionError(
            f"Aggregate function '{function}' does not support {field.type}, the type of column '{field.name}'."
        )


def _check_settings(fold: Fold, given: Mapping[str, Any], field: DataField) -> None:
    for setting in given:
        functions = [name for name, rules in FUNCTIONS.items() if setting in rules.settings]
        if functions and fold.function not in functions:
            raise OptionError(
                f"Option '{key_of(field.name, setting)}' needs the function {' or '.join(functions)}; "
                f"the column has '{fold.function}'."
            )
    element = field.type.element if isinstance(field.type, ArrayType) else None
    if fold.function == "collect" and fold.distinct and (element is None or not has_equality(element)):
        raise OptionError(
            f"Option 'fields.{field.name}.distinct' does not support {field.type}: only single values, and rows of "
            "them, can be compared."
        )
    if not fold.nested_key:
        needing = [one for one in ("nested-key-null-strategy", "nested-sequence-field") if one in given]
        if needing or fold.function == "nested_partial_update":
            what = f"Option '{key_of(field.name, needing[0])}'" if needing else f"Function '{fold.function}'"
            raise OptionError(
                f"{what} of column '{field.name}' needs a nested key.",
                hint=f"'{key_of(field.name, 'nested-key')}' = '…' names the fields of it.",
            )
    rows = rows_in(field)
    inner = {} if rows is None else {f.name: f.type for f in rows.fields}
    for setting, names in (("nested-key", fold.nested_key), ("nested-sequence-field", fold.nested_sequence)):
        _check_nested(field.name, setting, names, {n: kind for n, kind in inner.items() if _compares(setting, kind)})
    if fold.time_field:
        texts = {n: kind for n, kind in inner.items() if isinstance(kind, AtomicType) and kind.root in STRING_ROOTS}
        if fold.time_field not in texts:
            raise OptionError(
                f"Function '{fold.function}' of column '{field.name}' compares the values of '{fold.time_field}', "
                "which is no text field of its rows.",
                hint=f"'{key_of(field.name, 'ts-field')}' = '…' names one"
                f"{': ' + ', '.join(texts) if texts else ', but there is none'}.",
            )


def rows_in(field: DataField) -> RowType | None:
    """The rows that a column holds in lists or as the values of maps."""
    inner = field.type.element if isinstance(field.type, ArrayType) else None
    inner = field.type.value if isinstance(field.type, MapType) else inner
    return inner if isinstance(inner, RowType) else None


def _compares(setting: str, kind: DataType) -> bool:
    orders = setting == "nested-sequence-field"
    return kind.is_atomic and not (orders and isinstance(kind, AtomicType) and kind.root in UNORDERED)


def _check_nested(column: str, setting: str, names: tuple[str, ...], fitting: Mapping[str, DataType]) -> None:
    for name in names:
        if name not in fitting:
            raise OptionError(
                f"Option 'fields.{column}.{setting}' names '{name}', which is no single value of its rows"
                f"{' that has an order' if setting == 'nested-sequence-field' else ''}.",
                hint=did_you_mean(name, list(fitting)),
            )
