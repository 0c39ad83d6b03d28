"""Which tables give the values by which a query joins another one."""

from __future__ import annotations

import pytest

from tablestore_engine.sql.query.bind import references

BY_A = [("few", (("a", "x"),))]
BOTH = [("few", (("a", "x"), ("b", "y")))]
JOINS = {
    "select t.v from big t join few s on t.a = s.x and s.y = t.b": BOTH,
    "select t.v from big t join few s on t.b = s.y where t.a = s.x": BOTH,
    "select t.v from big t, few s where t.a = s.x": BY_A,
    "select t.v from few s left join big t on t.a = s.x": BY_A,
    "select t.v from big t right join few s on t.a = s.x": BY_A,
    "select s.x from few s left anti join big t on s.x = t.a": BY_A,
    "select t.v from big t left semi join few s on t.a = s.x": BY_A,
    # Rows that the join keeps without a partner, and those that OR keeps, are all needed.
    "select t.v from big t left join few s on t.a = s.x": [],
    "select t.v from big t left anti join few s on t.a = s.x": [],
    "select t.v from big t full join few s on t.a = s.x": [],
    "select t.v from big t join few s on t.a = s.x or t.b = s.y": [],
    "select t.v from big t join few s on t.a = s.x + 1": [],
    "select t.v from big t join few s on t.a <=> s.x": [],
    "select t.v from big tablesample (10 rows) t join few s on t.a = s.x": [],
    # Rows are looked for in a query.
    "select v from big where (a, b) in (select x, y from few)": BOTH,
    "select v from big t where c > 1 and t.a in (select distinct s.x AS k from few s where s.y = t.b)": BY_A,
    "select v from big where a in (select x from (select x from few))": [],
    "select v from big where a in (with s as (select x from few) select x from s)": [],
    "with s as (select x as k from few) select v from big where a in (select k from s)": BY_A,
    "select t.v from other o cross join big t where t.a in (select x from few)": BY_A,
    "select v from big where a not in (select x from few)": [],
    "select v from big where a in (select x from few) or b = 1": [],
    "select v from big where a in (select x + 1 from few)": [],
    "select v from big where a in (select x from few union select 1)": [],
    "select v from big where (a, b) in (select 1, x from few)": [("few", (("b", "x"),))],
    "select v from big where (a, b) in (select x, y, v from few)": [],
    "select t.v from few s left join big t on t.a = 1 where t.a in (select x from few)": BY_A,
    # Values of an output column are at most those of the column that it is copied from.
    "with s as (select x as k from few limit 3) select t.v from s join big t on s.k = t.a": BY_A,
    "select 1 from (select x k, count(*) from few group by x) s join big t on s.k = t.a": BY_A,
    "with s as (select x + 1 as k from few) select t.v from s join big t on s.k = t.a": [],
    "with s as (select x as k from few union all select 1) select t.v from s join big t on s.k = t.a": [],
    "with s(k) as (select x from few) select t.v from s join big t on s.k = t.a": [],
    # Through a query that only filters and projects the large table.
    "with t as (select a as q, v from big where v > 1) select t.v from few s join t on s.x = t.q": BY_A,
    "with t as (select max(a) as q from big group by v) select 1 from few s join t on s.x = t.q": [],
    "with t as (select * from big) select t.v from few s join t on s.x = t.a union all select v from t": [],
    # The columns are of two rows of the table.
    "with s as (select * from few) select 1 from big t join s s1 on t.a = s1.x join s s2 on t.b = s2.y": [
        ("few", (("a", "x"),)),
        ("few", (("b", "y"),)),
    ],
}  # fmt: skip


@pytest.mark.parametrize("query", JOINS)
def test_the_tables_that_a_table_is_joined_with(query):
    (big,) = (one for one in references(query) if one.name == "big")
    assert [(table.name, pairs) for table, pairs in big.joined] == JOINS[query]


def test_names_of_a_query_that_joins():
    def columns(query):
        return next(one.columns for one in references(query) if one.name == "big")

    join = "from big t join few s on t.a = s.x"
    assert columns(f"select T.V, count(*) {join} group by t.`W x`") >= {"v", "a", "x", "w x"}
    assert "b" not in columns(f"select t.v {join}")
    for items in ("*", "t.*", "t.v * 2", "count(distinct *)"):
        assert columns(f"select {items} {join}") is None, "the star may be one of columns"


