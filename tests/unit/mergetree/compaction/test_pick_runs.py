"""What universal compaction picks, as scenarios.

Runs are written newest first as `L<level>:<size>`; `!` marks a run that holds deletes. The expected pick is written
`<number of runs> -> L<output level>`, with `drop` when deletes go.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.files import meta

from tablestore_engine.mergetree.compaction.levels import SortedRun
from tablestore_engine.mergetree.compaction.pick_runs import UniversalOptions, pick, pick_full, pick_unmerged

OPTIONS = UniversalOptions(run_trigger=3, max_size_amplification_percent=200, size_ratio=1, num_levels=6)


def runs_of(text):
    runs = []
    for number, word in enumerate(text.split()):
        level, size = word.rstrip("!").removeprefix("L").split(":")
        deletes = int(word.endswith("!"))
        runs.append(SortedRun(int(level), (meta(f"f{number}", level=int(level), size=int(size), deletes=deletes),)))
    return runs


def rendered(unit):
    if unit is None:
        return "nothing"
    return f"{len(unit.runs)} -> L{unit.output.level}" + (" drop" if unit.output.drop_deletes else "")


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        # Below the trigger nothing is due, however the sizes are.
        ("", "nothing"),
        ("L5:1", "nothing"),
        ("L0:100 L5:1", "nothing"),
        # Size amplification: what lies above outweighs the oldest run twice.
        ("L0:10 L0:300 L5:100", "3 -> L5 drop"),
        ("L0:1 L0:200 L5:100", "3 -> L5 drop"),
        # Size ratio: runs of about one size, until a bigger one follows.
        ("L0:10 L0:10 L3:40 L5:400", "2 -> L2"),
        ("L0:10 L0:10 L4:20 L5:400", "3 -> L4"),
        ("L0:10 L0:10 L0:10 L5:4000", "3 -> L4"),
        ("L0:10 L0:10 L3:20 L4:80 L5:4000", "3 -> L3"),
        # 1 % of slack.
        ("L0:100 L0:101 L5:4000", "2 -> L4"),
        # At the trigger, without runs of like size: nothing.
        ("L0:1 L0:10 L5:1000", "nothing"),
        # Above it the newest go, and those of their size.
        ("L0:1 L0:10 L4:100 L5:1000", "2 -> L3"),
        ("L0:1 L0:10 L0:100 L4:300 L5:4000", "3 -> L3"),
        ("L0:1 L0:10 L3:11 L4:300 L5:4000", "3 -> L3"),
        # A merge never lands on level 0: it takes the next run too.
        ("L0:10 L0:10 L1:100 L5:4000", "3 -> L4"),
        ("L0:10 L0:10 L0:1000 L0:4000", "4 -> L5 drop"),
        ("L0:5 L0:5 L0:11 L0:12 L1:300 L5:4000", "5 -> L4"),
        # Everything taken is everything merged, so deletes go.
        ("L0:10 L0:10 L5:20", "3 -> L5 drop"),
    ],
)
def test_scenarios(runs, expected):
    assert rendered(pick(runs_of(runs), OPTIONS)) == expected


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ("", "nothing"),
        ("L5:10", "nothing"),
        ("L5:10!", "1 -> L5 drop"),
        ("L0:10", "1 -> L5 drop"),
        ("L4:10", "1 -> L5 drop"),
        ("L0:1 L5:1000", "2 -> L5 drop"),
    ],
)
def test_full(runs, expected):
    assert rendered(pick_full(runs_of(runs), OPTIONS)) == expected


def test_deletes_that_must_stay_are_no_reason_to_rewrite():
    options = UniversalOptions(num_levels=6, keep_deletes=True)
    assert pick_full(runs_of("L5:10!"), options) is None
    assert rendered(pick_full(runs_of("L0:1! L5:10"), options)) == "2 -> L5"
    assert rendered(pick(runs_of("L0:1 L0:1 L0:1 L0:1 L5:1"), options)) == "5 -> L5"


HOUR = 3_600_000


@pytest.mark.parametrize(
    ("thresholds", "runs", "expected"),
    [
        # While a bucket is small it is kept in one run, long before the trigger.
        ({"total_size_threshold": 100}, "L0:1 L5:98", "2 -> L5 drop"),
        ({"total_size_threshold": 100}, "L0:1 L5:99", "nothing"),
        ({"total_size_threshold": 100}, "L0:1 L0:1", "2 -> L5 drop"),
        ({"total_size_threshold": 100}, "L0:1", "nothing"),
        ({"total_size_threshold": 100}, "", "nothing"),
        # What lies outside the top level, however big that is.
        ({"incremental_size_threshold": 10}, "L0:5 L3:6 L5:4000", "3 -> L5 drop"),
        ({"incremental_size_threshold": 10}, "L0:10 L5:4000", "nothing"),
        ({"incremental_size_threshold": 10}, "L0:11 L4:1", "2 -> L5 drop"),
        # At the trigger the other reasons count as before.
        ({"incremental_size_threshold": 1000}, "L0:10 L0:10 L3:40 L5:400", "2 -> L2"),
        # The made-up files are of 1970: `now` decides their age.
        ({"optimization_interval_millis": HOUR - 1}, "L0:1 L5:4000", "2 -> L5 drop"),
        ({"optimization_interval_millis": HOUR}, "L0:1 L5:4000", "nothing"),
        ({"optimization_interval_millis": HOUR - 1}, "L5:4000", "nothing"),
        # Nothing at the top level: the bucket never was one run.
        ({"optimization_interval_millis": HOUR}, "L0:1 L4:4000", "2 -> L5 drop"),
    ],
)
def test_early_full_compaction(thresholds, runs, expected):
    assert rendered(pick(runs_of(runs), replace(OPTIONS, **thresholds), HOUR)) == expected


def test_an_early_full_compaction_keeps_deletes_where_all_do():
    options = replace(OPTIONS, total_size_threshold=100, keep_deletes=True)
    assert rendered(pick(runs_of("L0:1! L5:1"), options)) == "2 -> L5"


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ("", "nothing"),
        ("L5:10", "nothing"),
        ("L0:1 L5:1000", "nothing"),
        ("L3:10 L4:10 L5:10", "nothing"),
        # Long before the trigger, and however the sizes are.
        ("L0:1 L0:100 L5:1000", "2 -> L4"),
        ("L0:100 L0:1 L3:200 L5:1000", "2 -> L2"),
        # What is as big as they are comes along.
        ("L0:5 L0:5 L3:10 L5:1000", "3 -> L4"),
        ("L0:5 L0:5", "2 -> L5 drop"),
        # Never onto level 0.
        ("L0:5 L0:5 L1:100 L5:4000", "3 -> L4"),
    ],
)
def test_unmerged_runs_are_picked(runs, expected):
    assert rendered(pick_unmerged(runs_of(runs), OPTIONS)) == expected


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        # Runs without retractions merge among themselves, whatever lies below.
        ("L0:10 L0:10 L3:40! L5:400", "2 -> L2"),
        # Those with some go down with all that they may take back.
        ("L0:10! L0:10 L3:40 L5:400", "4 -> L5 drop"),
        ("L0:10 L0:10! L4:20 L5:400", "4 -> L5 drop"),
    ],
)
def test_retractions_that_settle_only_together(runs, expected):
    assert rendered(pick(runs_of(runs), replace(OPTIONS, settle_together=True))) == expected
    assert rendered(pick_unmerged(runs_of(runs), replace(OPTIONS, settle_together=True))) == expected


@pytest.mark.parametrize("runs", ["L0:10 L0:10 L3:40 L5:400", "L0:10 L0:10 L5:20", "L0:5 L0:5 L3:10 L5:1000"])
def test_records_that_fold_only_from_the_oldest_on(runs):
    expected = f"{len(runs.split())} -> L5 drop"
    assert rendered(pick(runs_of(runs), replace(OPTIONS, from_oldest=True))) == expected
    assert rendered(pick_unmerged(runs_of(runs), replace(OPTIONS, from_oldest=True))) == expected


@st.composite
def buckets(draw):
    top = draw(st.integers(2, 8)) - 1
    sizes = st.integers(0, 1000)
    runs = [f"L0:{size}" for size in draw(st.lists(sizes, max_size=8))]
    runs += [f"L{level}:{draw(sizes)}" for level in sorted(draw(st.sets(st.integers(1, top))))]
    return runs_of(" ".join(runs)), top


@given(buckets(), st.integers(1, 6), st.integers(0, 300), st.integers(0, 100))
def test_a_picked_unit_keeps_the_tree_in_order(bucket, trigger, amplification, ratio):
    runs, top = bucket
    unit = pick(runs, UniversalOptions(trigger, amplification, ratio, top + 1))
    if unit is None:
        return
    assert len(runs) >= trigger
    taken = len(unit.runs)
    assert unit.runs == tuple(runs[:taken]), "only the newest runs, in order"
    assert 0 < unit.output.level <= top
    rest = runs[taken:]
    assert all(run.level > unit.output.level for run in rest), "older runs stay below"
    assert unit.output.drop_deletes == (not rest), "a delete may go only when nothing older is left"


@given(buckets())
def test_full_leaves_one_run_at_the_top(bucket):
    runs, top = bucket
    unit = pick_full(runs, UniversalOptions(num_levels=top + 1))
    if unit is None:
        assert not runs or [run.level for run in runs] == [top]
    else:
        assert (unit.runs, unit.output.level, unit.output.drop_deletes) == (tuple(runs), top, True)


def test_compacting_again_and_again_bounds_the_runs():
    options = UniversalOptions(run_trigger=5, num_levels=6)
    runs: list[SortedRun] = []
    for number in range(300):
        runs.insert(0, SortedRun(0, (meta(f"w{number}", size=10),)))
        unit = pick(runs, options)
        if unit:
            size = sum(run.size for run in unit.runs)
            merged = SortedRun(unit.output.level, (meta(f"c{number}", level=unit.output.level, size=size),))
            runs = [merged, *runs[len(unit.runs) :]]
        assert len(runs) <= options.run_trigger + 1
