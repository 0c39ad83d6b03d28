"""What each incremental strategy, and a snapshot, reads of a large table when few rows change: the rows of their keys.

Counted are files that Spark scans, and files, row groups and rows that are looked up. Each table has two files, of
which one has the keys that a table without a key gets, and more than twenty row groups.
"""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from dbt.tests.util import patch_microbatch_end_time, relation_from_name, run_dbt, write_file
from support.dbt_models import table_of
from support.reads import recorded_reads

ROWS = 20_000
PAGE = 500
ALL = f"select cast(id as int) as id, cast(id % 2 as int) as line, 'old' as name, id as v from range({ROWS})"
FEW = "select id, line, 'new' as name, -1L as v from values (7, 1), (16000, 0), (16001, 1) as s(id, line)"
SMALL = "'file.block-size': '32 kb', 'target-file-size': '64 kb'"
VECTORS = "'deletion-vectors.enabled': 'true'"
MODEL = (
    "{{{{ config(materialized='incremental', {config}) }}}} "
    "{{% if is_incremental() %}} {few} {{% else %}} {all} {{% endif %}}"
)
KEYED = {
    "upserted": "unique_key='id'",
    "some_columns": "unique_key='id', merge_update_columns=['name']",
    "predicated": "unique_key=['id', 'line'], enforce_key=true, merge_exclude_columns=['name'], "
    "incremental_predicates=['DBT_INTERNAL_DEST.v >= 0']",
    "replaced": "primary_key=['id', 'line'], unique_key='id', incremental_strategy='delete+insert'",
}
CONFIGS = {
    **{name: f"buckets=1, table_options={{{SMALL}}}, {config}" for name, config in KEYED.items()},
    "rewritten": f"table_options={{{SMALL}}}, unique_key='id', incremental_strategy='delete+insert'",
    "marked": f"table_options={{{SMALL}, {VECTORS}}}, unique_key='id', incremental_strategy='delete+insert'",
}
EVENTS = """
{{ config(materialized='view', event_time='at') }}
select cast(id as int) as id, timestamp'2024-01-01' + make_interval(0, 0, 0, cast(id div 8000 as int)) as at, id as v
from range(20000)
"""
BATCHED = """
{{{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='at', begin='2024-01-01',
     batch_size='day', lookback=0{more}) }}}}
select * from {{{{ ref('events') }}}}
"""
WINDOWED = BATCHED.replace("select *", "select id, cast(at as {type}) as at, v")
WINDOWS = {
    "window_of_instants": ("timestamp", ""),
    "window_of_days": ("date", ""),
    "marked_window": ("timestamp_ntz", f", table_options={{{VECTORS}}}"),
}
SNAPSHOT = """
{{% snapshot taken %}}
{{{{ config(unique_key='id', strategy='check', check_cols=['v'], buckets=1) }}}}
select cast(id as int) as id, if(id in ({changed}), -1, id) as v from range({rows})
{{% endsnapshot %}}
"""


def groups_of(project, name):
    """The number of row groups of each file of a table, by its name."""
    files = Path(table_of(project, name).path).rglob("data-*.parquet")
    return {os.path.basename(one): pq.ParquetFile(one).metadata.num_row_groups for one in files}


