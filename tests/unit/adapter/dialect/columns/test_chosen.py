"""COLUMNS(…) written out."""

from __future__ import annotations

import pytest
from support.one_line import one_line

from dbt.adapters.tablestore.dialect.translate import translate


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select columns('^a') from s.t", "SELECT `a1`, `a2` FROM s.t"),
        ("select max(columns(* exclude (a2))) from s.t", "SELECT MAX(`a1`) AS `a1`, MAX(`b`) AS `b` FROM s.t"),
        ("select columns('b') * 2 as c from s.t", "SELECT `b` * 2 AS c FROM s.t"),
        ("select 1 as x from s.t where columns('a') > 0", "SELECT 1 AS x FROM s.t WHERE `a1` > 0 AND `a2` > 0"),
        ("select columns(['a2', 'B']) from s.t", "SELECT `a2`, `b` FROM s.t"),
        ("select columns(c -> c != 'a1' and not starts_with(c, 'b')) from s.t", "SELECT `a2` FROM s.t"),
        ("select min(columns(lambda c: c like 'a_' or upper(c) in ('B'))) from s.t",
         "SELECT MIN(`a1`) AS `a1`, MIN(`a2`) AS `a2`, MIN(`b`) AS `b` FROM s.t"),
        ("select columns(c -> regexp_matches(c, '2$') and length(c) >= 2) from s.t", "SELECT `a2` FROM s.t"),
        ("select columns(u.*) from s.t join s.u on t.b = u.b",
         "SELECT u.`a1`, u.`a2`, u.`b` FROM s.t JOIN s.u ON t.b = u.b"),
    ],
)  # fmt: skip
def test_an_item_is_written_for_each_column(text, expected):
    made = translate(text, "duckdb", lambda parts: {"a1": "int", "a2": "int", "b": "int"})
    assert one_line(made) == expected
