"""The rows of system tables, at the newest snapshot and at earlier ones."""

from __future__ import annotations

from datetime import date

import pytest
from support.tables import compact, make_table, partitioned_table, row, write

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import SqlError, TableNotFound
from tablestore_engine.operation.compact.schedule_compaction import schedule
from tablestore_engine.schema.table.schema_changes import AddColumn
from tablestore_engine.schema.types.types import parse_type
from tablestore_engine.system.system_tables import DATA_TABLES, SNAPSHOT_TABLES, SYSTEM_TABLES, columns_of, system_rows


def dicts(table, name, version=None):
    """The rows of a system table, as dicts."""
    snapshot = table.latest_snapshot() if version is None else table.version(version)
    schema, rows = system_rows(table, name, snapshot, travels=version is not None)
    columns = [column.split(" ")[0] for column in schema.split(", ")]
    return [dict(zip(columns, one, strict=True)) for one in rows]


@pytest.fixture
def table(tmp_path):
    """Partitions a and b, of one run and of two."""
    made = partitioned_table(tmp_path, {"bucket": "1", "write-only": "true", "tag.default-time-retained": "2 d"})
    write(made, [row(1, 10, "a"), row(2, None, "a"), row(1, 5, "b")])
    write(made, [row(3, 7, "b")])
    made.create_tag("first", 1)
    return made


def test_figures_of_partitions_and_buckets(table):
    partitions = dicts(table, "partitions")
    assert [(one["partition"], one["record_count"], one["file_count"]) for one in partitions] == [
        ("p=a", 2, 1), ("p=b", 2, 2),
    ]  # fmt: skip
    buckets = dicts(table, "buckets", 1)
    assert [(one["partition"], one["bucket"], one["record_count"], one["file_count"]) for one in buckets] == [
        ("{a}", 0, 2, 1), ("{b}", 0, 1, 1),
    ]  # fmt: skip
    sizes = {one["partition"]: one["file_size_in_bytes"] for one in partitions}
    assert sizes == {
        f"p={p}": sum(one["file_size_in_bytes"] for one in dicts(table, "files") if one["partition"] == f"{{{p}}}")
        for p in "ab"
    }


def test_files_are_described(table):
    (one,) = (one for one in dicts(table, "files") if one["partition"] == "{a}")
    assert (one["min_key"], one["max_key"], one["record_count"], one["file_source"]) == ("[1]", "[2]", 2, "APPEND")
    shown = (one["null_value_counts"], one["min_value_stats"], one["max_value_stats"])
    names = [field.split("=")[0] for field in shown[0][1:-1].split(", ")]
    assert names == sorted(table.schema.field_names)
    assert "v=1" in shown[0]
    assert "v=10" in shown[1]
    assert "v=10" in shown[2]
    compact(table)
    sources = {one["partition"]: one["file_source"] for one in dicts(table, "files")}
    assert sources == {"{a}": "APPEND", "{b}": "COMPACT"}, "only b had runs to merge"


def test_files_of_before_a_column_know_nothing_of_it(table):
    catalog = Catalog(table.path.rsplit("/", 2)[0])
    wider = catalog.alter_table(*table.identifier, [AddColumn("n", parse_type("INT"))])
    assert all("n=" in one["null_value_counts"] for one in dicts(wider, "files"))
    assert all("n=" not in one["null_value_counts"] for one in dicts(wider, "files", 1)), "as it was then"


def test_manifests_bound_their_partitions(table, tmp_path):
    manifests = dicts(table, "manifests")
    assert [(one["min_partition_stats"], one["max_partition_stats"]) for one in manifests] == [
        ("{a}", "{b}"), ("{b}", "{b}"),
    ]  # fmt: skip
    assert [(one["num_added_files"], one["num_deleted_files"]) for one in manifests] == [(2, 0), (1, 0)]
    own = make_table(tmp_path / "own", {"p": "STRING", "id": "INT", "v": "INT"}, ["id"])
    write(own, [row(1, 10, "a")])
    assert [(one["min_partition_stats"], one["max_partition_stats"]) for one in dicts(own, "manifests")] == [
        ("{}", "{}")
    ]


def test_snapshots_tags_and_compactions(table):
    assert [(one["snapshot_id"], one["total_record_count"]) for one in dicts(table, "snapshots")] == [(1, 3), (2, 4)]
    (tag,) = dicts(table, "tags")
    assert (tag["tag_name"], tag["snapshot_id"], tag["record_count"], tag["time_retained"]) == ("first", 1, 3, "PT48H")
    assert dicts(table, "compactions") == []
    plan = schedule(table.state, "full", 1_800_000_000_000)
    (shown,) = dicts(table, "compactions")
    expected = {"instant": plan.instant, "state": "requested", "group_count": len(plan.groups), "file_count": 2,
                "attempts": 0, "owner": None, "snapshot_id": None, "message": None}  # fmt: skip
    assert {key: str(shown[key]).lower() if key == "state" else shown[key] for key in expected} == expected


def test_functions_of_columns(tmp_path):
    options = {"merge-engine": "aggregation", "fields.v.aggregate-function": "sum", "fields.v.ignore-retract": "true"}
    made = make_table(tmp_path, {"id": "INT", "v": "INT"}, ["id"], options=options)
    key, value = dicts(made, "aggregation_fields")
    assert (key["field_name"], key["field_type"], key["function"]) == ("id", "INT NOT NULL", "[]")
    functions = dict(zip(value["function_options"][1:-1].split(", "), value["function"][1:-1].split(", "), strict=True))
    assert functions == {"fields.v.aggregate-function": "sum", "fields.v.ignore-retract": "true"}


