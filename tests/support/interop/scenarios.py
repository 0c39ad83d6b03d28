"""The lives of tables of ours that several readers follow."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from support.interop.ours import OurTable
from tablestore_engine.catalog import Catalog
from tablestore_engine.schema.types.types import AtomicType

SEQUENCED = {"id": AtomicType("BIGINT"), "seq": AtomicType("INT"), "v": AtomicType("STRING")}


def play_deletes_with_a_sequence(
    catalog: Catalog, name: str, buckets: str, check: Callable[[OurTable], pa.Table]
) -> None:
    """Deletes have a sequence too. After a full compaction some are still in the files, to beat late rows."""
    options = {"bucket": buckets, "sequence.field": "seq"}
    table = OurTable.create(catalog, name, SEQUENCED, key=["id"], options=options)
    table.write([{"id": i, "seq": 5, "v": "first"} for i in range(12)])
    table.delete([{"id": i, "seq": 3} for i in range(4)])
    table.delete([{"id": i, "seq": 7} for i in range(4, 9)])
    found = check(table)
    assert sorted(found.column("id").to_pylist()) == [0, 1, 2, 3, 9, 10, 11]
    table.compact(full=True)
    assert check(table).num_rows == 7
    table.write([{"id": i, "seq": 6, "v": "late"} for i in range(6, 10)])
    check(table)
    table.compact(full=False)
    table.compact(full=True)
    check(table)
