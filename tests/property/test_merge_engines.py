"""Random histories of tables with merge engines against a naive fold of all records in order.

Whatever is flushed and compacted when, reading gives what folding the whole history gives; for the steps see `player`.
`make soak` plays thousands.
"""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from datetime import date
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support import naive_folds as naive
from support.histories import THOROUGH
from support.merge_engine_histories import (
    AFTER,
    ANY_ORDER,
    BEFORE,
    DELETE,
    FOLDS,
    INSERT,
    INTS,
    LISTS,
    MAPS,
    PLAIN,
    ROWS,
    TEXTS,
    TIMED,
    engine_options,
    histories,
)
from support.player import WRITES, Player
from support.player import play as played
from support.scratch import scratch_directory
from support.tables import compact, make_table, read, write

from tablestore_engine.operation.compact import compact_bucket as compaction
from tablestore_engine.operation.write import write_task as writing


def as_dicts(row, names):
    """Maps come as lists of pairs."""
    return {n: dict(v) if n in names and v is not None else v for n, v in row.items()}


def in_any_order(value, kind):
    """Nested rows come in any order."""
    return (
        sorted(value, key=lambda row: repr(row and sorted(row.items())))
        if kind is ROWS and value is not None
        else value
    )


@contextmanager
def rows_in_pieces(size):
    """Rows reach the writer as several tables, as from Spark."""
    whole = writing.write_sorted

    def in_pieces(job, tables, task):
        return whole(job, (t.slice(i, size) for t in tables for i in range(0, t.num_rows, size)), task)

    with mock.patch.object(writing, "write_sorted", in_pieces):
        yield


def play(columns, options, history, expected):
    """Run a history; after each step the rows are what `expected` makes of each key's records (None: no row)."""
    more, steps, piece = history
    maps = [name for name, kind in columns.items() if kind is MAPS or kind is TIMED]

    def settled(row):
        return {n: in_any_order(v, columns.get(n)) for n, v in as_dicts(row, maps).items()}

    def rows_of(records):
        by_key = {}
        for row, kind in records:
            by_key.setdefault((row["p"], row["id"]), []).append((kind, row))
        folded_rows = {key: expected(of_key) for key, of_key in by_key.items()}
        return [settled({"p": p, "id": n, **row}) for (p, n), row in folded_rows.items() if row is not None]

    def shown(rows):
        return sorted(map(settled, rows), key=lambda row: (row["p"], row["id"]))

    # Few runs are merged at once, so that there are passes.
    in_passes = mock.patch.object(compaction, "MOST_SEQUENCES", max(2, piece))
    with scratch_directory("history-") as directory, rows_in_pieces(piece), in_passes:
        typed, keys = {"p": "INT", "id": "INT", **columns}, ["p", "id"]
        table = make_table(directory, typed, keys, ["p"], {**more, **options})
        player = Player(table, pieces=piece)
        played(player, steps, rows_of, shown)


def folded(chosen, ignoring, records):
    """The naive row of some records."""
    row = {}
    for i, (function, _, _, more) in enumerate(chosen):
        column = [(kind in (BEFORE, DELETE), given[f"v{i}"]) for kind, given in records]
        if ignoring[i] and function == "first_value":
            column = [(False, None if back else value) for back, value in column]
        elif ignoring[i]:
            column = [(back, value) for back, value in column if not back]
        row[f"v{i}"] = naive.fold(function, more, column, alone=len(records) == 1)
    return row


def draw_aggregation(data, folds):
    chosen = data.draw(st.lists(st.sampled_from(folds), min_size=1, max_size=4), label="folds")
    ignoring = [data.draw(st.integers(0, 3), label="ignore-retract") == 0 for _ in chosen]
    return (
        chosen,
        ignoring,
        all(ignores or one[0] in naive.RETRACTABLE for one, ignores in zip(chosen, ignoring, strict=True)),
    )


