"""Reads and writes tables with pypaimon and with pypaimon-rust. Runs in their environment, not in the project's.

`python paimon_reader.py` serves: one JSON object per line on stdin is a command, one JSON object per line on stdout
its answer; rows travel as Arrow IPC files that both sides name. An answer is `{"ok": …}` or `{"error": "Kind: text"}`,
so the seconds that the imports take are paid once.

    read       reader (pypaimon, rust, datafusion), warehouse, table, out, [snapshot], [columns], [where]
    create     warehouse, table, schema (path of an Arrow file), primary_keys, partition_keys, options
    write      warehouse, table, rows (path of an Arrow file), [overwrite: partition as an object]
    truncate   warehouse, table, [partitions: list of objects]
    schema     warehouse, table
"""

from __future__ import annotations

import json
import os
import sys
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

# The compiled reader is asked by its own name, so that it and the Python one are two judges.
_PYTHON_ONLY = {"read.native.enabled": "false", "scan.native-plan.enabled": "false"}


def _catalog(command: dict[str, Any]) -> Any:
    from pypaimon import CatalogFactory

    return CatalogFactory.create({"warehouse": command["warehouse"]})


def _table(command: dict[str, Any]) -> Any:
    return _catalog(command).get_table(command["table"])


def _load(path: str) -> pa.Table:
    with pa.ipc.open_file(path) as reader:
        return reader.read_all()


def _store(path: str, table: pa.Table) -> None:
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)


def _read_pypaimon(command: dict[str, Any]) -> pa.Table:
    options = dict(_PYTHON_ONLY)
    if command.get("snapshot") is not None:
        options["scan.snapshot-id"] = str(command["snapshot"])
    builder = _table(command).copy(options).new_read_builder()
    if command.get("where"):
        builder = builder.with_filter(_predicate(builder.new_predicate_builder(), command["where"]))
    if command.get("columns"):
        builder = builder.with_projection(command["columns"])
    return builder.new_read().to_arrow(builder.new_scan().plan().splits())


def _predicate(builder: Any, where: list[Any]) -> Any:
    """[column, method of the builder, constant, name of its Python type, name of its Arrow type]"""
    column, method, text, kind, _ = where
    return getattr(builder, method)(column, _CONSTANTS[kind](text))


_CONSTANTS = {
    "int": int, "str": str, "Decimal": Decimal, "date": date.fromisoformat, "datetime": datetime.fromisoformat,
}  # fmt: skip


def _read_rust(command: dict[str, Any]) -> pa.Table:
    from pypaimon_rust.datafusion import PaimonCatalog

    table = PaimonCatalog({"warehouse": command["warehouse"]}).get_table(command["table"])
    options = {} if command.get("snapshot") is None else {"scan.snapshot-id": str(command["snapshot"])}
    builder = table.new_read_builder(options)
    if command.get("columns"):
        builder = builder.with_projection(command["columns"])
    batches = builder.new_read().read(builder.new_scan().plan().splits())
    return pa.Table.from_batches(batches) if batches else _empty(command)


def _read_datafusion(command: dict[str, Any]) -> pa.Table:
    from pypaimon_rust.datafusion import SQLContext

    context = SQLContext()
    context.register_catalog("paimon", {"warehouse": command["warehouse"]})
    database, table = command["table"].split(".")
    names = ", ".join(f'"{name}"' for name in command.get("columns") or ()) or "*"
    at = "" if command.get("snapshot") is None else f" VERSION AS OF {int(command['snapshot'])}"
    condition = ""
    if command.get("where"):
        column, method, text, _, arrow_type = command["where"]
        operator = {"equal": "=", "less_or_equal": "<=", "greater_or_equal": ">="}[method]
        condition = f""" WHERE "{column}" {operator} arrow_cast('{text}', '{arrow_type}')"""
    batches = context.sql(f'SELECT {names} FROM paimon."{database}"."{table}"{at}{condition}')
    return pa.Table.from_batches(batches) if batches else _empty(command)


def _empty(command: dict[str, Any]) -> pa.Table:
    """No rows, in the columns that pypaimon says the table has."""
    from pypaimon.schema.data_types import PyarrowFieldParser

    return PyarrowFieldParser.from_paimon_schema(_table(command).fields).empty_table()


def read(command: dict[str, Any]) -> dict[str, Any]:
    readers = {"pypaimon": _read_pypaimon, "rust": _read_rust, "datafusion": _read_datafusion}
    rows = readers[command["reader"]](command)
    _store(command["out"], rows)
    return {"rows": rows.num_rows}


def create(command: dict[str, Any]) -> dict[str, Any]:
    from pypaimon import Schema

    catalog = _catalog(command)
    catalog.create_database(command["table"].split(".")[0], True)
    schema = Schema.from_pyarrow_schema(
        _load(command["schema"]).schema,
        partition_keys=command.get("partition_keys") or None,
        primary_keys=command.get("primary_keys") or None,
        options=command.get("options") or {},
    )
    catalog.create_table(command["table"], schema, False)
    return {}


def write(command: dict[str, Any]) -> dict[str, Any]:
    builder = _table(command).new_batch_write_builder()
    if command.get("overwrite") is not None:
        builder = builder.overwrite(command["overwrite"])
    writer, commit = builder.new_write(), builder.new_commit()
    try:
        writer.write_arrow(_load(command["rows"]))
        commit.commit(writer.prepare_commit())
    finally:
        writer.close()
        commit.close()
    return {}


def truncate(command: dict[str, Any]) -> dict[str, Any]:
    commit = _table(command).new_batch_write_builder().new_commit()
    try:
        if command.get("partitions"):
            commit.truncate_partitions(command["partitions"])
        else:
            commit.truncate_table()
    finally:
        commit.close()
    return {}


def schema(command: dict[str, Any]) -> dict[str, Any]:
    found = _table(command).table_schema
    return {
        "fields": [[field.name, str(field.type)] for field in found.fields],
        "primary_keys": list(found.primary_keys),
        "partition_keys": list(found.partition_keys),
        "comment": found.comment,
    }


COMMANDS = {"read": read, "create": create, "write": write, "truncate": truncate, "schema": schema}


def serve() -> None:
    # Libraries that print must not disturb the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        try:
            command = json.loads(line)
            answer = {"ok": COMMANDS[command["do"]](command)}
        except BaseException as error:  # a panic of the compiled reader is no Exception
            if isinstance(error, (KeyboardInterrupt, SystemExit)):
                raise
            answer = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve()
