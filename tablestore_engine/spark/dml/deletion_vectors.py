"""The rows of an append table that changed rows replace or remove: their positions in their files.

Spark collects them as words, 64 rows to a word, so that a DELETE of many rows brings few bytes to this process.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tablestore_engine.metadata.bitmaps.deletion_vector import WORD_BITS, positions_of
from tablestore_engine.metadata.bitmaps.roaring import Positions
from tablestore_engine.operation.scan.scan_plan import ScanPlan
from tablestore_engine.spark.queries.collect import collect_arrow
from tablestore_engine.spark.scan.arrow_scan import FILE_COLUMN, POSITION_COLUMN
from tablestore_engine.spark.scan.deletion_vectors import name_in_uri

_ROWS, _WORD, _BITS = "__tablestore_rows", "__tablestore_word", "__tablestore_bits"


@dataclass(frozen=True)
class MarkedRows:
    """How many rows a statement changes, new ones included, and the positions of those that go, by file.

    `repeated`: one is changed twice.
    """

    changed: int
    positions: Mapping[str, Positions]
    repeated: bool


def marked_rows(changed: DataFrame, plan: ScanPlan) -> MarkedRows:
    """Those of changed rows, which have `FILE_COLUMN` and `POSITION_COLUMN`; the files are those of the plan. One job.

    Raises:
        TableStoreError: the rows cannot be computed.
    """
    bit = f"shiftleft(1L, cast({POSITION_COLUMN} & {(1 << WORD_BITS) - 1}L AS int)) AS {_BITS}"
    words = changed.selectExpr(FILE_COLUMN, f"shiftright({POSITION_COLUMN}, {WORD_BITS}) AS {_WORD}", bit)
    counted = words.groupBy(FILE_COLUMN, _WORD).agg(F.count(F.lit(1)).alias(_ROWS), F.bit_or(_BITS).alias(_BITS))
    by_file = counted.groupBy(FILE_COLUMN).agg(F.sum(_ROWS), F.collect_list(_WORD), F.collect_list(_BITS))
    return _marked(collect_arrow(by_file), {name_in_uri(file.file_name): file.file_name for file in plan.files})


def _marked(found: pa.Table, names: Mapping[str, str]) -> MarkedRows:
    files, counts, words, bits = (found.column(i).combine_chunks() for i in range(4))
    positions: dict[str, Positions] = {}
    marked = 0
    for i, file in enumerate(files.to_pylist()):
        if file is not None:
            numbers, masks = (np.asarray(one[i].values, np.int64) for one in (words, bits))
            positions[names[file.rpartition("/")[2]]] = positions_of(numbers, masks)
            marked += counts[i].as_py()
    changed = sum(counts.to_pylist())
    return MarkedRows(changed, positions, marked != sum(map(len, positions.values())))
