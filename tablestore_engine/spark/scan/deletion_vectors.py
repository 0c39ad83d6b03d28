"""Scans without the rows that deletion vectors name, as SQL: no row crosses into Python.

A *word* is 64 neighbouring rows of one file as the bits of a number. A few files are scanned one by one: the words of
each are an array, in which the row's own is found by its number, as fast as any column is read. Of many files the words
that are not zero are broadcast, and rows joined with them by file and number of the word.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import quote

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from tablestore_engine.metadata.bitmaps.deletion_vector import WORD_BITS, words_of
from tablestore_engine.metadata.bitmaps.roaring import Positions
from tablestore_engine.spark.expressions.format_braces import formatted

# Hidden columns of the scan, and the columns of the words.
_FILE, _AT = "__tablestore_deleted_file", "__tablestore_deleted_at"
# More words are left to a shuffle, which has no bound.
_BROADCAST_WORDS = 4_000_000
# Characters that Java keeps in the path of a URI, apart from letters and digits; beyond ASCII it keeps all.
_PLAIN_IN_URIS = "/_-!.~'()*,;:$&+=@"


def without_deleted(
    spark: SparkSession, frame: DataFrame, columns: Sequence[str], deleted: Iterable[tuple[str, Positions]]
) -> DataFrame:
    """Columns (SQL expressions with their names) of a scan of files, without the deleted rows of each.

    `frame` is the scan as Spark's reader gives it; `deleted` names each file, without its directory, with the positions
    of its deleted rows.
    """
    words = _words(deleted)
    if not words.num_rows:
        return frame.selectExpr(*columns)
    rows = frame.selectExpr(*columns, f"_metadata.file_name AS {_FILE}", f"_metadata.row_index AS {_AT}")
    names = ", ".join(f"r.{formatted(name)}" for name in rows.columns[:-2])
    hint = "/*+ BROADCAST(d) */ " if words.num_rows <= _BROADCAST_WORDS else ""
    last = (1 << WORD_BITS) - 1
    bit = f"shiftleft(1L, cast(r.{_AT} & {last}L AS int))"
    on = f"r.{_FILE} = d.file AND shiftright(r.{_AT}, {WORD_BITS}) = d.word AND (d.bits & {bit}) != 0L"
    text = f"SELECT {hint}{names} FROM {{rows}} r LEFT ANTI JOIN {{words}} d ON {on}"
    return spark.sql(text, rows=rows, words=spark.createDataFrame(words))


def without_positions(
    spark: SparkSession, frame: DataFrame, columns: Sequence[str], deleted: Positions, row_count: int
) -> DataFrame:
    """The same of a scan of one file, which has so many rows."""
    numbers, bits = words_of(deleted)
    words = np.zeros((row_count >> WORD_BITS) + 1, np.int64)
    words[numbers] = bits
    array = pa.ListArray.from_arrays(pa.array([0, len(words)], pa.int32()), pa.array(words))
    rows = frame.selectExpr(*columns, f"_metadata.row_index AS {_AT}")
    names = ", ".join(f"r.{formatted(name)}" for name in rows.columns[:-1])
    word = f"get((SELECT words FROM {{words}}), cast(shiftright(r.{_AT}, {WORD_BITS}) AS int))"
    bit = f"cast(r.{_AT} & {(1 << WORD_BITS) - 1}L AS int)"
    text = f"SELECT {names} FROM {{rows}} r WHERE getbit({word}, {bit}) = 0"
    return spark.sql(text, rows=rows, words=spark.createDataFrame(pa.table({"words": array})))


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
