"""Options that change under a table that exists."""

from __future__ import annotations

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.config.option_changes import option_changes

TABLE = {"bucket": "4", "write-only": "true", "merge-engine": "aggregation", "fields.v.function": "sum"}
KEPT = {"merge-engine": "aggregation", "fields.v.aggregate-function": "sum"}


def test_what_is_the_same_changes_nothing():
    assert option_changes(TABLE, {**KEPT, "bucket": "4", "write-only": "TRUE"}) == {}
    assert option_changes(TABLE, KEPT) == {}
    assert option_changes({"bucket": "4"}, {"merge-engine": "deduplicate"}) == {}


def test_a_table_that_began_to_count_rows_fits_its_model():
    table = {"merge-engine": "tablestore-count"}
    assert option_changes(table, {}) == {}
    assert option_changes(table, {"write-only": "true"}) == {"write-only": "true"}
    with pytest.raises(DbtRuntimeError, match="--full-refresh"):
        option_changes(table, {"merge-engine": "deduplicate"})


def test_what_may_change_is_set():
    assert option_changes(TABLE, {**KEPT, "target-file-size": "64 mb"}) == {"target-file-size": "64 mb"}
    assert option_changes(TABLE, {**KEPT, "write-only": "false"}) == {"write-only": "false"}


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
def test_what_is_fixed_is_refused(model, words):
    with pytest.raises(DbtRuntimeError, match="--full-refresh") as caught:
        option_changes(TABLE, model)
    assert words in str(caught.value)