class TestFewChangedRows:
    @pytest.fixture(scope="class")
    def models(self):
        few = {**dict.fromkeys(CONFIGS, FEW), **dict.fromkeys(("rewritten", "marked"), f"{FEW} where id > 7")}
        texts = {f"{name}.sql": MODEL.format(config=one, few=few[name], all=ALL) for name, one in CONFIGS.items()}
        keyed = f", primary_key='id', buckets=1, table_options={{{SMALL}}}"
        windows = {f"{name}.sql": WINDOWED.format(type=kind, more=more) for name, (kind, more) in WINDOWS.items()}
        return {**texts, **windows, "batched.sql": BATCHED.format(more=keyed), "events.sql": EVENTS}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"taken.sql": SNAPSHOT.format(changed="-1", rows=ROWS)}

    def count(self, project, name, where):
        relation = relation_from_name(project.adapter, name)
        return project.run_sql(f"select count(*) from {relation} where {where}", fetch="one")[0]

    def test_only_rows_of_their_keys_are_read(self, project, monkeypatch):
        monkeypatch.setattr("tablestore_engine.operation.formats.parquet_file.PAGE_ROWS", PAGE)
        with patch_microbatch_end_time("2024-01-04 00:00:00"):
            run_dbt(["run", "--full-refresh"])
            run_dbt(["snapshot"])
            before = {name: groups_of(project, name) for name in (*CONFIGS, *WINDOWS, "batched")}
            write_file(SNAPSHOT.format(changed="7, 16000", rows=ROWS), project.project_root, "snapshots", "taken.sql")
            reads = recorded_reads(monkeypatch)
            run_dbt(["run", "--threads", "1"])
            run_dbt(["snapshot"])
        monkeypatch.undo()
        assert "upserted" not in reads, "an upsert reads nothing"
        for name in ("some_columns", "predicated", "replaced"):
            assert (len(before[name]), sum(before[name].values()) > 20) == (2, True), name
            assert reads[name].scans == [], f"{name}: Spark scanned the table"
            # Of each file, one page holds keys, or two: their key columns are read, and then the rest of three rows.
            assert 0 < len(reads[name].files) <= 2, name
            assert 0 < reads[name].groups <= 6, name
            assert reads[name].rows <= 3 * PAGE + 6, name
        assert self.count(project, "some_columns", "name = 'new' and v >= 0") == 3
        assert self.count(project, "predicated", "name = 'old' and v = -1") == 3
        assert self.count(project, "replaced", "name = 'new'") == 3
        # Without a key, the file with the keys alone is scanned, and the other one stays.
        assert len(before["rewritten"]) == 2
        assert set(reads["rewritten"].scans) == {1}
        live = {one.file.file_name for one in table_of(project, "rewritten").live_files()}
        assert len(live & before["rewritten"].keys()) == 1
        assert self.count(project, "rewritten", "v = -1") == 2
        assert self.count(project, "rewritten", "true") == ROWS
        # With deletion vectors, the rows of its keys are found by one scan of a few columns, and marked.
        assert reads["marked"].scans == [1]
        assert reads["marked"].rows <= 2 * PAGE
        live = {one.file.file_name for one in table_of(project, "marked").live_files()}
        assert len(live & before["marked"].keys()) == 2
        assert self.count(project, "marked", "v = -1") == 2
        assert self.count(project, "marked", "true") == ROWS
        # Without a key, the rows of the window are replaced: the files of the other days are not read.
        for name in WINDOWS:
            assert len(before[name]) == 3, f"{name}: a file for each day"
            assert set(reads[name].scans) == {1}, name
            live = {one.file.file_name for one in table_of(project, name).live_files()}
            assert len(live & before[name].keys()) == 2, name
            assert self.count(project, name, "true") == ROWS, name
        # Under a key, they are found by one scan of a few columns, and looked up as those of the batch are.
        assert len(reads["batched"].scans) == 1
        assert 0 < reads["batched"].groups < sum(before["batched"].values())
        assert self.count(project, "batched", "true") == ROWS
        # The staging query reads the snapshot; its MERGE looks up the two changed rows and the two new ones.
        assert len(reads["taken"].scans) <= 2
        assert 0 < reads["taken"].rows <= 4 * PAGE + 4
        assert self.count(project, "taken", "dbt_valid_to is not null") == 2

    def test_new_rows_do_not_meet_each_old_row(self, project):
        for name in ("rewritten", "window_of_instants"):
            texts = sorted(Path(project.project_root, "target", "run").rglob(f"{name}*.sql"))
            merge = texts[-1].read_text(encoding="utf-8")
            plan = str(project.run_sql(f"explain {merge}", fetch="all"))
            assert "Join" in plan and "RightOuter" in plan, name
            for pairs in ("NestedLoopJoin BuildLeft, RightOuter", "CartesianProduct", "RightOuter, __dbt_delete"):
                assert pairs not in plan, (name, plan)
