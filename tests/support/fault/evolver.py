"""A process that changes columns, upserts, compacts and reads one table at random, for some seconds.

    python evolver.py <warehouse> <number> <seconds>

It owns the keys of its number, so it knows what they must hold; values are kept by the ids of columns. It prints what
it did as JSON: the last values of its keys, and the schema that each of its changes made.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

import pyarrow as pa

from support.tables import compact
from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import ColumnNotFound, ConflictError, SchemaError
from tablestore_engine.schema.table.schema_changes import (
    AddColumn,
    DropColumn,
    MoveColumn,
    RenameColumn,
    RetypeColumn,
    SetNullability,
)
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.types import parse_type

INT, BIGINT = parse_type("INT"), parse_type("BIGINT")
KEYS, MOST_COLUMNS = 20, 8


class Evolver:
    """One process. `rows` holds the values of its keys by column id."""

    def __init__(self, warehouse, number, seed):
        self.catalog = Catalog(warehouse)
        self.number = number
        self.random = random.Random(seed)
        self.rows: dict[int, dict[int, int]] = {}
        self.changes: list[tuple[int, str, str]] = []
        self.done = dict.fromkeys(("change", "upsert", "compact", "read", "conflicts", "refused"), 0)
        self.names = 0

    def table(self):
        return self.catalog.load_table("default", "t")

    def run(self, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            action = self.random.choices((self.change, self.upsert, self.compact, self.read), (3, 6, 1, 3))[0]
            try:
                action()
                self.done[action.__name__] += 1
            except ConflictError:
                self.done["conflicts"] += 1
            except (ColumnNotFound, SchemaError):
                self.done["refused"] += 1

    def change(self):
        table = self.table()
        columns = [one.name for one in table.schema.fields if one.name != "id"]
        name = self.random.choice(columns)
        self.names += 1
        new = f"n{self.number}_{self.names}"
        kinds = ["rename", "move", "retype", "strict", "add", "drop"]
        weights = (2, 1, 2, 0.2, 2 if len(columns) < MOST_COLUMNS else 0, 2 if len(columns) > 2 else 0)
        kind = self.random.choices(kinds, weights)[0]
        change = {
            "add": AddColumn(new, INT, after=name),
            "drop": DropColumn(name),
            "rename": RenameColumn(name, new),
            "move": MoveColumn(name, first=True),
            "retype": RetypeColumn(name, BIGINT),
            "strict": SetNullability(name, nullable=False),
        }[kind]
        changed = table.alter(change)
        if changed.schema.fields != table.schema.fields and kind in ("add", "rename"):
            self.changes.append((changed.schema.id, kind, new))
        if kind == "strict":
            self.catalog.alter_table("default", "t", [SetNullability(name, nullable=True)])

    def upsert(self):
        table = self.table()
        keys = self.random.sample(range(KEYS), 3)
        rows = {
            self.number * KEYS + key: {one.id: self.random.randrange(10**6) for one in table.schema.fields}
            for key in keys
        }
        for key, values in rows.items():
            values[table.schema.field("id").id] = key
        arrays = [
            pa.array([values[one.id] for values in rows.values()], to_arrow_type(one.type))
            for one in table.schema.fields
        ]
        table.write(pa.table(arrays, names=list(table.schema.field_names)))
        self.rows.update(rows)

    def compact(self):
        compact(self.table())

    def read(self):
        table = self.table()
        if table.latest_snapshot() is None:
            return
        found = {row["id"]: row for row in table.to_arrow().to_pylist() if row["id"] // KEYS == self.number}
        expected = {
            key: {one.name: values.get(one.id) for one in table.schema.fields} for key, values in self.rows.items()
        }
        assert found == expected, (self.number, found, expected)


def main():
    warehouse, number, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    evolver = Evolver(warehouse, number, f"{number}-{os.environ.get('TABLESTORE_SEED', '')}")
    evolver.run(seconds)
    print(json.dumps({"rows": evolver.rows, "changes": evolver.changes, "done": evolver.done}))


if __name__ == "__main__":
    main()