@THOROUGH
@given(st.data(), st.sampled_from([FOLDS, PLAIN]))
def test_aggregation(data, folds):
    chosen, ignoring, retractable = draw_aggregation(data, folds)
    removes = data.draw(st.booleans(), label="remove-record-on-delete")
    kinds = [INSERT, AFTER, *([BEFORE] if retractable else []), *([DELETE] if retractable or removes else [])]
    history = data.draw(histories({f"v{i}": one[2] for i, one in enumerate(chosen)}, kinds))
    options = engine_options(chosen, ignoring)
    if removes:
        options["aggregation.remove-record-on-delete"] = "true"

    def expected(records):
        if removes:
            deleted = [i for i, (kind, _) in enumerate(records) if kind == DELETE]
            records = records[deleted[-1] + 1 :] if deleted else records
        return folded(chosen, ignoring, records) if records else None

    play({f"v{i}": one[1] for i, one in enumerate(chosen)}, options, history, expected)


@THOROUGH
@given(st.data())
def test_changelogs_of_rows(data):
    """The changelog of a database: each change retracts the row that was there."""
    chosen = data.draw(st.lists(st.sampled_from(PLAIN), min_size=1, max_size=3), label="folds")
    ignoring = [False] * len(chosen)
    options, steps, piece = data.draw(histories({f"v{i}": one[2] for i, one in enumerate(chosen)}, [INSERT, DELETE]))
    rows, changes = {}, []
    for verb, what in steps:
        batch = what
        if verb in WRITES:
            batch = []
            for row, kind in what:
                key = (row["p"], row["id"])
                if key in rows:
                    batch.append((rows.pop(key), DELETE if kind == DELETE else BEFORE))
                if kind == INSERT:
                    batch.append((row, AFTER))
                    rows[key] = row
        changes.append((verb, batch))
    play(
        {f"v{i}": one[1] for i, one in enumerate(chosen)},
        engine_options(chosen, ignoring),
        (options, changes, piece),
        lambda records: folded(chosen, ignoring, records),
    )


@THOROUGH
@given(st.data(), st.booleans())
def test_records_in_the_order_of_a_column(data, descending):
    """With `sequence.field`, late records are put where they belong."""
    chosen, ignoring, retractable = draw_aggregation(data, ANY_ORDER)
    retractable = retractable and not any(
        ignores and one[0] == "last_value" for one, ignores in zip(chosen, ignoring, strict=True)
    )
    kinds = [INSERT, AFTER, *([BEFORE, DELETE] if retractable else [])]
    columns = {"at": st.integers(0, 3), **{f"v{i}": one[2] for i, one in enumerate(chosen)}}
    options, steps, piece = data.draw(histories(columns, kinds))
    if retractable:
        # A record that is late for a retraction may come after it, once the retraction has left null. Rows that
        # overtake others of their own step would be late for these, and so are, with deletion vectors, all that
        # others overtook.
        if "deletion-vectors.enabled" in options:
            steps = [("write" if verb == "begin" else verb, what) for verb, what in steps]
        writes = itertools.count()
        for verb, what in steps:
            at = next(writes) // 2
            for row, _ in what if verb in WRITES else []:
                row["at"] = (-1 if descending else 1) * at
                at = at if verb in ("race", "overtaken") else next(writes) // 2
    history = options, steps, piece
    options = {**engine_options(chosen, ignoring), "sequence.field": "at"}
    options["sequence.field.sort-order"] = "descending" if descending else "ascending"

    def expected(records):
        def sort_key(record):
            at = record[1]["at"]
            return (at is not None, (-at if descending else at) if at is not None else 0)

        ordered = sorted(records, key=sort_key)
        kind, last = ordered[-1]
        return {"at": None if kind in (BEFORE, DELETE) else last["at"], **folded(chosen, ignoring, ordered)}

    play({"at": "INT", **{f"v{i}": one[1] for i, one in enumerate(chosen)}}, options, history, expected)


