"""The procedure that changes the number of buckets: CALL sys.rescale."""

from __future__ import annotations

from tablestore_engine.errors import SqlError
from tablestore_engine.spark.dml.rewrite import rescale
from tablestore_engine.sql.procedures.partition_procedures import listed_partitions
from tablestore_engine.sql.procedures.procedure import Arguments, Procedure, Rows, text
from tablestore_engine.sql.statements.statement import TableName
from tablestore_engine.sql.write_statements.statement_context import RowContext
from tablestore_engine.table import Table


def _rescale(table: Table, arguments: Arguments, context: RowContext) -> Rows:
    """Rewrites the rows into `bucket_num` buckets (-1: dynamic buckets); by default the number in the table's option.

    `partition` (or `partitions`, 'dt=2024-01-01;dt=2024-01-02') chooses the partitions; without it, new partitions will
    have this number, too. Partitions that have it already are not rewritten. The same as
    `ALTER TABLE … CLUSTERED INTO n BUCKETS`.
    """
    number = arguments.get("bucket_num")
    if number is not None and (isinstance(number, bool) or not isinstance(number, int)):
        raise SqlError(f"bucket_num is a number, not {number!r}.", hint="Write bucket_num => 8.")
    listed = text("partition", arguments) or text("partitions", arguments)
    chosen = listed_partitions(table.schema, listed) if listed else None
    identifier = TableName(*table.identifier)
    rescale(context.spark, lambda: context.table(identifier), number, chosen, now_millis=context.now_millis)
    return [(True,)]


PROCEDURES: dict[str, Procedure] = {
    "rescale": Procedure(
        _rescale,
        ("table", "bucket_num", "partition", "partitions"),
        1,
        {"result": "boolean"},
        "CALL sys.rescale(table => 'db.t', bucket_num => 8, partition => 'dt=2024-01-01').",
    ),
}
