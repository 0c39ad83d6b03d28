"""Files of a bucket arranged into sorted runs."""

from __future__ import annotations

from support.files import meta

from tablestore_engine.mergetree.compaction.levels import SortedRun, highest_level, sorted_runs


def names(runs):
    return [[f.file_name for f in run.files] for run in runs]


def test_nothing_is_no_run():
    assert sorted_runs([]) == []
    assert highest_level([]) == 0


def test_every_file_of_level_0_is_a_run_newest_first():
    files = [meta("old", sequence=1), meta("new", sequence=9), meta("middle", sequence=5)]
    assert names(sorted_runs(files)) == [["new"], ["middle"], ["old"]]


def test_equal_sequences_have_a_fixed_order():
    files = [meta("b", sequence=1), meta("a", sequence=1)]
    assert sorted_runs(files) == sorted_runs(files[::-1])


def test_a_wider_run_of_equal_newest_row_is_older():
    files = [meta("wide", sequence=(1, 9)), meta("narrow", sequence=(5, 9))]
    assert names(sorted_runs(files)) == [["narrow"], ["wide"]]


def test_an_upper_level_is_one_run_and_follows_level_0():
    files = [
        meta("c", level=5, low=10, high=19),
        meta("x", sequence=9),
        meta("a", level=3),
        meta("b", level=5),
    ]
    runs = sorted_runs(files)
    assert [run.level for run in runs] == [0, 3, 5]
    assert set(names(runs)[2]) == {"b", "c"}
    assert highest_level(runs) == 5


def test_size_is_the_sum():
    assert SortedRun(1, (meta(size=3), meta(size=4))).size == 7
