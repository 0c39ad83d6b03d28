"""Four processes change columns, upsert, compact and read one table at once: what is left is what each of them did."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from support.fault import evolver
from support.invariants import check_invariants
from support.tables import compact, make_table, read, reload

PROCESSES = 4
SECONDS = float(os.environ.get("TABLESTORE_RACE", "3"))


def test_no_change_and_no_row_is_lost(tmp_path):
    options = {"bucket": "2", "num-sorted-run.compaction-trigger": "4", "commit.max-retries": "50"}
    table = make_table(tmp_path, {"id": "INT", "a": "INT", "b": "INT", "c": "INT"}, ["id"], options=options)
    script = [sys.executable, evolver.__file__, str(tmp_path)]
    racers = [
        subprocess.Popen([*script, str(n), str(SECONDS)], stdout=subprocess.PIPE, text=True) for n in range(PROCESSES)
    ]
    results = []
    for one in racers:
        out, _ = one.communicate(timeout=SECONDS + 120)
        assert one.returncode == 0, "a reader saw other rows than its process had written"
        results.append(json.loads(out))
    done = {key: sum(one["done"][key] for one in results) for key in results[0]["done"]}
    assert min(done["change"], done["upsert"], done["read"]) > 0, done
    _check_changes(table, [tuple(change) for one in results for change in one["changes"]])
    _check_rows(table, results)
    compact(reload(table))
    _check_rows(table, results)
    check_invariants(reload(table))


def _check_changes(table, changes):
    """Each name that a process gave is new in the version that it got back, and no two have made the same one."""
    schemas = reload(table).schemas
    assert len({schema_id for schema_id, _, _ in changes}) == len(changes)
    for schema_id, kind, name in changes:
        assert schemas.load(schema_id).has_field(name), (schema_id, kind, name)
        assert not any(schemas.load(one).has_field(name) for one in range(schema_id)), (schema_id, kind, name)
    ids = [field.id for one in schemas.list_ids() for field in schemas.load(one).fields]
    assert max(ids) == reload(table).schema.highest_field_id


def _check_rows(table, results):
    now = reload(table)
    written = {int(key): values for one in results for key, values in one["rows"].items()}
    expected = {
        key: {one.name: values.get(str(one.id)) for one in now.schema.fields} for key, values in written.items()
    }
    assert {row["id"]: row for row in read(now)} == expected
