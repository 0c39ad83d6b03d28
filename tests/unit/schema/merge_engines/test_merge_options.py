"""Options of merge engines that tables of Java Paimon combine: which open, and how their columns are folded then."""

from __future__ import annotations

import pytest

from tablestore_engine.errors import OptionError
from tablestore_engine.schema.merge_engines.aggregate_functions import FUNCTIONS
from tablestore_engine.schema.merge_engines.column_fold import fold_of
from tablestore_engine.schema.merge_engines.merge_engine import Fold
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.types.types import ArrayType, AtomicType, DataField, MapType, RowType

INT, STRING = AtomicType("INT"), AtomicType("STRING")
ROWS = ArrayType(RowType((DataField(9, "k", INT),)))
TIMED = MapType(AtomicType("STRING", False), RowType((DataField(7, "q", INT), DataField(8, "at", STRING))))
MORE = {"nested_partial_update": {"fields.v.nested-key": "k"}}
TYPES = {
    "listagg": STRING, "collect": ArrayType(INT), "merge_map": MapType(AtomicType("STRING", False), INT),
    "merge_map_with_keytime": TIMED, "nested_update": ROWS, "nested_partial_update": ROWS,
    "bool_and": AtomicType("BOOLEAN"), "bool_or": AtomicType("BOOLEAN"),
    "hll_sketch": AtomicType("BYTES"), "theta_sketch": AtomicType("BYTES"),
    "rbm32": AtomicType("BYTES"), "rbm64": AtomicType("BYTES"),
}  # fmt: skip
GROUP = {"merge-engine": "partial-update", "fields.at.sequence-group": "v"}


def folds(options, kind=INT, at=INT):
    columns = [("id", AtomicType("INT", False), None), ("at", at, None), ("v", kind, None)]
    schema = create_schema(columns, ["id"], [], options)
    schema.core_options.check_writable()
    return {fold.column: fold for fold in schema.merge_engine.folds}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("at", [INT, INT.as_nullable(False)], ids=["nullable", "required"])
def test_every_function_in_a_sequence_group(function, at):
    given = {**GROUP, **MORE.get(function, {}), "fields.v.aggregate-function": function}
    found = folds(given, TYPES.get(function, INT), at)
    assert (found["v"].function, found["v"].sequence) == (function, ("at",))


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("order", ["ascending", "descending"])
def test_every_function_with_a_sequence_field(function, order):
    options = {"merge-engine": "aggregation", "sequence.field": "at", "sequence.field.sort-order": order}
    given = {**options, **MORE.get(function, {}), "fields.v.aggregate-function": function}
    found = folds(given, TYPES.get(function, INT))
    assert (found["v"].function, found["at"].function) == (function, "last_value")


def test_a_partial_update_with_a_sequence_field():
    options = {"merge-engine": "partial-update", "sequence.field": "at"}
    assert [fold.function for fold in folds(options).values()] == ["last_non_null_value"] * 2
    assert folds({**options, "partial-update.remove-record-on-delete": "true"})


def test_a_default_function():
    found = folds({**GROUP, "fields.default-aggregate-function": "max"})
    assert found["v"].function == "max"
    assert found["at"] == Fold("at", "last_value", sequence=("at",), retract_rule=found["at"].retract_rule)


def test_a_default_function_outside_of_groups():
    with pytest.raises(OptionError, match="'at' is in none"):
        folds({"merge-engine": "partial-update", "fields.default-aggregate-function": "max"})
    assert folds({"merge-engine": "partial-update", "fields.default-aggregate-function": "last_non_null_value"})


def test_deletes_that_remove_a_row_with_a_sequence_field():
    options = {"merge-engine": "aggregation", "sequence.field": "at", "aggregation.remove-record-on-delete": "true"}
    assert folds({**options, "fields.v.aggregate-function": "listagg"}, STRING)


def test_a_required_sequence_column_of_a_group_whose_deletes_remove_the_row():
    options = {**GROUP, "partial-update.remove-record-on-sequence-group": "at"}
    assert folds(options, at=INT.as_nullable(False))


def test_a_limit_of_nested_rows():
    options = {"merge-engine": "aggregation", "fields.v.aggregate-function": "nested_update"}
    assert folds({**options, "fields.v.count-limit": "7"}, ROWS)["v"].count_limit == 7
    with pytest.raises(OptionError, match="needs the function nested_update"):
        folds({**options, "fields.v.aggregate-function": "collect", "fields.v.count-limit": "7"}, ROWS)


def test_a_default_of_old_versions_is_kept():
    assert folds({"merge-engine": "aggregation", "fields.v.default-value": "3"})


def test_rows_of_single_values_are_collected_once_and_others_are_not():
    row = RowType((DataField(5, "q", AtomicType("INT")),))
    for element, fits in ((row, True), (AtomicType("INT"), True), (ArrayType(AtomicType("INT")), False)):
        given = {"function": "collect", "distinct": True}
        if fits:
            assert fold_of(DataField(1, "v", ArrayType(element)), "collect", given).distinct
            continue
        with pytest.raises(OptionError, match="can be compared"):
            fold_of(DataField(1, "v", ArrayType(element)), "collect", given)


def test_functions_of_nested_rows_and_maps_say_what_they_need():
    options = {"merge-engine": "aggregation", "fields.v.aggregate-function": "nested_partial_update"}
    with pytest.raises(OptionError, match="Function 'nested_partial_update' of column 'v' needs a nested key"):
        folds(options, ROWS)
    with pytest.raises(OptionError, match="needs the function nested_update; the column has 'nested_partial"):
        folds({**options, "fields.v.nested-key": "k", "fields.v.nested-sequence-field": "k"}, ROWS)
    options["fields.v.aggregate-function"] = "nested_update"
    for setting, value in (("nested-key-null-strategy", "ignore"), ("nested-sequence-field", "k")):
        with pytest.raises(OptionError, match=f"'fields.v.{setting}' of column 'v' needs a nested key"):
            folds({**options, f"fields.v.{setting}": value}, ROWS)
    with pytest.raises(OptionError, match=r"nested-sequence-field' names 'z', which is no single value .* order"):
        folds({**options, "fields.v.nested-key": "k", "fields.v.nested-sequence-field": "z"}, ROWS)
    found = folds({**options, "fields.v.nested-key": "k", "fields.v.nested-sequence-field": "k"}, ROWS)["v"]
    assert (found.nested_sequence, found.cleans) == (("k",), True)
    options["fields.v.aggregate-function"] = "merge_map_with_keytime"
    assert folds(options, TIMED)["v"].time_field == "at"
    with pytest.raises(OptionError, match="compares the values of 'q', which is no text field"):
        folds({**options, "fields.v.ts-field": "q"}, TIMED)
    with pytest.raises(OptionError, match="does not support MAP<STRING NOT NULL, INT>"):
        folds(options, TYPES["merge_map"])


def test_an_old_name_of_a_function():
    assert fold_of(DataField(1, "v", AtomicType("INT")), "first_not_null_value", {}).function == "first_non_null_value"
