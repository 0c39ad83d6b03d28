"""Reading a table whose files have twenty schemas, against the same rows in files of one.

    python -m benchmarks.schema_versions

Each schema is one ALTER TABLE away from the one before: columns are added, dropped and added again, moved, renamed and
widened. The queries read some of them. The bar is for tables whose rows take longer to read than a plan takes to make:
on a small scale, the few scans that are planned instead of one are most of the time.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

from benchmarks.data import lineitem
from benchmarks.measure import Report, Used, alternating, used_by
from tablestore_engine import TableStore
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.spark.session.session import SessionConfig, start_session

VERSIONS, RUNS, BAR = 20, 9, 1.15
COLUMNS = "l_orderkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_shipdate, l_comment"
CHANGES = (
    *(f"add column added_{number} int" for number in range(6)),
    "alter column l_linenumber type bigint",
    "drop column added_0",
    "add column added_0 string",
    "alter column l_shipdate first",
    "rename column l_comment to remark",
    *(f"add column later_{number} string after l_quantity" for number in range(4)),
    "drop column added_3",
    "alter column l_quantity type double",
    "alter column l_discount comment 'of the price'",
    "rename column l_discount to discount",
)
QUERIES = {
    "a sum": "select sum(l_extendedprice) from {t}",
    "a sum of a retyped column by a renamed one": "select discount, sum(l_quantity) from {t} group by discount",
    "all columns": "select max(hash(*)) from {t}",
}


def run(report: Report, store: TableStore, source: str, scale: float) -> None:
    """Add the lines of reads to a report. `source` is a Parquet folder of lineitem."""
    _make(store, source, "parquet")
    for what, query in QUERIES.items():
        many, one = alternating(
            lambda q=query: _collect(store, q, "many"), lambda q=query: _collect(store, q, "one"), RUNS
        )
        bar = BAR if scale >= 1 else None
        report.add(f"SF {scale:g}: {what} from files of {VERSIONS} schemas ÷ of one", many, one, bar)


def _make(store: TableStore, source: str, file_format: str) -> None:
    rows = f"select {COLUMNS} from parquet.{quoted_name(source)} where l_orderkey % {VERSIONS} = "
    assert len(CHANGES) == VERSIONS - 1
    for name in ("one", "many"):
        store.execute(f"drop table if exists bench.{name}_schema")
    options = f"with ('file.format' = '{file_format}', 'write-only' = 'true')"  # a compaction would make one schema
    store.execute(f"create table bench.many_schema {options} as {rows}0")
    for number, change in enumerate(CHANGES, 1):
        store.execute(f"alter table bench.many_schema {change}")
        store.execute(f"insert into bench.many_schema by name {_renamed(store, rows)}{number}")
    store.execute(f"create table bench.one_schema {options} as select * from bench.many_schema where false")
    for number in range(VERSIONS):
        store.execute(f"insert into bench.one_schema by name {_renamed(store, rows)}{number}")


def _renamed(store: TableStore, rows: str) -> str:
    """The query with the present names of columns."""
    columns = store.table("bench.many_schema").schema.field_names
    for old, new in (("l_comment", "remark"), ("l_discount", "discount")):
        if new in columns:
            rows = rows.replace(old, f"{old} as {new}", 1)
    return rows


def _collect(store: TableStore, query: str, schemas: str) -> None:
    frame = store.execute(query.format(t=f"bench.{schemas}_schema")).dataframe
    assert frame is not None
    frame.collect()


def main() -> None:
    """Print the ratios of each file format, by the clock and by processor time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--formats", default="parquet,orc")
    parser.add_argument("--data", default=os.path.expanduser("~/.cache/dbt-tablestore/benchmarks"))
    arguments = parser.parse_args()
    source, report = lineitem(Path(arguments.data), arguments.scale), Report()
    with tempfile.TemporaryDirectory() as work:
        store = TableStore(Path(work), start_session(SessionConfig(spark_config={"spark.sql.shuffle.partitions": "8"})))
        store.execute("create schema bench")
        for file_format in arguments.formats.split(","):
            _make(store, source, file_format)
            for what, query in QUERIES.items():
                _used(store, query, "many"), _used(store, query, "one")  # warm
                pairs = [(_used(store, query, "many"), _used(store, query, "one")) for _ in range(RUNS)]
                many, one = (Used.least(each) for each in zip(*pairs, strict=True))
                label = f"SF {arguments.scale:g}, {file_format}: {what}"
                report.add(f"{label}, by the clock", many.wall, one.wall)
                report.add(f"{label}, processor time", many.processor, one.processor, BAR)


def _used(store: TableStore, query: str, schemas: str) -> Used:
    return used_by(lambda: _collect(store, query, schemas))


if __name__ == "__main__":
    main()
