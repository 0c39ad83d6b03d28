"""Changes lead over constraints and layouts that a table gets, and not from one table to another one.

Each history has rows written, deleted, compacted, and the table altered in between. The changes of any range, applied
to a naive fold of what was written before it, give the fold of what was written up to its end.
"""

from __future__ import annotations

import random
from collections import Counter
from datetime import datetime

import numpy as np
import pytest
from support.soak import seeds
from support.tables import DELETE, PUT, compact, make_table, new_job, reload, schema_of, write

from tablestore_engine.errors import ChangesNotFound, TagNotFound, UserError
from tablestore_engine.operation.commit.replace_table import next_schema, replace_all
from tablestore_engine.operation.history.change_range import checked_bound
from tablestore_engine.operation.stream.pieces import rows_of
from tablestore_engine.operation.stream.stream_options import Limits, StreamOptions
from tablestore_engine.operation.stream.stream_plan import StreamPlanner
from tablestore_engine.operation.transaction.transaction import begin, publish_change
from tablestore_engine.operation.write_job.write_intent import PLAIN
from tablestore_engine.schema.table.layout import with_buckets, with_primary_key
from tablestore_engine.schema.table.schema_changes import (
    AddCheckConstraint,
    AddColumn,
    AddPartitionField,
    DropPartitionField,
    SetNullability,
    SetOption,
)
from tablestore_engine.schema.types.types import parse_type

COLUMNS = {"id": "INT", "p": "INT", "v": "INT"}
KINDS = {
    "append": {},
    "buckets": {"bucket": "2", "bucket-key": "id"},
    "marks": {"deletion-vectors.enabled": "true"},
    "keyless": {"merge-engine": "tablestore-count"},
    "keyless in buckets": {"merge-engine": "tablestore-count", "bucket": "2", "bucket-key": "id"},
    "keyed": {"bucket": "2"},
    "keyed in partitions": {"bucket": "1"},
    "dynamic": {"bucket": "-1", "dynamic-bucket.target-row-num": "3"},
    "lookup": {"bucket": "2", "changelog-producer": "lookup"},
}
KEYED = ("keyed", "keyed in partitions", "dynamic", "lookup")


