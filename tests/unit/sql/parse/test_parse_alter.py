"""ALTER TABLE: each case names the fields that it sets."""

from __future__ import annotations

from support.parsed import DB_T, Case, T, parsing_test

from tablestore_engine.sql.statements.columns import (
    AddColumn,
    AlterColumn,
    AlterColumns,
    DropColumn,
    RenameColumn,
    ReplaceColumns,
    SetDefault,
    SetProperties,
    SetTableComment,
    UnsetProperties,
)
from tablestore_engine.sql.statements.layout import AddPrimaryKey, ClusterTable, Compact
from tablestore_engine.sql.statements.partition import DropPartitions
from tablestore_engine.sql.statements.statement import (
    ColumnDefinition,
    PartitionValue,
    TableName,
)
from tablestore_engine.sql.statements.table import (
    AddCheck,
    AlterUnsupported,
    CommentOn,
    DropConstraint,
    RenameTable,
    SetTableProperties,
    UnsetTableProperties,
)


def _added(name: str, type_sql: str = "int") -> AddColumn:
    return AddColumn(ColumnDefinition(name, type_sql))


def _dropped(*names: str) -> tuple[DropColumn, ...]:
    return tuple(DropColumn((name,)) for name in names)


ALTER: list[Case] = [
    ("alter table db.t rename to db.u", RenameTable, {"table": DB_T, "new": TableName("db", "u")}),
    ("alter view t rename to u", RenameTable, {"table": T, "new": TableName(None, "u"), "is_view": True}),
    (
        "alter table t add columns (a int comment 'x', b string not null after a, c date first, s.x.y int)",
        AlterColumns,
        {
            "table": T,
            "actions": (
                AddColumn(ColumnDefinition("a", "int", comment="x")),
                AddColumn(ColumnDefinition("b", "string", nullable=False, after="a")),
                AddColumn(ColumnDefinition("c", "date", first=True)),
                AddColumn(ColumnDefinition("y", "int"), ("s", "x")),
            ),
        },
    ),
    (
        "alter table t add column if not exists a decimal(10,2)",
        AlterColumns,
        {"table": T, "actions": (AddColumn(ColumnDefinition("a", "decimal(10,2)"), if_not_exists=True),)},
    ),
    (
        "alter table t add columns (a as b * 2 comment 'x' first, c int as (max(b, 1)) after d)",
        AlterColumns,
        {
            "table": T,
            "actions": (
                AddColumn(ColumnDefinition("a", "", comment="x", computed_sql="b * 2", first=True)),
                AddColumn(ColumnDefinition("c", "int", computed_sql="CAST(max(b, 1) AS int)", after="d")),
            ),
        },
    ),
    ("alter table t add columns a int, b int", AlterColumns, {"table": T, "actions": (_added("a"), _added("b"))}),
    ("alter table t add a int", AlterColumns, {"table": T, "actions": (_added("a"),)}),
    ("alter table t add (a int, b int)", AlterColumns, {"table": T, "actions": (_added("a"), _added("b"))}),
    (
        "alter table t add column a int, add column b array<int> comment 'x', add columns c date, add d map<int, int>",
        AlterColumns,
        {
            "table": T,
            "actions": (
                _added("a"),
                AddColumn(ColumnDefinition("b", "array<int>", comment="x")),
                _added("c", "date"),
                _added("d", "map<int, int>"),
            ),
        },
    ),
    (
        "alter table t add columns add int, add string comment 'x', b int",
        AlterColumns,
        {
            "table": T,
            "actions": (_added("add"), AddColumn(ColumnDefinition("add", "string", comment="x")), _added("b")),
        },
    ),
    (
        "alter table t drop column a, drop column b, drop c",
        AlterColumns,
        {"table": T, "actions": _dropped("a", "b", "c")},
    ),
    ("alter table t drop columns a, drop", AlterColumns, {"table": T, "actions": _dropped("a", "drop")}),
    ("alter table t drop (a, b)", AlterColumns, {"table": T, "actions": _dropped("a", "b")}),
    ("alter table t drop a", AlterColumns, {"table": T, "actions": _dropped("a")}),
    (
        "alter table t add column a int, drop column b, drop column c.`d.e`",
        AlterColumns,
        {"table": T, "actions": (_added("a"), DropColumn(("b",)), DropColumn(("c", "d.e")))},
    ),
    ("alter table None.db.t rename to `none`.db.u", RenameTable, {"table": DB_T, "new": TableName("db", "u")}),
    ("alter table t drop columns (a, b)", AlterColumns, {"table": T, "actions": _dropped("a", "b")}),
    (
        "alter table t drop column if exists a, b",
        AlterColumns,
        {"table": T, "actions": (DropColumn(("a",), if_exists=True), DropColumn(("b",), if_exists=True))},
    ),
    ("alter table t rename column a.b to c", AlterColumns, {"table": T, "actions": (RenameColumn(("a", "b"), "c"),)}),
    ("alter table t rename a to b", AlterColumns, {"table": T, "actions": (RenameColumn(("a",), "b"),)}),
    (
        "alter table t alter column a type bigint, b.c comment 'x', d first",
        AlterColumns,
        {
            "table": T,
            "actions": (
                AlterColumn(("a",), type_sql="bigint"),
                AlterColumn(("b", "c"), comment="x"),
                AlterColumn(("d",), first=True),
            ),
        },
    ),
    (
        "alter table t alter column a set data type array<int>, rename column b to c, replace columns (x int)",
        AlterColumns,
        {
            "table": T,
            "actions": (
                AlterColumn(("a",), type_sql="array<int>"),
                RenameColumn(("b",), "c"),
                ReplaceColumns((ColumnDefinition("x", "int"),)),
            ),
        },
    ),
    (
        "alter table t alter column a drop not null",
        AlterColumns,
        {"table": T, "actions": (AlterColumn(("a",), nullable=True),)},
    ),
    ("alter table t alter a.b after c", AlterColumns, {"table": T, "actions": (AlterColumn(("a", "b"), after="c"),)}),
    (
        "alter table t change column a b bigint comment 'x' first",
        AlterColumns,
        {
            "table": T,
            "actions": (AlterColumn(("a",), "bigint", comment="x", first=True), RenameColumn(("a",), "b")),
        },
    ),
    (
        "alter table t change a.b b bigint not null",
        AlterColumns,
        {"table": T, "actions": (AlterColumn(("a", "b"), "bigint", nullable=False),)},
    ),
    (
        "alter table t modify a decimal(10, 2) after b",
        AlterColumns,
        {"table": T, "actions": (AlterColumn(("a",), "decimal(10, 2)", after="b"),)},
    ),
    (
        "alter table t alter column a comment 'x'",
        CommentOn,
        {"kind": "COLUMN", "table": T, "column": "a", "comment": "x"},
    ),
    (
        "alter table t change column a comment 'x'",
        CommentOn,
        {"kind": "COLUMN", "table": T, "column": "a", "comment": "x"},
    ),
    ("alter table t set comment 'x'", CommentOn, {"kind": "TABLE", "table": T, "comment": "x"}),
    ("comment on table db.t is 'x'", CommentOn, {"kind": "TABLE", "table": DB_T, "comment": "x"}),
    ("comment on view t is null", CommentOn, {"kind": "VIEW", "table": T, "comment": None}),
    (
        "comment on column db.t.a is 'x'",
        CommentOn,
        {"kind": "COLUMN", "table": DB_T, "column": "a", "comment": "x", "named": ("db", "t", "a")},
    ),
    ("comment on schema db is 'x'", CommentOn, {"kind": "SCHEMA", "database": "db", "comment": "x"}),
    (
        "alter table t set tblproperties ('a' = 'b')",
        SetTableProperties,
        {"table": T, "properties": {"a": "b"}},
    ),
    (
        "alter view t unset tblproperties if exists ('a', b.c)",
        UnsetTableProperties,
        {"table": T, "keys": ("a", "b.c"), "if_exists": True, "is_view": True},
    ),
    ("alter table t compact", Compact, {"table": T}),
    (
        "alter table t drop partition (dt = 'x', hr = 1)",
        DropPartitions,
        {"table": T, "partitions": ((PartitionValue("dt", "'x'"), PartitionValue("hr", "1")),)},
    ),
    (
        "alter table t drop if exists partition (dt = 'x'), partition (dt = 'y') purge",
        DropPartitions,
        {
            "table": T,
            "partitions": ((PartitionValue("dt", "'x'"),), (PartitionValue("dt", "'y'"),)),
            "if_exists": True,
        },
    ),
    (
        "alter table t compact partition (dt = 'x')",
        Compact,
        {"table": T, "partition": (PartitionValue("dt", "'x'"),)},
    ),
    (
        "alter table t partition (dt = 'x') compact",
        Compact,
        {"table": T, "partition": (PartitionValue("dt", "'x'"),)},
    ),
    ("alter table t set location 'x'", AlterUnsupported, {"table": T, "what": "SET LOCATION"}),
    (
        "alter table t add constraint positive check (a > 0) enforced",
        AddCheck,
        {"table": T, "name": "positive", "condition_sql": "a > 0"},
    ),
    ("alter table t add check (a > 0)", AddCheck, {"table": T, "name": "", "condition_sql": "a > 0"}),
    (
        "alter table db.t drop constraint if exists `a b` cascade",
        DropConstraint,
        {"table": DB_T, "name": "a b", "if_exists": True},
    ),
    (
        "alter table t add constraint u unique (a)",
        AlterUnsupported,
        {"table": T, "what": "ADD CONSTRAINT"},
    ),
    (
        "alter table db.t add constraint pk primary key (a, `b c`) not enforced",
        AddPrimaryKey,
        {"table": DB_T, "columns": ("a", "b c")},
    ),
    ("alter table t add primary key (a)", AddPrimaryKey, {"table": T, "columns": ("a",)}),
    ("alter table t clustered into 8 buckets", ClusterTable, {"table": T, "buckets": 8}),
    (
        "alter table t partition (dt = 'x') clustered into 1 buckets",
        ClusterTable,
        {"table": T, "partition": (PartitionValue("dt", "'x'"),), "buckets": 1},
    ),
    (
        """alter table t add column a int, set tblproperties ('x' = '1'), unset tblproperties if exists (y, 'z'),
        drop column b, set comment 'c', rename column d to e, set ('x' = '2')""",
        AlterColumns,
        {
            "table": T,
            "actions": (
                _added("a"),
                SetProperties({"x": "1"}),
                UnsetProperties(("y", "z"), if_exists=True),
                *_dropped("b"),
                SetTableComment("c"),
                RenameColumn(("d",), "e"),
                SetProperties({"x": "2"}),
            ),
        },
    ),
    (
        "alter table t set tblproperties ('x' = '1'), add column a int",
        AlterColumns,
        {"table": T, "actions": (SetProperties({"x": "1"}), _added("a"))},
    ),
    ("alter table t set ('bucket' = '4')", SetTableProperties, {"table": T, "properties": {"bucket": "4"}}),
    (
        "alter table t alter column a set default 1 + 2",
        AlterColumns,
        {"table": T, "actions": (SetDefault(("a",), "1 + 2"),)},
    ),
    ("alter table t alter column a drop default", AlterColumns, {"table": T, "actions": (SetDefault(("a",)),)}),
    ("alter table t rename partition x", AlterUnsupported, {"table": T, "what": "RENAME PARTITION"}),
]


test_statements = parsing_test(ALTER)
