"""Tables of random merge engines, functions and orders, in which Java Paimon and this engine write and compact in turn.

The fold of a record that comes late depends on which records were merged before. Of the same files, however, both
must find the same rows: that is checked after each step. Where no record comes late, compactions of this engine change
no row, whatever they merge. `TABLESTORE_INTEROP_SEEDS=100-200` plays others than the few
that always run.
"""

from __future__ import annotations

import itertools
import json
import os
from collections import Counter
from datetime import date
from decimal import Decimal
from random import Random

import pyarrow as pa
import pytest
from support.interop.java_paimon import multiset_of
from support.interop.ours import OurTable, rows_of
from support.tables import compact_newest

from tablestore_engine.operation.write_job.write_job import ROW_KIND_COLUMN
from tablestore_engine.schema.merge_engines.aggregate_functions import is_wide
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.types.types import ArrayType, AtomicType, DataField, DataType, MapType, RowType

STEPS = 10
BEFORE, AFTER, DELETE = 1, 2, 3
INT, BIGINT, STRING = AtomicType("INT"), AtomicType("BIGINT"), AtomicType("STRING")
NESTED = ArrayType(RowType((DataField(90, "k", INT), DataField(91, "v", STRING))))
TIMED = MapType(AtomicType("STRING", False), RowType((DataField(92, "n", INT), DataField(93, "at", STRING))))
MAP = MapType(AtomicType("STRING", False), INT)
TEXTS = ("", " ", "a", "b", "a,b", "b,c", ",", "ü")


def _list(rng):
    return [rng.choice((None, 0, 1, 2)) for _ in range(rng.randrange(3))]


def _rows(rng):
    return [rng.choice((None, {"k": rng.randrange(3), "v": rng.choice("xy")})) for _ in range(rng.randrange(4))]


def _partial_rows(rng):
    return [rng.choice((None, {"k": rng.randrange(3), "v": rng.choice(("x", "y", None))})) for _ in range(3)]


def _times(rng):
    def value():
        return rng.choice((None, {"n": rng.randrange(9), "at": rng.choice(("1", "2", "10", None))}))

    return [(key, value()) for key in sorted({rng.choice("abc") for _ in range(2)})]


def _map(rng):
    return [(key, rng.choice((None, 1, 2))) for key in sorted({rng.choice("abc") for _ in range(2)})]


FUNCTIONS = [
    ("sum", INT, lambda rng: rng.randrange(-5, 5), {}),
    ("sum", AtomicType("DECIMAL", True, 20, 3), lambda rng: Decimal(rng.randrange(-99, 99)).scaleb(-3), {}),
    ("product", BIGINT, lambda rng: rng.choice((-1, 1, 2)), {}),
    (
        "product",
        AtomicType("DECIMAL", True, 38, 10),
        lambda rng: Decimal(rng.choice(("-1.5", "0.0000000055", "7"))),
        {},
    ),
    ("product", AtomicType("DECIMAL", True, 18, 2), lambda rng: Decimal(rng.choice(("-1.5", "0.55", "2"))), {}),
    ("max", STRING, lambda rng: rng.choice(TEXTS), {}),
    ("min", AtomicType("DATE"), lambda rng: date(2024, 1, rng.randrange(1, 9)), {}),
    ("bool_and", AtomicType("BOOLEAN"), lambda rng: rng.random() < 0.5, {}),
    ("last_value", STRING, lambda rng: rng.choice(TEXTS), {}),
    ("last_non_null_value", STRING, lambda rng: rng.choice(TEXTS), {}),
    ("first_value", STRING, lambda rng: rng.choice(TEXTS), {}),
    ("first_non_null_value", STRING, lambda rng: rng.choice(TEXTS), {}),
    ("listagg", STRING, lambda rng: rng.choice(TEXTS), {}),
    ("listagg", STRING, lambda rng: rng.choice(TEXTS), {"distinct": "true"}),
    ("collect", ArrayType(INT), _list, {}),
    ("collect", ArrayType(INT), _list, {"distinct": "true"}),
    # Java compares no null.
    ("collect", NESTED, lambda rng: [row for row in _rows(rng) if row is not None], {"distinct": "true"}),
    ("first_not_null_value", STRING, lambda rng: rng.choice(TEXTS), {}),
    ("merge_map", MAP, _map, {}),
    ("nested_update", NESTED, _rows, {}),
    ("nested_update", NESTED, _rows, {"nested-key": "k"}),
    ("nested_update", NESTED, _rows, {"count-limit": "3"}),
    ("nested_partial_update", NESTED, _partial_rows, {"nested-key": "k"}),
    ("merge_map_with_keytime", TIMED, _times, {}),
    ("merge_map_with_keytime", TIMED, _times, {"ts-field": "at"}),
    ("primary-key", STRING, lambda rng: rng.choice(TEXTS), {}),
]
WITHOUT_ORDER = ("merge_map", "merge_map_with_keytime", "nested_update", "nested_partial_update", "collect")
"""Functions of which Java gives the elements in the order of a hash."""
TAKE_BACK = ("primary-key", "sum", "last_value", "last_non_null_value", "collect", "merge_map", "nested_update")
IGNORE = ("max", "min", "listagg")
"""Functions that take nothing back; with a sum, or none, some runs may merge that hold retractions."""
ENGINES = (
    "aggregation", "aggregation by field", "partial-update by field", "groups", "groups by field",
    "groups with deletes", "aggregation with deletes", "aggregation by field with deletes", "groups with updates",
)  # fmt: skip