class Game:
    """A table, and the rows that each of its snapshots must have."""

    def __init__(self, warehouse, kind, seed):
        self.kind, self.dice = kind, random.Random(seed)
        self.keys = (["p", "id"] if kind == "keyed in partitions" else ["id"]) if kind in KEYED else []
        partitions = ["p"] if kind == "keyed in partitions" else []
        self.table = make_table(warehouse, COLUMNS, self.keys, partitions, {**KINDS[kind], "write-only": "true"})
        self.rows: Counter = Counter()
        self.at = {0: Counter()}

    def note(self):
        latest = self.table.latest_snapshot()
        for number in range(max(self.at) + 1, (latest.id if latest else 0) + 1):
            self.at[number] = +self.rows

    def write(self):
        dice = self.dice
        old = list(self.rows.elements())
        put = [(id_, id_ % 2, dice.randrange(3)) for id_ in dice.sample(range(12), 3)]
        taken = dice.sample(old, min(len(old), 2)) if self.kind in KEYED or self.kind.startswith("keyless") else []
        if self.keys:
            ids = {one[0] for one in put}
            taken = [one for one in taken if one[0] not in ids]
            self.rows -= Counter(one for one in old if one[0] in ids)
        self.rows = self.rows - Counter(taken) + Counter(put)
        records = [dict(zip(COLUMNS, one, strict=True)) for one in (*put, *taken)]
        write(self.table, records, [PUT] * len(put) + [DELETE] * len(taken))

    def overwrite(self):
        self.rows = Counter([(1, 1, self.dice.randrange(3)), (2, 0, 1)])
        records = [dict(zip(COLUMNS, one, strict=True)) for one in self.rows.elements()]
        job = new_job(self.table, into_empty=True)
        write(self.table, records, job=job, kind="OVERWRITE", replaces=lambda entry: True)

    def alter(self):
        nullable = [f.name for f in self.table.schema.fields if f.type.nullable]
        partitions = self.table.schema.partition_keys
        changes = [AddColumn(f"n{self.table.schema.highest_field_id}", parse_type("INT"))]
        if "v" in nullable:
            changes.append(SetNullability("v", nullable=False))
        latest = self.table.latest_snapshot()
        name = f"c{self.table.schema.id}"
        checked = (latest.id if latest else 0, self.table.schema.id)
        changes.append(AddCheckConstraint(name, f"v < {99 + checked[1]}", *checked))
        if not self.keys and not self.kind.startswith("keyless"):
            changes.append(DropPartitionField("p") if "p" in partitions else AddPartitionField("p"))
        self.table = self.table.alter(self.dice.choice(changes))

    def rescale(self):
        if not self.table.schema.bucket_keys or self.table.options.bucket == -1:
            return
        number = self.dice.choice([one for one in (1, 2, 3) if one != self.table.options.bucket])
        schema = with_buckets(self.table.schema, number, self.table.schemas.list_ids()[-1], 0)
        before = self.table.latest_snapshot()
        job = begin(self.table.state, PLAIN, before, removes=lambda entry: True, schema=schema)
        records = [dict(zip(COLUMNS, one, strict=True)) for one in self.rows.elements()]
        write(self.table, records, job=job, kind="OVERWRITE", replaces=lambda entry: True)

    def go_back(self):
        number = self.dice.randrange(max(self.at) + 1)
        if number:
            self.table.roll_back(number)
            self.rows = Counter(self.at[number])

    def step(self):
        dice = self.dice
        steps = [self.write] * 4 + [self.alter] * 3 + [self.rescale, lambda: compact(self.table), self.go_back]
        dice.choice(steps if dice.random() < 0.95 else [self.overwrite])()
        self.table = reload(self.table)
        self.note()

    def expected(self, first, last):
        return self.at[last] - self.at[first], self.at[first] - self.at[last]


def signed(records):
    """Rows that were added and removed, as far as one does not undo the other."""
    added, removed = Counter(), Counter()
    for one in records:
        row = tuple(one[name] for name in COLUMNS)
        (added if one["_row_kind"] in ("+I", "+U") else removed)[row] += 1
    return added - removed, removed - added


@pytest.mark.parametrize("seed", seeds(2, 8))
@pytest.mark.parametrize("kind", KINDS)
def test_changes_over_constraints_and_layouts(tmp_path, kind, seed):
    game = Game(tmp_path, kind, seed)
    for _ in range(14):
        game.step()
    last = max(game.at)
    for _ in range(12):
        first, end = sorted((game.dice.randrange(last + 1), game.dice.randrange(last + 1)))
        found = signed(game.table.changes(first, end).to_pylist())
        assert found == game.expected(first, end), f"changes of {first} to {end}"


@pytest.mark.parametrize("deleted", range(6))
def test_a_key_that_is_in_another_bucket_after_a_rollback(tmp_path, deleted):
    game = Game(tmp_path, "keyed", 0)
    rows = [(id_, 0, 0) for id_ in range(6)]
    for put, kind in ((rows, PUT), ([(6, 0, 0)], PUT), (None, None), ([rows[deleted]], DELETE)):
        if put is None:
            game.rescale()
        else:
            write(game.table, [dict(zip(COLUMNS, one, strict=True)) for one in put], [kind] * len(put))
            game.rows = game.rows - Counter(put) if kind == DELETE else game.rows + Counter(put)
        game.table = reload(game.table)
        game.note()
    compact(game.table)
    game.note()
    reload(game.table).roll_back(1)
    game.rows = Counter(rows)
    game.table = reload(game.table)
    game.note()
    for first in range(max(game.at)):
        found = signed(game.table.changes(first).to_pylist())
        assert found == game.expected(first, max(game.at)), f"changes after {first}"


