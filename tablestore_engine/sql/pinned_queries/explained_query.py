"""EXPLAIN of a query: its plan in the user's words, or the error that the query itself has.

Spark answers EXPLAIN of a query that it cannot analyse or plan with rows, which hold the text of its error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tablestore_engine.spark.errors.translate_errors import failure, translated
from tablestore_engine.spark.queries.temp_views import named_plan
from tablestore_engine.sql.pinned_queries.pinned_query import Frames
from tablestore_engine.sql.query.bind import BoundQuery

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_FAILED = "Error occurred during query planning:"
_WITHOUT_ERRORS: tuple[list[str], ...] = ([], ["FORMATTED"])
"""The modes whose plans have no error in them: an error is the whole answer, and begins with `_FAILED`."""


def plan_of(frames: Frames, query: BoundQuery | str, prefix: str, notes: Sequence[str] = ()) -> DataFrame:
    """The plan of a query, with `notes` and what the scans of its tables leave out behind it.

    Args:
        frames: what the query was bound with.
        query: the query.
        prefix: EXPLAIN, with its mode.
        notes: about files that were left out in another way.

    Raises:
        TableStoreError: the query has no plan, for the reason that the query itself would say.
    """
    has_no_errors = prefix.upper().split()[1:] in _WITHOUT_ERRORS
    if not has_no_errors:
        frames.run(query)
    answer = frames.run(query, prefix)
    with translated():
        lines = [str(row[0]) for row in answer.collect()]
    if lines[0].startswith(_FAILED):
        frames.run(query)  # raises, with the line of the user's text, if Spark cannot analyse it
        raise failure("\n".join(lines).removeprefix(_FAILED).strip())
    return named_plan(answer, [*notes, *frames.scans])
