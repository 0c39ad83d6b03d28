"""The config on_schema_change: how a query's columns differ from its table's, and the changes that adapt the table.

Vocabulary: *source columns* are those of the model's query, *target columns* those of its table. Invariants: columns
and fields are matched by name, without regard to case, never by position; a renamed one keeps its data, because the
engine knows it by its id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.relation.column import TableStoreColumn
from dbt.adapters.tablestore.relation.column_paths import ColumnPath, column_paths
from tablestore_engine.errors import UnsupportedTypeError
from tablestore_engine.schema.casts.cast_old_columns import is_implicit, is_lossless
from tablestore_engine.schema.table.schema_changes import (
    AddColumn,
    ColumnChange,
    DropColumn,
    RenameColumn,
    RetypeColumn,
)
from tablestore_engine.schema.types.sql_literals import spark_type
from tablestore_engine.schema.types.types import (
    STRING_ROOTS,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    RowType,
)
from tablestore_engine.sql.types.types import parse_sql_type

APPEND, SYNC = "append_new_columns", "sync_all_columns"

WIDEN = "widen"
"""The mode of snapshots: new columns and fields are added, and types change that lose no value. Texts that a contract
declares become longer under append_new_columns, too, as in dbt's `expand_target_column_types`."""


@dataclass(frozen=True)
class Rename:
    """A column or field that gets another name: its path, such as `("s", "old")`, and the new last part of it."""

    path: tuple[str, ...]
    new: str

    @property
    def renamed(self) -> tuple[str, ...]:
        """The path afterwards."""
        return (*self.path[:-1], self.new)

    @property
    def text(self) -> str:
        return f"{'.'.join(self.path)} to {self.new}"


@dataclass(frozen=True)
class SchemaChange:
    """How the columns of a query differ from those of its table. It is false when they do not differ.

    The target columns are those after the renames. Without a query, when on_schema_change is `ignore`, only renames
    are known.
    """

    source_columns: tuple[TableStoreColumn, ...]
    target_columns: tuple[TableStoreColumn, ...]
    added: tuple[TableStoreColumn, ...]
    removed: tuple[TableStoreColumn, ...]
    retyped: tuple[TableStoreColumn, ...]
    renamed: tuple[Rename, ...] = ()

    @classmethod
    def between(
        cls,
        source: Sequence[TableStoreColumn] | None,
        target: Sequence[TableStoreColumn],
        renamed: Sequence[Rename] = (),
    ) -> SchemaChange:
        target = _after(target, renamed)
        old = {one.name.lower(): one for one in target}
        given = target if source is None else source
        source = [one.filled_from(old[one.name.lower()]) if one.name.lower() in old else one for one in given]
        new = {one.name.lower(): one for one in source}
        return cls(
            tuple(source),
            tuple(target),
            added=tuple(one for key, one in new.items() if key not in old),
            removed=tuple(one for key, one in old.items() if key not in new),
            retyped=tuple(one for key, one in new.items() if key in old and not one.fits_into(old[key])),
            renamed=tuple(renamed),
        )

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.retyped)

    @property
    def text(self) -> str:
        """`new columns a, b; missing columns c; changed types d (int, not bigint)`."""
        old = self._old_types()
        parts = []
        if self.added:
            parts.append(f"new columns {', '.join(one.name for one in self.added)}")
        if self.removed:
            parts.append(f"missing columns {', '.join(one.name for one in self.removed)}")
        if self.retyped:
            changes = (f"{one.name} ({one.dtype}, not {old[one.name.lower()]})" for one in self.retyped)
            parts.append(f"changed types {', '.join(changes)}")
        return "; ".join(parts)

    def misfit(self, table: str) -> str:
        """The message for a query that does not fit its table, and what to do."""
        old, new = (tuple(one.name for one in some) for some in (self.removed, self.added))
        says = [f"The query of this incremental model no longer fits its table {table}: {self.text}."]
        if old and new:
            example = f"{{name: {new[0]}, config: {{meta: {{renamed_from: {old[0]}}}}}}}"
            says.append(f"A renamed column keeps its data if the model's YAML says so under `columns`: {example}.")
        says.append(
            f"Else set on_schema_change to {APPEND} or {SYNC}, or run once with --full-refresh."
            if len(says) > 1
            else f"Set on_schema_change to {APPEND} or {SYNC}, or run once with --full-refresh."
        )
        return " ".join(says)

    def done(self, mode: str) -> str:
        """The changes that a mode makes, for the console: `renamed a to b, added c, dropped d, e is bigint`."""
        parts = [f"renamed {one.text}" for one in self.renamed]
        for change in self.column_changes(mode):
            if isinstance(change, AddColumn):
                parts.append(f"added {change.name}")
            elif isinstance(change, DropColumn):
                parts.append(f"dropped {change.name}")
            elif isinstance(change, RetypeColumn):
                parts.append(f"{change.name} is {spark_type(change.type)}")
        return ", ".join(parts)

    def changes(self, mode: str) -> list[ColumnChange]:
        """The changes of the table's schema: of names in every mode, else what the mode allows."""
        return [*(RenameColumn(one.path, one.new) for one in self.renamed), *self.column_changes(mode)]

    def column_changes(self, mode: str) -> list[ColumnChange]:
        """New, dropped and retyped columns. Fields of structs are part of the types."""
        if mode not in (APPEND, SYNC, WIDEN):
            return []
        old = self._old_types()
        found: list[ColumnChange] = [AddColumn(one.name, _type(one)) for one in self.added]
        for one in self.retyped:
            now, wanted = parse_sql_type(old[one.name.lower()], one.name), _type(one)
            changed = wanted if mode == SYNC else with_new_fields(now, wanted, _wider(mode, one))
            if changed != now:
                found.append(RetypeColumn(one.name, changed))
        if mode == SYNC:
            found += [DropColumn(one.name) for one in self.removed]
        return found

    def _old_types(self) -> dict[str, str]:
        return {one.name.lower(): one.dtype for one in self.target_columns}


