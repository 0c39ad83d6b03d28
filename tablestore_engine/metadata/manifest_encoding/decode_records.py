"""The records of manifests, manifest lists and index manifests, in any format that Paimon writes.

The format is what the bytes begin with: `manifest.format` may be ``orc`` or ``parquet`` in tables of other tools.
Ours are Avro files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tablestore_engine.metadata.manifest_encoding import avro_container

if TYPE_CHECKING:
    import pyarrow as pa

_ORC, _PARQUET = b"ORC", b"PAR1"


def decode(data: bytes) -> list[dict[str, Any]]:
    """Records as `avro_container.decode` has them: a timestamp is its milliseconds. Raises ValueError on damage."""
    if not data.startswith((_ORC, _PARQUET)):
        return avro_container.decode(data)
    import pyarrow as pa

    try:
        rows = _read(pa.BufferReader(data), is_orc=data.startswith(_ORC))
        millis = pa.schema([one.with_type(_with_millis(one.type)) for one in rows.schema])
        numbers = pa.schema([one.with_type(_with_numbers(one.type)) for one in millis])
        found: list[dict[str, Any]] = rows.cast(millis, safe=False).cast(numbers).to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise ValueError(str(error)) from error
    return found


def _read(source: pa.BufferReader, *, is_orc: bool) -> pa.Table:
    if is_orc:
        from pyarrow import orc

        return orc.ORCFile(source).read()
    import pyarrow.parquet as pq

    return pq.ParquetFile(source).read()


def _with_millis(kind: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    return _replaced(kind, pa.types.is_timestamp, pa.timestamp("ms"))


def _with_numbers(kind: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    return _replaced(kind, pa.types.is_timestamp, pa.int64())


def _replaced(kind: pa.DataType, chosen: Any, by: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    if chosen(kind):
        return by
    if pa.types.is_struct(kind):
        return pa.struct([one.with_type(_replaced(one.type, chosen, by)) for one in kind])
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_replaced(kind.value_type, chosen, by)))
    return kind
