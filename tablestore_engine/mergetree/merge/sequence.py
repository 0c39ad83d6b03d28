"""The order of records of one key, as a table's options give it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from tablestore_engine.mergetree.arrow_kernels.compare_values import Indices
from tablestore_engine.mergetree.merge.merge_runs import SortColumn, last_of_key_mask, sort_stable
from tablestore_engine.schema.table.table_schema import TableSchema


def sequence_columns(schema: TableSchema) -> list[SortColumn]:
    """The user's sequence fields, by which the last row of a key is found."""
    options = schema.core_options
    return [SortColumn(name, options.sequence_field_descending) for name in options.sequence_field]


def ranks_of(table: pa.Table, sequence: Sequence[str]) -> Indices:
    """The rank of each row's sequence, equal for equal ones; -1 for a row without a sequence."""
    number = "__tablestore_row"
    rows = table.select(list(sequence)).append_column(number, pa.array(np.arange(table.num_rows)))
    ordered = sort_stable(rows, [SortColumn(name) for name in sequence])
    following = np.append(0, last_of_key_mask(ordered, sequence)[:-1])
    ranks = np.empty(table.num_rows, np.int64)
    ranks[ordered.column(number).to_numpy()] = np.cumsum(following)
    given = np.logical_or.reduce([table.column(name).is_valid().to_numpy() for name in sequence])
    return np.where(given, ranks, -1)
