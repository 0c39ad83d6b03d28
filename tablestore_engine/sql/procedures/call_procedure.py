"""CALL sys.…: the list of all procedures, with Paimon's names, how they are called, and what is said about them.

The procedures are in the other `*_procedures` modules, by topic. Names of arguments may be written with or without
underscores and in any case, because Paimon's own engines differ in this.
"""

from __future__ import annotations

import inspect
from typing import Any

from tablestore_engine.errors import SqlError, did_you_mean
from tablestore_engine.operation.table_commands.failed_changes import naming
from tablestore_engine.sql.procedures import (
    bucket_procedures,
    compaction_procedures,
    consumer_procedures,
    database_procedures,
    file_index_procedures,
    file_procedures,
    kafka_procedures,
    partition_procedures,
    snapshot_procedures,
    tag_procedures,
)
from tablestore_engine.sql.procedures.procedure import Arguments, Procedure, Rows
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.statements.show import DescribeProcedure, ShowProcedures
from tablestore_engine.sql.statements.statement import PROCEDURE_SCHEMAS, Call
from tablestore_engine.sql.tokens.cursor import OWN_CATALOGS
from tablestore_engine.sql.write_statements.statement_context import RowContext
from tablestore_engine.table import Table


def execute_call(statement: Call, context: RowContext) -> StatementResult:
    """Run a procedure. Raises SqlError for one that does not exist or invalid arguments."""
    procedure = _named(statement.procedure)
    given = _given(statement, procedure)
    arguments = {key: value for key, value in given.items() if value is not None}
    words = f"CALL sys.{statement.procedure} on"
    rows = [
        row
        for table in procedure.tables(arguments, context)
        for row in _rows(words, procedure, table, arguments, context)
    ]
    rows = procedure.answer([*rows, *procedure.besides(arguments, context)])
    columns = procedure.columns
    return StatementResult("CALL", columns=tuple(columns), types=tuple(columns.values()), rows=rows)


def _named(name: str) -> Procedure:
    """The procedure of a name. Raises SqlError for one that does not exist, or is refused."""
    procedure = PROCEDURES.get(name)
    if procedure is None and name in REFUSED:
        reason, hint = REFUSED[name]
        raise SqlError(f"sys.{name} is not supported: {reason}.", hint=hint)
    if procedure is None:
        raise SqlError(f"There is no procedure sys.{name}.", hint=did_you_mean(name, PROCEDURES))
    return procedure


def show_procedures(statement: ShowProcedures, context: RowContext) -> StatementResult:
    """SHOW PROCEDURES, with the columns of Spark's answer. The schemas of tables have none."""
    ours = statement.schema is None or statement.schema.lower() in PROCEDURE_SCHEMAS
    if not ours:
        context.catalog.require_database(str(statement.schema))
    schema = PROCEDURE_SCHEMAS[0]
    rows = [(OWN_CATALOGS[-1], [schema], schema, name) for name in sorted(PROCEDURES) if ours]
    columns = {"catalog": "string", "namespace": "array<string>", "schema": "string", "procedure_name": "string"}
    return StatementResult("SHOW PROCEDURES", columns=tuple(columns), types=tuple(columns.values()), rows=rows)


def describe_procedure(statement: DescribeProcedure, context: RowContext) -> StatementResult:
    """DESCRIBE PROCEDURE, in the form of Spark's answer. Raises SqlError for one that does not exist."""
    procedure = _named(statement.procedure)
    described = [" ".join(one.split()) for one in (inspect.getdoc(procedure.run) or "").split("\n\n")]
    answer = ", ".join(f"{name} {kind}" for name, kind in procedure.columns.items())
    parts = {
        "Procedure": [f"{PROCEDURE_SCHEMAS[0]}.{statement.procedure}"],
        "Description": described,
        "Parameters": procedure.signature,
        "Answer": [answer],
        "Example": [procedure.example.rstrip(".")],
    }
    heads = {key: [f"{key}:", *[""] * (len(lines) - 1)] for key, lines in parts.items()}
    rows = [
        (f"{head:<13}{line}",) for key, lines in parts.items() for head, line in zip(heads[key], lines, strict=True)
    ]
    return StatementResult("DESCRIBE PROCEDURE", columns=("procedure_desc",), types=("string",), rows=rows)


