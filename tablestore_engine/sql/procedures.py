"""The procedures of CALL sys.…, named as Paimon's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from tablestore_engine.errors import SqlError
from tablestore_engine.operation.expire import Retention
from tablestore_engine.operation.scan import PartitionFilter
from tablestore_engine.schema.table_schema import TableSchema
from tablestore_engine.spark.compactor import compact_table
from tablestore_engine.spark.rewrite import rescale
from tablestore_engine.sql import statements as S
from tablestore_engine.sql.execute_rows import RowContext, partition_values
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.table import Table

Arguments = Mapping[str, Any]
_ORPHAN_AGE = timedelta(days=1)
_YOUNG = timedelta(hours=1)


@dataclass(frozen=True)
class Procedure:
    """`parameters` in order, all but the first `required` optional; `columns` of the answer as name → Spark type."""

    run: Callable[[Table, Arguments, RowContext], list[tuple[Any, ...]]]
    parameters: tuple[str, ...]
    required: int
    columns: Mapping[str, str]
    example: str


def execute_call(statement: S.Call, context: RowContext) -> StatementResult:
    """Run a procedure. Raises SqlError for one that does not exist or arguments that it does not take."""
    procedure = PROCEDURES.get(statement.procedure)
    if procedure is None:
        raise SqlError(
            f"There is no procedure sys.{statement.procedure}.",
            hint=f"There are: {', '.join(f'sys.{name}' for name in PROCEDURES)}.",
        )
    name = f"sys.{statement.procedure}"
    if len(statement.positional) > len(procedure.parameters):
        raise SqlError(f"{name} takes {len(procedure.parameters)} arguments.", hint=procedure.example)
    given = dict(zip(procedure.parameters, statement.positional, strict=False)) | dict(statement.named)
    unknown = sorted(set(given) - set(procedure.parameters))
    if unknown:
        raise SqlError(f"{name} does not take {', '.join(unknown)}.", hint=procedure.example)
    missing = [p for p in procedure.parameters[: procedure.required] if given.get(p) in (None, "")]
    if missing:
        raise SqlError(f"{name} needs {' and '.join(missing)}.", hint=procedure.example)
    database, _, table_name = str(given["table"]).replace("`", "").rpartition(".")
    table = context.table(S.TableName(database or None, table_name))
    arguments = {key: value for key, value in given.items() if value is not None}
    rows = procedure.run(table, arguments, context)
    columns = procedure.columns
    return StatementResult("CALL", columns=tuple(columns), types=tuple(columns.values()), rows=rows)


def partition_filter(schema: TableSchema, wanted: dict[str, Any]) -> PartitionFilter | None:
    """Chooses the partitions with these values; None for no values."""
    if not wanted:
        return None
    positions = {schema.partition_keys.index(name): value for name, value in wanted.items()}
    return lambda values: all(values[i] == value for i, value in positions.items())


def _partition_list(schema: TableSchema, text: str) -> PartitionFilter:
    """`dt=2024-01-01,hr=1;dt=2024-01-02`: partitions by `;`, columns by `,`."""
    choices = []
    for part in text.split(";"):
        spec = []
        for pair in part.split(","):
            column, equals, value = pair.partition("=")
            if not equals:
                raise SqlError(
                    f"'{part}' is not a partition.", hint="Write partitions as 'dt=2024-01-01,hr=1'."
                )
            spec.append(S.PartitionValue(column.strip(), value.strip()))
        chosen = partition_filter(schema, partition_values(tuple(spec), schema))
        if chosen is not None:
            choices.append(chosen)
    return lambda values: any(choice(values) for choice in choices)


def _compact(table: Table, arguments: Arguments, context: RowContext) -> list[tuple[Any, ...]]:
    partitions = str(arguments.get("partitions") or "")
    chosen = _partition_list(table.schema, partitions) if partitions else None
    return [(compact_table(context.spark, table, chosen) is not None,)]


def _rescale(table: Table, arguments: Arguments, context: RowContext) -> list[tuple[Any, ...]]:
    number = arguments.get("bucket_num")
    if number is not None and (isinstance(number, bool) or not isinstance(number, int)):
        raise SqlError(f"bucket_num is a number, not {number!r}.", hint="Write bucket_num => 8.")
    text = str(arguments.get("partition") or arguments.get("partitions") or "")
    chosen = _partition_list(table.schema, text) if text else None
    place = S.TableName(*table.identifier)
    rescale(context.spark, lambda: context.table(place), number, chosen, now_millis=context.now_millis)
    return [(True,)]


def _expire(table: Table, arguments: Arguments, context: RowContext) -> list[tuple[Any, ...]]:
    usual = Retention.of(table.options)
    most = _count("retain_max", arguments, usual.most)
    least = _count("retain_min", arguments, min(usual.least, most))
    if least > most:
        raise SqlError(
            f"retain_min ({least}) is greater than retain_max ({most}).", hint="Lower one or raise the other."
        )
    now = context.now_millis()
    millis = usual.millis
    if "older_than" in arguments:
        millis = max(now - _millis("older_than", arguments["older_than"]), 0)
    limit = _count("max_deletes", arguments, usual.limit)
    return [(table.expire_snapshots(Retention(least, most, millis, limit), now),)]


def _create_tag(table: Table, arguments: Arguments, context: RowContext) -> list[tuple[Any, ...]]:
    snapshot = _count("snapshot", arguments, 1) if "snapshot" in arguments else None
    table.create_tag(str(arguments["tag"]), snapshot)
    return [(True,)]


def _delete_tag(table: Table, arguments: Arguments, context: RowContext) -> list[tuple[Any, ...]]:
    names = [name.strip() for name in str(arguments["tag"]).split(",")]
    for name in names:
        table.tags.load(name)
    for name in names:
        table.delete_tag(name)
    return [(True,)]


def _remove_orphans(table: Table, arguments: Arguments, context: RowContext) -> list[tuple[Any, ...]]:
    older_than = context.now_millis() - int(_ORPHAN_AGE.total_seconds() * 1000)
    if "older_than" in arguments:
        older_than = _millis("older_than", arguments["older_than"])
    if older_than > context.now_millis() - int(_YOUNG.total_seconds() * 1000):
        raise SqlError(
            f"older_than is too late: {arguments['older_than']}. Younger files may belong to a commit under way.",
            hint="Give a time that is an hour ago at least.",
        )
    dry_run = arguments.get("dry_run", False)
    if not isinstance(dry_run, bool):
        raise SqlError(f"dry_run is true or false, not {dry_run!r}.", hint="Write dry_run => true.")
    return [(path,) for path in table.remove_orphan_files(older_than, dry_run=dry_run)]


def _count(name: str, arguments: Arguments, default: int) -> int:
    value: Any = arguments.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise SqlError(f"{name} is a number from 1 on, not {value!r}.")
    return int(value)


def _millis(name: str, value: Any) -> int:
    """Milliseconds since 1970 of a time that was given as text; without a zone it is this machine's."""
    try:
        return int(datetime.fromisoformat(str(value)).timestamp() * 1000)
    except (ValueError, OverflowError):
        now = datetime.now(timezone.utc)
        raise SqlError(
            f"{name} is a time, not {value!r}.", hint=f"Write it as '{now:%Y-%m-%d %H:%M:%S}'."
        ) from None


