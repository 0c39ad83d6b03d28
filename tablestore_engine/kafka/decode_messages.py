"""Messages of changes in the formats of other tools, as rows with their kinds.

debezium-json, canal-json, maxwell-json and ogg-json say what happened to a row. Messages of plain json are inserted
rows; with a key (upsert-json), the newest row of that key, which a message without a value deletes.

An update gives its row after. The row before is given as well, as a retraction, where the table cannot do without: a
table without a key, or a key that changed. canal-json and maxwell-json hold the old values of the changed columns; the
row before is made of them and of the row after (`old_values`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.kafka.from_json.connect_schema import declared_in, member_of
from tablestore_engine.kafka.from_json.depth import DEEPEST, too_deep
from tablestore_engine.kafka.from_json.json_convert import fit, lacks_values, names_of, wire_row
from tablestore_engine.kafka.from_json.json_parse import (
    BadRecord,
    Records,
    by_envelope,
    parse_records,
    samples,
    with_new_spellings,
)
from tablestore_engine.kafka.from_json.new_columns import NewColumns, having, why_no_column
from tablestore_engine.kafka.from_json.old_values import aligned, nulls_in, rows_before
from tablestore_engine.kafka.message_formats import AFTER, BEFORE, DELETE, ENVELOPES, INSERT, SKIP, Kinds, MessageFormat


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
    the table lacks; those in `no_columns` are none.
    """

    schema: pa.Schema
    keys: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    every_before: bool = False
    new_columns: bool = False
    no_columns: tuple[str, ...] = ()


FORMATS = (*ENVELOPES, "json", "upsert-json")


def decode(name: str, values: Sequence[bytes | None], keys: Sequence[bytes | None], wanted: Wanted) -> Decoded:
    """The changed rows of messages. A message that cannot be read is bad, and says why."""
    filled = np.array([number for number, value in enumerate(values) if value and value.strip()], np.int64)
    found = _of_numbered(name, values, filled, wanted)
    if name == "upsert-json":
        found = _with_deletes(found, values, keys, wanted)
    return _without_nulls(found, wanted)


def _of_numbered(name: str, values: Sequence[bytes | None], numbers: npt.NDArray[np.int64], wanted: Wanted) -> Decoded:
    """The changed rows of the messages with these numbers, which are not empty. Those that are nested too deep, or have
    a new column that cannot be one, are bad."""
    texts = [text for number in numbers.tolist() if (text := values[number]) is not None]
    deep = too_deep(texts)
    bad = {int(at): f"it is nested deeper than {DEEPEST} levels" for at in deep}
    groups = by_envelope(texts) if name in ENVELOPES else [np.arange(len(texts))]
    parts = []
    for group in groups:
        positions = group[~np.isin(group, deep)] if len(deep) else group
        given = texts if len(positions) == len(texts) else [texts[at] for at in positions.tolist()]
        found = _of_texts(name, given, wanted)
        refused = {one: why for one in found.new_columns if (why := why_no_column(one))}
        if refused:
            rows = partial(_rows_after, name)
            with_refused = {int(positions[at]): why for at, why in having(refused, given, rows)}
            bad |= with_refused
            positions = positions[~np.isin(positions, list(with_refused))]
            found = _of_texts(name, [texts[at] for at in positions.tolist()], wanted)
            new = {one: kind for one, kind in found.new_columns.items() if one not in refused}
            found = replace(found, new_columns=new)
        parts.append(_with_positions(found, positions))
    found = parts[0] if len(parts) == 1 else _together(parts)
    found = replace(found, bad=(*found.bad, *(BadRecord(at, why) for at, why in bad.items())))
    return _with_positions(found, numbers)


