"""The procedures that compact: CALL sys.compact, sys.schedule_compaction and sys.run_compaction.

Arguments have Paimon's names where it has them. All are checked before anything is changed.
"""

from __future__ import annotations

from tablestore_engine.errors import SqlError
from tablestore_engine.metadata.manifest_encoding.data_file_meta import FILE_SOURCE_COMPACT
from tablestore_engine.metadata.manifest_encoding.manifest_entry import ManifestEntry
from tablestore_engine.metadata.partition import PartitionFormat
from tablestore_engine.operation.compact.pick_tasks import Extent
from tablestore_engine.operation.compact.schedule_compaction import STRATEGIES, schedule
from tablestore_engine.operation.scan.partition_filter import PartitionValuesFilter
from tablestore_engine.options import parse_duration
from tablestore_engine.spark.compact.compactor import compact_table, run_scheduled
from tablestore_engine.spark.compact.sort_compactor import HILBERT, ORDER, ORDERS, Z_ORDER, SortOrder, sort_compact
from tablestore_engine.spark.queries.partition_values import matching_partitions
from tablestore_engine.sql.procedures.partition_procedures import listed_partitions
from tablestore_engine.sql.procedures.procedure import Arguments, Procedure, Rows, text
from tablestore_engine.sql.write_statements.statement_context import RowContext
from tablestore_engine.table import Table

_COMPACT_PARAMETERS = (
    "table", "partitions", "compact_strategy", "order_strategy", "order_by", "where", "options",
    "partition_idle_time", "strategy",
)  # fmt: skip
_COMPACT_EXAMPLE = (
    "CALL sys.compact(table => 'db.t', partitions => 'dt=2024-01-01', order_strategy => 'zorder', order_by => 'a,b')."
)
_SCHEDULED_COLUMNS = {"instant": "string", "state": "string", "group_count": "int", "file_count": "int"}
_RUN_COLUMNS = {"instant": "string", "state": "string", "snapshot_id": "bigint", "message": "string"}


def _compact(table: Table, arguments: Arguments, context: RowContext) -> Rows:
    """Merges the files of every bucket, or of some partitions, into one sorted run, and returns whether it did
    anything.

    Partitions are chosen by a list ('dt=2024-01-01,hr=1;dt=2024-01-02'), by a condition on their columns (`where`), or
    by idle time (`partition_idle_time` => '1 d'). `compact_strategy` => 'minor' merges only what the table's thresholds
    require. `order_strategy` 'order', 'zorder' or 'hilbert' sorts a table without a key by the columns of
    `order_by`. `options` ('target-file-size=64 mb,…') apply to this compaction only.
    """
    strategy = _strategy(arguments, default="full")
    order = _order(arguments)
    if order is not None and strategy != "full":
        raise SqlError("Sorting rewrites whole partitions, so it takes compact_strategy => 'full' only.")
    given = [name for name in ("partitions", "where", "partition_idle_time") if arguments.get(name)]
    if len(given) > 1:
        raise SqlError(f"{' and '.join(given)} cannot be used together.", hint="Choose the partitions by one of them.")
    if order is not None:
        if given == ["partition_idle_time"]:
            raise SqlError("partition_idle_time cannot be used with order_strategy.")
        order = order.of(table.schema)
    table = with_options(table, str(arguments.get("options") or ""))
    chosen = _listed(table, arguments)
    if given == ["where"]:
        chosen = where_partitions(table, str(arguments["where"]), context)
    elif given == ["partition_idle_time"]:
        chosen = _idle(table, str(arguments["partition_idle_time"]), context.now_millis())
    if order is not None:
        snapshot = sort_compact(context.spark, table, order, chosen)
    else:
        snapshot = compact_table(context.spark, table, chosen, extent=Extent.FULL if strategy == "full" else Extent.DUE)
    return [(snapshot is not None,)]


def _schedule(table: Table, arguments: Arguments, context: RowContext) -> Rows:
    """Writes a plan of what to compact on the table's timeline, for `run_compaction`; no row when nothing is due.

    `strategy` is 'minor' (what the table's thresholds require, the default) or 'full'.
    """
    strategy = _strategy(arguments, default="minor")
    chosen = _listed(table, arguments)
    plan = schedule(table.state, strategy, context.now_millis(), chosen)
    return [] if plan is None else [(plan.instant, "REQUESTED", len(plan.groups), len(plan.files))]


