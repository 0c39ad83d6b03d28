"""The columns that the engine adds to the data files of a keyed table, and the ids reserved for it.

A row of such a file is: the trimmed key columns (``_KEY_…``), the sequence number, the value kind, then the value
columns. A file of a table without a key has the value columns; a retraction file of a multiset has `COUNT` in
front, how often each row is taken away.
Invariant: these names and ids are persisted in every data file and must never change.
"""

from __future__ import annotations

from tablestore_engine.schema.types.types import AtomicType, DataField

_INT_MAX = 2**31 - 1

KEY_PREFIX = "_KEY_"
OWN_PREFIX = "__tablestore_"
"""Begins the names of columns that the engine adds to rows while it works on them; no file has one."""
KEY_FIELD_ID_START = _INT_MAX // 2
SEQUENCE_NUMBER = DataField(_INT_MAX - 1, "_SEQUENCE_NUMBER", AtomicType("BIGINT", nullable=False))
VALUE_KIND = DataField(_INT_MAX - 2, "_VALUE_KIND", AtomicType("TINYINT", nullable=False))
COUNT = DataField(_INT_MAX - 1_000, "_ROW_COUNT", AtomicType("BIGINT", nullable=False))
RECORD_COLUMNS = (SEQUENCE_NUMBER, VALUE_KIND)
"""Those of each record of a keyed table."""
COUNT_COLUMNS = (COUNT,)
"""Those of a retraction file."""

# Of every table, in queries only: where a row is stored.
FILE_PATH, ROW_INDEX = "__paimon_file_path", "__paimon_row_index"
PARTITION, BUCKET = "__paimon_partition", "__paimon_bucket"
HIDDEN_COLUMNS = (FILE_PATH, ROW_INDEX, PARTITION, BUCKET)

_SYSTEM_NAMES = {
    *HIDDEN_COLUMNS,
    "_sequence_number", "_value_kind", "_level", "rowkind", "_row_id", "_row_kind", "_row_count",
}  # fmt: skip
_STRUCTURED_ID_BASE = _INT_MAX // 4
_STRUCTURED_DEPTH_LIMIT = 1 << 10


def is_system_name(name: str) -> bool:
    """Whether a column of that name would collide with the engine's own, in ours or another reader."""
    lower = name.lower()
    return lower in _SYSTEM_NAMES or lower.startswith((KEY_PREFIX.lower(), OWN_PREFIX))


def key_field(field: DataField) -> DataField:
    """The ``_KEY_…`` column that carries a primary key column in data files."""
    return DataField(field.id + KEY_FIELD_ID_START, KEY_PREFIX + field.name, field.type)


def element_field_id(column_id: int, depth: int) -> int:
    """The Parquet field id of an array's element or a map's value, ``depth`` levels inside of a column."""
    return _STRUCTURED_ID_BASE + column_id * _STRUCTURED_DEPTH_LIMIT + depth


def map_key_field_id(column_id: int, depth: int) -> int:
    """The Parquet field id of a map's key, ``depth`` levels inside of a column."""
    return _STRUCTURED_ID_BASE - column_id * _STRUCTURED_DEPTH_LIMIT - depth
