"""Partition columns for new rows: what a schema remembers of the old ones, and what is refused."""

from __future__ import annotations

import pytest

from tablestore_engine.errors import ColumnNotFound, OptionError, RowKindError, SchemaError
from tablestore_engine.metadata.binary_row import encode_row
from tablestore_engine.metadata.manifest_encoding.data_file_meta import SimpleStats
from tablestore_engine.metadata.manifest_encoding.manifest_entry import ManifestFileMeta
from tablestore_engine.metadata.partition import UNKNOWN, PartitionFormat
from tablestore_engine.operation.scan.partition_filter import PartitionFilter
from tablestore_engine.schema.alter.apply_changes import apply_changes
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.table.multiset_schema import as_multiset, check_retractable
from tablestore_engine.schema.table.predicate import Compare
from tablestore_engine.schema.table.schema_changes import (
    AddPartitionField,
    DropColumn,
    DropPartitionField,
    RenameColumn,
    SetOption,
)
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.types import parse_type

COLUMNS = [(name, parse_type(kind), None) for name, kind in
           {"dt": "STRING", "hr": "INT", "day": "DATE", "b": "BYTES", "l": "DOUBLE"}.items()]  # fmt: skip
BY_DAY = create_schema(COLUMNS, (), ["dt"])


def changed(*changes, schema=BY_DAY, has_data=True):
    return apply_changes(schema, changes, 0, has_data=has_data)


def test_a_partition_is_read_by_the_columns_it_was_written_with():
    hourly = changed(AddPartitionField("HR"))
    assert hourly.partition_keys == ("dt", "hr")
    assert TableSchema.from_json(hourly.to_json()) == hourly
    assert '"merge-engine": "tablestore-partitions"' in hourly.to_json(), "other readers refuse what they would misread"
    named = PartitionFormat(hourly)
    old, new = encode_row(["x"], [COLUMNS[0][1]]), named.encode(["x", 3])
    assert (named.decode(old), named.decode(new)) == (("x", UNKNOWN), ("x", 3))
    assert (named.path_of(old), named.path_of(new)) == ("dt=x", "dt=x/hr=3")
    assert (named.is_current(old), named.is_current(new)) == (False, True)
    assert named.covers({0: "x"}, old)
    assert [named.splits(one, old) for one in ({0: "x", 1: 3}, {1: 3}, {0: "y", 1: 3}, {0: "x"}, {})] == [
        True, True, False, False, False]  # fmt: skip
    assert not named.splits({0: "x", 1: 3}, new)
    assert not named.covers({0: "y", 1: 3}, old)
    with pytest.raises(SchemaError, match="dt=x was written before 'hr' became a partition column"):
        named.covers({0: "x", 1: 3}, old)
    daily = changed(DropPartitionField("hr"), schema=hourly)
    named = PartitionFormat(daily)
    assert (named.decode(old), named.decode(new)) == (("x",), ("x",))
    assert (named.path_of(old), named.path_of(new)) == ("dt=x", "dt=x/hr=3")


def test_a_former_partition_column_may_change():
    plain = changed(DropPartitionField("dt"))
    renamed = changed(RenameColumn("dt", "other"), schema=plain)
    assert PartitionFormat(renamed).path_of(encode_row(["x"], [COLUMNS[0][1]])) == "dt=x"
    dropped = changed(DropColumn("other"), schema=renamed)
    assert PartitionFormat(dropped).path_of(encode_row(["x"], [COLUMNS[0][1]])) == "dt=x"
    assert PartitionFormat(dropped).path_of(b"") == ""


