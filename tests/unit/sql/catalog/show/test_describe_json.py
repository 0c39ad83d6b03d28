"""DESCRIBE … AS JSON, with the keys that Spark gives its own tables."""

from __future__ import annotations

import json

import pytest
from support.execute_door import door, partitioned  # noqa: F401

from tablestore_engine.errors import NotFoundError, SqlError


def described(door, text):
    result = door.run(text)
    assert (result.columns, result.types) == (("json_metadata",), ("string",))
    return json.loads(result.rows[0][0])


def column(name, nullable=True, /, comment=None, default=None, **kind):
    given = {"comment": comment, "default": default}
    return {"name": name, "type": kind, "nullable": nullable} | {k: v for k, v in given.items() if v is not None}


def test_a_table(partitioned):
    partitioned.run("alter table t set tblproperties ('write-only' = 'true')")
    found = described(partitioned, "describe extended t as json")
    assert {k: found[k] for k in ("table_name", "catalog_name", "namespace", "schema_name", "type", "provider")} == {
        "table_name": "t",
        "catalog_name": "tablestore",
        "namespace": ["default"],
        "schema_name": "default",
        "type": "MANAGED",
        "provider": "tablestore",
    }
    assert (found["partition_columns"], found["location"][-2:]) == (["dt", "hr"], "/t")
    assert (found["snapshot"], found["statistics"]["num_rows"], found["created_time"]) == (1, 4, "2024-01-31T12:00:00Z")
    assert found["table_properties"]["write-only"] == "true"
    assert column("s", comment="text", name="string", collation="UTF8_BINARY") in found["columns"]
    found = described(partitioned, "describe table extended t partition (dt = '2024-01-01', hr = 3) as json")
    assert found["partition_values"] == {"dt": "2024-01-01", "hr": "3"}
    assert (found["statistics"]["num_rows"], found["statistics"]["num_files"]) == (2, 1)
    assert found["location"].endswith("/t/dt=2024-01-01/hr=3")
    for text, error in [
        ("describe t as json", SqlError),
        ("describe extended t s as json", SqlError),
        ("describe extended t partition (dt = '2024-01-01', hr = 4) as json", NotFoundError),
    ]:
        with pytest.raises(error):
            partitioned.run(text)


def test_types(door):
    door.run(
        "create table t (id bigint not null default 7, d decimal(5, 2), c char(3), v varchar(9), z timestamp, "
        "n timestamp_ntz, b array<int>, m map<string, boolean>, s struct<x: tinyint not null comment 'hi'>)"
    )
    text = {"name": "string", "collation": "UTF8_BINARY"}
    inner = column("x", False, comment="hi", name="tinyint")
    assert described(door, "describe extended t as json")["columns"] == [
        column("id", False, default="7", name="bigint"),
        column("d", name="decimal", precision=5, scale=2),
        column("c", name="char", length=3),
        column("v", name="varchar", length=9),
        column("z", name="timestamp_ltz"),
        column("n", name="timestamp_ntz"),
        column("b", name="array", element_type={"name": "int"}, element_nullable=True),
        column("m", name="map", key_type=text, value_type={"name": "boolean"}, value_nullable=True),
        column("s", name="struct", fields=[inner]),
    ]


def test_a_view(door):
    door.view("v", "select 1 as a", a="int")
    found = described(door, "describe extended v as json")
    assert (found["type"], found["view_text"], found["view_query_output_columns"]) == ("VIEW", "select 1 as a", ["a"])
    assert found["view_catalog_and_namespace"] == "tablestore.`default`"
