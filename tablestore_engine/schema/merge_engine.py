"""Merge engines: how the records of one key become one row.

Each column that is not part of the key has a *function* that folds its values in the order of their records. A fold of
folds equals the fold of everything, so runs may merge in any groups of neighbours. `deduplicate` takes the last record
whole, `first-row` the first; `partial-update` is the last value of each column that is not null; `aggregation` names a
function per column. `tablestore-count` is for tables without a key: it counts whole rows (`schema.keyless`).

Semantics after Apache Paimon's merge engines.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tablestore_engine.errors import OptionError
from tablestore_engine.options import CoreOptions
from tablestore_engine.options.catalog import AGGREGATE_FUNCTIONS, COUNT_ENGINE
from tablestore_engine.schema.keyless import check_engine
from tablestore_engine.schema.types import INTEGER_ROOTS, ArrayType, AtomicType, DataField, DataType

DEFAULT_FUNCTION = "last_non_null_value"
_NUMBERS = (*INTEGER_ROOTS, "FLOAT", "DOUBLE")
_UNORDERED = ("BYTES", "BINARY", "VARBINARY", "BOOLEAN", "VARIANT")


@dataclass(frozen=True)
class Fold:
    """How the values of one column become one. `delimiter` is listagg's, `distinct` is for listagg and collect."""

    column: str
    function: str
    delimiter: str = ","
    distinct: bool = False


@dataclass(frozen=True)
class MergeEngine:
    """`folds` covers every column outside the key, unless a whole record is taken (then it is empty)."""

    name: str = "deduplicate"
    folds: tuple[Fold, ...] = ()

    @property
    def keeps_last(self) -> bool:
        """Whether the newest record replaces all others of its key."""
        return self.name == "deduplicate"

    @property
    def keeps_first(self) -> bool:
        """Whether the oldest record of a key stays."""
        return self.name == "first-row"

    @property
    def counts(self) -> bool:
        """Whether the table has no key and counts rows, so that it takes retractions."""
        return self.name == COUNT_ENGINE

    @property
    def changes_single_rows(self) -> bool:
        """Whether the fold of one record may differ from it: a blank text, a list that is to hold each value once."""
        return any(f.function == "listagg" or (f.function == "collect" and f.distinct) for f in self.folds)

    def only(self, columns: Sequence[str]) -> MergeEngine:
        """The engine for rows that have these columns only."""
        return MergeEngine(self.name, tuple(f for f in self.folds if f.column in columns))


def merge_engine_of(fields: Sequence[DataField], keys: Sequence[str], options: CoreOptions) -> MergeEngine:
    """The merge engine that options ask for.

    Raises:
        OptionError: an unknown function or column, a function on a type that it does not support, or options that do
            not go together.
    """
    name = options.merge_engine
    if name == COUNT_ENGINE:
        check_engine(fields, keys, options.bucket_key)
    elif name != "deduplicate" and not keys:
        raise OptionError(f"Option 'merge-engine' = '{name}' needs a primary key.")
    if name != "deduplicate" and options.sequence_field:
        raise OptionError(
            f"Option 'sequence.field' is not supported with 'merge-engine' = '{name}' by this engine.",
            hint="Leave it out: records merge in the order in which they are written.",
        )
    settings = _column_settings(fields, options.raw)
    if name != "aggregation":
        _refuse_functions(name, settings, options.raw)
    if name in ("deduplicate", "first-row", COUNT_ENGINE):
        return MergeEngine(name)
    default = options.raw.get("fields.default-aggregate-function", DEFAULT_FUNCTION).strip().lower()
    folds = []
    for field in fields:
        given = settings.get(field.name, {})
        if field.name in keys:
            if "function" in given:
                raise OptionError(f"Column '{field.name}' is part of the key, which no function aggregates.")
            continue
        function = given.get("function", default).strip().lower() if name == "aggregation" else DEFAULT_FUNCTION
        fold = Fold(
            field.name,
            function,
            given.get("list-agg-delimiter", ","),
            given.get("distinct", "false").strip().lower() == "true",
        )
        _check_function(function, field)
        _check_settings(fold, given, field)
        folds.append(fold)
    return MergeEngine(name, tuple(folds))


