"""Profiles: what is needed, what is checked, what is shown."""

import os
from argparse import Namespace

import pytest
from dbt_common.exceptions import DbtConfigError

from dbt.adapters.tablestore.credentials import TableStoreCredentials


def credentials(**settings):
    data = {"warehouse": "/tmp/wh", "schema": "dev", **settings}
    TableStoreCredentials.validate(data)
    return TableStoreCredentials.from_dict(data)


def test_warehouse_and_schema_are_enough():
    found = credentials()
    assert (found.type, found.warehouse, found.schema, found.database) == (
        "tablestore",
        "/tmp/wh",
        "dev",
        None,
    )
    assert found.class_data_sharing
    assert found.unique_field == "/tmp/wh"


@pytest.mark.parametrize("missing", ["warehouse", "schema"])
def test_what_is_missing_is_named(missing):
    with pytest.raises(DbtConfigError, match=f"needs `{missing}`"):
        credentials(**{missing: ""})


def test_a_relative_warehouse_starts_at_the_project(monkeypatch):
    monkeypatch.setattr("dbt.flags.get_flags", lambda: Namespace(PROJECT_DIR="/some/project"))
    assert credentials(warehouse="./wh").warehouse == "/some/project/wh"


def test_a_warehouse_in_the_home_folder_and_as_an_address():
    assert credentials(warehouse="~/wh").warehouse == os.path.expanduser("~/wh")
    assert credentials(warehouse="file:///tmp/wh").warehouse == "/tmp/wh"


def test_a_warehouse_that_is_not_local_is_refused():
    with pytest.raises(DbtConfigError, match="not a local folder"):
        credentials(warehouse="s3://bucket/wh")


def test_a_database_is_only_accepted_when_it_is_the_schema():
    assert credentials(database="dev").database is None
    with pytest.raises(DbtConfigError, match="Remove `database`"):
        credentials(database="other")


def test_master_and_remote_exclude_each_other():
    with pytest.raises(DbtConfigError, match="both"):
        credentials(master="local[2]", remote="sc://host")
    with pytest.raises(DbtConfigError, match="Spark Connect address"):
        credentials(remote="host:15002")


def test_spark_settings_become_texts():
    assert credentials(spark_config={"a.b": True, "c": 4}).spark_config == {"a.b": "true", "c": "4"}


def test_the_target_shows_what_is_set_and_no_settings():
    shown = dict(
        credentials(user="me", spark_config={"x.password": "secret"}).connection_info(with_aliases=True)
    )
    assert shown == {"warehouse": "/tmp/wh", "schema": "dev", "class_data_sharing": True, "user": "me"}