@pytest.mark.parametrize("seed", seeds(1, 5))
@pytest.mark.parametrize("kind", [one for one in KINDS if one != "lookup"])
def test_a_stream_goes_on_over_constraints_and_layouts(tmp_path, kind, seed):
    game = Game(tmp_path, kind, seed)
    game.step()
    position, state = StreamPlanner(game.table.state).begin(StreamOptions()), Counter()
    limits = game.dice.choice([Limits(), Limits(files=1), Limits(rows=2)])
    for _ in range(7):
        for _ in range(game.dice.randrange(1, 4)):
            game.step()
        planner = StreamPlanner(game.table.state)
        while (following := planner.following(position, limits)) != position:
            pieces = planner.pieces(position, following)
            for one in (
                row for piece in pieces for table in rows_of(planner.state, piece) for row in table.to_pylist()
            ):
                state[tuple(one[name] for name in COLUMNS)] += 1 if one["_row_kind"] in ("+I", "+U") else -1
            position = following
        assert +state == +game.rows
        assert min(state.values(), default=0) >= 0


def test_another_table_has_no_changes_in_common(tmp_path):
    table = make_table(tmp_path, COLUMNS)
    write(table, [{"id": 1, "v": 1}])
    other = next_schema(table.schema, schema_of({"id": "INT", "p": "INT"}), 0)
    publish_change(table.state, replace_all(table.schema, other), schema=other)
    table = reload(table).alter(SetNullability("id", nullable=False))
    write(table, [{"id": 2}])
    assert len(table.changes(2)) == 1
    with pytest.raises(ChangesNotFound, match="was replaced by another one"):
        table.changes(1)
    table = reload(table)
    table.roll_back(1)
    with pytest.raises(ChangesNotFound, match="was replaced by another one"):
        reload(table).changes(2)


def test_a_key_makes_other_rows(tmp_path):
    table = make_table(tmp_path, COLUMNS)
    write(table, [{"id": 1, "v": 1}])
    keyed = with_primary_key(table.schema, ("id",), 1, 0, 0)
    publish_change(table.state, replace_all(table.schema, keyed), schema=keyed)
    with pytest.raises(ChangesNotFound, match="got a primary key"):
        reload(table).changes(1)


def test_a_table_that_records_no_changes_says_so(tmp_path):
    """It is not one without changes. What it recorded before is read."""
    table = make_table(tmp_path, COLUMNS, ["id"], options={"bucket": "1"})
    write(table, [{"id": 1, "v": 1}])
    with pytest.raises(ChangesNotFound, match=r"records no changes .* of its snapshots 1 to 1\. table_changes, and"):
        table.changes(0, recorded=True)
    assert table.changes(1, recorded=True).num_rows == 0
    table = table.alter(SetOption("changelog-producer", "input"))
    write(table, [{"id": 2, "v": 2}])
    table = table.alter(SetOption("changelog-producer", "none"))
    write(table, [{"id": 3, "v": 3}])
    assert table.changes(0, recorded=True).num_rows == 1


def test_bounds_are_understood_as_in_sql(tmp_path):
    table = make_table(tmp_path, COLUMNS, ["id"], [], {"bucket": "1"})
    write(table, [{"id": 1, "p": 1, "v": 1}], [PUT])
    table.create_tag("2020-01-02")
    day = datetime(2020, 1, 1)
    for given, bound in [
        (day, day), (day.date(), day), (" 2020-01-01 00:00:00", day), ("2020-01-01", day), ("2020-01-02", "2020-01-02"),
        (1, 1), (np.int64(1), 1), ("1", "1"), ("soon", "soon"),
    ]:  # fmt: skip
        found = checked_bound(table.state, given)
        assert (found, type(found)) == (bound, type(bound))
    assert table.changes("2020-01-01").num_rows == 1
    for given in (-1, True, None, 1.5):
        with pytest.raises(UserError, match=rf"^{given} is neither a snapshot nor a tag nor a time of table"):
            table.changes(given)
    with pytest.raises(TagNotFound):
        table.changes("soon")
