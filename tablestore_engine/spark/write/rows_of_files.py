"""How many rows a query certainly has: those of its files, where it keeps every row of them.

Whether a result is small is otherwise found by reading it, up to the number of rows that one process writes; of a file
that is copied as it is, that pass is for nothing.
"""

from __future__ import annotations

from urllib.parse import unquote, urlparse

from pyspark.sql import DataFrame

from tablestore_engine.spark.session.session_settings import is_remote

_KEEPING = frozenset({
    "GlobalLimit", "LocalLimit", "Project", "Window", "Sort", "Union", "Repartition", "RepartitionByExpression",
    "LogicalRelation",
})  # fmt: skip
_MOST_NODES = 50
_MOST_FILES = 64


def rows_at_least(limited: DataFrame, limit: int) -> int:
    """A lower bound of the rows of a frame that is limited to `limit` of them; 0 where nothing is known.

    Known is a frame of Parquet or ORC files of this machine, which keeps all of their rows. The plans of Spark Connect
    are its server's, so that nothing is known of them.
    """
    if is_remote(limited) or not _keeps_rows(limited, limit):
        return 0
    files = limited.inputFiles()
    rows = 0
    for file in files if len(files) <= _MOST_FILES else []:
        rows += _rows_of(unquote(urlparse(file).path))
        if rows >= limit:
            return limit
    return rows


def _keeps_rows(limited: DataFrame, limit: int) -> bool:
    """Whether no operator of the plan leaves rows out, but the limit."""
    try:
        left = [limited._jdf.queryExecution().optimizedPlan()]
        for _ in range(_MOST_NODES):
            node = left.pop()
            name = node.getClass().getSimpleName()
            if name not in _KEEPING:
                return False
            if name.endswith("Limit") and node.limitExpr().toString() != str(limit):
                return False  # the query has a lower one of its own
            children = node.children()
            left += [children.apply(i) for i in range(children.size())]
            if not left:
                return True
    except Exception:
        return False  # running the query says it better
    return False


def _rows_of(path: str) -> int:
    """The rows that the footer of a file counts; 0 if it cannot be read."""
    import pyarrow as pa
    from pyarrow import orc, parquet

    try:
        if path.endswith(".parquet"):
            return int(parquet.read_metadata(path).num_rows)
        if path.endswith(".orc"):
            return int(orc.ORCFile(path).nrows)
    except (OSError, pa.ArrowException):
        pass
    return 0
