"""Reading a table whose files have twenty schemas, against the same rows in files of one.

Each schema is one ALTER TABLE away from the one before: columns are added, dropped and added again, moved, renamed and
widened. The queries read some of them. The bar is for tables whose rows take longer to read than a plan takes to make:
on a small scale, the few scans that are planned instead of one are most of the time.
"""

from __future__ import annotations

from benchmarks.measure import Report, alternating
from tablestore_engine import TableStore
from tablestore_engine.schema.types.sql_literals import quoted_name

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
    rows = f"select {COLUMNS} from parquet.{quoted_name(source)} where l_orderkey % {VERSIONS} = "
    assert len(CHANGES) == VERSIONS - 1
    for name in ("one", "many"):
        store.execute(f"drop table if exists bench.{name}_schema")
    store.execute(f"create table bench.many_schema as {rows}0")
    for number, change in enumerate(CHANGES, 1):
        store.execute(f"alter table bench.many_schema {change}")
        store.execute(f"insert into bench.many_schema by name {_renamed(store, rows)}{number}")
    store.execute("create table bench.one_schema as select * from bench.many_schema where false")
    for number in range(VERSIONS):
        store.execute(f"insert into bench.one_schema by name {_renamed(store, rows)}{number}")
    for what, query in QUERIES.items():
        many, one = alternating(
            lambda q=query: _collect(store, q.format(t="bench.many_schema")),
            lambda q=query: _collect(store, q.format(t="bench.one_schema")),
            RUNS,
        )
        bar = BAR if scale >= 1 else None
        report.add(f"SF {scale:g}: {what} from files of {VERSIONS} schemas ÷ of one", many, one, bar)


def _renamed(store: TableStore, rows: str) -> str:
    """The query with the present names of columns."""
    columns = store.table("bench.many_schema").schema.field_names
    for old, new in (("l_comment", "remark"), ("l_discount", "discount")):
        if new in columns:
            rows = rows.replace(old, f"{old} as {new}", 1)
    return rows


def _collect(store: TableStore, query: str) -> None:
    frame = store.execute(query).dataframe
    assert frame is not None
    frame.collect()
