"""A warehouse of its own for each test that executes catalog statements."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from tablestore_engine.catalog import Catalog, View
from tablestore_engine.metadata.manifest_encoding.manifest_entry import ManifestEntry
from tablestore_engine.operation.commit.commit import Change, Committer
from tablestore_engine.operation.commit.commit_identity import CommitIdentity
from tablestore_engine.operation.write.write_task import write_table
from tablestore_engine.operation.write_job.write_job import WriteJob
from tablestore_engine.schema.types.types import DataField
from tablestore_engine.sql.catalog.execute_catalog import CatalogContext, execute
from tablestore_engine.sql.parse.parse import parse
from tablestore_engine.sql.types.types import parse_sql_type

NOW = 1_706_702_400_000  # 2024-01-31 12:00:00 UTC


class Door:
    """Executes texts against one warehouse."""

    def __init__(self, context: CatalogContext) -> None:
        self.context = context
        self.catalog = context.catalog

    def run(self, text):
        result = execute(parse(text), self.context)
        assert result is not None, text
        return result

    def rows(self, text):
        return list(self.run(text).rows)

    def column(self, text):
        return [row[0] for row in self.rows(text)]

    def schema(self, name):
        return self.catalog.load_table(self.context.database, name).schema

    def with_options(self, **options):
        named = {key.replace("__", "."): value for key, value in options.items()}
        return Door(replace(self.context, session_options=named))

    def view(self, name, sql="select 1 as a", **columns):
        fields = tuple(DataField(i, n, parse_sql_type(t)) for i, (n, t) in enumerate(columns.items()))
        self.catalog.create_view(self.context.database, name, View(sql, self.context.database, fields))

    def insert(self, name, rows):
        """Append rows given as dicts."""
        import pyarrow as pa

        from tablestore_engine.schema.types.arrow import arrow_schema

        table = self.catalog.load_table(self.context.database, name)
        latest = table.latest_snapshot()
        entries: list[ManifestEntry] = []
        job = WriteJob(table.write_target(), table.options.bucket, (latest.id if latest else 0) + 1)
        written = write_table(job, pa.Table.from_pylist(rows, arrow_schema(table.schema.fields)))
        entries += written.entries
        Committer(table.state).commit(Change("APPEND", tuple(entries)), CommitIdentity("test", 1))


@pytest.fixture
def door(tmp_path):
    catalog = Catalog(tmp_path / "warehouse", now_millis=lambda: NOW)
    catalog.create_database("default", if_not_exists=True)
    return Door(CatalogContext(catalog, now_millis=lambda: NOW))


@pytest.fixture
def partitioned(door):
    """A door to a table with three partitions."""
    door.run("create table t (dt date, hr int, s string comment 'text') partitioned by (dt, hr)")
    day = date(2024, 1, 1)
    rows = [(day, 3, "a"), (day, 3, "b"), (day, 10, "c"), (date(2024, 1, 2), None, "d")]
    door.insert("t", [dict(zip(("dt", "hr", "s"), row, strict=True)) for row in rows])
    return door
