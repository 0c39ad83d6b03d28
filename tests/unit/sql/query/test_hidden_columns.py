"""Which hidden columns the expressions of a statement name, and what a query with them reads."""

from __future__ import annotations

import pytest
from support.bound import bound

from tablestore_engine.sql.query.bind import references
from tablestore_engine.sql.query.hidden_columns import hidden_names


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["v > 1", None], ()),
        (["__paimon_bucket = 1 AND t.__PAIMON_ROW_INDEX < 3"], ("__paimon_row_index", "__paimon_bucket")),
        (["coalesce(`__paimon_partition`.p, 1) = 1", "__paimon_bucket"], ("__paimon_partition", "__paimon_bucket")),
        (["v = '__paimon_bucket' -- __paimon_bucket"], ()),
        (["id IN (SELECT __paimon_bucket FROM o) OR (__paimon_file_path) IS NULL"], ("__paimon_file_path",)),
    ],
)
def test_names(texts, expected):
    assert hidden_names(texts) == expected


HIDDEN = {
    "select *, __paimon_bucket from t": "select * EXCEPT (t.__paimon_bucket), __paimon_bucket from `@main.t` AS t",
    "select t.*, t.__Paimon_Bucket from t, u": (
        "select t.* EXCEPT (t.__paimon_bucket), t.__Paimon_Bucket from `@main.t` AS t, `@main.u` AS u"
    ),
    "select * except (a), count(*) from t x where x.__paimon_row_index > a * 2": (
        "select * except (`x`.__paimon_row_index, a), count(*) from `@main.t` x where x.__paimon_row_index > a * 2"
    ),
    "select * from (select * from t where __paimon_bucket = 0) join u": (
        "select * EXCEPT (u.__paimon_bucket) from (select * EXCEPT (t.__paimon_bucket) from `@main.t` AS t"
        " where __paimon_bucket = 0) join `@main.u` AS u"
    ),
    "select s.t.*, s.t.__paimon_bucket from s.t": (
        "select t.* EXCEPT (t.__paimon_bucket), t.__paimon_bucket from `@s.t` AS t"
    ),
    "from t |> select *, __paimon_bucket": "from `@main.t` AS t |> select *, __paimon_bucket",
    "select '__paimon_bucket', * from t": "select '__paimon_bucket', * from `@main.t` AS t",
}


@pytest.mark.parametrize("query", HIDDEN)
def test_stars_leave_hidden_columns_out(query: str) -> None:
    assert bound(query) == HIDDEN[query]


def test_hidden_columns_belong_to_the_tables_that_may_mean_them() -> None:
    found = references("select t.__paimon_bucket, (select max(__paimon_partition.p) from u) from t natural join v")
    assert [one.hidden for one in found] == [("__paimon_partition",), (), ()]
    found = references("select __paimon_bucket, t.__paimon_file_path from t join u")
    assert [one.hidden for one in found] == [("__paimon_file_path", "__paimon_bucket"), ("__paimon_bucket",)]
