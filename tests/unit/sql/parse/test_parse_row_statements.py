"""Statements on rows: each case names the fields that it sets."""

from __future__ import annotations

from support.parsed import DB_T, Case, T, parsing_test

from tablestore_engine.sql.statements.row import (
    Delete,
    InsertInto,
    InsertOverwrite,
    Merge,
    MergeClause,
    Update,
)
from tablestore_engine.sql.statements.statement import (
    Assignment,
    PartitionValue,
    TableName,
)

ROWS: list[Case] = [
    (
        "insert with schema evolution overwrite t select 1",
        InsertOverwrite,
        {"table": T, "query_sql": "select 1", "dynamic_options": {"write.merge-schema": "true"}},
    ),
    ("insert into t select 1", InsertInto, {"table": T, "query_sql": "select 1"}),
    ("insert into t values (1, 'a;b')", InsertInto, {"table": T, "query_sql": "values (1, 'a;b')"}),
    (
        "insert into table db.t (a, `b c`) select 1, 2",
        InsertInto,
        {"table": DB_T, "columns": ("a", "b c"), "query_sql": "select 1, 2"},
    ),
    ("insert into t (select * from u)", InsertInto, {"table": T, "query_sql": "(select * from u)"}),
    (
        "insert into t (a) (select 1)",
        InsertInto,
        {"table": T, "columns": ("a",), "query_sql": "(select 1)"},
    ),
    (
        "insert into t ((select 1) union (select 2))",
        InsertInto,
        {"table": T, "query_sql": "((select 1) union (select 2))"},
    ),
    (
        "insert into t by name select 1 as a",
        InsertInto,
        {"table": T, "query_sql": "select 1 as a", "by_name": True},
    ),
    ("insert into t table u", InsertInto, {"table": T, "query_sql": "table u"}),
    ("insert into t from u select a", InsertInto, {"table": T, "query_sql": "from u select a"}),
    (
        "insert into t partition (dt = '2024') (a, b) select 1, 2",
        InsertInto,
        {
            "table": T,
            "columns": ("a", "b"),
            "partition": (PartitionValue("dt", "'2024'"),),
            "query_sql": "select 1, 2",
        },
    ),
    (
        "insert overwrite table db.t partition (dt = date '2024-01-01', hr) if not exists select 1",
        InsertOverwrite,
        {
            "table": DB_T,
            "partition": (PartitionValue("dt", "date '2024-01-01'"), PartitionValue("hr", None)),
            "if_not_exists": True,
            "query_sql": "select 1",
        },
    ),
    ("insert overwrite t values (1)", InsertOverwrite, {"table": T, "query_sql": "values (1)"}),
    (
        "insert into t replace where dt = '2024' and a in (select 1) with x as (select 1) select * from x",
        InsertOverwrite,
        {
            "table": T,
            "query_sql": "with x as (select 1) select * from x",
            "replace_where_sql": "dt = '2024' and a in (select 1)",
        },
    ),
    (
        "insert into t replace where dt = f(1) (select 2)",
        InsertOverwrite,
        {"table": T, "query_sql": "(select 2)", "replace_where_sql": "dt = f(1)"},
    ),
    (
        "with x as (select 1 as a) insert into t select * from x",
        InsertInto,
        {"table": T, "query_sql": "with x as (select 1 as a) select * from x"},
    ),
    (
        "with x as (select 1 as a) insert into t with recursive y as (select * from x) select * from y",
        InsertInto,
        {
            "table": T,
            "query_sql": "WITH RECURSIVE x as (select 1 as a), y as (select * from x) select * from y",
        },
    ),
    ("delete from db.t", Delete, {"table": DB_T}),
    (
        "delete from t as x where x.a = 'where'",
        Delete,
        {"table": T, "alias": "x", "where_sql": "x.a = 'where'"},
    ),
    (
        "with x as (select 1 as a) delete from t where a in (select a from x) or a in (with y as (select 2) select * from y)",  # noqa: E501
        Delete,
        {
            "table": T,
            "where_sql": "a in (with x as (select 1 as a) select a from x)"
            " or a in (with x as (select 1 as a), y as (select 2) select * from y)",
        },
    ),
    (
        (
            "update db.t x set x.a = case when b then 1 else 2 end, b = (select max(c) from u where u.x = 1), c = f(1, 2)"  # noqa: E501
            " where x.c in (1, 2)"
        ),
        Update,
        {
            "table": DB_T,
            "alias": "x",
            "assignments": (
                Assignment("a", "case when b then 1 else 2 end", qualifier="x"),
                Assignment("b", "(select max(c) from u where u.x = 1)"),
                Assignment("c", "f(1, 2)"),
            ),
            "where_sql": "x.c in (1, 2)",
        },
    ),
    (
        "update t set a = b is distinct from c, d = e is not distinct from 1 where f is distinct from g",
        Update,
        {
            "table": T,
            "assignments": (
                Assignment("a", "b is distinct from c"),
                Assignment("d", "e is not distinct from 1"),
            ),
            "where_sql": "f is distinct from g",
        },
    ),
    ("update t set t.a = 1", Update, {"table": T, "assignments": (Assignment("a", "1", qualifier="t"),)}),
    (
        (
            "merge into db.t as dest using (select * from u where v = 1) as src(i, j) on dest.id = src.i"
            " and case when 1 = 1 then true end"
            " when matched and src.j is null then delete"
            " when matched then update set dest.a = src.j, b = case when x then 1 end"
            " when not matched and src.i > 0 then insert (id, dest.a) values (src.i, coalesce(src.j, 1))"
            " when not matched by target then insert *"
            " when not matched by source and dest.a > 3 then update set a = null"
            " when not matched by source then delete"
        ),
        Merge,
        {
            "table": DB_T,
            "target_alias": "dest",
            "source_sql": "(select * from u where v = 1)",
            "source_alias": "src",
            "source_columns": ("i", "j"),
            "on_sql": "dest.id = src.i and case when 1 = 1 then true end",
            "matched": (
                MergeClause(action="DELETE", condition_sql="src.j is null"),
                MergeClause(
                    action="UPDATE",
                    assignments=(Assignment("a", "src.j", qualifier="dest"), Assignment("b", "case when x then 1 end")),
                ),
            ),
            "not_matched": (
                MergeClause(
                    action="INSERT",
                    condition_sql="src.i > 0",
                    columns=("id", "a"),
                    values_sql=("src.i", "coalesce(src.j, 1)"),
                ),
                MergeClause(action="INSERT", star=True),
            ),
            "not_matched_by_source": (
                MergeClause(action="UPDATE", condition_sql="dest.a > 3", assignments=(Assignment("a", "null"),)),
                MergeClause(action="DELETE"),
            ),
        },
    ),
    (
        "merge into t using db.u on t.id = u.id when matched then update set * when not matched then insert *",
        Merge,
        {
            "table": T,
            "source_sql": "db.u",
            "unaliased_source": TableName("db", "u"),
            "source_alias": "u",
            "on_sql": "t.id = u.id",
            "matched": (MergeClause(action="UPDATE", star=True),),
            "not_matched": (MergeClause(action="INSERT", star=True),),
        },
    ),
    (
        "with u as (select 1 as id) merge into t using u on t.id = u.id when matched then delete",
        Merge,
        {
            "table": T,
            "source_sql": "(with u as (select 1 as id) SELECT * FROM u)",
            "source_alias": "u",
            "on_sql": "t.id = u.id",
            "matched": (MergeClause(action="DELETE"),),
        },
    ),
    (
        "merge into t when using s then on then.k = when.k when matched and then.v > 1 then update set v = then.when",
        Merge,
        {
            "table": T,
            "target_alias": "when",
            "source_sql": "s",
            "source_alias": "then",
            "on_sql": "then.k = when.k",
            "matched": (
                MergeClause(action="UPDATE", condition_sql="then.v > 1", assignments=(Assignment("v", "then.when"),)),
            ),
        },
    ),
    (
        "update t set v = where where where = 1 and from > when",
        Update,
        {"table": T, "assignments": (Assignment("v", "where"),), "where_sql": "where = 1 and from > when"},
    ),
    ("update t set v = where", Update, {"table": T, "assignments": (Assignment("v", "where"),)}),
    (
        "update t set v = 1 + from, w = x.where where a",
        Update,
        {"table": T, "assignments": (Assignment("v", "1 + from"), Assignment("w", "x.where")), "where_sql": "a"},
    ),
]


test_statements = parsing_test(ROWS)
