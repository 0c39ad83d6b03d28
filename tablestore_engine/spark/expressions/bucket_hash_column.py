"""The bucket of a row as a Spark column: Paimon's hash, computed by Spark's own functions.

The bucket hash is murmur3 by words, with seed 42, of the key's BinaryRow: a header of null bits, a slot of eight
little-endian bytes for each column, and the bytes of long strings behind them. Without strings the words are
arithmetic on the columns. With strings the BinaryRow is put together from built-in functions, for Spark's `hash()` of
binary data is this hash: little-endian bytes of a number come from reversing its hexadecimal text, after the two digits
of every byte have been swapped.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tablestore_engine.metadata.bucket_hash import bucket_ids, hash_words, row_hashes
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.schema.types.types import INTEGER_ROOTS, AtomicType, DataField
from tablestore_engine.spark.expressions.murmur_sql import Word, murmur_sql

HASH_COLUMN = "__tablestore_hash"
_EMPTY = "X''"
_LOW_DIGITS = 0x0F0F0F0F0F0F0F0F
_MAX_NATIVE_COLUMNS = 56  # more need a second word of null bits
_SHORT = 7  # longest string that fits into its slot


def hash_column(fields: Sequence[DataField]) -> Column:
    """The hash (INT) of rows with these bucket key columns, of which `|hash % n|` is the bucket."""
    sql = _hash_sql(fields)
    return _by_arrow(fields, None) if sql is None else F.expr(sql)


def bucket_column(fields: Sequence[DataField], num_buckets: int) -> Column:
    """The bucket (INT) of rows with these bucket key columns."""
    sql = _bucket_sql(fields, num_buckets)
    return _by_arrow(fields, num_buckets) if sql is None else F.expr(sql)


def task_column(fields: Sequence[DataField], num_buckets: int) -> Column:
    """A column by which `repartition(num_buckets, …)` sends each bucket to a task of its own."""
    # One text if possible: each operation on a column costs a dozen calls of the JVM.
    literals = f"array({', '.join(map(str, _balanced(num_buckets)))})"
    sql = _bucket_sql(fields, num_buckets)
    if sql is not None:
        return F.expr(f"element_at({literals}, {sql} + 1)")
    return F.element_at(F.expr(literals), _by_arrow(fields, num_buckets) + F.lit(1))


def _hash_sql(fields: Sequence[DataField]) -> str | None:
    """SQL of the hash; None where Spark's functions cannot compute it."""
    if len(fields) > _MAX_NATIVE_COLUMNS or any(_slot_kind(f) is None for f in fields):
        return None
    if any(_is_text(f) for f in fields):
        return f"hash({_binary_row(fields)})"
    return f"cast({murmur_sql(_words(fields))} as int)"


def _bucket_sql(fields: Sequence[DataField], num_buckets: int) -> str | None:
    if num_buckets == 1:
        return "0"
    if len(fields) <= _MAX_NATIVE_COLUMNS and not any(_is_text(f) or _slot_kind(f) is None for f in fields):
        return f"cast(abs({murmur_sql(_words(fields))} % {num_buckets}) as int)"
    sql = _hash_sql(fields)
    return None if sql is None else f"abs({sql} % {num_buckets})"


def _balanced(count: int) -> list[int]:
    """For each task the first number that Spark's hash partitioning sends there."""
    found: dict[int, int] = {}
    number = 0
    while len(found) < count:
        found.setdefault(hash_words(number.to_bytes(4, "little")) % count, number)
        number += 1
    return [found[task] for task in range(count)]


def _slot_kind(field: DataField) -> Callable[[str], str] | None:
    """SQL of the column as a BIGINT whose little-endian bytes are its slot; None when there is none."""
    if not isinstance(field.type, AtomicType):
        return None
    root = field.type.root
    if root in INTEGER_ROOTS:
        width = {"TINYINT": 0xFF, "SMALLINT": 0xFFFF, "INT": 0xFFFFFFFF, "BIGINT": None}[root]
        return lambda name: f"cast({name} as bigint)" + (f" & {width}L" if width else "")
    if root == "BOOLEAN":
        return lambda name: f"cast({name} as bigint)"
    if root == "DATE":
        return lambda name: f"cast(unix_date({name}) as bigint) & 4294967295L"
    if root == "TIME":
        return lambda name: f"time_to_millis({name})"
    if root == "DECIMAL" and (field.type.precision or 10) <= 18:
        power = 10 ** (field.type.scale or 0)
        return lambda name: f"cast({name} * {power}BD as bigint)"
    if root in ("STRING", "VARCHAR", "CHAR"):
        return lambda name: name
    return None