@THOROUGH
@given(histories({"v0": TEXTS, "v1": st.integers(0, 3)}, [INSERT, AFTER, BEFORE, DELETE]), st.booleans())
def test_partial_update(history, removes):
    """Deletes are left out, or remove the row."""
    option = "remove-record-on-delete" if removes else "ignore-delete"

    def expected(records):
        deleted = [i for i, (kind, _) in enumerate(records) if kind == DELETE]
        if removes and deleted:
            records = records[deleted[-1] + 1 :]
        rows = [(False, row) for kind, row in records if kind in (INSERT, AFTER)]
        if not rows:
            return None
        last = "last_non_null_value"
        return {n: naive.fold(last, {}, [(back, row[n]) for back, row in rows]) for n in ("v0", "v1")}

    options = {"merge-engine": "partial-update", f"partial-update.{option}": "true"}
    play({"v0": "STRING", "v1": "INT"}, options, history, expected)


@THOROUGH
@given(
    histories({"v": st.integers(0, 9)}, [INSERT, DELETE], vectors=True),
    st.lists(st.tuples(st.integers(1, 9), st.sampled_from([INSERT, INSERT, DELETE])), min_size=4, max_size=8),
)
def test_writers_that_are_first_to_fill_a_table_at_once(history, first):
    """A delete and what follows it stay apart until they are merged with what another one has written."""
    more, steps, piece = history
    steps = [("race", [({"p": 0, "id": 0, "v": v}, kind) for v, kind in first]), *steps]

    def expected(records):
        deleted = [i for i, (kind, _) in enumerate(records) if kind == DELETE]
        rows = [(False, row["v"]) for _, row in records[deleted[-1] + 1 if deleted else 0 :]]
        return {"v": naive.fold("sum", {}, rows)} if rows else None

    options = {"merge-engine": "aggregation", "fields.v.aggregate-function": "sum"}
    options["aggregation.remove-record-on-delete"] = "true"
    play({"v": "INT"}, options, (more, steps, piece), expected)


GROUPS = {("g",): ["a", "b", "total"], ("h", "i"): ["c", "most", "number"]}
GROUP_COLUMNS = {
    "g": ("INT", st.integers(0, 3)), "a": ("STRING", TEXTS), "b": (INTS, LISTS),
    "total": ("INT", st.integers(-3, 3)), "h": ("INT", st.integers(0, 1)),
    "i": ("DATE", st.sampled_from([date(2024, 1, 1), date(2024, 1, 2)])), "c": ("STRING", TEXTS),
    "most": ("INT", st.integers(0, 5)), "number": ("BIGINT", st.integers(0, 5)), "free": ("STRING", TEXTS),
}  # fmt: skip
GROUP_FUNCTIONS = {"total": "sum", "most": "max", "number": "count"}


def with_groups(records, removing=()):
    """Sequence groups, record by record in the order of arrival; in `removing` ones a delete removes the row.

    A retraction without a row has no effect."""
    row, shows = dict.fromkeys(GROUP_COLUMNS), False
    for kind, given_row in records:
        back = kind in (BEFORE, DELETE)
        if back and not shows:
            continue
        if kind == DELETE and any(naive.in_time(given_row, row, sequence) for sequence in removing):
            row, shows = dict.fromkeys(GROUP_COLUMNS), False
            continue
        shows = True
        if not back and given_row["free"] is not None:
            row["free"] = given_row["free"]
        for sequence, members in GROUPS.items():
            new = [given_row[n] for n in sequence]
            if all(v is None for v in new):
                continue
            newer = naive.not_before(new, [row[n] for n in sequence])
            for name in members:
                if name in GROUP_FUNCTIONS:
                    if not (back and name == "most"):
                        row[name] = naive.step(GROUP_FUNCTIONS[name], {}, row[name], back, given_row[name])
                elif newer:
                    row[name] = None if back else given_row[name]
            if newer:
                row |= {n: given_row[n] for n in sequence}
    return row if shows else None


