"""What is read of a table's files: by Spark's scans, and by lookups of keys."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from tablestore_engine.operation.pages import page_lookup
from tablestore_engine.operation.pages.page_lookup import PagedParquet
from tablestore_engine.spark.read import lookup_rows, merge_source_bounds
from tablestore_engine.spark.scan.file_scan import FileScans


@dataclass
class Reads:
    """`scans`: the number of files of each scan of Spark; `files`: those in which keys are looked up; `groups`, `rows`:
    what lookups read of these, a row group and a row once for each time a set of columns is read of it."""

    scans: list[int] = field(default_factory=list)
    files: set[str] = field(default_factory=set)
    groups: int = 0
    rows: int = 0


def recorded_reads(monkeypatch):
    """What is read from now on, by the name of the table. Every table counts as large, and every file."""
    found = defaultdict(Reads)
    monkeypatch.setattr(merge_source_bounds, "LARGE_FILES", 0)
    monkeypatch.setattr(page_lookup, "WHOLE_BYTES", 0)
    scan, look_up, read = FileScans.scan, page_lookup.look_up, PagedParquet.read
    read_at = lookup_rows.read_rows_at

    def scanning(self, files, **kwargs):
        found[self.location.rsplit("/", 1)[-1]].scans.append(len(files))
        return scan(self, files, **kwargs)

    def reading(self, portion, columns):
        one = found[self.table]
        one.groups += len(portion)
        one.rows += sum(len(rows) for _, rows in portion)
        return read(self, portion, columns)

    def looking_up(handle, path, *rest):
        *_, table, _, name = path.rsplit("/", 3)
        found[table].files.add(name)
        monkeypatch.setattr(PagedParquet, "table", table, raising=False)
        yield from list(look_up(handle, path, *rest))

    def reading_at(state, *rest):
        monkeypatch.setattr(PagedParquet, "table", state.paths.root.rsplit("/", 1)[-1], raising=False)
        yield from read_at(state, *rest)

    monkeypatch.setattr(lookup_rows, "read_rows_at", reading_at)
    monkeypatch.setattr(FileScans, "scan", scanning)
    monkeypatch.setattr(PagedParquet, "read", reading)
    monkeypatch.setattr("tablestore_engine.operation.files.data_file_reader.look_up", looking_up)
    return found
