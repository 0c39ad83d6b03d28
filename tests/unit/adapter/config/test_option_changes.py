"""Options that change under a table that exists."""

from __future__ import annotations

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.config.option_changes import (
    DBT_OPTIONS,
    OptionChanges,
    option_changes,
    remembered,
    replaced_options,
)
from tablestore_engine.schema.table.schema_changes import SetOption

TABLE = {"bucket": "4", "write-only": "true", "merge-engine": "aggregation", "fields.v.function": "sum"}
KEPT = {"merge-engine": "aggregation", "fields.v.aggregate-function": "sum"}


def test_equal_options_change_nothing():
    assert option_changes(TABLE, {**KEPT, "bucket": "4", "write-only": "TRUE"}).text == ""
    assert option_changes(TABLE, KEPT) == OptionChanges()
    assert option_changes({"bucket": "4"}, {"merge-engine": "deduplicate"}) == OptionChanges()


def test_a_table_that_began_to_count_rows_fits_its_model():
    table = {"merge-engine": "tablestore-count"}
    assert option_changes(table, {}) == OptionChanges()
    assert option_changes(table, {"write-only": "true"}).to_set == {"write-only": "true"}
    with pytest.raises(DbtRuntimeError, match="--full-refresh"):
        option_changes(table, {"merge-engine": "deduplicate"})


def test_a_snapshot_is_not_built_anew():
    with pytest.raises(DbtRuntimeError) as raised:
        option_changes(TABLE, {"bucket": "4"}, snapshot=True)
    assert str(raised.value).endswith("fixed when a table is made: take the change back.")
    with pytest.raises(DbtRuntimeError, match=r"made: rescale it .*, or take the change back"):
        option_changes({"bucket": "4"}, {"bucket": "8"}, snapshot=True)
    with pytest.raises(DbtRuntimeError, match=r"--full-refresh, rescale it .*, or take the change back"):
        option_changes({"bucket": "4"}, {"bucket": "8"})


def test_changeable_options_are_set():
    assert option_changes(TABLE, {**KEPT, "target-file-size": "64 mb"}).to_set == {"target-file-size": "64 mb"}
    assert option_changes(TABLE, {**KEPT, "write-only": "false"}).to_set == {"write-only": "false"}


def applied(table, changes):
    after = dict(table)
    for one in changes.schema_changes():
        if isinstance(one, SetOption):
            after[one.key] = one.value
        else:
            after.pop(one.key)
    return after


def test_options_that_a_model_no_longer_names_are_reset():
    model = {"write-only": "true", "target-file-size": "64 mb"}
    built = {**model, DBT_OPTIONS: remembered(model)}
    assert option_changes(built, model) == OptionChanges()
    changes = option_changes(built, {"target-file-size": "32 mb"})
    assert changes.text == "set target-file-size = 32 mb, reset write-only"
    assert applied(built, changes) == {"target-file-size": "32 mb", DBT_OPTIONS: '{"target-file-size": "32 mb"}'}
    assert applied(built, option_changes(built, {})) == {}
    # Under another spelling it is still named.
    assert option_changes(built, {**model, "write.compaction-skip": "true"}).to_reset == ()


def test_a_number_of_buckets_that_a_model_no_longer_names_is_kept_with_a_note():
    model = {"bucket": "4", "write-only": "true"}
    built = {**model, DBT_OPTIONS: remembered(model)}
    changes = option_changes(built, {})
    assert changes.text == "reset write-only, kept bucket = 4, which --full-refresh resets"
    after = applied(built, changes)
    assert after == {"bucket": "4"}
    assert option_changes(after, {}).text == ""  # once
    # Rescaled by hand, or chosen by the engine.
    assert option_changes({**built, "bucket": "8"}, {"write-only": "true"}).text == ""
    assert option_changes({"bucket": "1"}, {}) == OptionChanges()


def test_a_table_that_is_built_anew_may_change_what_is_fixed():
    model = {"write-only": "true", "bucket": "2", "merge-engine": "first-row"}
    built = {**model, DBT_OPTIONS: remembered(model), "team": "sales"}
    assert replaced_options(built, model).text == ""
    assert replaced_options(built, {"bucket": "4"}).text == "set bucket = 4, reset write-only, reset merge-engine"
    assert replaced_options(built, {}).text == "reset bucket, reset write-only, reset merge-engine"
    assert replaced_options({"bucket": "1"}, {}).text == ""  # the engine's choice


def test_options_set_elsewhere_stay():
    model = {"write-only": "true"}
    built = {**model, DBT_OPTIONS: remembered(model), "num-levels": "4", "team": "sales"}
    altered = {**built, "write-only": "false"}
    assert applied(altered, option_changes(altered, {})) == {"write-only": "false", "num-levels": "4", "team": "sales"}
    # A table from before this was remembered.
    assert option_changes({"write-only": "true"}, {}) == OptionChanges()
    assert option_changes({"write-only": "true", DBT_OPTIONS: "?"}, {}).to_reset == ()


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ({**KEPT, "bucket": "8"}, "'bucket' = '8', but its table has '4'"),
        ({**KEPT, "fields.v.aggregate-function": "max"}, "'max'"),
        ({**KEPT, "fields.w.aggregate-function": "max"}, "was made without it"),
        ({"merge-engine": "aggregation"}, "no longer sets 'fields.v.function'"),
        ({}, "no longer sets 'merge-engine'"),
        ({**KEPT, "sequence.field": "v"}, "sequence.field"),
    ],
)
def test_fixed_options_are_refused(model, words):
    with pytest.raises(DbtRuntimeError, match="--full-refresh") as caught:
        option_changes(TABLE, model)
    assert words in str(caught.value)
