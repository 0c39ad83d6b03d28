"""Tables of random columns and options in which Java Paimon and this engine write, compact, change columns and expire
in turn: after each step both find the same rows, and conditions leave none of them out.

`TABLESTORE_INTEROP_SEEDS=100-200` plays others than the few that always run.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from random import Random

import pytest
from support.interop.compare import assert_same
from support.interop.filters import check_filters
from support.interop.java_paimon import multiset_of
from support.interop.ours import OurTable
from support.interop.random_values import random_rows, random_value
from support.interop.shapes import ATOMIC

from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.table.schema_changes import AddColumn
from tablestore_engine.schema.types.types import ArrayType, DataField, DataType, MapType, RowType

pytestmark = pytest.mark.spark

STEPS = 14
_KINDS = [sample.type for name, sample in ATOMIC.items() if name != "char"]
_ANY_TIME = {
    "file.compression": ("zstd", "snappy", "lz4", "uncompressed"),
    "metadata.stats-mode": ("none", "counts", "truncate(2)", "full"),
    "metadata.stats-dense-store": ("true", "false"),
    "manifest.merge-min-count": ("2", "30"),
    "manifest.compression": ("zstd", "deflate", "null"),
    "target-file-size": ("2 kb", "128 mb"),
    "file-index.bitmap.columns": ("id",),
    "write-only": ("true", "false"),
    "partition.legacy-name": ("true", "false"),
    "partition.default-name": ("nothing", "__DEFAULT_PARTITION__"),
}
_OF_KEYS = {
    "data-file.thin-mode": ("true", "false"),
    "num-sorted-run.compaction-trigger": ("2", "5"),
    "sequence.field": ("c0", "c1,c0"),
    "sequence.field.sort-order": ("ascending", "descending"),
    "merge-engine": ("deduplicate", "deduplicate", "partial-update", "aggregation"),
}


def _seeds() -> range:
    first, _, last = os.environ.get("TABLESTORE_INTEROP_SEEDS", "0-5").partition("-")
    return range(int(first), int(last or first) + 1)


def _kind(rng: Random, depth: int = 0) -> DataType:
    choice = rng.random()
    if depth > 1 or choice < 0.7:
        return rng.choice(_KINDS)
    if choice < 0.8:
        return ArrayType(_kind(rng, depth + 1))
    if choice < 0.88:
        return MapType(rng.choice(_KINDS[:1]).as_nullable(False), _kind(rng, depth + 1))
    fields = tuple(DataField(i, f"f{i}", _kind(rng, depth + 1)) for i in range(rng.randrange(1, 4)))
    return RowType(fields)


def _options(rng: Random, *, keyed: bool) -> dict[str, str]:
    chosen = {}
    for key, values in (_ANY_TIME | (_OF_KEYS if keyed else {})).items():
        if rng.random() < 0.35:
            chosen[key] = rng.choice(values)
    if chosen.get("merge-engine", "deduplicate") != "deduplicate":
        # With both, which record is the last is a matter of the columns.
        chosen.pop("sequence.field", None)
    if "sequence.field" not in chosen:
        chosen.pop("sequence.field.sort-order", None)
    return chosen


@dataclass
class Played:
    """One random table under way."""

    rng: Random
    table: OurTable
    more: OurTable
    keyed: bool
    partitioned: bool
    deletes: bool

    def rows(self, count: int):
        made = random_rows(self.rng, self.table.table.schema, count)
        if self.partitioned and self.keyed:
            # A key keeps its partition, so that there are updates.
            kind = self.table.table.schema.field("p").type
            values = Random(1)
            parts = [random_value(values, kind.as_nullable(False)) for _ in range(3)]
            made = [{**row, "p": parts[row["id"] % 3]} for row in made]
        return made


def _play(java, played: Played, step: str) -> None:
    table, more, rng = played.table, played.more, played.rng
    path = table.table.path
    if step == "ours":
        table.write(played.rows(rng.randrange(1, 30)))
    elif step == "theirs":
        more.overwrite(played.rows(rng.randrange(1, 30)))
        java.ask("copy", path, more.table.path)
    elif step == "our deletes":
        table.delete(played.rows(rng.randrange(1, 8)))
    elif step == "their deletes":
        more.overwrite(played.rows(rng.randrange(1, 8)))
        java.ask("delete", path, more.table.path)
    elif step == "our compaction":
        table.compact(full=rng.random() < 0.5)
    elif step == "their compaction":
        java.ask("compact", path, "write-only=false")
    elif step == "their expiration":
        java.ask("expire", path, str(rng.randrange(1, 4)))
    elif step == "column":
        name, kind = f"n{table.table.schema.highest_field_id}", _kind(rng)
        for one in (table, more):
            one.alter(AddColumn(name, kind))


@pytest.mark.parametrize("seed", _seeds())
def test_random_tables(java, java_reads, catalog, spark_store, tmp_path, seed):
    rng = Random(seed)
    keyed, partitioned = rng.random() < 0.65, rng.random() < 0.5
    columns: dict[str, DataType] = {"id": ATOMIC["bigint"].type}
    if partitioned:
        columns["p"] = rng.choice([k for k in _KINDS if k != ATOMIC["bytes"].type])
    columns |= {"c0": rng.choice(_KINDS), "c1": rng.choice(_KINDS)}
    columns |= {f"x{i}": _kind(rng) for i in range(rng.randrange(4))}
    options = _options(rng, keyed=keyed)
    if keyed:
        options["bucket"] = rng.choice(("1", "2", "3"))
    elif rng.random() < 0.3:
        options |= {"bucket": "2", "bucket-key": "id"}
    key = (["p", "id"] if partitioned else ["id"]) if keyed else []
    partition = ["p"] if partitioned else []
    catalog.create_database("db", if_not_exists=True)
    name = f"random_{seed}"
    given = [(n, kind, None) for n, kind in columns.items()]
    file = tmp_path / "schema.json"
    file.write_text(create_schema(given, key, partition, options).to_json())
    java.ask("define", f"{catalog.warehouse}/db.db/{name}", str(file))
    table = OurTable(catalog, "db", name)
    more = OurTable.create(catalog, f"{name}_more", columns)
    deletes = keyed and options.get("merge-engine", "deduplicate") == "deduplicate"
    played = Played(rng, table, more, keyed, partitioned, deletes)
    steps = ["ours", "theirs"] * 3 + ["our compaction", "their expiration", "column"]
    steps += ["their compaction"] * keyed + ["our deletes", "their deletes"] * deletes
    done = []
    for _ in range(STEPS):
        done.append(rng.choice(steps) if done else rng.choice(("ours", "theirs")))
        before = (
            multiset_of(table.read(), table.table.schema) if "compaction" in done[-1] or "exp" in done[-1] else None
        )
        _play(java, played, done[-1])
        history = f"seed {seed}: {options}, {[str(k) for k in columns.values()]}, {done}"
        try:
            own = java_reads(table)
            if len(done) % 3 == 0:
                check_filters(table, own)
        except Exception as error:
            raise AssertionError(history) from error
        assert before is None or multiset_of(own, table.table.schema) == before, history
    assert_same(spark_store.read(name).toArrow(), table.read(), f"Spark, {history}")
