"""Partitioned tables that we wrote: every type of partition column, nulls, and characters that need escaping."""

from __future__ import annotations

import pytest
from support.interop.ours import OurTable
from support.interop.readers import EVERY_READER, OtherReaderError
from support.interop.shapes import ATOMIC

from tablestore_engine.schema.table.schema_changes import AddPartitionField, DropPartitionField
from tablestore_engine.schema.types.types import AtomicType

ID, TEXT = AtomicType("BIGINT"), AtomicType("STRING")
STRANGE = (
    "plain", "with space", "a/b", "a=b", "100%", "%41", "a:b", "tab\there", "new\nline", "quote'\"", "back\\slash",
    "[x]{y}^", "#hash", "star*?", "é", "日本語", "\U0001f600", ".hidden", "_under", "..", "CamelCase", "camelcase",
    "a+b", "a&b", "a,b;c", "~", "<>|", "0", "1.0", "null", "trailing ", " leading",
)  # fmt: skip
KINDS = [kind for kind in ATOMIC if kind != "bytes"]


# The compiled reader cannot read such tables, also if other writers made them.
_REFUSED = "type is not supported as partition key"
LIMITS = {kind: {"rust": _REFUSED, "datafusion": _REFUSED} for kind in ("float", "double")}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("keyed", [False, True], ids=["append", "keyed"])
def test_partitions_of_every_type(catalog, all_read, name, kind, keyed):
    sample = ATOMIC[kind]
    values = [v for v in sample.values if not (isinstance(v, str) and not v.strip())]
    table = OurTable.create(
        catalog, name, {"id": ID, "p": sample.type, "v": TEXT}, key=["p", "id"] if keyed else [], partition=["p"],
        options={"bucket": "2"} if keyed else {},
    )  # fmt: skip
    table.write([{"id": i, "p": p, "v": "one"} for p in values for i in range(3)])
    fails = LIMITS.get(kind)
    all_read(table, fails=fails)
    table.write([{"id": i, "p": p, "v": "two"} for p in values[::2] for i in range(2, 4)])
    before = all_read(table, fails=fails)
    table.compact(full=True)
    all_read(table, before, fails=fails)


@pytest.mark.parametrize("keyed", [False, True], ids=["append", "keyed"])
def test_strange_partition_values(catalog, all_read, name, keyed):
    table = OurTable.create(
        catalog, name, {"p": TEXT, "id": ID}, key=["id", "p"] if keyed else [], partition=["p"],
        options={"bucket": "1"} if keyed else {},
    )  # fmt: skip
    table.write([{"p": p, "id": i} for i, p in enumerate(STRANGE)])
    assert all_read(table).num_rows == len(STRANGE)


def test_manifests_of_many_partitions(catalog, all_read, name):
    """A large manifest is sorted, has several blocks, and a note in its header."""
    table = OurTable.create(catalog, name, {"p": AtomicType("INT"), "id": ID}, partition=["p"])
    table.write([{"p": p % 250, "id": p} for p in range(500)])
    assert all_read(table).num_rows == 500


def test_null_partition(catalog, all_read, name):
    table = OurTable.create(catalog, name, {"p": TEXT, "q": AtomicType("INT"), "id": ID}, partition=["p", "q"])
    table.write([{"p": p, "q": q, "id": 1} for p in (None, "a") for q in (None, 1)])
    assert all_read(table).num_rows == 4
    assert all(path.count("__DEFAULT_PARTITION__") in (0, 1, 2) for path in _paths(table))
    assert sum("__DEFAULT_PARTITION__" in path for path in _paths(table)) == 3


@pytest.mark.parametrize("blank", ["", " ", "\t"], ids=["empty", "space", "tab"])
def test_blank_partition(catalog, all_read, name, blank):
    """Blanks and nulls share a directory, but the rows keep what they are."""
    table = OurTable.create(catalog, name, {"p": TEXT, "id": ID}, partition=["p"])
    table.write([{"p": blank, "id": 1}, {"p": None, "id": 2}, {"p": "x", "id": 3}])
    all_read(table)