_SETTINGS = {
    "fields.*.aggregate-function": "function",
    "fields.*.function": "function",
    "fields.*.list-agg-delimiter": "list-agg-delimiter",
    "fields.*.distinct": "distinct",
}


def _column_settings(fields: Sequence[DataField], options: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """What options of the form ``fields.<column>.<setting>`` say, by column."""
    names = {f.name for f in fields}
    found: dict[str, dict[str, str]] = {}
    for key, value in options.items():
        if not key.startswith("fields."):
            continue
        column, _, suffix = key[len("fields.") :].rpartition(".")
        setting = _SETTINGS.get(f"fields.*.{suffix}")
        if not column or setting is None:
            continue
        if column not in names:
            near = difflib.get_close_matches(column, names, n=1)
            raise OptionError(
                f"Option '{key}' names '{column}', which is not a column.",
                hint=f"Did you mean '{near[0]}'?" if near else f"There are: {', '.join(sorted(names))}.",
            )
        found.setdefault(column, {})[setting] = value
    return found


def _refuse_functions(
    name: str, settings: Mapping[str, Mapping[str, str]], options: Mapping[str, str]
) -> None:
    named = next(((c, s) for c, given in settings.items() for s in given), None)
    if named is not None or "fields.default-aggregate-function" in options:
        spelt = {"function": "aggregate-function"}
        what = f"'fields.{named[0]}.{spelt.get(named[1], named[1])}'" if named else "'fields.default-aggregate-function'"
        raise OptionError(
            f"Option {what} needs 'merge-engine' = 'aggregation'; the table has '{name}'.",
            hint="Set merge-engine, or leave the function out.",
        )


def _check_function(function: str, field: DataField) -> None:
    if function not in AGGREGATE_FUNCTIONS:
        near = difflib.get_close_matches(function.replace("-", "_"), AGGREGATE_FUNCTIONS, n=1)
        raise OptionError(
            f"Unknown aggregate function '{function}' for column '{field.name}'.",
            hint=f"Did you mean '{near[0]}'?" if near else f"There are: {', '.join(AGGREGATE_FUNCTIONS)}.",
        )
    if not _supports(function, field.type):
        raise OptionError(
            f"Aggregate function '{function}' does not support {field.type}, the type of column '{field.name}'."
        )


def _check_settings(fold: Fold, given: Mapping[str, str], field: DataField) -> None:
    for setting, functions in (("distinct", ("listagg", "collect")), ("list-agg-delimiter", ("listagg",))):
        if setting in given and fold.function not in functions:
            raise OptionError(
                f"Option 'fields.{field.name}.{setting}' needs the function {' or '.join(functions)}; "
                f"the column has '{fold.function}'."
            )
    if fold.function == "listagg" and not field.type.nullable:
        raise OptionError(
            f"Column '{field.name}' is NOT NULL, but listagg of blank texts is null.", hint="Let it be null."
        )
    if fold.function == "collect" and fold.distinct:
        element = field.type.element if isinstance(field.type, ArrayType) else None
        if not isinstance(element, AtomicType):
            raise OptionError(
                f"Option 'fields.{field.name}.distinct' does not support {field.type}: "
                "only lists of single values are told apart."
            )


def _supports(function: str, data_type: DataType) -> bool:
    root = data_type.root if isinstance(data_type, AtomicType) else None
    if function == "sum":
        return root in _NUMBERS or root == "DECIMAL"
    if function == "product":
        return root in _NUMBERS
    if function in ("max", "min"):
        return root is not None and root not in _UNORDERED
    if function in ("bool_and", "bool_or"):
        return root == "BOOLEAN"
    if function == "listagg":
        return root == "STRING"
    if function == "collect":
        return isinstance(data_type, ArrayType)
    return True