def test_indexes_of_dynamic_buckets(tmp_path):
    made = make_table(tmp_path, {"id": "INT"}, ["id"], options={"bucket": "-1"})
    assert dicts(made, "table_indexes") == []
    write(made, [{"id": 1}, {"id": 2}])
    (one,) = dicts(made, "table_indexes")
    assert (one["partition"], one["bucket"], one["index_type"], one["row_count"]) == ("{}", 0, "HASH", 2)
    assert one["file_size"] == made.io.size(f"{made.path}/index/{one['file_name']}")


JAVA = {
    "snapshots": "snapshot_id bigint, schema_id bigint, commit_user string, commit_identifier bigint, "
    "commit_kind string, commit_time timestamp, base_manifest_list string, delta_manifest_list string, "
    "changelog_manifest_list string, total_record_count bigint, delta_record_count bigint, "
    "changelog_record_count bigint, watermark bigint, next_row_id bigint",
    "schemas": "schema_id bigint, fields string, partition_keys string, primary_keys string, options string, "
    "comment string, update_time timestamp",
    "options": "key string, value string",
    "tags": "tag_name string, snapshot_id bigint, schema_id bigint, commit_time timestamp, record_count bigint, "
    "create_time timestamp, time_retained string",
    "consumers": "consumer_id string, next_snapshot_id bigint",
    "aggregation_fields": "field_name string, field_type string, function string, function_options string, "
    "comment string",
    "files": "partition string, bucket int, file_path string, file_format string, schema_id bigint, level int, "
    "record_count bigint, file_size_in_bytes bigint, min_key string, max_key string, null_value_counts string, "
    "min_value_stats string, max_value_stats string, min_sequence_number bigint, max_sequence_number bigint, "
    "creation_time timestamp, deleteRowCount bigint, file_source string, first_row_id bigint, write_cols array<string>",
    "manifests": "file_name string, file_size bigint, num_added_files bigint, num_deleted_files bigint, "
    "schema_id bigint, min_partition_stats string, max_partition_stats string, min_row_id bigint, max_row_id bigint",
    "partitions": "partition string, record_count bigint, file_size_in_bytes bigint, file_count bigint, "
    "last_update_time timestamp, created_at timestamp, created_by string, updated_by string, options string",
    "buckets": "partition string, bucket int, record_count bigint, file_size_in_bytes bigint, file_count bigint, "
    "last_update_time timestamp",
    "statistics": "snapshot_id bigint, schema_id bigint, mergedRecordCount bigint, mergedRecordSize bigint, "
    "colstat string",
    "table_indexes": "partition string, bucket int, index_type string, file_name string, file_size bigint, "
    "row_count bigint, dv_ranges array<struct<f0:string,f1:int,f2:int,cardinality:bigint>>",
}
"""The columns of Java Paimon 1.4.2; times, which it has without a zone, as those of this engine."""
OWN = {"snapshots": ", properties string", "files": ", file_name string"}


def test_columns_are_javas_and_then_our_own():
    found = {name: schema for name, (schema, _) in (*SYSTEM_TABLES.items(), *SNAPSHOT_TABLES.items())}
    assert found.pop("compactions"), "Java has no timeline"
    assert found == {name: columns + OWN.get(name, "") for name, columns in JAVA.items()}


def test_partitions_are_written_as_java_does(tmp_path):
    columns = {"d": "DATE", "p": "STRING", "v": "INT"}
    made = make_table(tmp_path, columns, partition_keys=["d", "p"], options={"partition.legacy-name": "true"})
    write(made, [{"d": date(2024, 1, 1), "p": "a/b", "v": 1}, {"d": None, "p": "c", "v": 2}])
    texts = {name: [one["partition"] for one in dicts(made, name)] for name in ("files", "partitions", "buckets")}
    assert sorted(texts["files"]) == texts["buckets"] == ["{2024-01-01, a/b}", "{null, c}"]
    assert texts["partitions"] == ["d=2024-01-01/p=a/b", "d=__DEFAULT_PARTITION__/p=c"]
    plain = make_table(tmp_path, {"v": "INT"}, name="plain")
    write(plain, [{"v": 1}])
    assert [[one["partition"] for one in dicts(plain, name)] for name in texts] == [["{}"], [""], ["{}"]]


@pytest.mark.parametrize("name", SNAPSHOT_TABLES)
def test_a_table_without_snapshots_has_no_rows(tmp_path, name):
    made = make_table(tmp_path, {"id": "INT", "p": "STRING"}, partition_keys=["p"])
    assert system_rows(made, name, None)[1] == []


@pytest.mark.parametrize("name", SYSTEM_TABLES)
def test_tables_about_the_whole_table_have_no_versions(table, name):
    with pytest.raises(SqlError, match=r"is of the whole table and has no versions.*files, manifests"):
        dicts(table, name, 1)


def test_a_system_table_that_is_not_there(table):
    with pytest.raises(TableNotFound, match=r"t\$nothing' does not exist.*snapshots, schemas"):
        dicts(table, "nothing")
    assert columns_of(table, "nothing") == []


def test_columns_of_data_tables(table):
    own = [(name, kind) for name, kind, _ in columns_of(table, "ro")]
    assert {name for name, _ in own} == set(table.schema.field_names)
    assert [(n, k) for n, k, _ in columns_of(table, "audit_log")] == [("rowkind", "string"), *own]
    listed = [(name, f"array<{kind}>") for name, kind in own]
    assert [(n, k) for n, k, _ in columns_of(table, "binlog")] == [("rowkind", "string"), *listed]
    assert set(DATA_TABLES) == {"audit_log", "binlog", "ro", "read_optimized"}
