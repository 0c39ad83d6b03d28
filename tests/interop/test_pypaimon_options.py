"""Tables that pypaimon made with options that few set: we read, continue and compact them, and the others read the
result."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest
from support.interop.compare import assert_same
from support.interop.filters import check_filters
from support.interop.ours import OurTable, rows_of
from support.interop.random_values import random_rows
from support.interop.readers import READERS

from tablestore_engine.errors import OptionError
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.types import parse_type

COLUMNS = {
    "id": "BIGINT", "day": "INT", "n": "INT", "text": "STRING", "amount": "DECIMAL(12, 2)", "at": "TIMESTAMP(6)",
    "due": "DATE", "ok": "BOOLEAN",
}  # fmt: skip
SCHEMA = pa.schema([(name, to_arrow_type(parse_type(kind))) for name, kind in COLUMNS.items()])
ANY = {
    "snappy": {"file.compression": "snappy"},
    "lz4": {"file.compression": "lz4"},
    "uncompressed": {"file.compression": "none"},
    "no_stats": {"metadata.stats-mode": "none"},
    "counts": {"metadata.stats-mode": "counts"},
    "full": {"metadata.stats-mode": "full", "metadata.stats-dense-store": "false"},
    "some_stats": {"metadata.stats-mode": "none", "fields.text.stats-mode": "truncate(2)"},
    "small": {"target-file-size": "1 kb"},
    "prefix": {"data-file.prefix": "odd-"},
    "manifests": {"manifest.merge-min-count": "2", "manifest.compression": "snappy"},
}
KEYED = {
    **ANY,
    "sequence": {"sequence.field": "n"},
    "descending": {"sequence.field": "due", "sequence.field.sort-order": "descending"},
    "thin": {"data-file.thin-mode": "true"},
}


@pytest.mark.parametrize("layout", ["keyed", "append"])
@pytest.mark.parametrize("case", KEYED)
def test_life(paimon, catalog, name, case, layout):
    if layout == "append" and case not in ANY:
        pytest.skip("an option of tables with a key")
    rng = Random(case)
    keyed = layout == "keyed"
    key = ["day", "id"] if keyed else []
    options = {**KEYED[case], **({"bucket": "2"} if keyed else {})}
    paimon.create(catalog.warehouse, f"db.{name}", SCHEMA, primary_keys=key, partition_keys=["day"], options=options)
    table = OurTable(catalog, "db", name)

    def rows(count):
        return [{**row, "day": row["id"] % 2} for row in random_rows(rng, table.table.schema, count)]

    def theirs(made):
        fields = [f.with_nullable(f.name not in key) for f in SCHEMA]
        paimon.write(catalog.warehouse, f"db.{name}", pa.Table.from_pylist(made, SCHEMA).cast(pa.schema(fields)))

    def check():
        own = table.read()
        for reader in READERS:
            assert_same(paimon.read(reader, catalog.warehouse, f"db.{name}"), own, reader)
        check_filters(table, own)
        return own

    for _ in range(2):
        theirs(rows(40))
        check()
    table.write(rows_of(table.table.schema, rows(30)))
    before = check()
    table.compact(full=True)
    assert_same(check(), before, "after our compaction")
    theirs(rows(20))
    check()


def test_rows_that_wait_for_their_bucket(paimon, catalog, name):
    paimon.create(catalog.warehouse, f"db.{name}", SCHEMA, primary_keys=["id"], options={"bucket": "-2"})
    table = OurTable(catalog, "db", name)
    made = random_rows(Random(1), table.table.schema, 10)
    fields = [f.with_nullable(f.name != "id") for f in SCHEMA]
    paimon.write(catalog.warehouse, f"db.{name}", pa.Table.from_pylist(made, SCHEMA).cast(pa.schema(fields)))
    found = paimon.read("pypaimon", catalog.warehouse, f"db.{name}")
    assert table.read().num_rows == found.num_rows == 0
    with pytest.raises(OptionError, match="'bucket' = '-2' is not supported for writing"):
        table.write([{"id": 1}])
