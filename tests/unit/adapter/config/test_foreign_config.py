"""Configs that models carry for other adapters."""

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.config.foreign_config import FOREIGN_KEYS, is_foreign_property, notices
from dbt.adapters.tablestore.config.model_config import IGNORED_SPARK_KEYS, OWN_KEYS
from dbt.adapters.tablestore.config.table_layout import TableLayout


def test_no_key_is_both_ours_and_foreign():
    assert not set(FOREIGN_KEYS) & {*OWN_KEYS, *IGNORED_SPARK_KEYS}


def test_an_ignored_config_is_named_with_a_similar_one():
    (said,) = notices({"cluster_by": ["a"], "materialized": "table", "file_format": "delta"})
    assert said.startswith("Config `cluster_by` is another adapter's and is ignored.")
    assert "`clustered_by`" in said
    assert notices({"zorder": "a"}) == ("Config `zorder` is another adapter's and is ignored.",)


def test_nothing_is_reported_for_keys_without_a_value_or_next_to_ours():
    assert notices({"cluster_by": None, "partitioned_by": [], "zorder": False}) == ()
    assert notices({"partitioned_by": ["dt"], "partition_by": ["dt"]}) == ()
    assert notices({"partition_by": {"field": "dt", "data_type": "date"}}) == ()


def test_configs_that_choose_the_rows_of_a_merge_are_refused():
    config = {"materialized": "incremental", "unique_key": "id", "matched_condition": "s.at > t.at"}
    with pytest.raises(DbtRuntimeError, match=r"`matched_condition`.*merge changes.*incremental_predicates"):
        TableLayout.of({"config": config})
    TableLayout.of({"config": {**config, "matched_condition": None}})
    TableLayout.of({"config": {**config, "incremental_strategy": "delete+insert"}})


def test_partitions_that_are_computed_are_said_once_for_all():
    by_hour = {"field": "at", "data_type": "timestamp", "granularity": "hour"}
    by_range = {"field": "n", "data_type": "int64", "range": {"start": 0, "end": 10, "interval": 1}}
    (first,), (second,) = notices({"partition_by": by_hour}), notices({"partition_by": by_range})
    assert first == second


def test_properties_are_said_one_by_one():
    said = notices({"tblproperties": {"delta.appendOnly": "true", "write-only": "true", "steward": "ada"}})
    assert [one.split(" in ")[0] for one in said] == ["'delta.appendOnly'", "'steward'"]


@pytest.mark.parametrize(
    "key",
    ["delta.autoOptimize.optimizeWrite", "deltaTable.x", "hoodie.table.name", "external.table.purge", "format-version",
     "commit.retry.num-retries", "history.expire.max-snapshot-age-ms", "quality", "created_by", "primaryKey"],
)  # fmt: skip
def test_properties_of_other_formats(key):
    assert is_foreign_property(key)


@pytest.mark.parametrize(
    "key",
    ["bucket", "buckets", "write-onli", "merge_engine", "commit.max-retry", "fields.total.agg-func", "snapshot.keep"],
)
def test_options_and_their_misspellings_are_not_foreign(key):
    assert not is_foreign_property(key)
