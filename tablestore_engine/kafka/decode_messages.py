"""Messages of changes in the formats of other tools, as rows with their kinds.

debezium-json, canal-json, maxwell-json and ogg-json say what happened to a row. Messages of plain json are inserted
rows; with a key (upsert-json), the newest row of that key, which a message without a value deletes.

An update gives its row after. The row before is given as well, as a retraction, where the table cannot do without: a
table without a key, or a key that changed. canal-json and maxwell-json hold the old values of the changed columns; the
row before is made of them and of the row after (`old_values`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.kafka.json_convert import fit, lacks_values, member_units, names_of, units_of, wire_row
from tablestore_engine.kafka.json_parse import (
    BadRecord,
    Records,
    by_envelope,
    parse_records,
    samples,
    with_new_spellings,
)
from tablestore_engine.kafka.new_columns import NewColumns
from tablestore_engine.kafka.old_values import nulls_in, rows_before

INSERT, BEFORE, AFTER, DELETE = range(4)
_SKIP = -1
Kinds = npt.NDArray[np.int8]


@dataclass(frozen=True)
class Decoded:
    """Changed rows in the order of their messages: rows, their kinds, the message of each; bad messages; new columns.

    A new column is one that messages have and the table does not, with the type of its values.
    """

    rows: pa.Table
    kinds: Kinds
    positions: npt.NDArray[np.int64]
    bad: tuple[BadRecord, ...] = ()
    new_columns: Mapping[str, pa.DataType] = field(default_factory=dict)

    def without(self, more: Sequence[BadRecord]) -> Decoded:
        """The same, where further messages are bad ones. Of a bad message no row is taken: not the row before without
        the row after, for example."""
        bad = (*self.bad, *more)
        keep = ~np.isin(self.positions, [one.position for one in bad])
        rows, kinds = self.rows.filter(pa.array(keep)), self.kinds[keep]
        return Decoded(rows, kinds, self.positions[keep], bad, self.new_columns)


@dataclass(frozen=True)
class Wanted:
    """The rows that are asked for: columns, those of the key, and those that must not be null.

    `every_before`: each update gives its row before, and each delete the whole row. `new_columns`: say which columns
    the table lacks.
    """

    schema: pa.Schema
    keys: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    every_before: bool = False
    new_columns: bool = False


@dataclass(frozen=True)
class _Format:
    """Where an envelope has the rows after and before, and the kind of change; what its words mean."""

    after: str
    before: str
    kind: str
    words: Mapping[str, int]
    in_list: bool = False
    whole_before: bool = True


_FORMATS = {
    "debezium-json": _Format("after", "before", "op", {"c": INSERT, "r": INSERT, "u": AFTER, "d": DELETE, "m": _SKIP}),
    "ogg-json": _Format("after", "before", "op_type", {"I": INSERT, "U": AFTER, "D": DELETE}),
    "canal-json": _Format(
        "data", "old", "type", {"INSERT": INSERT, "UPDATE": AFTER, "DELETE": DELETE}, in_list=True, whole_before=False
    ),
    "maxwell-json": _Format(
        "data",
        "old",
        "type",
        {"insert": INSERT, "bootstrap-insert": INSERT, "update": AFTER, "delete": DELETE},
        whole_before=False,
    ),
}
_OTHER_EVENTS = ("canal-json", "maxwell-json")
"""Formats in which further words mean statements on tables, not of rows."""
FORMATS = (*_FORMATS, "json", "upsert-json")


def decode(name: str, values: Sequence[bytes | None], keys: Sequence[bytes | None], wanted: Wanted) -> Decoded:
    """The changed rows of messages. A message that cannot be read is bad, and says why."""
    filled = np.array([number for number, value in enumerate(values) if value and value.strip()], np.int64)
    texts = [text for number in filled if (text := values[number]) is not None]
    groups = by_envelope(texts) if name in _FORMATS else [np.arange(len(texts))]
    parts = [_with_positions(_of_texts(name, [texts[at] for at in one], wanted), filled[one]) for one in groups]
    found = parts[0] if len(parts) == 1 else _together(parts)
    if name == "upsert-json":
        found = _with_deletes(found, values, keys, wanted)
    return _without_nulls(found, wanted)


def _of_texts(name: str, texts: Sequence[bytes], wanted: Wanted) -> Decoded:
    """The changed rows of messages that are not empty, and have the same envelope."""
    sampled = list(samples(texts))
    found = _decoded(name, texts, sampled, wanted)
    known = _rows_in(_FORMATS[name], sampled) if name in _FORMATS else sampled
    lacking = found.positions[lacks_values(found.rows)]
    more = with_new_spellings(sampled, known, [texts[at] for at in np.unique(lacking)], names_of(wanted.schema))
    return _decoded(name, texts, more, wanted) if len(more) > len(sampled) else found


def _together(parts: Sequence[Decoded]) -> Decoded:
    """The rows of several parts in the order of their messages."""
    positions = np.concatenate([one.positions for one in parts])
    order = np.argsort(positions, kind="stable")
    rows = pa.concat_tables([one.rows for one in parts]).take(pa.array(order))
    bad = tuple(bad for one in parts for bad in one.bad)
    new = NewColumns(())
    for one in parts:
        new.see_types(one.new_columns)
    return Decoded(rows, np.concatenate([one.kinds for one in parts])[order], positions[order], bad, new.types)


def _decoded(name: str, values: Sequence[bytes], sampled: list[dict[str, Any]], wanted: Wanted) -> Decoded:
    """The changed rows of such messages. The samples have each spelling of names."""
    if name in _FORMATS:
        return _changes(_FORMATS[name], name, values, sampled, wanted)
    return _plain(values, sampled, wanted)


def _with_positions(found: Decoded, positions: npt.NDArray[np.int64]) -> Decoded:
    """The same, where the messages are some of a longer list, at these positions."""
    bad = tuple(BadRecord(int(positions[one.position]), one.reason) for one in found.bad)
    return Decoded(found.rows, found.kinds, positions[found.positions], bad, found.new_columns)


def _plain(values: Sequence[bytes], sampled: Sequence[Mapping[str, Any]], wanted: Wanted) -> Decoded:
    schema = wire_row(wanted.schema, sampled)
    target, new = wanted.schema, NewColumns(wanted.schema.names)

    def finish(table: pa.Table) -> pa.Table:
        row = pa.StructArray.from_arrays([_whole(one) for one in table.columns], table.column_names)
        new.see_columns(row.type)
        return pa.Table.from_batches([pa.RecordBatch.from_struct_array(fit(row, pa.struct(list(target))))])

    seen = new.see_row if wanted.new_columns else None
    records = parse_records(values, None if schema is None else pa.schema(schema), target, finish, seen=seen)
    rows = records.table.select(target.names)
    return Decoded(rows, np.zeros(rows.num_rows, np.int8), records.positions, records.bad, new.types)


def _changes(
    form: _Format, name: str, values: Sequence[bytes], sampled: Sequence[Mapping[str, Any]], wanted: Wanted
) -> Decoded:
    in_envelope = next((one for one in sampled if isinstance(one.get("payload"), dict)), None)
    wrapped = in_envelope is not None
    units = None if in_envelope is None else units_of(in_envelope.get("schema"))
    after_fields = wire_row(wanted.schema, _rows_in(form, sampled))
    row = pa.struct(after_fields or [])
    keys = {one.lower() for one in wanted.keys}
    whole = form.whole_before or wanted.every_before
    before = row if whole else pa.struct([one for one in row if one.name.lower() in keys])
    wire = [
        (form.after, pa.list_(row) if form.in_list else row),
        (form.before, pa.list_(before) if form.in_list else before),
        (form.kind, pa.string()),
    ]
    schema = pa.schema([("payload", pa.struct(wire))] if wrapped else wire)
    row_type = pa.struct(list(wanted.schema))
    before_type = row_type if whole else pa.struct([wanted.schema.field(one) for one in wanted.keys])
    target = pa.schema(
        [
            (form.after, pa.list_(row_type) if form.in_list else row_type),
            (form.before, pa.list_(before_type) if form.in_list else before_type),
            (form.kind, pa.string()),
        ]
    )
    new = NewColumns(wanted.schema.names)

    def see(record: Mapping[str, Any]) -> None:
        for one in _rows_of([record], form.after, form):
            new.see_row(one)

    def finish(table: pa.Table) -> pa.Table:
        envelope = _whole(table.column("payload")) if wrapped else None
        columns = []
        for column in (form.after, form.before, form.kind):
            given = _whole(table.column(column)) if envelope is None else _of_struct(envelope, column)
            columns.append(fit(given, target.field(column).type, member_units(units, column)))
        if wanted.new_columns:
            given = _whole(table.column(form.after)) if envelope is None else _of_struct(envelope, form.after)
            new.see_columns(given.type.value_type if form.in_list else given.type)
        return pa.Table.from_arrays(columns, schema=target)

    inside = "payload" if wrapped else None
    readable = None if after_fields is None else schema
    seen = see if wanted.new_columns else None
    records = parse_records(values, readable, target, finish, seen=seen, inside=inside, units=units)
    rows = _Envelopes(values, inside, records)
    return _unfolded(form, name, rows, wanted, new.types)


def _rows_in(form: _Format, sampled: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows of messages, in an envelope or not."""
    found = [one["payload"] if isinstance(one.get("payload"), dict) else one for one in sampled]
    return _rows_of(found, form.after, form) + _rows_of(found, form.before, form)


