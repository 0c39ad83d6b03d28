"""The layout that a model's config asks for."""

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.config.table_layout import TableLayout


def layout(**config):
    return TableLayout.of({"config": config})


def test_nothing_configured_gives_no_clauses():
    assert layout().clauses() == ""


def test_all_clauses_in_the_order_of_the_grammar():
    found = layout(
        primary_key=["id", "dt"], partition_by="dt", buckets=4, sequence_field="ts",
        table_options={"target-file-size": "64 mb", "write-only": True},
    )  # fmt: skip
    assert found.clauses("it's").split("\n  ") == [
        "(primary key (`id`, `dt`) not enforced)",
        "comment 'it\\'s'",
        "partitioned by (`dt`)",
        (
            "with ('bucket' = '4', 'sequence.field' = 'ts', 'target-file-size' = '64 mb', 'write-only' = 'true', "
            """'dbt.options' = '{"bucket": "4", "target-file-size": "64 mb", "write-only": "true"}')"""
        ),
    ]


def test_buckets_by_need():
    found = layout(primary_key="id", partition_by="dt", buckets=-1)
    assert "with ('bucket' = '-1'," in found.clauses()


@pytest.mark.parametrize(
    ("config", "key"),
    [
        ({"materialized": "incremental", "unique_key": "id"}, ("id",)),
        ({"materialized": "incremental", "unique_key": ["a", "b", "a"]}, ("a", "b")),
        ({"materialized": "incremental", "unique_key": "id", "incremental_strategy": "merge"}, ("id",)),
        ({"materialized": "incremental", "unique_key": "id", "incremental_strategy": "default"}, ("id",)),
        ({"materialized": "incremental", "unique_key": "id", "incremental_strategy": "delete+insert"}, ()),
        ({"materialized": "incremental", "unique_key": "id", "enforce_key": False}, ()),
        ({"materialized": "incremental", "unique_key": "a || b"}, ()),
        ({"materialized": "incremental", "unique_key": "id", "primary_key": "id, dt"}, ("id", "dt")),
        ({"materialized": "incremental", "unique_key": ""}, ()),
        ({"materialized": "table", "unique_key": "id"}, ()),
        ({"materialized": "table", "primary_key": "`odd name`"}, ("odd name",)),
    ],
)
def test_the_primary_key(config, key):
    assert TableLayout.of({"config": config}).primary_key == key


def test_a_key_that_the_materialization_needs_gives_way_to_the_users():
    assert TableLayout.of({"config": {}}, ("dbt_scd_id",)).primary_key == ("dbt_scd_id",)
    assert TableLayout.of({"config": {"primary_key": "id"}}, ("dbt_scd_id",)).primary_key == ("id",)


def test_the_key_of_an_enforced_contract():
    model = {
        "config": {"contract": {"enforced": True}},
        "columns": {"id": {"name": "id", "constraints": [{"type": "primary_key"}]}, "b": {"name": "b"}},
    }
    assert TableLayout.of(model).primary_key == ("id",)
    model["constraints"] = [{"type": "primary_key", "columns": ["id", "b"]}]
    assert TableLayout.of(model).primary_key == ("id", "b")
    assert TableLayout.of({**model, "config": {"contract": {"enforced": False}}}).primary_key == ()


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"primary_keys": "id"}, "Unknown config 'primary_keys'. Did you mean 'primary_key'?"),
        ({"partition_bye": "dt"}, "Did you mean 'partition_by'?"),
        ({"bukets": 4}, "Did you mean 'buckets'?"),
        ({"table_options": {"write-onli": True}}, "write-only"),
        ({"table_options": {"bucket": "many"}}, "bucket"),
        ({"table_options": "bucket=4"}, "must map option names to values"),
        ({"buckets": 4, "table_options": {"bucket": 8}}, "set twice"),
        ({"sequence_field": "ts"}, "needs a `primary_key`"),
        ({"primary_key": 7}, "must be a column name or a list"),
        ({"primary_key": {"field": "id"}}, "must be a column name or a list"),
        ({"partition_by": {"column": "dt"}}, "mapping with a `field`"),
        ({"tblproperties": {"write-onli": True}}, "write-only"),
        ({"compaction": {"delta_comits": 3}}, "Did you mean 'compaction.delta-commits'?"),
        ({"compaction": {"frequency": 3}}, "no table option 'compaction.frequency'"),
        ({"fields": {"v": {"funktion": "sum"}}}, "fields.v.function"),
        ({"merge_engine": "dedup", "primary_key": "id"}, "deduplicate"),
    ],
)
def test_mistakes_are_named(config, message):
    with pytest.raises(DbtRuntimeError) as error:
        TableLayout.of({"config": config})
    assert message in str(error.value)


