"""PARTITION (…) of a statement against the partition columns of a table."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from datetime import date, datetime
from typing import Any

from tablestore_engine.errors import NotFoundError, SchemaError, SqlError, did_you_mean
from tablestore_engine.metadata.manifest_encoding.manifest_entry import ManifestEntry
from tablestore_engine.metadata.partition import PartitionFormat, value_from_text
from tablestore_engine.operation.scan.partition_filter import PartitionValuesFilter
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.names import ANY_CASE, Resolver
from tablestore_engine.schema.types.types import STRING_ROOTS, AtomicType, DataField, DataType
from tablestore_engine.sql.statements.statement import PartitionSpec
from tablestore_engine.sql.tokens.constants import constant_at
from tablestore_engine.sql.tokens.cursor import string_value
from tablestore_engine.sql.tokens.lexer import STRING, tokenize
from tablestore_engine.table import Table


def static_values(schema: TableSchema, spec: PartitionSpec, resolver: Resolver = ANY_CASE) -> dict[str, Any]:
    """The values that a spec gives, by the stored name of the column; Python values of the column's type.

    Raises:
        ColumnNotFound: a column that the table does not have, or has in a spelling that the session distinguishes.
        SqlError: the table has no partitions or no such partition column, a column occurs twice, or a value is
            missing or not a constant of the column's type.
    """
    if not schema.partition_keys:
        raise SqlError("The table is not partitioned, so it has no partitions.")
    found: dict[str, Any] = {}
    for one in spec:
        name = schema.field(one.column).name
        if name not in schema.partition_keys:
            raise SqlError(
                f"'{one.column}' is not a partition column.",
                hint=did_you_mean(one.column, schema.partition_keys),
            )
        resolver.check_spelling(one.column, name)
        refuse_repeated(name, found)
        if one.value_sql is None:
            raise SqlError(f"The partition column '{name}' needs a value.", hint=f"Write {name} = value.")
        found[name] = _value(one.value_sql, schema.field(name).type, name)
    return found


def refuse_repeated(name: str, named: Container[str]) -> None:
    """Raise a SqlError for a partition column that a spec has named before."""
    if name in named:
        raise SqlError(f"The partition column '{name}' occurs twice in one partition.", hint="Name it once.")


def clause_values(schema: TableSchema, spec: PartitionSpec, resolver: Resolver) -> dict[str, Any]:
    """The values of a clause that may be missing."""
    return static_values(schema, spec, resolver) if spec else {}


def partition_field(name: str, schema: TableSchema) -> DataField:
    """The partition column of a name. Raises ColumnNotFound, SchemaError."""
    field = schema.field(name)
    if field.name not in schema.partition_keys:
        hint = f"It is partitioned by: {', '.join(schema.partition_keys)}." if schema.partition_keys else None
        raise SchemaError(f"The table is not partitioned by '{name}'.", hint=hint)
    return field


def live_partitions(schema: TableSchema, partitions: set[bytes], wanted: dict[str, Any]) -> list[tuple[str, bytes]]:
    """Path and row of each partition that has the wanted values, in the order of their paths."""
    partition_format = PartitionFormat(schema)
    found = []
    for row in partitions:
        values = dict(zip(partition_format.names, partition_format.decode(row), strict=True))
        if all(values[name] == value for name, value in wanted.items()):
            found.append((partition_format.path_of(row), row))
    return sorted(found)


def one_partition(table: Table, spec: PartitionSpec) -> tuple[str, dict[str, Any], list[ManifestEntry]]:
    """Path, values and live files of the partition that a spec names in full. Raises SqlError, NotFoundError."""
    schema = table.schema
    wanted = static_values(schema, spec)
    missing = [name for name in schema.partition_keys if name not in wanted]
    if missing:
        raise SqlError(f"PARTITION needs a value for {', '.join(missing)} too.")
    entries = table.live_files()
    found = live_partitions(schema, {one.partition for one in entries}, wanted)
    if not found:
        text = ", ".join(f"{name} = {value}" for name, value in wanted.items())
        raise NotFoundError(f"Table {table.name} has no partition ({text}).")
    path, row = found[0]
    return path, wanted, [one for one in entries if one.partition == row]


def chosen_partitions(schema: TableSchema, wanted: Sequence[Mapping[str, Any]]) -> PartitionValuesFilter:
    """Chooses the partitions that match one of these specs, by the stored names of columns."""
    keys = schema.partition_keys
    choices = [{keys.index(name): value for name, value in one.items()} for one in wanted]
    return lambda values: any(all(values[i] == v for i, v in one.items()) for one in choices)


def _value(text: str, kind: DataType, name: str) -> Any:
    tokens = tokenize(text)
    if tokens[0].key == "NULL" and len(tokens) == 2:
        return None
    if tokens[0].kind == STRING and len(tokens) == 2 and "${" not in text:  # a variable, which only Spark knows
        return _parsed(string_value(tokens[0].text), text, kind, name)
    constant = constant_at(tokens, 0)
    if constant is None or constant[1] != len(tokens) - 1:
        raise SqlError(f"The value {text} of the partition column '{name}' is not a plain constant.")
    value = constant[0]
    root = kind.root if isinstance(kind, AtomicType) else ""
    if isinstance(value, bool):
        value = str(value).lower()
    elif isinstance(value, (date, datetime)) and root in STRING_ROOTS:
        value = value.isoformat(" ") if isinstance(value, datetime) else value.isoformat()
    return _parsed(value.isoformat() if isinstance(value, (date, datetime)) else str(value), text, kind, name)


def _parsed(value: str, text: str, kind: DataType, name: str) -> Any:
    if isinstance(kind, AtomicType) and kind.root == "CHAR":
        value = value.rstrip(" ").ljust(kind.precision or 1)
    elif isinstance(kind, AtomicType) and kind.root == "VARCHAR" and not value[kind.precision or 1 :].strip(" "):
        value = value[: kind.precision or 1]
    try:
        return value_from_text(value, kind)
    except ValueError as error:
        raise SqlError(f"The partition column '{name}' cannot be {text}: {error}.") from None


def partition_filter(schema: TableSchema, wanted: dict[str, Any]) -> PartitionValuesFilter | None:
    """Chooses the partitions with these values; None for no values."""
    return chosen_partitions(schema, [wanted]) if wanted else None
