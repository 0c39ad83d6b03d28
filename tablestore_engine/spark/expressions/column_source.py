"""Where the columns of a table are in the files of one of its schemas: by which name and type Spark's scan reads them,
and what is made of them.

Spark's Parquet reader finds columns, and since 4.1 fields of structs, by name, gives null for one that a file lacks,
and widens some types of columns by itself.
Where that is right, files of older schemas are read like those of the current one. It refuses other types, or misreads
them: INT as DATE, BIGINT as INT. Those columns are read in their own type and cast.

Files of several schemas may still be read by one scan: of all their columns, where no file has a column of one of these
names that is meant otherwise. A column that was renamed is then the one of its names that a file has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from tablestore_engine.schema.casts.cast_old_columns import ColumnCast, check_readable, is_same
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.schema.types.types import (
    INTEGER_ROOTS,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    RowType,
    has_root,
)
from tablestore_engine.spark.expressions.cast_old_columns_sql import as_scanned, evolved_sql, null_sql, unread_sql

# Digits before the point that a decimal needs where Spark's vectorised reader takes whole numbers for it.
_READER_DIGITS = {"TINYINT": 10, "SMALLINT": 10, "INT": 10, "BIGINT": 20}


@dataclass(frozen=True)
class Source:
    """One column. `stored` is the column that the scan reads, None where there is none; `sql` is the value made of it,
    None where it is that column."""

    stored: DataField | None
    sql: str | None


_Use = tuple[int, str, DataType]  # the number of the present column that a stored one is, and how it is read
_OTHER: Final[_Use] = (-1, "", AtomicType("INT"))  # the use of a column that is not read


@dataclass(frozen=True)
class FilesRead:
    """Files whose columns have the same sources. `names` are those of all columns that one of them has, in lower
    case."""

    schema_id: int
    names: frozenset[str]
    sources: tuple[Source, ...]


@dataclass
class CombinedScan:
    """Files that one scan can read. Each column of theirs that is read has one use in all of them."""

    members: list[FilesRead] = field(default_factory=list)
    _read: dict[str, _Use] = field(default_factory=dict)
    _present: dict[str, _Use] = field(default_factory=dict)

    def takes(self, files: FilesRead) -> bool:
        """Add files, unless one of their columns has the name of another one."""
        read = {use[1].lower(): use for use in _uses(files.sources)}
        present = {name: read.get(name, _OTHER) for name in files.names}
        if _differ(read, self._read) or _differ(read, self._present) or _differ(present, self._read):
            return False
        self.members.append(files)
        self._read |= read
        self._present |= present
        return True

    def stored(self) -> list[DataField]:
        """The columns that the scan reads."""
        found = (one.stored for files in self.members for one in files.sources)
        return list({one.name: one for one in found if one is not None}.values())

    def sources(self) -> tuple[Source, ...]:
        """The value of each column: of the names that it had, files have one at most."""
        columns = zip(*(files.sources for files in self.members), strict=True)
        return tuple(_combined(list(dict.fromkeys(several))) for several in columns)


def combined_scans(all_files: Iterable[FilesRead]) -> list[CombinedScan]:
    """Few scans that read all of these files."""
    found: list[CombinedScan] = []
    for files in all_files:
        if not any(one.takes(files) for one in found):
            found.append(CombinedScan())
            found[-1].takes(files)
    return found


def _uses(sources: tuple[Source, ...]) -> Iterable[_Use]:
    for number, one in enumerate(sources):
        if one.stored is not None:
            yield number, one.stored.name, one.stored.type.as_nullable(True)


def _differ(some: Mapping[str, _Use], others: Mapping[str, _Use]) -> bool:
    return any(name in others and others[name] != use for name, use in some.items())


def _combined(several: list[Source]) -> Source:
    there = [one for one in several if one.stored is not None]
    if len(there) <= 1:
        return there[0] if there else several[0]
    values = (quoted_name(one.stored.name) if one.sql is None else one.sql for one in there if one.stored)
    return Source(None, f"coalesce({', '.join(dict.fromkeys(values))})")


def sources_of(
    own: TableSchema, current: TableSchema, *, widens: bool = True, fills_structs: Callable[[], bool] = lambda: False
) -> tuple[Source, ...]:
    """The source of each column of `current` in files of the schema `own`.

    `widens` says that the files' reader gives null for columns that they lack, and reads some types as wider ones, as
    that of Parquet files does; else all columns are read as they are stored. `fills_structs` says, when a column needs
    it, that the reader finds fields of structs by name, too.

    Raises:
        UnsupportedTypeError: no cast leads from the type of a column then to that of today.
    """
    by_id = {one.id: one for one in own.fields}
    pairs = ((by_id.get(one.id), one) for one in current.fields)
    return tuple(
        Source(one, None) if _is_native(past, one, own, fills_structs, widens=widens) else _source(past, one, current)
        for past, one in pairs
    )


def unread(field: DataField) -> Source:
    """The source of a column that no query reads."""
    return Source(None, unread_sql(field.name, field.type))


def _is_native(
    past: DataField | None, field: DataField, own: TableSchema, fills_structs: Callable[[], bool], *, widens: bool
) -> bool:
    """Whether the reader, asked for the present column by name, gives its values."""
    if past is None:
        return widens and not own.has_field(field.name)
    if has_root(past.type, ("TIME",)):
        return False
    if past.name != field.name or not widens:
        return past.name == field.name and is_same(past.type, field.type)
    return reads_as(past.type, field.type) or (finds_fields(past.type, field.type) and fills_structs())


def _source(past: DataField | None, field: DataField, current: TableSchema) -> Source:
    if past is None:
        return Source(None, null_sql(field.type))
    check_readable(field.name, past.type, field.type)
    how = ColumnCast(field.name, current.cast_rules)
    return Source(_bare(past), evolved_sql(quoted_name(past.name), past.type, field.type, how))


def _bare(field: DataField) -> DataField:
    """A column as far as a scan knows it."""
    return replace(field, type=as_scanned(field.type).as_nullable(True), description=None, default_value=None)


def reads_as(past: DataType, current: DataType) -> bool:
    """Whether Spark's Parquet reader, when it is asked for one type, reads the other one rightly."""
    if is_same(past, current):
        return True
    if not isinstance(past, AtomicType) or not isinstance(current, AtomicType):
        return False
    root, to = past.root, current.root
    if root in INTEGER_ROOTS and to in INTEGER_ROOTS:
        return INTEGER_ROOTS.index(root) <= INTEGER_ROOTS.index(to)
    if to == "DECIMAL":
        scale = current.scale or 0
        whole = (current.precision or 0) - scale
        if root == "DECIMAL":
            return scale >= (past.scale or 0) and whole >= (past.precision or 0) - (past.scale or 0)
        return root in _READER_DIGITS and whole >= _READER_DIGITS[root]
    if to == "DOUBLE":
        return root in ("FLOAT", "TINYINT", "SMALLINT", "INT")
    if root in ("CHAR", "VARCHAR") and to == "STRING":
        return True
    if root == to and root in ("VARCHAR", "TIMESTAMP", "TIMESTAMP_LTZ", "VARBINARY"):
        return (past.precision or 0) <= (current.precision or 0)
    return to == "BYTES" and root in ("BINARY", "VARBINARY")


def finds_fields(past: DataType, current: DataType) -> bool:
    """Whether a type differs from another one only in fields of structs, which a reader that finds these by name gives
    rightly: others, or in another order, but none that was renamed, has another type, or the name of another one."""
    if isinstance(past, ArrayType) and isinstance(current, ArrayType):
        return finds_fields(past.element, current.element)
    if isinstance(past, MapType) and isinstance(current, MapType):
        return is_same(past.key, current.key) and finds_fields(past.value, current.value)
    if not (isinstance(past, RowType) and isinstance(current, RowType)):
        return is_same(past, current)
    by_id, names = {one.id: one for one in past.fields}, {one.name.lower() for one in past.fields}
    pairs = [(by_id.get(one.id), one) for one in current.fields]
    return len(names) == len(past.fields) and all(
        one.name.lower() not in names if own is None else own.name == one.name and finds_fields(own.type, one.type)
        for own, one in pairs
    )
