"""The procedure on file indexes: CALL sys.rewrite_file_index."""

from __future__ import annotations

from tablestore_engine.spark.compact.compactor import rewrite_indexes
from tablestore_engine.sql.procedures.compaction_procedures import where_partitions
from tablestore_engine.sql.procedures.procedure import Arguments, Procedure, Rows, text
from tablestore_engine.sql.write_statements.statement_context import RowContext
from tablestore_engine.table import Table


def _rewrite(table: Table, arguments: Arguments, context: RowContext) -> Rows:
    """Makes the file indexes of all files anew, as the options `file-index.*` say now, and removes those that these no
    longer name. The rows are read, and not written.

    `where` chooses partitions by a condition on their columns. The answer counts the partitions and files whose
    index was made anew, also where it is the same as before.
    """
    condition = text("where", arguments)
    chosen = where_partitions(table, condition, context) if condition else None
    changed = rewrite_indexes(context.spark, table, chosen)
    return [(len({entry.partition for entry in changed}), len(changed))]


PROCEDURES: dict[str, Procedure] = {
    "rewrite_file_index": Procedure(
        _rewrite,
        ("table", "where"),
        1,
        {"written_partitions": "int", "written_indexes": "int"},
        "CALL sys.rewrite_file_index(table => 'db.t').",
    ),
}