def test_own_name_of_the_null_partition(catalog, all_read, name):
    options = {"partition.default-name": "__NOTHING__"}
    table = OurTable.create(catalog, name, {"p": TEXT, "id": ID}, partition=["p"], options=options)
    table.write([{"p": None, "id": 1}, {"p": "x", "id": 2}])
    assert any("p=__NOTHING__" in path for path in _paths(table))
    all_read(table)


def test_several_partition_columns_in_another_order(catalog, all_read, name):
    columns = {"hour": AtomicType("INT"), "id": ID, "day": AtomicType("DATE"), "land": TEXT, "v": TEXT}
    table = OurTable.create(
        catalog, name, columns, key=["id", "land", "hour", "day"], partition=["land", "day", "hour"],
        options={"bucket": "2"},
    )  # fmt: skip
    days = ATOMIC["date"].values
    rows = [
        {"id": i % 5, "hour": i % 3, "day": days[i % 2 + 1], "land": "de" if i % 2 else "fr", "v": str(i)}
        for i in range(60)
    ]
    table.write(rows)
    table.delete(rows[:7])
    before = all_read(table)
    assert any("land=fr/day=1969-12-31/hour=0/bucket-" in path for path in _paths(table))
    table.compact(full=True)
    all_read(table, before)


@pytest.mark.parametrize("changes", [("q+",), ("p-", "q+"), ("p-",)], ids=["more", "other", "fewer"])
def test_several_layouts_stop_every_reader(paimon, catalog, name, changes):
    """They would take the files of former partition columns for ones of today's."""
    table = OurTable.create(catalog, name, {"p": TEXT, "q": AtomicType("INT"), "id": ID}, partition=["p"])
    table.write([{"p": "a", "q": 1, "id": 1}])
    verbs = {"+": AddPartitionField, "-": DropPartitionField}
    table.table.alter(*(verbs[one[-1]](one[:-1]) for one in changes))
    table.write([{"p": "a", "q": 1, "id": 2}])
    assert sorted(table.read().column("id").to_pylist()) == [1, 2]
    for reader in EVERY_READER:
        with pytest.raises(OtherReaderError, match=r"(?i)merge-?engine|does not match row arity"):
            paimon.read(reader, catalog.warehouse, f"db.{name}")


@pytest.mark.parametrize("legacy", ["true", "false"])
def test_names_of_dates(catalog, all_read, name, legacy):
    options = {"partition.legacy-name": legacy}
    table = OurTable.create(catalog, name, {"d": AtomicType("DATE"), "id": ID}, partition=["d"], options=options)
    table.write([{"d": d, "id": 1} for d in ATOMIC["date"].values])
    assert any(path.startswith(f"d={'19782' if legacy == 'true' else '2024-02-29'}/") for path in _paths(table))
    all_read(table)


def test_overwritten_and_removed_partitions(catalog, all_read, name):
    table = OurTable.create(
        catalog,
        name,
        {"p": TEXT, "id": ID, "v": TEXT},
        key=["p", "id"],
        partition=["p"],
        options={"bucket": "2"},
    )
    table.write([{"p": p, "id": i, "v": "old"} for p in "abc" for i in range(10)])
    table.write([{"p": p, "id": i, "v": "mid"} for p in "abc" for i in range(5)])
    of = {scan.partition: scan.partition_row for scan in table.table.scan().buckets}
    table.overwrite([{"p": "a", "id": 1, "v": "new"}], lambda e: e.partition == of["a",])
    assert all_read(table).num_rows == 21
    table.truncate(lambda e: e.partition == of["b",])
    assert all_read(table).num_rows == 11
    for snapshot in table.table.snapshots():
        all_read(table, snapshot=snapshot.id)


def _paths(table: OurTable) -> list[str]:
    return [f"{b.partition_path}/bucket-{b.bucket}" for b in table.table.scan().buckets]
