"""The changes between two states of a keyed table, against a naive comparison of their rows."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest

from tablestore_engine.mergetree.arrow_kernels.keyed_changes import changes_of_columns, keyed_changes
from tablestore_engine.schema.table.row_kind import KINDS

NAN = float("nan")
KEYS = {
    "one number": {"k": pa.int32()},
    "one text": {"k": pa.string()},
    "one float": {"k": pa.float64()},
    "two columns": {"k": pa.int64(), "p": pa.string()},
}
VALUES = {"v": pa.int64(), "w": pa.float32(), "n": pa.list_(pa.int8())}


def some_value(random, kind):
    if pa.types.is_list(kind):
        return random.choice([None, [], [1], [1, None]])
    if pa.types.is_floating(kind):
        return random.choice([0.0, 1.5, NAN])
    return str(random.randrange(3)) if pa.types.is_string(kind) else random.randrange(3)


def some_state(random, keys, count):
    """Random rows by key: what is shown of a value is equal for equal ones."""
    rows = {}
    for _ in range(count):
        row = {name: some_value(random, kind) for name, kind in {**keys, **VALUES}.items()}
        if random.random() < 0.2:
            row["v"] = row["w"] = None
        rows[tuple(repr(row[name]) for name in keys)] = row
    return rows


def table_of(rows, kinds):
    return pa.Table.from_pylist(list(rows), pa.schema(list(kinds.items())))


def naive(before, after, keys, compared):
    found = []
    for key in keys:
        old, new = before.get(key), after.get(key)
        if old is None or new is None:
            found += [("-D", repr(old))] if old else [("+I", repr(new))] if new else []
        elif not compared or any(repr(old[name]) != repr(new[name]) for name in compared):
            found += [("-U", repr(old)), ("+U", repr(new))]
    return found


@pytest.mark.parametrize("compared", [None, ("v",), ("w", "n"), ()])
@pytest.mark.parametrize("keys", KEYS.values(), ids=KEYS)
def test_changes_are_those_of_a_naive_comparison(keys, compared):
    for seed in range(30):
        random, kinds = Random(seed), {**keys, **VALUES}
        before, after = (some_state(random, keys, random.randrange(8)) for _ in range(2))
        every = {**before, **after, **some_state(random, keys, 3)}
        # Not all keys that have changed are asked for, and some are asked for twice.
        asked = [key for key in every for _ in range(random.randrange(3))]
        given = table_of(({name: every[key][name] for name in keys} for key in asked), keys)
        changes = keyed_changes(table_of(before.values(), kinds), table_of(after.values(), kinds), given, compared)
        assert changes.rows.schema.names == list(kinds)
        found = list(zip([KINDS[kind] for kind in changes.kinds], map(repr, changes.rows.to_pylist()), strict=True))
        expected = naive(before, after, dict.fromkeys(asked), list(kinds) if compared is None else compared)
        assert sorted(found) == sorted(expected), seed
        # Both rows of an update follow each other.
        kinds_found = [kind for kind, _ in found]
        assert all(kinds_found[at + 1] == "+U" for at, kind in enumerate(kinds_found) if kind == "-U")


@pytest.mark.parametrize("keys", KEYS.values(), ids=KEYS)
def test_changes_of_some_columns_are_those_of_whole_rows(keys):
    for seed in range(30):
        random = Random(seed)
        kinds = {**keys, **VALUES}
        before, after = (some_state(random, keys, 12) for _ in range(2))
        for name in set(before) & set(after):
            if random.random() < 0.5:
                after[name] = before[name]
        old, new = (table_of(one.values(), kinds) for one in (before, after))
        chosen = {**before, **after}
        sought = table_of(chosen.values(), kinds).select(list(keys))
        whole = keyed_changes(old, new, sought)
        names, asked = [*keys, "w"], []

        def others(equal, old=old, new=new, names=names, asked=asked):
            asked.append(equal.num_rows)
            changes = keyed_changes(old, new, equal)
            return type(changes)(changes.rows.select(names), changes.kinds)

        found = changes_of_columns(old.select(names), new.select(names), sought, others)
        shown = [
            sorted(zip(one.kinds.tolist(), map(repr, one.rows.select(names).to_pylist()), strict=True))
            for one in (found, whole)
        ]
        assert shown[0] == shown[1]
        differ = sum(repr(before[one]["w"]) != repr(after[one]["w"]) for one in set(before) & set(after))
        assert sum(asked) == len(set(before) & set(after)) - differ, (
            "only rows that may have changed elsewhere are read"
        )