@pytest.mark.parametrize("name", ["table_options", "tblproperties"])
def test_an_option_without_a_value_is_not_set(name):
    given = {"write-only": None, "bucket": 2}
    assert layout(**{name: given}, primary_key="id").options == {"bucket": "2"}
    assert layout(buckets=4, primary_key="id", **{name: {"bucket": None}}).options == {"bucket": "4"}


def test_a_column_without_a_function_has_none():
    assert layout(merge_engine="aggregation", primary_key="id", fields={"v": None, "w": "sum"}).options == {
        "merge-engine": "aggregation",
        "fields.w.aggregate-function": "sum",
    }


def test_other_keys_are_left_alone():
    assert layout(file_format="delta", location_root="/x", my_own_key=1, tags=["a"]).clauses() == ""
    assert layout(tblproperties={"bucket": "2"}, primary_key="id").options == {"bucket": "2"}


@pytest.mark.parametrize("file_format", ["parquet", "ORC", "avro"])
def test_the_format_of_data_files(file_format):
    assert layout(file_format=file_format).options == {"file.format": file_format.lower()}
    assert layout(file_format="iceberg", table_options={"file.format": file_format}).options == {
        "file.format": file_format
    }
    with pytest.raises(DbtRuntimeError, match=r"'file\.format' is set twice: by `file_format` and in `table_options`"):
        layout(file_format=file_format, table_options={"file.format": "other"})


def test_configs_of_other_adapters_are_left_out():
    assert layout(cluster_by=["a"], partitioned_by=["dt"], properties={"format": "'ORC'"}).clauses() == ""
    assert layout(primary_keys=None, unique_keys=None).clauses() == ""  # a key without a value asks for nothing
    found = layout(tblproperties={"delta.autoOptimize.optimizeWrite": True, "quality": "gold", "write-only": True})
    assert found.options == {"write-only": "true"}


@pytest.mark.parametrize(
    ("partition_by", "columns"),
    [
        ({"field": "day"}, ("day",)),
        ({"field": "`the day`", "data_type": "DATE", "granularity": "DAY"}, ("the day",)),
        ({"field": "at", "data_type": "timestamp", "granularity": "day"}, ()),
        ({"field": "day", "data_type": "date", "granularity": "month"}, ()),
        ({"field": "n", "data_type": "int64", "range": {"start": 0, "end": 9, "interval": 1}}, ()),
        ({"field": "_PARTITIONTIME", "data_type": "date", "time_ingestion_partitioning": True}, ()),
        ({}, ()),
    ],
)
def test_the_partitions_of_bigquery(partition_by, columns):
    assert layout(partition_by=partition_by).partition_by == columns


@pytest.mark.parametrize(
    "asked",
    [
        {"partition_by": {"field": "at", "data_type": "timestamp"}},
        {"partitioned_by": ["dt"]},
    ],
)
def test_a_whole_table_is_not_overwritten_for_want_of_partitions(asked):
    config = {"materialized": "incremental", "incremental_strategy": "insert_overwrite", **asked}
    with pytest.raises(DbtRuntimeError, match="replace the whole table"):
        layout(**config)
    assert layout(**config | {"partition_by": "dt"}).partition_by == ("dt",)
    assert layout(**config | {"materialized": "table"}).partition_by == ()


@pytest.mark.parametrize(
    ("config", "clauses"),
    [
        ({"unique_key": "id"}, "(primary key (`id`) not enforced) partitioned by (`dt`) with ('bucket' = '-1')"),
        ({"unique_key": ["id", "DT"]}, "(primary key (`id`, `DT`) not enforced) partitioned by (`dt`)"),
        ({"unique_key": "dt"}, "partitioned by (`dt`)"),
        # What is said about the layout stays, and the engine says what does not go together.
        ({"primary_key": "id"}, "(primary key (`id`) not enforced) partitioned by (`dt`)"),
        ({"unique_key": "id", "buckets": 2}, "(primary key (`id`) not enforced) partitioned by (`dt`)"),
    ],
)
def test_a_unique_key_and_partitions(config, clauses):
    found = layout(materialized="incremental", partition_by=["dt"], **config)
    own = """ with ('bucket' = '2', 'dbt.options' = '{"bucket": "2"}')""" if "buckets" in config else ""
    assert " ".join(found.clauses().split()) == clauses + own
    assert found.options.get("bucket") == (str(config["buckets"]) if "buckets" in config else None)
