"""Scans without the rows that deletion vectors name, as SQL: no row crosses into Python.

A row's word (see `deletion_vector_words`) is found in an array, by its position and by the size of its file: this
costs about as much as one more column. Where this cannot be, the words that are not zero are broadcast, and rows
joined with them by file and number of the word.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from tablestore_engine.metadata.bitmaps.deletion_vector import WORD_BITS, words_of
from tablestore_engine.metadata.bitmaps.roaring import Positions
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.spark.expressions.format_braces import formatted
from tablestore_engine.spark.queries.collect import arrow_frame
from tablestore_engine.spark.scan.deletion_vector_words import SizedFiles

ROW_NUMBER = "_tmp_metadata_row_index"
"""A column that Spark's reader of Parquet files fills with the number of each row in its file, as it does for
`_metadata.row_index`: but for that, it makes a struct of every row. Another reader would leave it null, which fails."""
_NUMBER = f"coalesce({ROW_NUMBER}, raise_error('Spark did not number the rows of a Parquet file.'))"
# A scan that has this struct must need a field of it: of a struct without a needed field, Spark's plan has all fields,
# also its own number of the row, and refuses to number rows twice.
_METADATA = "_metadata."
# Hidden columns of the scan, and the columns of the words.
_FILE, _SIZE, _AT = "__tablestore_deleted_file", "__tablestore_deleted_size", "__tablestore_deleted_at"
# More words are left to a shuffle, which has no bound.
_BROADCAST_WORDS = 4_000_000
# Characters that Java keeps in the path of a URI, apart from letters and digits; beyond ASCII it keeps all.
_PLAIN_IN_URIS = "/_-!.~'()*,;:$&+=@"


def items_of(columns: Mapping[str, str]) -> list[str]:
    """The items of a select list: expressions as their names."""
    quoted = {name: quoted_name(name) for name in columns}
    return [quoted[name] if sql == quoted[name] else f"{sql} AS {quoted[name]}" for name, sql in columns.items()]


def without_deleted(
    spark: SparkSession, frame: DataFrame, columns: Mapping[str, str], deleted: Iterable[tuple[str, Positions]]
) -> DataFrame:
    """Columns (SQL expressions by their names) of a scan of files, without the deleted rows of each.

    `frame` is the scan as Spark's reader gives it; `deleted` names each file, without its directory, with the positions
    of its deleted rows.
    """
    words = _words(deleted)
    if not words.num_rows:
        return frame.selectExpr(*items_of(columns))
    rows = frame.selectExpr(*items_of(columns), f"{_METADATA}file_name AS {_FILE}", f"{_METADATA}row_index AS {_AT}")
    names = ", ".join(f"r.{formatted(name)}" for name in columns)
    hint = "/*+ BROADCAST(d) */ " if words.num_rows <= _BROADCAST_WORDS else ""
    last = (1 << WORD_BITS) - 1
    bit = f"shiftleft(1L, cast(r.{_AT} & {last}L AS int))"
    on = f"r.{_FILE} = d.file AND shiftright(r.{_AT}, {WORD_BITS}) = d.word AND (d.bits & {bit}) != 0L"
    text = f"SELECT {hint}{names} FROM {{rows}} r LEFT ANTI JOIN {{words}} d ON {on}"
    return spark.sql(text, rows=rows, words=arrow_frame(spark, words))


def without_words(
    spark: SparkSession,
    frame: DataFrame,
    columns: Mapping[str, str],
    files: SizedFiles,
    words: pa.Array,
    starts: pa.Array,
) -> DataFrame:
    """The same of a scan, with `ROW_NUMBER`, of files whose sizes differ; `starts` says where in `words` those of each
    begin."""
    hidden, word = [f"{_NUMBER} AS {_AT}"], f"shiftright(r.{_AT}, {WORD_BITS})"
    frames: dict[str, Any] = {"words": spark.createDataFrame(_in_one_row(words))}
    if len(files.files) > 1 or any(sql.startswith(_METADATA) for sql in columns.values()):
        hidden.append(f"{_METADATA}file_size AS {_SIZE}")
        word += f" + get((SELECT one FROM {{starts}}), cast(r.{_SIZE} % {files.prime}L AS int))"
        frames["starts"] = spark.createDataFrame(_in_one_row(starts))
    rows = frame.selectExpr(*items_of(columns), *hidden)
    names = ", ".join(f"r.{formatted(name)}" for name in columns)
    bit = f"cast(r.{_AT} & {(1 << WORD_BITS) - 1}L AS int)"
    text = (
        f"SELECT {names} FROM {{rows}} r WHERE getbit(get((SELECT one FROM {{words}}), cast({word} AS int)), {bit}) = 0"
    )
    return spark.sql(text, rows=rows, **frames)


def _in_one_row(values: pa.Array) -> pa.Table:
    return pa.table({"one": pa.ListArray.from_arrays(pa.array([0, len(values)], pa.int32()), values)})


def _words(deleted: Iterable[tuple[str, Positions]]) -> pa.Table:
    """The words of all files; the positions of one at a time are held."""
    files: list[pa.Array] = []
    numbers: list[Positions] = [np.zeros(0, np.int64)]
    bits: list[Positions] = [np.zeros(0, np.int64)]
    for name, positions in deleted:
        of_file = words_of(positions)
        files.append(pa.repeat(name_in_uri(name), len(of_file[0])))
        numbers.append(of_file[0])
        bits.append(of_file[1])
    words = pa.table(
        {
            "file": pa.chunked_array(files, pa.string()),
            "word": np.concatenate(numbers),
            "bits": np.concatenate(bits),
        }
    )
    return words.combine_chunks()  # else there is a batch for each file


def name_in_uri(name: str) -> str:
    """A path, or the name of a file, as Spark's metadata columns have it: encoded as in a URI made by Java."""
    return "".join(quote(one, safe=_PLAIN_IN_URIS) if one.isascii() else one for one in name)