PROCEDURES: dict[str, Procedure] = {
    "compact": Procedure(
        _compact,
        ("table", "partitions"),
        1,
        {"compacted": "boolean"},
        "CALL sys.compact(table => 'db.t', partitions => 'dt=2024-01-01').",
    ),
    "expire_snapshots": Procedure(
        _expire,
        ("table", "retain_max", "retain_min", "older_than", "max_deletes"),
        1,
        {"deleted_snapshots_count": "bigint"},
        "CALL sys.expire_snapshots(table => 'db.t', retain_max => 5, older_than => '2024-01-01 00:00:00').",
    ),
    "create_tag": Procedure(
        _create_tag,
        ("table", "tag", "snapshot"),
        2,
        {"result": "boolean"},
        "CALL sys.create_tag(table => 'db.t', tag => 'year-end', snapshot => 7).",
    ),
    "delete_tag": Procedure(
        _delete_tag,
        ("table", "tag"),
        2,
        {"result": "boolean"},
        "CALL sys.delete_tag(table => 'db.t', tag => 'year-end').",
    ),
    "remove_orphan_files": Procedure(
        _remove_orphans,
        ("table", "older_than", "dry_run"),
        1,
        {"path": "string"},
        "CALL sys.remove_orphan_files(table => 'db.t', older_than => '2024-01-01 00:00:00', dry_run => true).",
    ),
    "rescale": Procedure(
        _rescale,
        ("table", "bucket_num", "partition", "partitions"),
        1,
        {"result": "boolean"},
        "CALL sys.rescale(table => 'db.t', bucket_num => 8, partition => 'dt=2024-01-01').",
    ),
}