def _rows(words: str, procedure: Procedure, table: Table, arguments: Arguments, context: RowContext) -> Rows:
    """The answer for one table, which errors about an argument name."""
    with naming(words, lambda: table.name):
        return list(procedure.run(table, arguments, context))


def _given(statement: Call, procedure: Procedure) -> dict[str, Any]:
    """The arguments of a call by the procedure's parameter names."""
    name = f"sys.{statement.procedure}"
    if len(statement.positional) > len(procedure.parameters):
        raise SqlError(f"{name} takes {len(procedure.parameters)} arguments.", hint=procedure.example)
    own = {one.replace("_", ""): one for one in procedure.parameters}
    named = {own.get(key.replace("_", ""), key): value for key, value in statement.named.items()}
    given = dict(zip(procedure.parameters, statement.positional, strict=False)) | named
    unknown = sorted(set(given) - set(procedure.parameters))
    if unknown:
        raise SqlError(f"{name} does not take {', '.join(unknown)}.", hint=procedure.example)
    missing = [p for p in procedure.parameters[: procedure.required] if given.get(p) in (None, "")]
    if missing:
        raise SqlError(f"{name} needs {' and '.join(missing)}.", hint=procedure.example)
    return given


PROCEDURES: dict[str, Procedure] = {
    **compaction_procedures.PROCEDURES,
    **bucket_procedures.PROCEDURES,
    **snapshot_procedures.PROCEDURES,
    **tag_procedures.PROCEDURES,
    **partition_procedures.PROCEDURES,
    **consumer_procedures.PROCEDURES,
    **file_procedures.PROCEDURES,
    **file_index_procedures.PROCEDURES,
    **database_procedures.PROCEDURES,
    **kafka_procedures.PROCEDURES,
}
"""Every procedure by its name."""

_BRANCHES = (
    "tables have no branches yet",
    (
        "A tag keeps a snapshot (CALL sys.create_tag), and CREATE TABLE … AS SELECT * FROM t VERSION AS OF 'tag' "
        "makes a table of it that can be changed."
    ),
)
_GLOBAL_INDEXES = (
    "an index of a whole table needs row tracking, which is not written here",
    (
        "Indexes of files skip files in point queries: set 'file-index.bloom-filter.columns', and then CALL "
        "sys.rewrite_file_index."
    ),
)
_FUNCTIONS = ("functions are statements of SQL here", "Use CREATE [OR REPLACE] FUNCTION and DROP FUNCTION.")
REFUSED: dict[str, tuple[str, str]] = {
    "create_branch": _BRANCHES,
    "delete_branch": _BRANCHES,
    "rename_branch": _BRANCHES,
    "fast_forward": _BRANCHES,
    "create_global_index": _GLOBAL_INDEXES,
    "drop_global_index": _GLOBAL_INDEXES,
    "create_function": _FUNCTIONS,
    "alter_function": _FUNCTIONS,
    "drop_function": _FUNCTIONS,
    "migrate_table": (
        "there is no Hive catalog whose files it could take over",
        "Copy the rows: CREATE TABLE t AS SELECT * FROM parquet.`/folder/of/files`.",
    ),
    "migrate_database": (
        "there is no Hive catalog whose files it could take over",
        "Copy the rows of each table: CREATE TABLE t AS SELECT * FROM parquet.`/folder/of/files`.",
    ),
    "copy": (
        "it copies files between catalogs, and there is one warehouse",
        (
            "CREATE TABLE target LIKE source, and then INSERT INTO target SELECT * FROM source WHERE …. Or copy the "
            "folder of the table: it is all of the table."
        ),
    ),
    "alter_view_dialect": ("a view has one query, that of Spark", "Use ALTER VIEW v AS SELECT …."),
}
"""Procedures of Paimon that are refused: why, and what to do instead."""