def _rows_of(found: Sequence[Mapping[str, Any]], name: str, form: _Format) -> list[dict[str, Any]]:
    rows: list[Any] = []
    for one in found:
        given = one.get(name)
        rows += given if form.in_list and isinstance(given, list) else [given]
    return [one for one in rows if isinstance(one, dict)]


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def _of_struct(array: pa.StructArray, name: str) -> pa.Array:
    """A field of a struct; null where the struct is."""
    return pc.struct_field(array, name)


@dataclass(frozen=True)
class _Envelopes:
    """Messages, the field that holds each, and what was parsed of them."""

    values: Sequence[bytes]
    inside: str | None
    records: Records


def _unfolded(form: _Format, name: str, given: _Envelopes, wanted: Wanted, new: Mapping[str, pa.DataType]) -> Decoded:
    """The rows of envelopes: each with its kind, an update with the row before in front of it where that is needed."""
    records = given.records
    table, positions = records.table.combine_chunks(), records.positions
    words = list(form.words)
    codes = pc.fill_null(pc.index_in(_whole(table.column(form.kind)), pa.array(words)), -1).to_numpy()
    kinds = np.array([*form.words.values(), _SKIP], np.int8)[codes]  # -1 is the last one
    unknown = (codes < 0) & (name not in _OTHER_EVENTS)
    after, before = _whole(table.column(form.after)), _whole(table.column(form.before))
    first_rows = np.arange(len(after))
    if form.in_list:
        owners = pc.list_parent_indices(after).to_numpy()
        first_rows = after.offsets.to_numpy()[:-1] - after.offsets[0].as_py() if len(after) else first_rows
        before = _aligned(after, before)
        after, kinds, positions, unknown = after.flatten(), kinds[owners], positions[owners], unknown[owners]
    if wanted.every_before and not form.whole_before:
        before = _from_old(form, given, (after, before, kinds), first_rows)
    removed = before if form.whole_before else after
    has_after, has_before = after.is_valid().to_numpy(False), removed.is_valid().to_numpy(False)
    puts, deletes = (kinds == INSERT) | (kinds == AFTER), kinds == DELETE
    retracts = (kinds == AFTER) & _retracts(after, before, wanted, form)
    lacks = unknown | (puts & ~has_after) | (deletes & ~has_before)
    lacks |= retracts & ~before.is_valid().to_numpy(False) if wanted.every_before else False
    bad = [BadRecord(int(positions[at]), _why(form, table, kinds[at], unknown[at])) for at in np.flatnonzero(lacks)]
    good = ~lacks
    olds = retracts & good
    rows = _rows_with_before(form, after, before, wanted)
    at = np.concatenate([np.flatnonzero(olds), np.flatnonzero(puts & good), np.flatnonzero(deletes & good)])
    source = np.concatenate(
        [
            np.flatnonzero(olds) + len(after),
            np.flatnonzero(puts & good),
            np.flatnonzero(deletes & good) + (len(after) if form.whole_before else 0),
        ]
    )
    kind = np.concatenate([np.full(int(olds.sum()), BEFORE, np.int8), kinds[puts & good], kinds[deletes & good]])
    order = np.lexsort([kind != BEFORE, at])
    taken = rows.take(pa.array(source[order]))
    return Decoded(taken, kind[order], positions[at[order]], (*records.bad, *bad), dict(new))


