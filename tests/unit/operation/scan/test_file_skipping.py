"""Which files may hold rows of a predicate, for how many rows a comparison certainly holds, and how many nulls columns
have, by statistics."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.append_deletion_vectors import prepared_delete
from support.soak import examples
from support.tables import make_table, write

from tablestore_engine.operation.scan.file_skipping import certain_rows, files_may_match, null_counts
from tablestore_engine.operation.scan.stats_may_match import Bounds, may_match
from tablestore_engine.schema.table.predicate import And, Compare, In, IsNotNull, IsNull, Or
from tablestore_engine.schema.table.schema_changes import AddColumn, DropColumn, RetypeColumn, SetOption
from tablestore_engine.schema.types.types import parse_type


@pytest.fixture
def table(tmp_path):
    """Files of ids 1 to 3 (v 1 to 3), 4 to 5 (v 4, null), 6 to 7 (v 6, 7), and 8 to 9, two files that are merged."""
    table = make_table(tmp_path, {"id": "INT", "v": "INT"}, ["id"], options={"bucket": "1", "write-only": "true"})
    for ids in ([1, 2, 3], [6, 7], [8, 9], [8, 9]):
        write(table, [{"id": i, "v": i} for i in ids])
    write(table, [{"id": 4, "v": 4}, {"id": 5, "v": None}])
    return table


@pytest.mark.parametrize(
    ("column", "op", "value", "rows"),
    [
        ("v", ">", 0, 5),
        ("v", ">", 1, 2),
        ("V", ">=", 1, 5),
        ("v", "<", 100, 5),
        ("v", "<=", 3, 3),
        ("v", "=", 6, 0),
        ("v", ">", "0", 0),
        ("other", ">", 0, 0),
        ("id", ">", 0, 7),
    ],
)
def test_rows_of_whole_files_count(table, column, op, value, rows):
    assert certain_rows(table.scan(), Compare(column, op, value), table.state.schemas.load) == rows


def test_files_without_a_key_count_each(tmp_path):
    table = make_table(tmp_path, {"id": "INT"}, options={"deletion-vectors.enabled": "true"})
    for ids in ([1, 2, 3], [3, 4], [6, 7], [6, 8, 9]):
        write(table, [{"id": i} for i in ids])
    prepared_delete(table, [8])()
    assert certain_rows(table.scan(), Compare("id", ">", 2), table.state.schemas.load) == 4


def test_deletes_do_not_count(table):
    write(table, [{"id": 20, "v": 1}, {"id": 21, "v": 1}], kinds=[0, 3])
    assert certain_rows(table.scan(), Compare("id", ">", 10), table.state.schemas.load) == 0


def test_nulls_are_counted_in_files_of_every_schema(tmp_path):
    """The column is first, then second, has no statistics, and has another type; a file is older than it."""
    table = make_table(tmp_path, {"other": "INT"})
    write(table, [{"other": None}])
    for change, rows in (
        (AddColumn("v", parse_type("INT")), [{"other": 1, "v": None}, {"other": 1, "v": None}, {"other": 1, "v": 2}]),
        (DropColumn("other"), [{"v": None}, {"v": 1}]),
        (SetOption("metadata.stats-mode", "none"), [{"v": None}]),
        (SetOption("metadata.stats-mode", "full"), [{"v": 1}]),
        (RetypeColumn("v", parse_type("BIGINT")), [{"v": None}]),
    ):
        table = table.alter(change)
        write(table, rows)
    files = [entry.file for entry in table.live_files()]
    counts = list(null_counts(files, table.schema, table.state.schemas.load, "v"))
    assert counts == [None, None, None, None, None, 1], "of the type of today"
    before = table.state.schemas.load(table.schema.id - 1)
    assert list(null_counts(files, before, table.state.schemas.load, "v")) == [None, 2, 1, None, 0, None]


LEAVES = [
    *(Compare(name, op, value) for name in "avw" for op in ("=", "<", "<=", ">", ">=") for value in (1, 3)),
    *(Compare("s", op, "m") for op in ("=", "<", ">=")),
    In("v", (2, 5)),
    IsNull("v"),
    IsNotNull("v"),
    IsNotNull("w"),
    IsNull("s"),
]
STEPS = (
    None,
    AddColumn("w", parse_type("INT")),
    SetOption("metadata.stats-mode", "none"),
    SetOption("metadata.stats-mode", "full"),
    DropColumn("a"),
    AddColumn("a", parse_type("INT")),
    RetypeColumn("v", parse_type("BIGINT")),
)


@pytest.fixture(scope="module")
def evolved(tmp_path_factory):
    """A table; its files, the rows of each as they are read today, and of which columns there are statistics."""
    table, rows_of = make_table(tmp_path_factory.mktemp("t"), {"a": "INT", "v": "INT", "s": "STRING"}), {}
    for number, step in enumerate(STEPS):
        table = table if step is None else table.alter(step)
        null_today = {name for name, since in (("w", 1), ("a", 5)) if number < since}
        without = {"v", "s", "w"} if number == 2 else set()
        for first in range(5):
            values = [None if (first + at) % 4 == 3 else first + at for at in range(1 + first % 3)]
            texts = [None if one is None else "kmop"[one % 4] * 9 for one in values]
            rows = [{"a": v, "v": v, "w": number, "s": text} for v, text in zip(values, texts, strict=True)]
            write(table, [{name: row[name] for name in table.schema.field_names} for row in rows])
            read = [{name: None if name in null_today else row[name] for name in row} for row in rows]
            for entry in table.live_files():
                rows_of.setdefault(entry.file.file_name, (read, without))
    return table, [(entry.file, *rows_of[entry.file.file_name]) for entry in table.live_files()]


@settings(max_examples=examples(60), deadline=None)
@given(
    st.recursive(
        st.sampled_from(LEAVES),
        lambda inner: st.builds(
            lambda kind, parts: kind(tuple(parts)), st.sampled_from([And, Or]), st.lists(inner, min_size=1, max_size=3)
        ),
        max_leaves=5,
    ),
    st.none() | st.frozensets(st.sampled_from("avws")),
    st.randoms(use_true_random=False),
)
def test_files_of_every_schema_are_decided_by_their_rows(evolved, predicate, only, order):
    """By bounds that a naive look at the rows finds, in whatever order the files are."""
    table, files = evolved
    files = order.sample(files, len(files))

    def may(rows, without):
        def bounds(name):
            if name in without or (only is not None and name not in only):
                return None
            known = [row[name] for row in rows if row[name] is not None]
            found = Bounds(min(known, default=None), max(known, default=None), len(rows) - len(known), len(rows))
            return table.schema.field(name).type, found

        return may_match(predicate, bounds)

    expected = [may(rows, without) for _, rows, without in files]
    found = files_may_match([file for file, *_ in files], predicate, table.schema, table.state.schemas.load, only)
    assert found == expected
