"""Writes docs/sql.md: the procedures and system tables, from their declarations in the code.

python scripts/generate_sql_docs.py            write the page
python scripts/generate_sql_docs.py --check    only say whether it is fresh (exit code 1 when stale)
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable
from typing import Any

from tablestore_engine.spark.changelog.system_frames import FRAME_TABLES
from tablestore_engine.sql.procedures.call_procedure import PROCEDURES, REFUSED
from tablestore_engine.sql.procedures.procedure import Procedure
from tablestore_engine.system.system_tables import SNAPSHOT_TABLES, SYSTEM_TABLES

PAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs", "sql.md")

INTRODUCTION = """\
# Procedures and system tables

*Generated from the code by `make docs`; edit the docstrings in `tablestore_engine/sql/procedures` and
`tablestore_engine/system/system_tables.py` instead.*

Both are named as in Apache Paimon. [How to maintain tables](how-to/maintain.md) and
[how to travel in time](how-to/time-travel.md) show them at work.
"""

PROCEDURES_HEAD = """\
## Procedures

`CALL sys.<name>(<argument> => <value>, …)`. The arguments may also be given in order, without names. Those in brackets
may be left out. `table` is `schema.name`, or a name in the current schema. A time is a text such as
'2024-01-31 08:00:00', in the time zone of this machine, or milliseconds since 1970; a duration is a text such as '12 h'
or '30 d' (ms, s, min, h, d). The answer of a procedure is a table with the columns that are named last. In SQL,
`SHOW PROCEDURES` lists them, and `DESCRIBE PROCEDURE sys.<name>` describes one.

Those marked with † can be called from dbt as well: `dbt run-operation <name> --args '{table: <model>, …}'`. There,
`expire` and `tag` are short names of `expire_snapshots` and `create_tag`.
"""

TABLES_HEAD = """\
## System tables

`SELECT … FROM <table>$<name>`; as a dbt source, give the table `identifier: "<table>$<name>"`. Those marked with ‡ can
be asked for an earlier snapshot: `t$files VERSION AS OF 3`.

Their columns are those of Java Paimon 1.4, in its order, with these exceptions. `properties` of `$snapshots` and
`file_name` of `$files` are added as the last columns, and `$compactions` is a table of this engine. Times are instants
(`timestamp`), because a time without a zone, as Java has it, would be another one in each session. Dates and times in
`min_key`, `max_key` and the statistics of `$files` are texts; Java shows its internal numbers. `created_at`,
`created_by`, `updated_by` and `options` of `$partitions` are null, as in every warehouse without a catalog service.
`$branches`, `$row_tracking` and `$file_key_ranges` belong to branches and to row tracking, which this engine does not
write.
"""

HIDDEN_COLUMNS = """\

## Hidden columns

Every table has columns that `*` leaves out, as in Paimon: `__paimon_file_path`, `__paimon_row_index` (the number of the
row in its file), `__paimon_partition` (a struct) and `__paimon_bucket`. A query that names them gets them, for example
`SELECT *, __paimon_bucket FROM t`; UPDATE, DELETE and MERGE may name them in their conditions and values. The first two
exist only where no rows are merged: in a table without a key, or after a full compaction. No column of a table
may have one of these names, or one that begins with `__tablestore_`.

## Statements about rows

- An aggregate function is refused in SET, WHEN, ON, VALUES and WHERE of UPDATE, DELETE and MERGE; use a subquery.
- `EXPLAIN` of INSERT, UPDATE, DELETE and MERGE shows the plan that computes the rows to write, with the defaults of
  columns. Nothing is written. Of a statement that cannot be planned, `EXPLAIN` raises the error, which Spark returns as
  rows.
- A temporary view of SQL shows the rows of now, as in Spark, where a statement reads it. One of `information_schema`,
  of a tag that is made anew, or a global one shows those of the time when it was made.
- UPDATE, DELETE, MERGE, INSERT and TRUNCATE of a temporary view `AS SELECT * FROM t` change the table `t`, and then the
  view shows the new rows; so does a view that only gives its columns other names. Other views cannot be written to.
- A name without a schema means a temporary view, or else a table or view of the current schema, or else a table of
  Spark's own catalog. `current_database()` and `current_schema()` are the current schema.
- `SHOW TABLES` and `SHOW VIEWS` list the temporary views behind the tables and views of every schema, and
  `SHOW VIEWS IN global_temp` the global ones.
- A view, a function, a default value, a computed column and a CHECK constraint outlive the session, so they cannot name
  its temporary views and functions, nor its variables, nor a `${name}` that it sets. Temporary views may.
- Spark replaces `${name}` in a text by the setting `name` of the session (`SET name = a`): in constants, conditions and
  PARTITION of INSERT. The name of a table, and a partition that ALTER TABLE or TRUNCATE names, cannot be one.
- A function of a schema may be called by a text: `identifier('s.f')(x)`. `REFRESH FUNCTION s.f` has no effect, because
  every statement reads functions as they are.
- `CACHE TABLE t` keeps the rows of a table in memory, in this session, until `UNCACHE TABLE t`. After a write they are
  read anew.
- `ALTER TABLE t SET TBLPROPERTIES ('primary-key' = 'id')` sets the key of a table that was never written to. Any other
  table without a key takes `ADD PRIMARY KEY (id) NOT ENFORCED`, which rewrites its rows.
- The catalog is called `tablestore` (or `spark_catalog`, or `paimon`): `SHOW CATALOGS`, `current_catalog()`,
  `USE CATALOG tablestore`, `SET CATALOG tablestore` and names such as `tablestore.schema.table` agree.
  `COMMENT ON COLUMN t.s.x` is about the field `x` of a column, unless there is a table `t.s`.
