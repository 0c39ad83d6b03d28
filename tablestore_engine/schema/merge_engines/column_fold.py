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
    RetractRule,
    has_equality,
    retract_rule_of,
    rounds,
    supports,
)
from tablestore_engine.schema.merge_engines.merge_engine import Fold
from tablestore_engine.schema.types.types import ArrayType, DataField, RowType

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
    fold = Fold(
        field.name,
        function,
        given.get("list-agg-delimiter", MergeOptions.column_list_agg_delimiters.default),
        given.get("distinct", MergeOptions.column_distinct.default),
        given.get("nested-key", MergeOptions.column_nested_keys.default),
        ignores,
        sequence,
        retract_rule_of(function, field.type, ignores=ignores),
        rounds(function, field.type),
        given.get("count-limit", MergeOptions.column_count_limits.default),
        named=True,
        nullable=field.type.nullable,
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
    inner = {f.name: f.type for f in element.fields} if isinstance(element, RowType) else {}
    for name in fold.nested_key:
        if name not in inner or not inner[name].is_atomic:
            raise OptionError(
                f"Option 'fields.{field.name}.nested-key' names '{name}', which is no single value of its rows.",
                hint=did_you_mean(name, [n for n, kind in inner.items() if kind.is_atomic]),
            )
