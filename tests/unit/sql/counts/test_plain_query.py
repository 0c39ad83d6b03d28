"""Which texts are whole queries of the grammar of counts: whatever else is in a text, Spark has to read it."""

from __future__ import annotations

import pytest

from tablestore_engine.sql.counts.plain_query import is_plain_query
from tablestore_engine.sql.tokens.lexer import tokenize

PLAIN = [
    "select count(*) from t",
    "select count(*) n, count(1) > 3 as many from a.b.c as x where x.id is null",
    "select * from (select id key, 1, 'a' as text from t where id in (1, 2) and (kind = 'x')) q",
    "with a as (select q.* from t q), b as (select id from a) select count(*) as n from b -- end",
    "select `from` from `where`",
    "select id as key, count(*) as n from t x where id is not null group by x.id, kind having count(*) > 1",
    "select id from t group by id having count(1) > 10",
]
OTHERS = [
    "",
    "select",
    "select count(*)",
    "select count(*) n from",
    "select count(*) n from t,",
    "select count(*) n, from t",
    "select id,, kind from t",
    "select from t",
    "select [1] from t",
    "select id + 1 from t",
    "select f(id) from t",
    "select count(*) n from t x y",
    "select count(*) n from t as",
    "select count(*) n from t join",
    "select count(*) n from t set",
    "select count(*) n from t insert",
    "select count(*) collation from t",
    "select count(*) n from t join u",
    "select count(*) n from t intersect",
    "select count(*) n from t 5",
    "select count(*) n from t..u",
    "select count(*) n from f(1)",
    "select count(*) n from t fetch first 1 rows only",
    "select count(*) n from t on id is null",
    "select count(*) n from t where",
    "select count(*) n from t where id is null )",
    "select count(*) n from (select id from t where id is null",
    "select count(*) n from t version as of 3",
    "select count(*) n from t where i = 300Y",
    "select count(*) n from t where i = 1e400",
    "select count(*) n from t where id = 9999999999999999999999",
    'select count(*) n from t where kind in ("a")',
    "select count(*) n from t where kind = r'a'",
    "select count(*) n from t where é is null",
    "select count(*) n from t where a$b is null",
    "with a as select 1 from t select count(*) n from a",
    "with a (x) as (select id from t) select count(*) n from a",
    "with a as (select id from t), b as (select id from a), A as (select id from b) select count(*) n from a",
    "select count(*) n from t; select 1",
    "select count(*) n from t x as y",
    "select count(*) n from t wher id is null",
    "select count(*) n from t left",
    "select count(*) n from stream t",
    "select count(*) n from t for update",
    "select count(*) n from t with (nolock)",
    "select count(*) n from t :x",
    "select count(*) n from t ?",
    "select count(*) n from t version 1",
    "select count(*) n from t timestamp '2000-01-01'",
    "select count(*) n from (select id from t) version as of 1",
    "select count(*) n from t where id > 2000)",
    "select count(*) n from (select id from t where id > 1000)) x",
    "with y as (nonsense here) select count(*) n from t",
    "with y as () select count(*) n from t",
    "with y as (show tables) select count(*) n from t",
    "with y select count(*) n from t",
    "select count(*) n from t /* unclosed",
    "select count(*) as é from t",
    "select count(*) as a$b from t",
    "select count(*) as user from t",
    "select count(*) > ٣ as z from t",
    "select id from t group by id",
    "select id from t group by id having count(*) > 0",
    "select id from t group by id having count(*) > 1.5",
    "select id from t group by id having count(*) > '1'",
    "select id from t group by id having count(*) >= 1",
    "select id from t group by id having count(*) < 2",
    "select id from t group by id having count(id) > 1",
    "select id from t group by id having count(*) > 1 and id > 3",
    "select id from t group by id having count(*) > 1 order by id",
    "select id from t group by id, having count(*) > 1",
    "select id from t group by 1 having count(*) > 1",
    "select id from t group by all having count(*) > 1",
    "select id from t group by id + 1 having count(*) > 1",
    "select id from t group by id with rollup having count(*) > 1",
    "select id from t group by cube (id) having count(*) > 1",
    "select id from t group id having count(*) > 1",
    "select id from t having count(*) > 1",
    "select id from t where group by id having count(*) > 1",
    "select id from t where id is null group by id having count(*) > 1 group by id having count(*) > 1",
    "select id from t group by id having count(*) > 1 where id is null",
]


@pytest.mark.parametrize("sql", PLAIN)
def test_whole_queries(sql):
    assert is_plain_query(tokenize(sql))


@pytest.mark.parametrize("sql", [*OTHERS, "select id from from t"])
def test_other_texts(sql):
    assert not is_plain_query(tokenize(sql))


def test_hundreds_of_levels_are_left_to_spark():
    deep = f"select count(*) n from {'(select * from ' * 2_000}t{')' * 2_000}"
    assert not is_plain_query(tokenize(deep))
