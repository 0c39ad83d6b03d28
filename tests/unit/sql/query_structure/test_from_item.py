"""One item of a FROM list: where its name ends, what belongs to it, and which word after it is an alias."""

from __future__ import annotations

import pytest

from tablestore_engine.sql.query_structure.table_references import scan_query
from tablestore_engine.sql.tokens.lexer import tokenize


def relations(item):
    text = f"select * from {item}"
    return scan_query(tokenize(text), text).root.selects[0].relations, text


def relation(item):
    found, text = relations(item)
    return found[0], text


@pytest.mark.parametrize(
    "alias",
    ["x", "as x", "group", "as order", "offset", "window", "qualify", "with", "pivot", "for", "changes", "map",
     "partition", "tablesample", "`where`", "as `a b`", "stream", "version", "timestamp", "watermark"],
)  # fmt: skip
@pytest.mark.parametrize("behind", ["", " where true", " join u on true", ", u"])
def test_nearly_every_word_may_be_an_alias(alias, behind):
    found, _ = relation(f"t {alias}{behind}")
    assert (found.parts, found.alias, found.alias_at) == (("t",), alias.removeprefix("as ").strip("`"), None)


@pytest.mark.parametrize(
    "clause",
    ["where x", "group by x", "order by x", "sort by x", "cluster by x", "distribute by x", "having x", "limit 1",
     "offset 1", "offset :n", "window w as (order by x)", "qualify x > 1", "pivot (sum(x) for y in (1))",
     "lateral view f(x)", "union select 1", "minus select 1", "unpivot include nulls (x)", "asof join u", "left join u",
     "select 1", "approx nearest join u"],
)  # fmt: skip
def test_a_clause_is_no_alias(clause):
    found, text = relation(f"t {clause}")
    assert (found.parts, found.alias) == (("t",), None)
    assert text[: found.alias_at] == "select * from t"


@pytest.mark.parametrize(
    ("item", "parts", "name"),
    [
        ("t", ("t",), "t"),
        ("a . `b c` x", ("a", "b c"), "a . `b c`"),
        ("cat.a.t", ("cat", "a", "t"), "cat.a.t"),
        # Macros write a database that is not there.
        (".a.t x", ("a", "t"), ".a.t"),
        ("identifier('a.' 't') x", ("a", "t"), "identifier('a.' 't')"),
        ("identifier(:name)", (), ""),
        ("identifier('a b')", (), ""),
        ("identifier", ("identifier",), "identifier"),
        ("stream t", ("t",), "t"),
        ("stream(t) x", ("t",), "t"),
        ("stream", ("stream",), "stream"),
        ("lateral t", ("t",), "t"),
        ("f(1) x", (), ""),
        ("values (1), (2) x", (), ""),
        ("values.t", ("values", "t"), "values.t"),
    ],
)
def test_the_span_of_a_name(item, parts, name):
    found, text = relation(item)
    assert (found.parts, text[slice(*found.name_span)]) == (parts, name)


@pytest.mark.parametrize(
    ("item", "names"),
    [
        ("values (1, 2), (3, 4) as v (a, b), t", [("v", True), (None, False)]),
        ("values 1, 2 v, t", [("v", False), (None, False)]),
        ("values date '2024-01-01', timestamp '2024-01-01' v, t", [("v", False), (None, False)]),
        ("values (select max(x) from u) v join t", [("v", False), (None, False)]),
        ("values 1 + 2, a and not b v", [("v", False)]),
        ("(select 1) (a), t", [(None, False), (None, False)]),
        ("(select 1) s (a), t x (b)", [("s", True), ("x", True)]),
    ],
)
def test_rows_and_subqueries_end_with_their_alias(item, names):
    found, _ = relations(item)
    assert [(one.alias, one.renames_columns) for one in found] == names


@pytest.mark.parametrize(
    ("item", "bounds"),
    [
        ("table_changes('a.t', 1)", ("1",)),
        ("table_changes('t', date '2024-01-01' + interval 1 day, f())", ("date '2024-01-01' + interval 1 day", "f()")),
        ("table(table_changes('a.t', 1, 2))", ("1", "2")),
        ("table_changes('t', :a, (select 1))", None),
        ("table_changes('t')", None),
        ("table_changes('t', 1, 2, 3)", None),
        ("table_changes(t, 1)", None),
        ("db.table_changes('t', 1)", None),
    ],
)  # fmt: skip
def test_arguments_of_table_changes(item, bounds):
    found, text = relation(f"{item} x")
    assert found.changes == (bounds or ())
    if bounds:
        assert text[slice(*found.name_span)] == item
    assert (found.alias, found.visible_name) == ("x", "x")


@pytest.mark.parametrize(
    ("behind", "version", "time", "alias"),
    [
        ("version as of 3 x", "3", None, "x"),
        ("for version as of 'tag' x", "'tag'", None, "x"),
        ("@v12 x", "12", None, "x"),
        ("timestamp as of date_sub(now(), 1) - interval '1' day x", None, "date_sub(now(), 1) - interval '1' day", "x"),
        ("for system_time as of '2024-01-01'::timestamp", None, "'2024-01-01'::timestamp", None),
        ("for system_time as of (select max(x) from u) x", None, "(select max(x) from u)", "x"),
        ("timestamp as of case when a then b end", None, "case when a then b end", None),
        ("version", None, None, "version"),
        ("timestamp as of", None, None, "timestamp"),
    ],
)
def test_an_earlier_version(behind, version, time, alias):
    found, text = relation(f"t {behind}")
    travel = found.time_travel
    assert (travel and travel.version_sql, travel and travel.timestamp_sql) == (version, time)
    assert found.alias == alias
    if travel:
        left = text[: found.travel_span[0]] + text[found.travel_span[1] :]
        assert left == f"select * from t{f' {alias}' if alias else ''}", "without the clause, the rest stays"


@pytest.mark.parametrize(
    ("behind", "alias", "sampled"),
    [
        ("tablesample (10 percent) x", "x", True),
        ("tablesample (5 rows) repeatable (3) as x", "x", True),
        ("tablesample", "tablesample", False),
        ("with (a = b) x", "x", False),
        ("watermark ts delay of interval 5 minutes x", "x", False),
        ("watermark, u", "watermark", False),
    ],
)
def test_samples_options_and_watermarks(behind, alias, sampled):
    found, _ = relation(f"t {behind}")
    assert (found.alias, found.sampled) == (alias, sampled)


def test_options_of_a_hint():
    found, text = relation("t /*+ OPTIONS('a' = '1', 'b' = '2') */ x")
    assert dict(found.options) == {"a": "1", "b": "2"}
    assert text[slice(*found.hint_span)].strip() == "/*+ OPTIONS('a' = '1', 'b' = '2') */"
    assert found.alias == "x"