def _rows_after(name: str, record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows after a change that a record holds."""
    form = ENVELOPES.get(name)
    if form is None:
        return [dict(record)]
    payload = record.get("payload")
    return _rows_of([payload if isinstance(payload, dict) else record], form.after, form)


def _of_texts(name: str, texts: Sequence[bytes], wanted: Wanted) -> Decoded:
    """The changed rows of messages that are not empty, and have the same envelope."""
    sampled = list(samples(texts))
    found = _decoded(name, texts, sampled, wanted)
    known = _rows_in(ENVELOPES[name], sampled) if name in ENVELOPES else sampled
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
    if name in ENVELOPES:
        return _changes(ENVELOPES[name], name, values, sampled, wanted)
    return _plain(values, sampled, wanted)


def _with_positions(found: Decoded, positions: npt.NDArray[np.int64]) -> Decoded:
    """The same, where the messages are some of a longer list, at these positions."""
    bad = tuple(BadRecord(int(positions[one.position]), one.reason) for one in found.bad)
    return Decoded(found.rows, found.kinds, positions[found.positions], bad, found.new_columns)


def _plain(values: Sequence[bytes], sampled: Sequence[Mapping[str, Any]], wanted: Wanted) -> Decoded:
    schema = wire_row(wanted.schema, sampled)
    target, new = wanted.schema, NewColumns((*wanted.schema.names, *wanted.no_columns))

    def finish(table: pa.Table) -> pa.Table:
        row = pa.StructArray.from_arrays([_whole(one) for one in table.columns], table.column_names)
        new.see_columns(row.type)
        return pa.Table.from_batches([pa.RecordBatch.from_struct_array(fit(row, pa.struct(list(target))))])

    seen = new.see_row if wanted.new_columns else None
    records = parse_records(values, None if schema is None else pa.schema(schema), target, finish, seen=seen)
    rows = records.table.select(target.names)
    return Decoded(rows, np.zeros(rows.num_rows, np.int8), records.positions, records.bad, new.types)


def _changes(
    form: MessageFormat, name: str, values: Sequence[bytes], sampled: Sequence[Mapping[str, Any]], wanted: Wanted
) -> Decoded:
    in_envelope = next((one for one in sampled if isinstance(one.get("payload"), dict)), None)
    wrapped = in_envelope is not None
    declared = None if in_envelope is None else declared_in(in_envelope.get("schema"))
    of_row = member_of(declared, form.after)
    of_row = of_row and of_row.element if form.in_list else of_row
    after_fields = wire_row(wanted.schema, _rows_in(form, sampled), of_row)
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
    new = NewColumns((*wanted.schema.names, *wanted.no_columns), of_row if wanted.new_columns else None)

    def see(record: Mapping[str, Any]) -> None:
        for one in _rows_of([record], form.after, form):
            new.see_row(one)

    def finish(table: pa.Table) -> pa.Table:
        envelope = _whole(table.column("payload")) if wrapped else None
        columns = []
        for column in (form.after, form.before, form.kind):
            given = _whole(table.column(column)) if envelope is None else _of_struct(envelope, column)
            columns.append(fit(given, target.field(column).type, member_of(declared, column)))
        if wanted.new_columns:
            given = _whole(table.column(form.after)) if envelope is None else _of_struct(envelope, form.after)
            new.see_columns(given.type.value_type if form.in_list else given.type)
        return pa.Table.from_arrays(columns, schema=target)

    inside = "payload" if wrapped else None
    readable = None if after_fields is None else schema
    seen = see if wanted.new_columns else None
    records = parse_records(values, readable, target, finish, seen=seen, inside=inside, declared=declared)
    rows = _Envelopes(values, inside, records)
    return _unfolded(form, name, rows, wanted, new.types)


def _rows_in(form: MessageFormat, sampled: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows of messages, in an envelope or not."""
    found = [one["payload"] if isinstance(one.get("payload"), dict) else one for one in sampled]
    return _rows_of(found, form.after, form) + _rows_of(found, form.before, form)


def _rows_of(found: Sequence[Mapping[str, Any]], name: str, form: MessageFormat) -> list[dict[str, Any]]:
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


def _unfolded(
    form: MessageFormat, name: str, given: _Envelopes, wanted: Wanted, new: Mapping[str, pa.DataType]
) -> Decoded:
    """The rows of envelopes: each with its kind, an update with the row before in front of it where that is needed."""
    records = given.records
    table, positions = records.table.combine_chunks(), records.positions
    words = _whole(table.column(form.kind))
    kinds = form.kinds_of(words)
    after, before = _whole(table.column(form.after)), _whole(table.column(form.before))
    first_rows = np.arange(len(after))
    useless = kinds < SKIP
    if form.in_list:
        useless |= (kinds != SKIP) & (pc.fill_null(pc.list_value_length(after), 0).to_numpy() == 0)
    bad = [
        BadRecord(int(positions[at]), form.why(kinds[at], words[at].as_py())) for at in np.flatnonzero(useless).tolist()
    ]
    if form.in_list:
        owners = pc.list_parent_indices(after).to_numpy()
        first_rows = after.offsets.to_numpy()[:-1] - after.offsets[0].as_py() if len(after) else first_rows
        before = aligned(after, before)
        after, kinds, positions = after.flatten(), kinds[owners], positions[owners]
    if wanted.every_before and not form.whole_before:
        before = _from_old(form, given, (after, before, kinds), first_rows)
    removed = before if form.whole_before else after
    has_after, has_before = after.is_valid().to_numpy(False), removed.is_valid().to_numpy(False)
    puts, deletes = (kinds == INSERT) | (kinds == AFTER), kinds == DELETE
    retracts = (kinds == AFTER) & _retracts(after, before, wanted, form)
    lacks = (puts & ~has_after) | (deletes & ~has_before)
    lacks |= retracts & ~before.is_valid().to_numpy(False) if wanted.every_before else False
    bad += [BadRecord(int(positions[at]), form.why(kinds[at], None)) for at in np.flatnonzero(lacks)]
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
    form: MessageFormat,
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


def _retracts(after: pa.Array, before: pa.Array, wanted: Wanted, form: MessageFormat) -> npt.NDArray[np.bool_]:
    """Of which updates the row before is retracted: those of a table without key, and those of another key."""
    if wanted.every_before:
        return np.ones(len(after), bool)
    moved = np.zeros(len(after), bool)
    for name in wanted.keys:
        old, new = _of_struct(before, name), _of_struct(after, name)
        moved |= pc.fill_null(pc.not_equal(old, new), False).to_numpy(False)
    return moved


def _rows_with_before(form: MessageFormat, after: pa.Array, before: pa.Array, wanted: Wanted) -> pa.Table:
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


def _with_deletes(
    found: Decoded, values: Sequence[bytes | None], keys: Sequence[bytes | None], wanted: Wanted
) -> Decoded:
    """Adds the deletes of messages that have a key and no value."""
    removed = np.array([number for number, value in enumerate(values) if not value or not value.strip()], np.int64)
    if not len(removed):
        return found
    key_schema = pa.schema([wanted.schema.field(one) for one in wanted.keys])
    texts = dict(enumerate(keys))
    of_keys = _of_numbered(
        "json", [texts[number] or b"-" for number in removed], np.arange(len(removed)), Wanted(key_schema)
    )
    of_keys = _with_positions(of_keys, removed)
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
