"""Files grouped by overlapping key intervals."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st
from support.files import meta

from tablestore_engine.mergetree.compaction.sections import key_interval, packed, sections
from tablestore_engine.schema.types.types import parse_type

TYPES = [parse_type("BIGINT NOT NULL")]


def named(found):
    return [sorted(f.file_name for f in section.files) for section in found]


def test_no_files_no_sections():
    assert sections([], TYPES) == []


def test_files_apart_are_sections_of_their_own_in_key_order():
    files = [meta("b", level=5, low=10, high=19), meta("a", level=5, low=0, high=9)]
    found = sections(files, TYPES)
    assert named(found) == [["a"], ["b"]]
    assert not any(s.needs_merge for s in found)


def test_one_common_key_is_enough():
    found = sections([meta("a", level=5, low=0, high=10), meta("b", low=10, high=20)], TYPES)
    assert named(found) == [["a", "b"]]
    assert found[0].needs_merge


def test_overlap_through_a_third_file():
    files = [
        meta("a", level=5, low=0, high=4),
        meta("b", level=5, low=5, high=9),
        meta("over", low=3, high=6),
        meta("c", level=5, low=10, high=12),
    ]
    found = sections(files, TYPES)
    assert named(found) == [["a", "b", "over"], ["c"]]
    assert [f.file_name for f in found[0].runs[-1].files] == ["a", "b"], "files of a run stay in key order"


def test_a_long_file_bounds_the_section_not_the_last_one():
    files = [meta("long", low=0, high=100), meta("short", low=1, high=2), meta("late", low=50, high=60)]
    assert named(sections(files, TYPES)) == [["late", "long", "short"]]


def test_keys_compare_by_value_not_by_bytes():
    types = [parse_type("STRING NOT NULL"), parse_type("INT NOT NULL")]
    file = meta("s", low=("a", -5), high=("b", 300), key_types=types)
    assert key_interval(file, types) == (("a", -5), ("b", 300))
    negative = [meta("n", low=-10, high=-1), meta("p", low=0, high=5)]
    assert named(sections(negative, TYPES)) == [["n"], ["p"]]


@given(st.lists(st.tuples(st.integers(-20, 20), st.integers(0, 8)), max_size=12))
def test_sections_share_no_key_and_lose_no_file(intervals):
    files = [meta(f"f{i}", low=low, high=low + width, sequence=i) for i, (low, width) in enumerate(intervals)]
    found = sections(files, TYPES)
    assert sorted(f.file_name for s in found for f in s.files) == sorted(f.file_name for f in files)
    covered = []
    for section in found:
        keys = {k for f in section.files for k in range(key_interval(f, TYPES)[0][0], key_interval(f, TYPES)[1][0] + 1)}
        assert all(not keys & other for other in covered)
        covered.append(keys)


def test_runs_that_follow_one_another_are_read_as_one():
    files = [meta(f"f{n}", low=n * 10, high=n * 10 + 9, sequence=n) for n in range(4)]
    over = meta("over", level=5, low=0, high=99)
    (section,) = sections([*files, over], TYPES)
    assert len(section.runs) == 5
    found = packed(section.runs, TYPES)
    assert [[f.file_name for f in one] for one in found] == [["f0", "f1", "f2", "f3"], ["over"]]


def test_only_neighbours_in_age_come_together():
    newest, middle, oldest = (
        meta("newest", low=0, high=4, sequence=3),
        meta("middle", low=0, high=9, sequence=2),
        meta("oldest", low=5, high=9, sequence=1),
    )
    (section,) = sections([newest, middle, oldest], TYPES)
    found = packed(section.runs, TYPES)
    assert [[f.file_name for f in one] for one in found] == [["newest"], ["middle"], ["oldest"]]


@given(st.lists(st.tuples(st.integers(-20, 20), st.integers(0, 8)), max_size=12))
def test_packing_keeps_order_of_age_and_of_keys(intervals):
    files = [meta(f"f{i}", low=low, high=low + width, sequence=i) for i, (low, width) in enumerate(intervals)]
    for section in sections(files, TYPES):
        found = packed(section.runs, TYPES)
        assert sorted(f.file_name for one in found for f in one) == sorted(f.file_name for f in section.files)
        for one in found:
            bounds = [key_interval(f, TYPES) for f in one]
            assert all(high < low for (_, high), (low, _) in itertools.pairwise(bounds))
        ages = [[f.max_sequence_number for f in one] for one in found]
        assert all(min(newer) > max(older) for newer, older in itertools.pairwise(ages))