def _run(table: Table, arguments: Arguments, context: RowContext) -> Rows:
    """Executes the oldest unclaimed plan on the timeline; no row when there is none."""
    result = run_scheduled(context.spark, table)
    if result is None:
        return []
    outcome = result.outcome
    return [(result.plan.instant, outcome.state.value, outcome.snapshot_id, outcome.message)]


def _listed(table: Table, arguments: Arguments) -> PartitionValuesFilter | None:
    listed = text("partitions", arguments)
    return listed_partitions(table.schema, listed) if listed else None


def _strategy(arguments: Arguments, default: str) -> str:
    given = {arguments[name] for name in ("compact_strategy", "strategy") if name in arguments}
    if len(given) > 1:
        raise SqlError("strategy and compact_strategy are two names of one argument.", hint="Leave one out.")
    strategy = str(given.pop() if given else default).strip().lower()
    if strategy not in STRATEGIES:
        raise SqlError(
            f"strategy is full or minor, not '{strategy}'.",
            hint="full makes every bucket one run; minor merges where the table's thresholds require it.",
        )
    return strategy


def _order(arguments: Arguments) -> SortOrder | None:
    strategy = str(arguments.get("order_strategy") or "none").strip().lower()
    columns = tuple(one.strip() for one in str(arguments.get("order_by") or "").split(",") if one.strip())
    if strategy == "none":
        if columns:
            raise SqlError("order_by needs an order_strategy.", hint=f"Use '{ORDER}' or '{Z_ORDER}'.")
        return None
    if strategy not in ORDERS:
        raise SqlError(
            f"order_strategy must be none, {', '.join(ORDERS[:-1])} or {ORDERS[-1]}, not '{strategy}'.",
            hint=f"'{Z_ORDER}' and '{HILBERT}' keep rows together that are close to each other in several columns.",
        )
    return SortOrder(strategy, columns)


def with_options(table: Table, listed: str) -> Table:
    """The table with other options for one compaction: `key=value,key=value`. Raises SqlError, OptionError."""
    changes: dict[str, str] = {}
    for pair in filter(None, (one.strip() for one in listed.split(","))):
        key, equals, value = pair.partition("=")
        if not equals:
            raise SqlError(f"'{pair}' is not an option.", hint="Write options as 'target-file-size=64 mb'.")
        changes[key.strip()] = value.strip()
    return table.with_options(changes, "compaction")


def where_partitions(table: Table, condition: str, context: RowContext) -> PartitionValuesFilter:
    """Chooses the partitions for which a condition on their columns holds."""
    _check_partitioned(table, "where")
    rows = {entry.partition for entry in table.live_files()}
    chosen = matching_partitions(context.spark(), table.schema, rows, condition)
    return _among(table, chosen)


def _idle(table: Table, since: str, now_millis: int) -> PartitionValuesFilter:
    """Partitions without new rows for a time; files of compactions do not count."""
    _check_partitioned(table, "partition_idle_time")
    try:
        idle = parse_duration(since)
    except ValueError as error:
        raise SqlError(f"partition_idle_time cannot be '{since}': {error}.") from None
    newest: dict[bytes, int] = {}
    for entry in table.live_files():
        newest[entry.partition] = max(newest.get(entry.partition, 0), _written_millis(entry))
    return _among(table, {row for row, millis in newest.items() if now_millis - millis >= idle})


def _written_millis(entry: ManifestEntry) -> int:
    return 0 if entry.file.file_source == FILE_SOURCE_COMPACT else entry.file.creation_time_millis or 0


def _check_partitioned(table: Table, argument: str) -> None:
    if not table.schema.partition_keys:
        raise SqlError(f"{argument} chooses partitions, and table {table.name} has none.", hint="Leave it out.")


def _among(table: Table, rows: set[bytes]) -> PartitionValuesFilter:
    partition_format = PartitionFormat(table.schema)
    chosen = {partition_format.decode(row) for row in rows}
    return lambda values: values in chosen


PROCEDURES: dict[str, Procedure] = {
    "compact": Procedure(_compact, _COMPACT_PARAMETERS, 1, {"compacted": "boolean"}, _COMPACT_EXAMPLE),
    "schedule_compaction": Procedure(
        _schedule,
        ("table", "partitions", "strategy"),
        1,
        _SCHEDULED_COLUMNS,
        "CALL sys.schedule_compaction(table => 'db.t', strategy => 'full').",
    ),
    "run_compaction": Procedure(_run, ("table",), 1, _RUN_COLUMNS, "CALL sys.run_compaction(table => 'db.t')."),
}