def test_as_many_other_columns_have_longer_rows():
    hourly = changed(DropPartitionField("dt"), AddPartitionField("hr"))
    assert (hourly.partition_keys, hourly.partition_fill) == (("hr",), 1)
    assert TableSchema.from_json(hourly.to_json()) == hourly
    named = PartitionFormat(hourly)
    old, new = encode_row(["x"], [COLUMNS[0][1]]), named.encode([3])
    assert (named.decode(old), named.decode(new), named.decode(named.encode([None]))) == ((UNKNOWN,), (3,), (None,))
    assert [(named.path_of(one), list(named.names_of(one))) for one in (old, new)] == [
        ("dt=x", ["dt"]), ("hr=3", ["hr"])]  # fmt: skip
    assert (named.is_current(old), named.is_current(new), named.texts_of(new)) == (False, True, ["3"])
    back = changed(DropPartitionField("hr"), AddPartitionField("dt"), schema=hourly)
    assert (back.partition_fill, PartitionFormat(back).encode(["x"])) == (0, old), "the rows of before"
    assert [PartitionFormat(back).path_of(one) for one in (old, new)] == ["dt=x", "hr=3"]
    third = changed(DropPartitionField("dt"), AddPartitionField("day"), schema=back)
    assert (third.partition_fill, [PartitionFormat(third).path_of(one) for one in (old, new)]) == (2, ["dt=x", "hr=3"])
    fresh = changed(DropPartitionField("dt"), AddPartitionField("hr"), has_data=False)
    assert (fresh.partition_keys, fresh.former_partitions, fresh.partition_fill) == (("hr",), (), 0)


def test_bounds_of_manifests_of_other_columns_are_not_taken_for_todays():
    hourly = changed(DropPartitionField("dt"), AddPartitionField("hr"))
    text = encode_row(["x"], [COLUMNS[0][1]])
    meta = ManifestFileMeta("m", 1, 1, 0, SimpleStats(text, text, (0,)), 0)
    assert PartitionFilter(hourly, Compare("hr", "=", 3), None).may_hold(meta)
    assert not PartitionFilter(BY_DAY, Compare("dt", "=", "y"), None).may_hold(meta)


def test_dates_are_named_as_in_a_new_table_unless_others_have_a_name_already():
    assert changed(AddPartitionField("day")).options["partition.legacy-name"] == "false"
    legacy = TableSchema(0, BY_DAY.fields, 9, ("day",), (), {})
    after = changed(AddPartitionField("dt"), DropPartitionField("dt"), AddPartitionField("hr"), schema=legacy)
    assert "partition.legacy-name" not in after.options


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (AddPartitionField("dt"), "partition column already"),
        (AddPartitionField("b"), "cannot name a partition"),
        (DropPartitionField("hr"), "is no partition column"),
    ],
    ids=str,
)
def test_refused(change, message):
    with pytest.raises(SchemaError, match=message):
        changed(change)


def test_refused_by_what_the_table_is():
    with pytest.raises(ColumnNotFound):
        changed(AddPartitionField("nope"))
    keyed = create_schema([("id", parse_type("INT"), None), ("v", parse_type("INT"), None)], ["id"])
    with pytest.raises(SchemaError, match="old and new rows of a key"):
        changed(AddPartitionField("v"), schema=keyed)
    with pytest.raises(SchemaError, match="their retractions"):
        changed(AddPartitionField("hr"), schema=as_multiset(BY_DAY))
    with pytest.raises(RowKindError, match="partition columns were changed"):
        check_retractable(changed(AddPartitionField("hr")), {})
    bucketed = create_schema(COLUMNS, (), ["dt"], {"bucket": "2", "bucket-key": "hr"})
    with pytest.raises(SchemaError, match="chooses the bucket"):
        changed(AddPartitionField("hr"), schema=bucketed)
    expiring = changed(SetOption("partition.expiration-time", "1 d"))
    with pytest.raises(OptionError, match="needs partition columns"):
        changed(DropPartitionField("dt"), schema=expiring)
    few = create_schema(COLUMNS[:2], (), ["dt"])
    with pytest.raises(SchemaError, match="besides the partition columns"):
        changed(AddPartitionField("hr"), schema=few)