def _seeds() -> range:
    first, _, last = os.environ.get("TABLESTORE_INTEROP_SEEDS", "0-8").partition("-")
    return range(int(first), int(last or first) + 1)


def _columns(rng: Random, engine: str) -> tuple[dict[str, tuple[DataType, object]], dict[str, str], list]:
    """Columns with what gives their values, the options of the table, and the functions of v0, v1 and so on."""
    retractable = [one for one in FUNCTIONS if one[0] in TAKE_BACK and not one[3] and not is_wide(one[1])]
    functions = retractable if "deletes" in engine else FUNCTIONS
    if "updates" in engine:
        functions = [one for one in FUNCTIONS if one[0] in ("sum", *IGNORE) and not is_wide(one[1])]
    chosen = [rng.choice(functions) for _ in range(rng.randrange(2, 6))]
    if "updates" in engine:
        chosen += [FUNCTIONS[0]] * 2
    # A required column takes nothing back.
    required = rng.random() < 0.2 and not engine.endswith(("deletes", "updates"))
    columns = {"id": (AtomicType("INT", False), None)}
    columns["at"] = (AtomicType("INT", not required), lambda rng: rng.randrange(4))
    if rng.random() < 0.5:
        columns["of"] = (AtomicType("DATE"), lambda rng: date(2024, 1, rng.randrange(1, 3)))
    order = ",".join(name for name in ("at", "of") if name in columns)
    columns |= {f"v{i}": (one[1], one[2]) for i, one in enumerate(chosen)}
    options = {"merge-engine": "aggregation" if engine.startswith("aggregation") else "partial-update"}
    if "field" in engine:
        options["sequence.field"] = order
        options["sequence.field.sort-order"] = rng.choice(("ascending", "descending"))
    if engine == "groups by field":
        columns["step"] = (INT, lambda rng: rng.randrange(3))
        options["sequence.field"] = "step"
    if engine.startswith("groups"):
        options[f"fields.{order}.sequence-group"] = ",".join(f"v{i}" for i in range(len(chosen)))
    if engine == "partial-update by field":
        return columns, options, []
    plain = rng.randrange(3) if engine.startswith("groups") else 0
    for i, (function, _, _, more) in enumerate(chosen):
        if i >= plain:
            options[f"fields.v{i}.aggregate-function"] = function
            options |= {f"fields.v{i}.{key}": value for key, value in more.items()}
            if "updates" in engine and function in IGNORE:
                options[f"fields.v{i}.ignore-retract"] = "true"
    return columns, options, chosen[plain:] and [None] * plain + chosen[plain:]


def _settled(rows: Counter[str], unordered: list[int], maps: list[int]) -> Counter[str]:
    """Rows with the elements of some columns in an order of their own."""
    found: Counter[str] = Counter()
    for text, count in rows.items():
        row = json.loads(text)
        for i in unordered:
            if row[i] and i in maps:
                row[i] = [list(pair) for pair in zip(*row[i], strict=True)]
            row[i] = sorted(row[i], key=repr) if row[i] else row[i]
        found[json.dumps(row)] += count
    return found