JOINED = "FROM big t JOIN few s ON t.a = s.x"
NEEDS_MORE = [
    *("t.*", "* EXCEPT (v)", "struct(t.*)", "t.nested.*", "count(DISTINCT *)", "count(t.*)", "f(1, *)"),
    # A star is the argument of any function but count.
    *("md5(to_json(struct(*)))", "hash(*)", "array(*)[0]", "coalesce ( * )", "db.count(*)", "`count`(*)", "7 IN (*)"),
    # Names that are computed, and regular expressions of names (spark.sql.parser.quotedRegexColumnNames).
    *("IDENTIFIER('v')", "t.v, IDENTIFIER(:column)", "`(a)?+.+`", "t.`v|w`", "`[vw]`"),
]


def columns_of(query, name="big"):
    return next(one.columns for one in references(query) if one.name == name and one.joined)


@pytest.mark.parametrize("items", NEEDS_MORE)
def test_queries_that_need_columns_without_naming_them(items):
    assert columns_of(f"SELECT {items} {JOINED}") is None


@pytest.mark.parametrize(
    "query",
    [
        JOINED,
        f"FROM ({JOINED}) q |> WHERE a > 1",
        f"WITH q AS ({JOINED}) SELECT a FROM q",
        f"SELECT b FROM ({JOINED}) AS q(a, b, x)",
        f"SELECT x FROM f(TABLE({JOINED}))",
        "SELECT v FROM big t NATURAL JOIN few s WHERE t.a = s.x",
        f"SELECT q FROM (SELECT a, v {JOINED}) PIVOT (sum(v) FOR a IN (1 AS q))",
        f"SELECT q FROM (SELECT a, v {JOINED}) UNPIVOT (q FOR name IN (a, v))",
        f"SELECT v {JOINED} UNION ALL TABLE other",
    ],
)
def test_forms_of_queries_that_name_no_columns(query):
    assert columns_of(query) is None


@pytest.mark.parametrize(
    "query",
    [
        "FROM big t |> JOIN few s ON t.a = s.x |> SELECT t.v",
        f"{JOINED} |> EXTEND t.v + 1 AS w",
        f"SELECT q {JOINED} PIVOT (sum(v) FOR c IN (1 AS q))",
        f"SELECT q {JOINED} UNPIVOT (q FOR name IN (v, w))",
        "SELECT c FROM (big t JOIN few s ON t.a = s.x) AS j(a, b, c)",
        "SELECT v FROM big AS t(a, b, v) JOIN few s ON t.a = s.x",
        "SELECT t.v FROM (FROM big) t JOIN few s ON t.a = s.x",
        "SELECT t.v FROM (TABLE big) t JOIN few s ON t.a = s.x",
        "SELECT f.v FROM f(TABLE(big)) f JOIN few s ON f.a = s.x",
        "SELECT t.v FROM big t JOIN few s USING (a)",
        "SELECT TRANSFORM (t.v, t.w) USING 'cat' FROM big t JOIN few s ON t.a = s.x",
        f"MAP a, b USING 'cat' {JOINED}",
    ],
)
def test_forms_of_queries_that_join_no_rows_by_keys(query):
    assert not any(one.joined for one in references(query) if one.name == "big")


@pytest.mark.parametrize(
    ("items", "tail", "names"),
    [
        ("count(*), count ( /* all */ * )", "GROUP BY ALL HAVING max(w) > 1 ORDER BY ALL", {"w"}),
        ("sum(t.v) OVER w1", "WINDOW w1 AS (PARTITION BY k ORDER BY o)", {"v", "k", "o"}),
        ("v", "QUALIFY row_number() OVER (ORDER BY q) = 1", {"v", "q"}),
        ("item", "LATERAL VIEW explode(list) e AS item", {"list", "item"}),
        ("m[:k], `date`, left, transform(list, one -> one + v)", "", {"m", "k", "date", "left", "list", "v"}),
        ("v AS b, b", "WHERE EXISTS (SELECT 1 FROM other o WHERE o.x = z)", {"v", "b", "z"}),
        ("w FROM (SELECT a, v AS w", ") q WHERE w > 1", {"v"}),
        ("v", "SORT BY z LIMIT 3 OFFSET n", {"v", "z", "n"}),
        ("_ROW_ID, _metadata.file_name", "", {"_row_id", "_metadata"}),
    ],
)
def test_names_in_all_clauses(items, tail, names):
    found = columns_of(f"SELECT {items} {JOINED} {tail}")
    assert found is not None
    assert names <= found
    assert "other_column" not in found