def _from_old(
    form: _Format,
    given: _Envelopes,
    rows: tuple[pa.StructArray, pa.StructArray, Kinds],
    first_rows: npt.NDArray[np.int64],
) -> pa.StructArray:
    """The whole rows before. `rows` are those after, their old values and kinds; a message's begin at its number in
    `first_rows`."""
    after, old, kinds = rows
    updates = np.flatnonzero(kinds == AFTER)
    messages = np.unique(np.searchsorted(first_rows, updates, "right") - 1)
    texts = [given.values[at] for at in given.records.positions[messages]]
    masks: dict[str, npt.NDArray[np.bool_]] = {}
    ends = np.append(first_rows[1:], len(after))
    for column, nulls in nulls_in(texts, form.before, [one.name for one in after.type], given.inside).items():
        owners, inside = messages[[one for one, _ in nulls]], np.array([nth for _, nth in nulls])
        at = first_rows[owners] + inside
        masks[column] = np.zeros(len(after), bool)
        masks[column][at[at < ends[owners]]] = True
    return rows_before(after, old, masks)


def _aligned(after: pa.ListArray, before: pa.ListArray) -> pa.Array:
    """The rows before that belong to the rows after, which are lists of the same length or missing."""
    if not len(after):
        return pa.nulls(0, before.type.value_type)
    owners = pc.list_parent_indices(after).to_numpy()
    starts = after.offsets.to_numpy()[:-1]
    inside = np.arange(len(owners)) - (starts[owners] - starts[0])
    lengths = pc.fill_null(pc.list_value_length(before), 0).to_numpy()
    at = before.offsets.to_numpy()[:-1][owners] - before.offsets[0].as_py() + inside
    missing = inside >= lengths[owners]
    start = before.offsets[0].as_py()
    values = before.values.slice(start, before.offsets[-1].as_py() - start)
    return values.take(pa.array(np.where(missing, 0, at), mask=missing))


