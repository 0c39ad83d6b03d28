"""Profiles: what is needed, what is checked, what is shown."""

import copy
import json
import os
import pickle
from argparse import Namespace

import msgpack
import pytest
from dbt.clients.jinja import get_rendered
from dbt_common.exceptions import DbtConfigError

from dbt.adapters.tablestore.connection.credentials import TableStoreCredentials


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
def test_a_missing_key_is_named(missing):
    with pytest.raises(DbtConfigError, match=f"needs `{missing}`"):
        credentials(**{missing: ""})


@pytest.mark.parametrize(
    ("key", "right"), [("dialekt", "dialect"), ("sparc_config", "spark_config"), ("Master", "master")]
)
def test_a_misspelt_key_is_named(key, right):
    with pytest.raises(DbtConfigError, match=f"Unknown key '{key}' in the profile. Did you mean '{right}'"):
        credentials(**{key: "x"})


def test_keys_of_other_adapters_are_left_alone():
    assert credentials(host="h", method="session", connect_retries=3, server_side_parameters={}).schema == "dev"


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


def test_a_shared_session_is_on_this_machine():
    assert not credentials().is_shared
    assert not credentials(session="own").uses_connect
    assert credentials(session="shared", master="local[2]").uses_connect
    for settings, message in (
        ({"session": "mine"}, "`own` or `shared`"),
        ({"session": "shared", "remote": "sc://host"}, "both"),
        ({"session": "shared", "master": "spark://host"}, "on this machine"),
        ({"session_idle_minutes": 0}, "more than 0"),
        ({"session_idle_minutes": float("nan")}, "more than 0"),
    ):
        with pytest.raises(DbtConfigError, match=message):
            credentials(**settings)


def test_spark_settings_become_texts():
    assert credentials(spark_config={"a.b": True, "c": 4}).spark_config == {"a.b": "true", "c": "4"}


def test_the_target_shows_what_is_set_and_no_settings():
    own = credentials(user="me", spark_config={"x.password": "secret"})
    shown = dict(own.connection_info(with_aliases=True))
    info = {"warehouse": "/tmp/wh", "schema": "dev", "class_data_sharing": True, "user": "me"}
    assert shown == {**info, "database": ""}, "packages pass `target.database` on, which must not be undefined"
    assert dict(own.connection_info()) == info, "what `dbt debug` shows"


ASKED = """
{{ target.type == 'spark' }} {{ target.type != 'spark' }} {{ target.type in ['spark', 'databricks'] }}
{{ target.type == 'tablestore' }} {{ target.type not in ('tablestore',) }} {{ target.type == 'databricks' }}
{{ target.type }} {{ {'tablestore': 1, 'spark': 2}[target.type] }} {{ target.type ~ '!' == 'tablestore!' }}
"""


@pytest.mark.parametrize(
    ("like_spark", "answers"),
    [
        (True, ["True False True", "True False False", "tablestore 1 True"]),
        (False, ["False True False", "True False False", "tablestore 1 True"]),
    ],
)
def test_packages_that_ask_for_spark_get_yes(like_spark, answers):
    target = {"type": credentials(like_spark=like_spark).type}
    assert get_rendered(ASKED, {"target": target}).split("\n")[1:4] == answers


def test_dbt_keeps_and_writes_the_type_as_any_text():
    kind = credentials().type
    assert {kind: 1} == {"tablestore": 1}
    assert {kind: 1}.get("spark") is None
    copies = (copy.deepcopy(kind), pickle.loads(pickle.dumps(kind)))
    assert all(one == "spark" and str(one) == "tablestore" for one in copies)
    assert (json.dumps(kind), msgpack.unpackb(msgpack.packb(kind))) == ('"tablestore"', "tablestore")
    assert get_rendered("{{ target.type in ['spark'] }}", {"target": {"type": kind}}, native=True) is True


@pytest.mark.parametrize(
    ("text", "answer"),
    [("{{ (target.type in ['spark']) | as_bool }}", True), ("{{ target.type in ['spark'] | as_bool }}", False)],
)
def test_a_list_that_dbt_made_a_text_of_holds_the_type_as_text(text, answer):
    """As docs/how-to/migrate-from-dbt-spark.md says: the filter comes before `in`, which then looks for a part of a
    text."""
    assert get_rendered(text, {"target": {"type": credentials().type}}, native=True) is answer


def test_defaults_of_new_tables_are_no_settings_of_spark():
    found = credentials(spark_config={"table-storage.bucket": 4, "spark.sql.shuffle.partitions": 2})
    assert found.table_defaults == {"table-storage.bucket": "4"}
    assert found.spark_settings == {"spark.sql.shuffle.partitions": "2"}
