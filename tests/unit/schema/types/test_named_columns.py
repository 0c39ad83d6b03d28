"""The columns that an expression names."""

from __future__ import annotations

import pytest

from tablestore_engine.schema.types.named_columns import named_columns


@pytest.mark.parametrize(
    ("sql", "named"),
    [
        ("V > 0 AND upper(id) <> 'w'", ["id", "v"]),
        ("v > 0 -- don't\n AND w > 0 /* isn't /* it's */ 'id */", ["v", "w"]),
        (r"v <> r'\' AND w <> 'id \' id' AND it = ''", ["v", "w"]),
        ("`it's` > 0 AND `W` <> $tag$ v ' $tag$", ["w", "it's"]),
        ("w(id) > 0 AND left(v, 1) = '''id'", ["id", "v"]),
        ("v > 0 /* id", ["v"]),
        ("v > 0 -- w \\\r\n AND id > 0 -- w \\\n w", ["id", "v"]),
    ],
)
def test_names_outside_of_comments_and_strings(sql, named):
    assert named_columns(sql, ("id", "v", "w", "it's")) == named


def test_case_distinguishes_columns_that_differ_in_it_only():
    assert named_columns("id > 0 AND V > 0", ("id", "Id", "v")) == ["id", "v"]