Path = tuple[str, ...]


@dataclass(frozen=True)
class OtherPaths:
    """The columns and fields, in lower case, that only a query has (`new`) or only its table (`missing`), each without
    the fields inside of it."""

    new: tuple[Path, ...]
    missing: tuple[Path, ...]

    @classmethod
    def of(cls, change: SchemaChange) -> OtherPaths:
        source, target = _paths(change.source_columns), _paths(change.target_columns)
        return cls(_topmost(source - target), _topmost(target - source))

    def of_renamed(self, old: Path, new: Path) -> bool:
        """Whether a column of a source that was renamed is missing under one name, and new under the other."""
        return _lower(old) in self.missing and _lower(new) in self.new


_NO_KEY = (
    "{table} has no key, so a row that a change removes must be equal to one of its rows, but {why}. Nothing was"
    " written. Run the model once with --full-refresh"
)


def refusal_of_new(table: str, path: Path) -> str:
    """The message for a new column that has, or may have, values in rows of earlier runs, too."""
    why = f"its rows are null in the new column '{'.'.join(path)}', for which the query has, or may have, values"
    return f"{_NO_KEY.format(table=table, why=why)}."


def refusal_of_missing(table: str, path: Path) -> str:
    """The message for a column that rows of earlier runs have, and the query does not."""
    why = f"its rows have values in the column '{'.'.join(path)}', which the query lacks"
    return f"{_NO_KEY.format(table=table, why=why)}, or set on_schema_change to {SYNC}, which drops it."


def refusal_of_renamed(table: str, source: str, old: Path, new: Path) -> str:
    """The message for a column that has another name in a source, and so in the query, than in the model's table."""
    was, now = ".".join(old), ".".join(new)
    meta = f"{{name: {now}, config: {{meta: {{renamed_from: {was}}}}}}}"
    return (
        f"The column '{was}' of {source} is '{now}' now. Rows that {table} has would keep its values under the old name"
        f" only, and others would have them under the new one. Nothing was written. If the model's column is to be"
        f" renamed, too, say so in its YAML under `columns`: {meta}. Else run the model once with --full-refresh."
    )