def play_groups(history, removing):
    options = {"merge-engine": "partial-update", "fields.most.ignore-retract": "true"}
    options |= {f"fields.{','.join(g)}.sequence-group": ",".join(members) for g, members in GROUPS.items()}
    options |= {f"fields.{n}.aggregate-function": function for n, function in GROUP_FUNCTIONS.items()}
    if removing:
        options["partial-update.remove-record-on-sequence-group"] = ",".join(group[-1] for group in removing)
    columns = {n: kind for n, (kind, _) in GROUP_COLUMNS.items()}
    play(columns, options, history, lambda records: with_groups(records, removing))


@THOROUGH
@given(
    histories({n: one for n, (_, one) in GROUP_COLUMNS.items()}, [INSERT, AFTER, BEFORE, DELETE]),
    st.sampled_from([(), (("g",),), (("h", "i"),), (("g",), ("h", "i"))]),
)
def test_sequence_groups(history, removing):
    play_groups(history, removing)


@THOROUGH
@given(
    histories({n: one for n, (_, one) in GROUP_COLUMNS.items()}, [BEFORE, BEFORE, DELETE, AFTER]),
    st.sampled_from([(), (("g",),)]),
)
def test_retractions_that_come_first(history, removing):
    """The newest runs merge again and again above one that has rows of few keys."""
    options, steps, piece = history
    given_row = {"p": 0, "id": 0, **dict.fromkeys(GROUP_COLUMNS), "g": 1, "total": 2}
    steps = [one for step in steps if step[0] != "full" for one in (step, ("newest", 2))]
    play_groups(({**options, "bucket": "1"}, [("write", [(given_row, INSERT)]), *steps], piece), removing)


PLANNED_BEFORE_A_WRITE = [
    *(("write", [({"p": 0, "id": 0, "v0": text}, INSERT)]) for text in ("first", "second")),
    ("schedule", "minor"),
    ("write", [({"p": 0, "id": 0, "v0": "third"}, INSERT)]),
    ("run", None),
]


@THOROUGH
@given(histories({"v0": TEXTS}, [INSERT, AFTER, BEFORE, DELETE]))
@example(({"bucket": "1", "num-sorted-run.compaction-trigger": "2"}, PLANNED_BEFORE_A_WRITE, 1))
def test_first_row(history):
    def expected(records):
        rows = [row for kind, row in records if kind in (INSERT, AFTER)]
        return {"v0": rows[0]["v0"]} if rows else None

    options = {"merge-engine": "first-row", "ignore-delete": "true", "deletion-vectors.enabled": "false"}
    play({"v0": "STRING"}, options, history, expected)


@THOROUGH
@given(histories({"v0": TEXTS}, [INSERT, AFTER, BEFORE, DELETE]))
def test_updates_before_left_out(history):
    def expected(records):
        kept = [(kind, row) for kind, row in records if kind != BEFORE]
        return {"v0": kept[-1][1]["v0"]} if kept and kept[-1][0] != DELETE else None

    play({"v0": "STRING"}, {"ignore-update-before": "true"}, history, expected)


@pytest.mark.parametrize("compacted", [True, False])
def test_a_sum_that_fits_only_in_the_end(tmp_path, compacted):
    """Partial sums must not overflow where the column's type holds them; the order decides, as in the fold."""
    options = {"bucket": "1", "merge-engine": "aggregation", "fields.v.aggregate-function": "sum"}
    table = make_table(tmp_path, {"id": "INT", "v": "BIGINT"}, ["id"], options=options)
    for value in (2**62, 2**62 - 1, -(2**62)):
        write(table, [{"id": 1, "v": value}])
    if compacted:
        compact(table)
    assert read(table) == [{"id": 1, "v": 2**62 - 1}]
