"""SHOW and DESCRIBE: each case names the fields that it sets."""

from __future__ import annotations

from support.parsed import DB_T, Case, T, parsing_test

from tablestore_engine.sql.statements.function import RefreshFunction
from tablestore_engine.sql.statements.layout import AnalyzeTable, AnalyzeTables
from tablestore_engine.sql.statements.schema import (
    DescribeSchema,
    ShowCurrentSchema,
    ShowSchemas,
)
from tablestore_engine.sql.statements.show import (
    Describe,
    DescribeProcedure,
    ShowColumns,
    ShowCreateTable,
    ShowPartitions,
    ShowProcedures,
    ShowTables,
    ShowTblProperties,
    ShowViews,
)
from tablestore_engine.sql.statements.statement import (
    PartitionValue,
    TableName,
)

LOOKING: list[Case] = [
    ("show schemas", ShowSchemas, {}),
    ("show databases like 'a*'", ShowSchemas, {"like": "a*"}),
    ("show schemas in spark_catalog 'a'", ShowSchemas, {"like": "a"}),
    ("show namespaces from tablestore.s", ShowSchemas, {"parent": "s"}),
    ("show namespaces in s like 'a'", ShowSchemas, {"parent": "s", "like": "a"}),
    ("show current schema", ShowCurrentSchema, {}),
    ("show tables", ShowTables, {}),
    ("show tables in db like 'x*|y'", ShowTables, {"database": "db", "like": "x*|y"}),
    ("show tables from `db` 'x'", ShowTables, {"database": "db", "like": "x"}),
    ("show table extended in db like '*'", ShowTables, {"database": "db", "like": "*", "extended": True}),
    ("show views in db", ShowViews, {"database": "db"}),
    ("show create table db.t", ShowCreateTable, {"table": DB_T}),
    ("show tblproperties db.t", ShowTblProperties, {"table": DB_T}),
    ("show tblproperties t ('a.b')", ShowTblProperties, {"table": T, "key": "a.b"}),
    ("show columns in t in db", ShowColumns, {"table": DB_T}),
    (
        "show partitions t partition (a = 1)",
        ShowPartitions,
        {"table": T, "partition": (PartitionValue("a", "1"),)},
    ),
    ("show procedures", ShowProcedures, {}),
    ("show procedures in spark_catalog", ShowProcedures, {}),
    ("show procedures from tablestore.sys", ShowProcedures, {"schema": "sys"}),
    ("describe procedure sys.Compact", DescribeProcedure, {"procedure": "compact"}),
    ("desc procedure compact", DescribeProcedure, {"procedure": "compact"}),
    ("describe procedure", Describe, {"table": TableName(None, "procedure")}),
    ("refresh function db.f", RefreshFunction, {"function": TableName("db", "f")}),
    ("describe db.t", Describe, {"table": DB_T}),
    ("desc table extended db.t", Describe, {"table": DB_T, "extended": True}),
    ("describe formatted t", Describe, {"table": T, "extended": True}),
    ("describe extended", Describe, {"table": TableName(None, "extended")}),
    ("describe t a.b", Describe, {"table": T, "column": "a.b"}),
    ("describe extended t as json", Describe, {"table": T, "extended": True, "as_json": True}),
    ("describe schema extended db", DescribeSchema, {"database": "db", "extended": True}),
    ("analyze tables compute statistics", AnalyzeTables, {}),
    ("analyze tables in tablestore.s compute statistics noscan", AnalyzeTables, {"database": "s", "no_scan": True}),
    ("analyze table t compute statistics", AnalyzeTable, {"table": T}),
    ("analyze table t compute statistics noscan", AnalyzeTable, {"table": T, "no_scan": True}),
    (
        "analyze table t compute statistics for columns a, b",
        AnalyzeTable,
        {"table": T, "columns": ("a", "b")},
    ),
]


test_statements = parsing_test(LOOKING)
