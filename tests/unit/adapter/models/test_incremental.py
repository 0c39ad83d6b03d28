"""Decisions about incremental models."""

import pytest
from dbt_common.exceptions import DbtRuntimeError
from support.dbt_columns import TABLE, columns

from dbt.adapters.tablestore.models.incremental import is_plain_upsert, qualified, update_columns
from tablestore_engine.schema.merge_engines.merge_engine import MergeEngine


@pytest.mark.parametrize(
    ("keys", "config", "given", "predicates", "plain"),
    [
        (["id"], {"unique_key": "ID"}, TABLE, None, True),
        (["id"], {"unique_key": ["id"]}, columns(b="bigint", a="string", id="int", c="int"), None, True),
        (["id"], {"unique_key": "id"}, columns(id="int", a="string"), None, False),
        (["id"], {"unique_key": "id"}, TABLE, ["a > 1"], False),
        (["id"], {"unique_key": "id", "merge_exclude_columns": ["a"]}, TABLE, None, False),
        (["id"], {"unique_key": "id", "merge_update_columns": ["a"]}, TABLE, None, False),
        ([], {"unique_key": "id"}, TABLE, None, False),
        (["id", "a"], {"unique_key": "id"}, TABLE, None, False),
        (["id"], {"primary_key": "id"}, TABLE, None, True),
        ([], {}, TABLE, None, False),
    ],
)
def test_plain_upserts(keys, config, given, predicates, plain):
    assert is_plain_upsert(keys, MergeEngine(), TABLE, config, given, predicates) == plain


def test_a_merge_engine_takes_any_columns():
    engine = MergeEngine("partial-update")
    config = {"unique_key": "id"}
    assert is_plain_upsert(["id"], engine, TABLE, config, columns(id="int", a="string"), None)
    assert not is_plain_upsert(["id"], engine, TABLE, config, TABLE, ["a > 1"])


def test_columns_to_update():
    assert update_columns({}, TABLE) == ["`id`", "`a`", "`b`"]
    assert update_columns({"merge_update_columns": ["B"]}, TABLE) == ["`b`"]
    assert update_columns({"merge_exclude_columns": "a"}, TABLE) == ["`id`", "`b`"]
    with pytest.raises(DbtRuntimeError, match="not both"):
        update_columns({"merge_update_columns": "a", "merge_exclude_columns": "b"}, TABLE)
    with pytest.raises(DbtRuntimeError, match="names c"):
        update_columns({"merge_exclude_columns": "c"}, TABLE)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("id != 2", "T.`id` != 2"),
        ("other.id = a", "other.id = T.`a`"),
        ("a(id) > 'id'", "a(T.`id`) > 'id'"),
        ("`b` = x -- id", "T.`b` = x -- id"),
    ],
)
def test_bare_names_are_qualified(expression, expected):
    assert qualified(expression, TABLE, "T") == expected
