"""Rows before a change of which the message holds only the key, where more is asked for: the whole row, or the columns
that say which row of a key is the newest.

Such a row would read as one whose other columns are null. Debezium writes it without a full replica identity.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np
import pyarrow.compute as pc

from tablestore_engine.kafka.decode_messages import Decoded
from tablestore_engine.kafka.from_json.json_parse import BadRecord
from tablestore_engine.kafka.message_formats import BEFORE, DELETE

_FORMATS = ("debezium-json", "ogg-json")
_BEFORE, _BY_KEY = "before", "upsert-json"


def with_key_only_as_bad(name: str, found: Decoded, values: Sequence[Any], keys: Sequence[Any]) -> Decoded:
    """The same changes; those are bad whose row before has no field but those of the message's key."""
    columns = {one.lower() for one in found.rows.column_names}
    suspects = np.flatnonzero(np.isin(found.kinds, (BEFORE, DELETE)))
    sample = next((_fields(keys[at]) for at in found.positions[suspects].tolist() if keys[at]), set()) & columns
    others = [one for one in found.rows.column_names if one.lower() not in sample]
    if name not in _FORMATS or not sample or not others:
        return found
    empty = reduce(pc.and_, (pc.is_null(found.rows.column(one)) for one in others)).to_numpy()
    bad = []
    for at in np.unique(found.positions[suspects[empty[suspects]]]).tolist():
        key, row = _fields(keys[at]) & columns, _fields(values[at], _BEFORE) & columns
        if key and row <= key:
            bad.append(
                BadRecord(at, f"the row in '{_BEFORE}' has only the columns of the key: {', '.join(sorted(row))}")
            )
    return found.without(bad) if bad else found


def with_unordered_as_bad(name: str, found: Decoded, values: Sequence[Any], sequence: Sequence[str]) -> Decoded:
    """The same changes; deletes are bad whose message lacks a column of the sequence: a null is older than the row that
    is there, which would stay."""
    removes = found.kinds == DELETE
    if not sequence or not removes.any() or name not in (*_FORMATS, _BY_KEY):
        return found
    lacks = reduce(np.logical_or, (found.rows.column(one).is_null().to_numpy() for one in sequence)) & removes
    bad = []
    for at in np.unique(found.positions[lacks]).tolist():
        row = set() if name == _BY_KEY else _fields(values[at], _BEFORE)
        missing = [one for one in sequence if one.lower() not in row]
        if missing:
            why = f"a delete lacks '{missing[0]}', which says how new it is ('sequence.field')"
            bad.append(BadRecord(at, why))
    return found.without(bad) if bad else found


def _fields(text: bytes | None, inside: str | None = None) -> set[str]:
    """The names of the fields of an object, in lower case; of the object in its field `inside`."""
    try:
        found = json.loads(text or b"")
    except (ValueError, RecursionError):
        return set()
    if isinstance(found, dict) and isinstance(found.get("payload"), dict):
        found = found["payload"]
    if inside is not None and isinstance(found, dict):
        found = found.get(inside)
    return {one.lower() for one in found} if isinstance(found, dict) else set()