@pytest.mark.spark
@pytest.mark.parametrize("seed", _seeds())
def test_random_engines(java, catalog, spark_store, tmp_path, seed):
    rng = Random(seed)
    engine = ENGINES[seed % len(ENGINES)]
    columns, options, functions = _columns(rng, engine)
    types = {name: kind for name, (kind, _) in columns.items()}
    options |= {"bucket": "1", "num-sorted-run.compaction-trigger": rng.choice(("3", "9"))}
    options["write-only"] = rng.choice(("true", "false"))
    catalog.create_database("db", if_not_exists=True)
    name = f"engines_{seed}"
    file = tmp_path / "schema.json"
    triples = [(n, kind, None) for n, kind in types.items()]
    file.write_text(create_schema(triples, ["id"], [], options).to_json())
    java.ask("define", f"{catalog.warehouse}/db.db/{name}", str(file))
    table = OurTable(catalog, "db", name)
    more = OurTable.create(catalog, f"{name}_more", {n: kind.as_nullable(True) for n, kind in types.items()})
    names = list(types)
    maps = [i for i, kind in enumerate(types.values()) if isinstance(kind, MapType)]
    unordered = [names.index(f"v{i}") for i, one in enumerate(functions) if one and one[0] in WITHOUT_ORDER]

    never_late, clock = "updates" in engine, itertools.count()

    def compacting(compact):
        before = multiset_of(table.read(), table.table.schema)
        compact()
        assert not never_late or multiset_of(table.read(), table.table.schema) == before, "compacted"

    def rows():
        made = []
        for _ in range(rng.randrange(1, 12)):
            row = {"id": rng.randrange(5)}
            for column, (kind, value) in columns.items():
                if value is not None:
                    row[column] = None if kind.nullable and rng.random() < 0.2 else value(rng)
            if never_late:
                row["at"] = next(clock)
            made.append(row)
        return made

    def deletes():
        """One -D each of some keys that are there: of others Java and this engine say different things."""
        ids = sorted({row["id"] for row in table.read().to_pylist()})
        return [{**row, "id": i} for row, i in zip(rows(), rng.sample(ids, len(ids)), strict=False)]

    def write(records):
        """Rows with their kinds."""
        given = rows_of(table.table.schema, [row for row, _ in records])
        table.write(given.append_column(ROW_KIND_COLUMN, pa.array([kind for _, kind in records], pa.int8())))

    def updates():
        """The changelog of some rows that are there: what it was, and what it is now."""
        before = table.read().to_pylist()
        after = [{**new, "id": old["id"]} for old, new in zip(before, rows(), strict=False)]
        return [one for old, new in zip(before, after, strict=False) for one in ((old, BEFORE), (new, AFTER))]

    def without_rows(kinds):
        """Records of some keys that are not there."""
        known = {row["id"] for row in table.read().to_pylist()}
        absent = rng.sample([i for i in range(40) if i not in known], 3)
        return [({**row, "id": i}, kind) for i in absent for kind, row in zip(kinds, rows() * 2, strict=False)]

    steps = ["ours", "theirs", "theirs", "our compaction", "their compaction", "our newest"]
    if "updates" in engine:
        steps += ["our updates", "our updates", "our newest", "updates without rows", "retractions without rows"]
    steps += ["our deletes", "their deletes"] * ("deletes" in engine)
    done: list[str] = []
    for _ in range(STEPS):
        done.append(rng.choice(steps) if done else "ours")
        step = done[-1]
        history = f"seed {seed}, {engine}: {options}, {[str(kind) for kind in types.values()]}, {done}"
        try:
            if step == "ours":
                table.write(rows())
            elif step == "theirs":
                more.overwrite(rows())
                java.ask("copy", table.table.path, more.table.path)
            elif step == "our deletes":
                table.delete(deletes())
            elif step == "their deletes":
                more.overwrite(deletes())
                java.ask("delete", table.table.path, more.table.path)
            elif step == "our updates":
                write(updates())
            elif step == "updates without rows":
                # Java says what this engine says as soon as a retraction and the row after it have merged.
                write(without_rows((BEFORE, AFTER)))
                compacting(lambda: compact_newest(table.table, 2))
            elif step == "retractions without rows":
                write(without_rows((rng.choice((BEFORE, DELETE)),)))
                compacting(lambda: table.compact(full=True))
            elif step == "our newest":
                compacting(lambda: compact_newest(table.table, rng.randrange(2, 5)))
            elif step == "our compaction":
                compacting(lambda: table.compact(full=rng.random() < 0.5))
            else:
                java.ask("compact", table.table.path, "write-only=false")
            own = table.read()
            found = _settled(java.read(table.table.path)[1], unordered, maps)
        except Exception as error:
            raise AssertionError(history) from error
        expected = _settled(multiset_of(own, table.table.schema), unordered, maps)
        assert found == expected, (
            history,
            sorted((found - expected).elements()),
            sorted((expected - found).elements()),
        )
    by_spark = _settled(multiset_of(spark_store.read(name).toArrow(), table.table.schema), unordered, maps)
    assert by_spark == expected, f"Spark, {history}"