def _paths(columns: Sequence[TableStoreColumn]) -> set[Path]:
    return {_lower(one.path) for one in _known_paths(columns)}


def _known_paths(columns: Sequence[TableStoreColumn]) -> Iterator[ColumnPath]:
    for one in columns:
        try:
            yield from column_paths((DataField(0, one.name, _type(one)),))
        except UnsupportedTypeError:  # such as nulls; the write says what is wrong with its type
            yield ColumnPath((one.name,), None, (one.name,))


def _topmost(paths: set[Path]) -> tuple[Path, ...]:
    return tuple(sorted(one for one in paths if not any(one[:at] in paths for at in range(1, len(one)))))


def _lower(path: Path) -> Path:
    return tuple(one.lower() for one in path)


Wider = Callable[[AtomicType, AtomicType], bool]
"""Whether a type becomes a larger one."""


def _wider(mode: str, column: TableStoreColumn) -> Wider:
    return _holds if mode == WIDEN else _is_longer if column.declared else _never


def _never(now: AtomicType, wanted: AtomicType) -> bool:
    return False


def _is_longer(now: AtomicType, wanted: AtomicType) -> bool:
    return now.root in STRING_ROOTS and wanted.root in STRING_ROOTS and _holds(now, wanted)


def _holds(now: AtomicType, wanted: AtomicType) -> bool:
    return is_lossless(now, wanted) and is_implicit(now, wanted)


def with_new_fields(now: DataType, wanted: DataType, wider: Wider = _never) -> DataType:
    """A type with the fields that are only in the wanted one, at any depth, and its `wider` types. All else stays."""
    if isinstance(now, AtomicType) and isinstance(wanted, AtomicType):
        return wanted.as_nullable(now.nullable) if wider(now, wanted) else now
    if isinstance(now, ArrayType) and isinstance(wanted, ArrayType):
        return replace(now, element=with_new_fields(now.element, wanted.element, wider))
    if isinstance(now, MapType) and isinstance(wanted, MapType):
        return replace(now, value=with_new_fields(now.value, wanted.value, wider))
    if isinstance(now, RowType) and isinstance(wanted, RowType):
        given = {one.name.lower(): one for one in wanted.fields}
        kept = tuple(
            replace(one, type=with_new_fields(one.type, given[one.name.lower()].type, wider))
            if one.name.lower() in given
            else one
            for one in now.fields
        )
        known = {one.name.lower() for one in now.fields}
        return replace(now, fields=(*kept, *(one for name, one in given.items() if name not in known)))
    return now


def renames(model: Mapping[str, Any], target: Sequence[TableStoreColumn]) -> tuple[Rename, ...]:
    """The renames that the `renamed_from` of a model's columns asks for, and that the table has not had yet.

    `renamed_from` is one earlier name, or several, in the config or the meta of a column. A field of a struct is a
    column `s.new` with `renamed_from: old`, or `s.old`; one of the structs in an array or a map is called as in
    `column_paths`.

    Raises DbtRuntimeError where the table has an earlier name that two columns claim.
    """
    found: list[Rename] = []
    claims = _claims(model)
    _refuse_rivals([one for claim in claims if (one := _pending(target, claim)) is not None])
    for claim in claims:
        rename = _pending(_after(target, found), claim)
        if rename is not None:
            found.append(rename)
    return tuple(found)


def refuse_unrenamed(
    model: Mapping[str, Any], source: Sequence[TableStoreColumn], target: Sequence[TableStoreColumn]
) -> None:
    """Raise a DbtRuntimeError for a column that was renamed in the model's YAML, and not in its query, whose column
    would be a new one."""
    for one in _claims(model):
        known = _found(target, one.path) or _found(target, one.renamed)
        if known and _found(source, one.path) and not _found(source, one.renamed):
            old, new = ".".join(one.path), ".".join(one.renamed)
            raise DbtRuntimeError(
                f"The YAML of this model says that the column {new} was {old} before (`renamed_from`), but its query"
                f" still gives {old}, and no {new}. Rename it in the query (… as {one.new}), too,"
                " or leave out `renamed_from`."
            )


