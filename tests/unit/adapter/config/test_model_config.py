"""Single config keys: the strategy, the unique key, and keys that are misspelt."""

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.config.model_config import (
    check_key,
    check_spelling,
    strategy_of,
    unique_keys,
    with_written_configs,
)


def test_strategies():
    assert strategy_of({}) == "append"
    assert strategy_of({"unique_key": "id"}) == "upsert"
    assert strategy_of({"primary_key": "id"}) == "upsert"
    assert strategy_of({"unique_key": "id", "incremental_strategy": "append"}) == "append"
    assert unique_keys({"unique_key": ["a", "a", ""]}) == ("a",)
    assert unique_keys({"primary_key": "a, b"}) == ("a", "b")
    assert unique_keys({"primary_key": "`odd name`, b", "unique_key": None}) == ("`odd name`", "b")
    assert unique_keys({"primary_key": "a", "unique_key": "b || c"}) == ("b || c",)


def test_an_upsert_needs_a_key_and_a_merge_does_not():
    with pytest.raises(DbtRuntimeError, match=r"needs a key\. Set `unique_key`"):
        check_key({"incremental_strategy": "upsert"})
    check_key({"incremental_strategy": "upsert", "unique_key": "id"})
    check_key({"incremental_strategy": "merge"})


@pytest.mark.parametrize(
    ("key", "near"),
    [
        ("primary_keys", "primary_key"),
        ("partition_bye", "partition_by"),
        ("bukets", "buckets"),
        ("Unique_Keys", "unique_key"),
        ("incremental_stratgy", "incremental_strategy"),
    ],
)
def test_a_misspelt_key_is_named_with_the_nearest(key, near):
    with pytest.raises(DbtRuntimeError) as error:
        check_spelling({key: "x"})
    assert str(error.value).strip().endswith(f"Unknown config '{key}'. Did you mean '{near}'?")
    check_spelling({key: None, "my_own_key": 1})


def test_keys_of_a_column_that_dbt_leaves_out():
    columns = [{"name": "a", "config": {"renamed_from": "b"}}, {"name": "c"}, {"name": "other"}]
    first = {"v": 1, "columns": [{"name": "a", "config": {"renamed_from": "z"}}]}
    versions = [first, {"v": 2, "columns": [{"include": "*"}]}]
    document = {"models": [{"name": "n"}, {"name": "m", "columns": columns, "versions": versions}]}
    given = {"name": "m", "version": 2, "columns": {one: {"name": one, "config": {"tags": []}} for one in ("a", "c")}}
    found = with_written_configs(given, document)["columns"]
    assert [one["config"] for one in found.values()] == [{"renamed_from": "b", "tags": []}, {"tags": []}]
    assert with_written_configs({**given, "version": 1}, document)["columns"]["a"]["config"]["renamed_from"] == "z"
    assert with_written_configs(given, {})["columns"] == given["columns"]