@pytest.mark.parametrize(
    "query",
    [
        "SELECT t.v FROM (SELECT * FROM big) t JOIN few s ON t.a = s.x",
        "SELECT t.v FROM (SELECT * FROM big VERSION AS OF 3) t JOIN few s ON t.a = s.x",
        "SELECT t.v FROM (SELECT * FROM table_changes('big', 1, 2)) t JOIN (SELECT * FROM few WHERE x > 1) s ON a = x",
        "SELECT q.v FROM (SELECT * FROM (SELECT * FROM big) c WHERE c.a > 1) q, few WHERE q.a = few.x",
        "WITH t AS (SELECT * FROM (SELECT * FROM big)), s AS (SELECT * FROM few) SELECT v FROM t JOIN s ON a = x",
    ],
)
def test_a_copy_of_a_table_needs_the_columns_that_are_named_around_it(query):
    found = [one.columns for one in references(query)]
    assert len(found) == 2
    assert all(one is not None and {"v", "a", "x"} <= one for one in found)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("WITH t AS (SELECT a, v AS w FROM big) SELECT * FROM t WHERE w > 1", {"a", "v"}),
        ("WITH t AS (SELECT * FROM big), u AS (SELECT a FROM t), w AS (SELECT * FROM u) SELECT * FROM w", {"a"}),
        (
            "SELECT * EXCEPT (n) FROM (SELECT a, count(*) AS n FROM big GROUP BY a UNION SELECT v, 1 FROM big)",
            {"a", "v"},
        ),
        ("WITH t(x) AS (SELECT a FROM big) SELECT * FROM t JOIN (SELECT v AS x FROM big) s USING (x)", {"a", "v"}),
        ("SELECT * FROM (SELECT a, * FROM big)", None),
        ("SELECT * FROM (SELECT struct(*) AS s FROM big)", None),
        ("SELECT * FROM (SELECT a FROM big) t JOIN big ON t.a = big.a", None),
        ("WITH t AS (SELECT * FROM big), u AS (SELECT * FROM t) SELECT * FROM u", None),
        ("SELECT * FROM (SELECT a FROM big UNION ALL SELECT * FROM other)", None),
        ("SELECT * FROM (FROM big |> SELECT a)", None),
        ("SELECT * FROM (SELECT a FROM big) WHERE EXISTS (SELECT * FROM big)", None),
    ],
)
def test_a_star_of_columns_that_are_named(query, names):
    for one in references(query):
        if names is None:
            assert one.columns is None
        else:
            assert one.columns is not None
            assert names == one.columns & {"a", "v", "other_column"}


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM (SELECT * FROM big) t JOIN few s ON t.a = s.x",
        "SELECT v FROM (SELECT DISTINCT * FROM big) t JOIN few s ON t.a = s.x",
        "SELECT v FROM (SELECT * FROM big ORDER BY 2 LIMIT 3) t JOIN few s ON t.a = s.x",
        "SELECT v FROM (SELECT * FROM big SORT BY 2) t JOIN few s ON t.a = s.x",
        "SELECT v FROM (SELECT * FROM big UNION ALL SELECT * FROM other) t JOIN few s ON t.a = s.x",
        "SELECT v FROM (SELECT * FROM big) AS t(a, v) JOIN few s ON t.a = s.x",
        "SELECT v FROM (SELECT *, 1 AS one FROM big) t JOIN few s ON t.a = s.x",
        "SELECT v FROM few s WHERE EXISTS (SELECT * FROM big)",
        "SELECT v FROM few s WHERE s.x IN (SELECT * FROM big)",
        "WITH t AS (SELECT * FROM big) SELECT * FROM t JOIN few s ON t.a = s.x",
        "WITH t AS (SELECT * FROM big), u AS (SELECT * FROM t) SELECT v FROM t, few s UNION SELECT * FROM u",
        "WITH t AS (SELECT * FROM big) SELECT v FROM t AS q(a, v) JOIN few s ON q.a = s.x",
        "WITH t(a, v) AS (SELECT * FROM big) SELECT v FROM t JOIN few s ON t.a = s.x",
        "SELECT v FROM (SELECT * FROM big, other) t JOIN few s ON t.a = s.x",
        "FROM (SELECT * FROM big) t JOIN few s ON t.a = s.x",
        "FROM (SELECT * FROM big) t |> WHERE v > 1",
        "SELECT q.v FROM (SELECT t.* FROM (SELECT * FROM big) t) q JOIN few s ON q.a = s.x",
    ],
)
def test_a_star_that_is_more_than_a_copy(query):
    assert next(one.columns for one in references(query) if one.name == "big") is None