def _claims(model: Mapping[str, Any]) -> list[Rename]:
    """All renames that the columns of a model ask for."""
    return [
        Rename((*path[:-1], old.rpartition(".")[2]), path[-1])
        for column in (model.get("columns") or {}).values()
        for path in [tuple(str(column["name"]).split("."))]
        for old in _earlier_names(column)
    ]


def _pending(target: Sequence[TableStoreColumn], claim: Rename) -> Rename | None:
    """The rename, with the table's own path, if the table has not had it yet."""
    path = _found(target, claim.path)
    return None if path is None or _found(target, claim.renamed) else replace(claim, path=path)


def _found(columns: Sequence[TableStoreColumn], path: Path) -> Path | None:
    """The path of a column or field that a project calls so; None if there is none."""
    name = ".".join(path).lower()
    known = _known_paths([one for one in columns if one.name.lower() == path[0].lower()])
    return next((one.path for one in known if name in one.names), None)


def _refuse_rivals(claims: Sequence[Rename]) -> None:
    for one in claims:
        path = [part.lower() for part in one.path]
        new = {other.new.lower(): other.new for other in claims if [part.lower() for part in other.path] == path}
        if len(new) > 1:
            raise DbtRuntimeError(
                f"The columns {' and '.join(new.values())} of this model both say that they were"
                f" {'.'.join(one.path)} before (`renamed_from`), and only one of them can have its data. Nothing was"
                " changed. Leave it to one of them; the other one is a new column."
            )


def _earlier_names(column: Mapping[str, Any]) -> tuple[str, ...]:
    config = column.get("config") or {}
    for holder in (config, config.get("meta") or {}, column.get("meta") or {}, column):
        given = holder.get("renamed_from")
        if "{{" in str(given):
            raise DbtRuntimeError(
                f"`renamed_from` of the column {column['name']} is the template {given}, which dbt renders in `meta`"
                f" only: write {{name: {column['name']}, config: {{meta: {{renamed_from: …}}}}}}."
            )
        if given:
            return (given,) if isinstance(given, str) else tuple(str(one) for one in given)
    return ()


def _after(target: Sequence[TableStoreColumn], renamed: Sequence[Rename]) -> list[TableStoreColumn]:
    """The columns after renames."""
    columns = list(target)
    for one in renamed:
        columns = [_renamed(column, one) for column in columns]
    return columns


def _renamed(column: TableStoreColumn, rename: Rename) -> TableStoreColumn:
    if column.name.lower() != rename.path[0].lower():
        return column
    if len(rename.path) == 1:
        return TableStoreColumn(rename.new, column.dtype)
    return TableStoreColumn(column.name, spark_type(_renamed_field(_type(column), rename.path[1:], rename.new)))


def _renamed_field(kind: DataType, path: tuple[str, ...], new: str) -> DataType:
    if isinstance(kind, ArrayType):
        return replace(kind, element=_renamed_field(kind.element, _inside(path, "element"), new))
    if isinstance(kind, MapType):
        return replace(kind, value=_renamed_field(kind.value, _inside(path, "value"), new))
    if not isinstance(kind, RowType):
        return kind
    name = path[0].lower()
    fields = (
        one
        if one.name.lower() != name
        else replace(one, name=new)
        if len(path) == 1
        else replace(one, type=_renamed_field(one.type, path[1:], new))
        for one in kind.fields
    )
    return replace(kind, fields=tuple(fields))


def _inside(path: tuple[str, ...], word: str) -> tuple[str, ...]:
    return path[1:] if path[0] == word else path


def _type(column: TableStoreColumn) -> DataType:
    return parse_sql_type(column.dtype, column.name)
