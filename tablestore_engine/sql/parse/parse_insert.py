"""INSERT, and the parts of it that other statements share: PARTITION (…), options, WITH SCHEMA EVOLUTION.

`with_sql` is the text of the common table expressions before a statement; see `common_table_expressions`. DEFAULT as a
value stays as it is: only the schema says what it means.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tablestore_engine.errors import SqlError
from tablestore_engine.sql.statements.row import InsertInto, InsertOverwrite
from tablestore_engine.sql.statements.statement import (
    PartitionSpec,
    PartitionValue,
    QueryInside,
    Statement,
    TableName,
)
from tablestore_engine.sql.tokens.common_table_expressions import inline_ctes, with_ctes
from tablestore_engine.sql.tokens.cursor import Cursor
from tablestore_engine.sql.tokens.lexer import top_level
from tablestore_engine.sql.tokens.query_hints import option_hint

_COMPARISONS: Final = frozenset(["<", "<=", ">", ">=", "<>", "!=", "<=>", "IN", "LIKE", "BETWEEN", "IS"])


def partition_spec(cursor: Cursor) -> PartitionSpec:
    """``PARTITION (a = 1, b)``, or nothing."""
    if not cursor.accept("PARTITION"):
        return ()
    cursor.expect("(")
    values = []
    while True:
        column = cursor.name("a partition column")
        if cursor.key in _COMPARISONS or (cursor.key == "NOT" and cursor.key_at(1) in _COMPARISONS):
            raise cursor.error(
                "PARTITION (…) takes values, and no conditions",
                kind=SqlError,
                hint="Write column = value. DELETE FROM … WHERE condition removes the partitions of a condition.",
            )
        value = cursor.until(",", what="a value") if cursor.accept_one("=", "==") else None
        values.append(PartitionValue(column, value))
        if not cursor.accept(","):
            break
    cursor.expect(")")
    return tuple(values)


def dynamic_options(cursor: Cursor) -> dict[str, str]:
    """The options of the hint behind the table's name: ``/*+ OPTIONS('key' = 'value', …) */``."""
    found = option_hint(cursor.text, cursor.tokens, cursor.i)
    if found is None:
        return {}
    cursor.read_query_hints.add(found[0])
    return found[2]


def schema_evolution(cursor: Cursor) -> dict[str, str]:
    """The option that WITH SCHEMA EVOLUTION is."""
    return {"write.merge-schema": "true"} if cursor.accept("WITH", "SCHEMA", "EVOLUTION") else {}


def insert(cursor: Cursor, with_sql: str | None) -> Statement:
    cursor.expect("INSERT")
    evolution = schema_evolution(cursor)
    verb = cursor.accept_one("INTO", "OVERWRITE")
    if verb is None:
        raise cursor.error("Expected INTO or OVERWRITE")
    if cursor.key in ("DIRECTORY", "LOCAL") and verb == "OVERWRITE":
        return _insert_directory(cursor)
    if cursor.key == "TABLE" and cursor.tokens[cursor.i + 1].is_name and not cursor.sees("TABLE", "VALUES", "("):
        cursor.i += 1
    table = cursor.table_name()
    options = {**dynamic_options(cursor), **evolution}
    if cursor.key == "AS" and cursor.key_at(2) == "REPLACE":
        cursor.i += 2
        raise cursor.error("Only REPLACE WHERE is supported", kind=SqlError, hint="Use MERGE INTO.")
    if cursor.sees("WITH", "("):
        raise cursor.error("Options on INSERT are not supported", kind=SqlError)
    if verb == "INTO" and cursor.accept("REPLACE"):
        return _replace_where(cursor, table, options, with_sql)
    partition = partition_spec(cursor)
    if verb == "INTO" and cursor.sees("IF", "NOT", "EXISTS"):
        raise cursor.error("IF NOT EXISTS is supported with INSERT OVERWRITE only", kind=SqlError)
    if_not_exists = cursor.accept_if_not_exists()
    by_name = cursor.accept("BY", "NAME")
    if verb == "INTO" and by_name and not partition and cursor.accept("REPLACE"):
        return _replace_where(cursor, table, options, with_sql, by_name=True)
    columns = () if by_name else _column_list(cursor)
    partition_after = partition_spec(cursor) if not partition else ()
    if not cursor.sees_query():
        raise cursor.error("Expected a query or VALUES", hint="Write INSERT INTO t SELECT … or VALUES (…).")
    query = with_ctes(with_sql, cursor.rest())
    partition = partition or partition_after
    said = InsertInto(
        sql=cursor.text,
        table=table,
        dynamic_options=options,
        columns=columns,
        partition=partition,
        query_sql=query,
        by_name=by_name,
    )
    return said if verb == "INTO" else InsertOverwrite(**vars(said), if_not_exists=if_not_exists)


def _column_list(cursor: Cursor) -> tuple[str, ...]:
    """``(a, b)`` before a query; empty when the parenthesis opens the query itself."""
    if cursor.key != "(" or cursor.key_at(1) == "(":
        return ()
    if cursor.key_at(1) in ("SELECT", "WITH", "FROM", "VALUES", "TABLE") and cursor.key_at(2) not in (
        ",",
        ")",
    ):
        return ()
    dot = next(
        (i for i in top_level(cursor.tokens, cursor.i + 1, cursor.token.partner) if cursor.tokens[i].key == "."), 0
    )
    if dot:
        cursor.i = dot - 1
        raise cursor.error(
            "The column list of INSERT names whole columns, without the table and without fields of a struct",
            kind=SqlError,
            hint="Name the column, and give the whole struct, for example by named_struct('field', value, …).",
        )
    return cursor.names_in_parentheses()


def _replace_where(
    cursor: Cursor, table: TableName, options: Mapping[str, str], with_sql: str | None, *, by_name: bool = False
) -> Statement:
    """``REPLACE WHERE condition query``."""
    if cursor.key != "WHERE":
        raise cursor.error("Only REPLACE WHERE is supported", kind=SqlError, hint="Use MERGE INTO.")
    cursor.i += 1
    start = cursor.i
    cursor.until("SELECT", "WITH", "VALUES", "FROM", "TABLE", what="a condition")
    if cursor.at_end:  # the query is in parentheses: the last group, with an operand before it
        last = _last_group(cursor, start)
        if last is None:
            raise cursor.error("Expected a query after the condition")
        cursor.i = last
    condition = cursor.slice(start, cursor.i)
    query = with_ctes(with_sql, cursor.rest())
    return InsertOverwrite(
        sql=cursor.text,
        table=table,
        dynamic_options=options,
        query_sql=query,
        by_name=by_name,
        replace_where_sql=inline_ctes(with_sql, condition),
    )


def _last_group(cursor: Cursor, start: int) -> int | None:
    groups = [i for i in top_level(cursor.tokens, start + 1, len(cursor.tokens)) if cursor.tokens[i].key == "("]
    return groups[-1] if groups else None


def _insert_directory(cursor: Cursor) -> Statement:
    """INSERT OVERWRITE DIRECTORY … query: Spark writes the files, the query is bound."""
    while not cursor.at_end and not (cursor.sees_query() and cursor.key != "("):
        if cursor.key == "(":
            if cursor.key_at(1) in ("SELECT", "WITH", "FROM"):
                break
            cursor.skip_group()
        else:
            cursor.i += 1
    prefix = cursor.text[: cursor.token.start]
    return QueryInside(sql=cursor.text, kind="INSERT DIRECTORY", prefix=prefix, query_sql=cursor.rest())
