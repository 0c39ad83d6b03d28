"""Ephemeral models have their own dialects, and the rows of unit tests have none."""

from __future__ import annotations

import pytest
from dbt_common.exceptions import DbtRuntimeError
from support.one_line import one_line

from dbt.adapters.tablestore.dialect.node_text import NodeText, translated_node, untranslated

CTES = [
    {"id": "a", "sql": " __dbt__cte__a as (\nselect 1::varchar as x\n)"},
    {"id": "b", "sql": " __dbt__cte__b as (\nselect x from __dbt__cte__a\n)"},
]
A = "__dbt__cte__a as ( select 1::varchar as x )"
B = "__dbt__cte__b as ( select x from __dbt__cte__a )"
JOINED = ", ".join(one["sql"] for one in CTES)


@pytest.mark.parametrize(
    ("sql", "own", "dialects", "expected"),
    [
        (f"with{JOINED} select * from __dbt__cte__b", None, {"a": "snowflake"},
         "with __dbt__cte__a as ( SELECT CAST(1 AS STRING) AS x ), @B select * from __dbt__cte__b"),
        (f"with{JOINED} select x::int from __dbt__cte__b", "postgres", {},
         "WITH @A, @B SELECT CAST(CAST(x AS DECIMAL(38, 0)) AS INT) FROM __dbt__cte__b"),
        (f"-- why\nwith{JOINED},  c as (select 1::int as y) select * from c, __dbt__cte__b", "postgres", {},
         "/* why */ WITH @A, @B, c AS ( SELECT CAST(1 AS INT) AS y ) SELECT * FROM c, __dbt__cte__b"),
        (f"with recursive{JOINED},  c as (select 1 as y) select * from c", "postgres", {},
         "WITH RECURSIVE @A, @B, c AS ( SELECT 1 AS y ) SELECT * FROM c"),
    ],
)  # fmt: skip
def test_parts_keep_their_dialects(sql, own, dialects, expected):
    assert one_line(translated_node(sql, own, CTES, dialects.get).text) == expected.replace("@A", A).replace("@B", B)


def test_a_text_without_dialect_stays_as_it_is():
    assert translated_node("select  1 -- x", None, [], lambda node: None) == NodeText("select  1 -- x")
    same = f"with{JOINED} select 1"
    assert translated_node(same, None, CTES, lambda node: None) == NodeText(same)


@pytest.mark.parametrize(
    ("sql", "dialects", "named"),
    [
        (f"with{JOINED}\nselect x,\n  $1 from __dbt__cte__b", {}, "The model 'm' in the dialect 'snowflake'"),
        (f"with{JOINED}, c as (select 1)\nselect x,\n  $1 from c", {}, "line 7, column 3: $1."),
        ("select x,\n  f(a)\n  match b", {}, "line 3, column 9: match >>>b<<<."),
        (f"with{JOINED} select 1", {"model.p.a": "trino"}, "The ephemeral model 'a' in the dialect 'trino'"),
    ],
)
def test_an_error_names_the_node_and_the_position_in_its_text(sql, dialects, named):
    ctes = [{**CTES[0], "id": "model.p.a", "sql": CTES[0]["sql"].replace("1::varchar", "typeof(1)")}, CTES[1]]
    joined = ", ".join(one["sql"] for one in ctes)
    with pytest.raises(DbtRuntimeError) as error:
        translated_node(sql.replace(JOINED, joined), "snowflake", ctes, dialects.get, subject="The model 'm'")
    assert named in error.value.msg


def test_a_text_that_cannot_be_translated_is_kept_behind_the_reason():
    assert untranslated("select $1", "This\nis why.") == "-- This\n-- is why.\nselect $1"