- `DESCRIBE TABLE EXTENDED` has the rows `name`, `file.path`, `file.format`, `bucket` (-1 for dynamic buckets, and
  `bucket-key` where rows are hashed), `change-tracking`, `log.system`, `log.kafka.bootstrap.servers`,
  `log.kafka.topic`, `log.retention` and `num-files`; with PARTITION, `partition`, `file.path` and `num-files`.
  `DESCRIBE` of a view shows its columns as they were when it was created; `DESCRIBE QUERY SELECT * FROM v` shows those
  of now.
- `CREATE VIEW v WITH SCHEMA mode AS …` and `ALTER VIEW v WITH SCHEMA mode` say what a view does when its tables change:
  `TYPE EVOLUTION` (the default here) keeps its columns, with the types of now; `COMPENSATION` keeps their types, too,
  by casts; `EVOLUTION` has the columns that its query has now, unless the view names its own. `BINDING` is refused.
- Refused, with the reason and the way out: `FROM t INSERT INTO …`, `INSERT … REPLACE USING` and `REPLACE ON`,
  `ADD PARTITION` and other statements about folders, conditions in `PARTITION (…)`, statistics of single partitions,
  fields of structs in the column list of INSERT, a default COLLATION, a column that one ALTER TABLE changes twice, and,
  in a script
  (`BEGIN … END`) with variables or control flow, statements that write tables of the warehouse. Scripts of plain
  statements run.
- `0.0` and `-0.0` are equal in every condition, key and join, and both are read as they were written, except in keys,
  where they are `0.0`. (A row that another writer stored under the key `-0.0` stays next to one that is written here
  under `0.0`.) Spark alone misses one of them in plain Parquet files with dictionaries, and in ORC files.
- Names of tables and columns do not depend on case. Under `spark.sql.caseSensitive`, a table may have columns, or
  a struct fields, that differ in case only, such as `id` and `Id`: their case distinguishes them everywhere, and `ID`
  is none of them. Queries, writes and ALTER TABLE then name all columns exactly. CREATE TABLE names those of its keys,
  ANALYZE and DESCRIBE their columns in any case. In other sessions, such a table is not created, and reads and
  writes of its rows are refused, because each of the names is ambiguous there; Python reads such a table without a
  session. dbt does not distinguish such names.
"""

_DATA_COLUMNS = {
    "audit_log": "`rowkind string`, then those of the table",
    "binlog": "`rowkind string`, then those of the table as arrays",
}

IN_DBT = frozenset(
    [
        "compact",
        "expire_snapshots",
        "create_tag",
        "delete_tag",
        "rollback",
        "remove_orphan_files",
        "expire_partitions",
    ]
)
SHORT_IN_DBT = frozenset(["expire", "tag"])


def page() -> str:
    """The whole page as text."""
    tables = [
        *(_table(name, _columns(schema), rows, "") for name, (schema, rows) in SYSTEM_TABLES.items()),
        *(_table(name, _columns(schema), rows, " ‡") for name, (schema, rows) in SNAPSHOT_TABLES.items()),
        *(
            _table(name, _DATA_COLUMNS.get(name, "those of the table"), frame, " ‡")
            for name, frame in FRAME_TABLES.items()
        ),
    ]
    return "\n".join(
        [
            INTRODUCTION,
            PROCEDURES_HEAD,
            *(_procedure(name, one) for name, one in PROCEDURES.items()),
            _refused(),
            TABLES_HEAD,
            "| table | rows | columns |",
            "|---|---|---|",
            *sorted(tables),
            HIDDEN_COLUMNS,
        ]
    )


def _refused() -> str:
    """The procedures of Paimon that are refused, those with one reason together."""
    together: dict[tuple[str, str], list[str]] = {}
    for name, why in REFUSED.items():
        together.setdefault(why, []).append(f"`sys.{name}`")
    rows = [f"| {', '.join(names)} | {reason} | {hint} |" for (reason, hint), names in together.items()]
    return "\n".join(
        [
            "### Not supported",
            "",
            "These procedures of Paimon are refused with the reason and the way out:",
            "",
            "| procedure | because | instead |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


def _procedure(name: str, one: Procedure) -> str:
    mark = " †" if name in IN_DBT else ""
    return (
        f"### `sys.{name}`{mark}\n\n{_rendered(one.run)}\n\n"
        f"- Arguments: {_code(', '.join(one.signature))}\n"
        f"- Example: `{one.example.rstrip('.')}`\n"
        f"- Answer: {_code(', '.join(f'{column} {kind}' for column, kind in one.columns.items()))}\n"
    )


def _columns(schema: str) -> str:
    return ", ".join(_code(one) for one in schema.split(", "))


def _table(name: str, columns: str, rows: Callable[..., Any], mark: str) -> str:
    first = _rendered(rows).split("\n\n")[0].replace("\n", " ")
    return f"| `${name}`{mark} | {first} | {columns} |"


def _rendered(function: Callable[..., Any]) -> str:
    """The docstring of a function. Raises ValueError when it has none."""
    text = inspect.getdoc(function)
    if not text:
        raise ValueError(f"{function.__module__}.{function.__name__} has no docstring that says what it does.")
    return text


def _code(text: str) -> str:
    return f"`{text}`"


if __name__ == "__main__":
    from generated_page import keep_fresh

    sys.exit(keep_fresh(PAGE, page(), __doc__))
