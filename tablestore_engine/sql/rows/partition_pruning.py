"""The partitions of INSERT OVERWRITE and TRUNCATE.

The *values* of a PARTITION clause are Python values by partition column. Those of INSERT OVERWRITE may be any constant
expression, and are also written into the rows. Unless the meaning of a text is certain, Spark evaluates it, because
both must agree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tablestore_engine.metadata.binary_row import encode_row
from tablestore_engine.metadata.manifest import ManifestEntry
from tablestore_engine.metadata.partition import PartitionFormat
from tablestore_engine.operation.scan.prune import key_value
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.types import DataField
from tablestore_engine.spark.expressions.char_text import filled_sql
from tablestore_engine.spark.expressions.types import sql_type
from tablestore_engine.spark.run.collect import collect_arrow
from tablestore_engine.sql.catalog.partition_spec import partition_field
from tablestore_engine.sql.rows.frames import Frames
from tablestore_engine.sql.statements.statement import PartitionSpec
from tablestore_engine.sql.text.constants import constant_at
from tablestore_engine.sql.text.lexer import tokenize

Choice = Callable[[ManifestEntry], bool]


def files_of(values: Mapping[str, Any], schema: TableSchema) -> Choice:
    """Chooses the files of partitions with these values; all files without values."""
    if not values:
        return lambda entry: True
    partition_format = PartitionFormat(schema)
    wanted = [(schema.partition_keys.index(name), value) for name, value in values.items()]
    kinds = [[partition_format.types[i]] for i, _ in wanted]
    # Bytes distinguish values that == does not, and equal NaNs have equal bytes.
    rows = [encode_row([value], kind) for (_, value), kind in zip(wanted, kinds, strict=True)]

    def chosen(entry: ManifestEntry) -> bool:
        found = partition_format.decode(entry.partition)
        return all(encode_row([found[i]], kind) == row for (i, _), kind, row in zip(wanted, kinds, rows, strict=True))

    return chosen


def written_values(spec: PartitionSpec, schema: TableSchema, frames: Frames) -> dict[str, Any]:
    """The static values of a PARTITION clause, as they are written into the rows.

    Raises:
        SchemaError: a column that is no partition column.
        SqlError, ExecutionError: Spark cannot evaluate an expression, or it does not fit the column.
    """
    found: dict[str, Any] = {}
    unsure: list[tuple[DataField, str]] = []
    for entry in spec:
        field = partition_field(entry.column, schema)
        if entry.value_sql is None:
            continue
        found[field.name] = value = _certain(entry.value_sql, field)
        if value is None:
            unsure.append((field, entry.value_sql))
    if unsure:
        items = [
            f"CAST({filled_sql(frames.expression(text, {}), field)} AS {sql_type(field.type)}) AS v{i}"
            for i, (field, text) in enumerate(unsure)
        ]
        row = collect_arrow(frames.run(f"SELECT {', '.join(items)}")).to_pylist()[0]
        found.update((field.name, row[f"v{i}"]) for i, (field, _) in enumerate(unsure))
    return found


def _certain(text: str, field: DataField) -> Any:
    """The value that a text certainly means in a column, None for any other."""
    tokens = tokenize(text)
    constant = constant_at(tokens, 0)
    if constant is None or constant[1] != len(tokens) - 1:
        return None
    return key_value(constant[0], field.type)