def _words(fields: Sequence[DataField]) -> list[Word]:
    """The words of the BinaryRow of columns that have no variable part."""
    flags = _null_flags(fields)
    words = _halves(" + ".join(flags), wide=len(fields) > 24) if flags else [0, 0]
    for field in fields:
        kind = _slot_kind(field)
        assert kind is not None
        slot = kind(quoted_name(field.name))
        wide = isinstance(field.type, AtomicType) and field.type.root in ("BIGINT", "DECIMAL")
        words += _halves(f"coalesce({slot}, 0L)" if field.type.nullable else slot, wide=wide)
    return words


def _halves(number: str, *, wide: bool) -> list[Word]:
    """Low and high 32 bits of a BIGINT; the high ones are zero unless it is `wide`."""
    return [f"(({number}) & 4294967295L)", f"shiftrightunsigned({number}, 32)" if wide else 0]


def _null_flags(fields: Sequence[DataField]) -> list[str]:
    return [f"if({quoted_name(f.name)} is null, {1 << (i + 8)}L, 0L)" for i, f in enumerate(fields) if f.type.nullable]


def _is_text(field: DataField) -> bool:
    return isinstance(field.type, AtomicType) and field.type.root in ("STRING", "VARCHAR", "CHAR")


def _little_endian(number: str) -> str:
    swapped = f"shiftleft(({number}) & {_LOW_DIGITS}L, 4) | (shiftrightunsigned({number}, 4) & {_LOW_DIGITS}L)"
    return f"unhex(reverse(lpad(hex({swapped}), 16, '0')))"


def _binary_row(fields: Sequence[DataField]) -> str:
    zero = "X'0000000000000000'"
    names = [quoted_name(f.name) for f in fields]
    flags = _null_flags(fields)
    header = _little_endian(" + ".join(flags)) if flags else zero
    slots: list[str] = []
    tails: list[str] = []
    lengths: list[str] = []
    fixed = 8 + 8 * len(fields)
    for field, name in zip(fields, names, strict=True):
        kind = _slot_kind(field)
        assert kind is not None
        if not _is_text(field):
            slots.append(f"coalesce({_little_endian(kind(name))}, {zero})")
            continue
        data, length = f"cast({name} as binary)", f"cast(octet_length({name}) as bigint)"
        padded = f"cast(({length} + 7) div 8 * 8 as int)"
        offset = " + ".join([f"{fixed}L", *lengths])
        short = f"concat(rpad({data}, {_SHORT}, X'00'), unhex(hex(128L + {length})))"
        long = _little_endian(f"({length} + shiftleft({offset}, 32))")
        slots.append(f"coalesce(if({length} <= {_SHORT}, {short}, {long}), {zero})")
        tails.append(f"coalesce(if({length} <= {_SHORT}, {_EMPTY}, rpad({data}, {padded}, X'00')), {_EMPTY})")
        lengths.append(f"coalesce(if({length} <= {_SHORT}, 0L, ({length} + 7) div 8 * 8), 0L)")
    return f"concat({', '.join([header, *slots, *tails])})"


def _by_arrow(fields: Sequence[DataField], num_buckets: int | None) -> Column:
    """Types whose bytes Spark's functions cannot give: hash in Python, vectorised, on the key columns only.

    Without a number of buckets it is the hash itself.
    """
    types = [f.type for f in fields]
    columns = [F.col(quoted_name(f.name)) for f in fields]

    def buckets(*arrays):  # type: ignore[no-untyped-def]  # noqa: ANN002, ANN202 - Spark reads annotations
        import pyarrow as pa

        from tablestore_engine.schema.types.arrow import to_arrow_type

        typed = [a.cast(to_arrow_type(t)) for a, t in zip(arrays, types, strict=True)]
        found = row_hashes(typed, types) if num_buckets is None else bucket_ids(typed, types, num_buckets)
        return pa.array(found, pa.int32())

    arrow_udf: Any = getattr(F, "arrow_udf", None)
    if arrow_udf is None:
        return _by_pandas(buckets, columns)
    kinds: Any = F.ArrowUDFType  # type: ignore[attr-defined,unused-ignore]
    with warnings.catch_warnings():
        # Spark would rather infer the kind from annotations, which functions of any number of columns do not have.
        warnings.simplefilter("ignore", UserWarning)
        column: Column = arrow_udf(buckets, T.IntegerType(), kinds.SCALAR)(*columns)
    return column


def _by_pandas(buckets: Callable[..., Any], columns: Sequence[Column]) -> Column:
    """For PySpark 4.0, which has no Arrow functions: through nanoseconds, so only for the years 1677 to 2262."""
    from pyspark.sql.pandas.functions import PandasUDFType, pandas_udf

    def through_pandas(*series):  # type: ignore[no-untyped-def]  # noqa: ANN002, ANN202 - as above
        import pyarrow as pa

        return buckets(*[pa.Array.from_pandas(one) for one in series]).to_pandas()

    column: Column = pandas_udf(through_pandas, T.IntegerType(), PandasUDFType.SCALAR)(*columns)
    return column