def _retracts(after: pa.Array, before: pa.Array, wanted: Wanted, form: _Format) -> npt.NDArray[np.bool_]:
    """Of which updates the row before is retracted: those of a table without key, and those of another key."""
    if wanted.every_before:
        return np.ones(len(after), bool)
    moved = np.zeros(len(after), bool)
    for name in wanted.keys:
        old, new = _of_struct(before, name), _of_struct(after, name)
        moved |= pc.fill_null(pc.not_equal(old, new), False).to_numpy(False)
    return moved


def _rows_with_before(form: _Format, after: pa.Array, before: pa.Array, wanted: Wanted) -> pa.Table:
    """The rows after, and behind them as many rows before; of those a format may hold only the key."""
    if not (form.whole_before or wanted.every_before):
        key_of = {name: pc.coalesce(_of_struct(before, name), _of_struct(after, name)) for name in wanted.keys}
        columns = [key_of.get(one.name, pa.nulls(len(after), one.type)) for one in wanted.schema]
        before = pa.StructArray.from_arrays(columns, fields=[one.with_nullable(True) for one in wanted.schema])
    both = [
        pa.concat_arrays([_of_struct(after, one.name).cast(one.type), _of_struct(before, one.name).cast(one.type)])
        for one in wanted.schema
    ]
    return pa.Table.from_arrays(both, schema=wanted.schema)


def _why(form: _Format, table: pa.Table, kind: int, unknown: bool) -> str:
    if unknown:
        known = ", ".join(form.words)
        return f"'{form.kind}' is none of {known}"
    if kind == DELETE:
        return f"a delete has no row in '{form.before if form.whole_before else form.after}'"
    if kind == AFTER:
        what = "the whole row" if form.whole_before else "the values before"
        return f"an update lacks its row in '{form.after}', or {what} in '{form.before}'"
    return f"there is no row in '{form.after}'"


def _with_deletes(
    found: Decoded, values: Sequence[bytes | None], keys: Sequence[bytes | None], wanted: Wanted
) -> Decoded:
    """Adds the deletes of messages that have a key and no value."""
    removed = np.array([number for number, value in enumerate(values) if not value or not value.strip()], np.int64)
    if not len(removed):
        return found
    key_schema = pa.schema([wanted.schema.field(one) for one in wanted.keys])
    filled = [keys[number] or b"-" for number in removed]
    of_keys = _with_positions(_decoded("json", filled, list(samples(filled)), Wanted(key_schema)), removed)
    count = of_keys.rows.num_rows
    columns = [
        of_keys.rows.column(one.name) if one.name in wanted.keys else pa.nulls(count, one.type) for one in wanted.schema
    ]
    rows = pa.Table.from_arrays(columns, schema=wanted.schema)
    return _together([found, Decoded(rows, np.full(count, DELETE, np.int8), of_keys.positions, of_keys.bad)])


def _without_nulls(found: Decoded, wanted: Wanted) -> Decoded:
    """Rows that lack a value that the table needs are bad; a delete in a table with a key needs only the key."""
    lacks: npt.NDArray[np.bool_] = np.zeros(found.rows.num_rows, bool)
    bad: list[BadRecord] = []
    puts = (found.kinds == INSERT) | (found.kinds == AFTER) | wanted.every_before
    for name in dict.fromkeys((*wanted.keys, *wanted.required)):
        nulls = found.rows.column(name).is_null().to_numpy() & (puts if name not in wanted.keys else True) & ~lacks
        bad += [BadRecord(int(found.positions[at]), f"column '{name}' is null") for at in np.flatnonzero(nulls)]
        lacks |= nulls
    return found.without(bad) if bad or found.bad else found
