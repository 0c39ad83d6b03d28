"""The columns of a view are found in its query by name."""

from __future__ import annotations

import pytest

from tablestore_engine.errors import BrokenViewError
from tablestore_engine.sql.query.view_columns import positions


@pytest.mark.parametrize(
    ("stored", "found", "expected"),
    [
        (["id", "first", "last"], ["id", "first", "last"], (0, 1, 2)),
        (["id", "first", "last"], ["id", "last", "first"], (0, 2, 1)),
        (["id", "first"], ["new", "ID", "other", "First"], (1, 3)),
        (["id", "id", "v"], ["v", "id", "id"], (1, 2, 0)),
        (["count(1)"], ["day", "count(1)"], (1,)),
        ([], ["a"], ()),
    ],
)
def test_columns_are_found_by_name(stored, found, expected):
    assert positions("d.v", stored, found) == expected


@pytest.mark.parametrize(
    ("stored", "found", "words"),
    [
        (["id", "v"], ["id", "w"], "no column 'v' now. It has: id, w."),
        (["id", "v"], ["id"], "no column 'v' now. It has: id."),
        (["id", "v"], ["id", "v", "ID"], "had 1 and now has 2 columns named 'id'."),
        (["id", "id"], ["id", "v"], "had 2 and now has 1 columns named 'id'."),
    ],
)
def test_a_column_that_was_dropped_or_became_two(stored, found, words):
    with pytest.raises(BrokenViewError) as caught:
        positions("d.v", stored, found)
    assert str(caught.value).startswith("View 'd.v' cannot be read any more: ")
    assert words in str(caught.value)
