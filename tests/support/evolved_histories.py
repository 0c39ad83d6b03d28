"""Tables whose columns change at random, against a naive model of their rows."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
from hypothesis import strategies as st

from support.evolve import change
from support.tables import compact, make_table, write
from tablestore_engine.schema.casts.cast_arrays import cast_array
from tablestore_engine.schema.table.predicate import Compare, In, IsNotNull, IsNull
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.types import DataField, parse_type

VALUES = {"INT": [-5, 0, 9, 10, 300], "BIGINT": [-(2**40), 7, 10, 200], "STRING": ["", "10", "9", "abc", "-5"],
          "DECIMAL(6, 2)": ["1.25", "-5.00", "9.99"], "DOUBLE": [1.5, 10.0, -0.0], "TINYINT": [1, 10, -5]}  # fmt: skip
KEYED = {"schema.evolution.cast": "explicit-null", "bucket": "1", "write-only": "true"}
APPEND = {"schema.evolution.cast": "explicit-null"}


def indexes(fields, key):
    """File indexes of the columns that there are."""
    names = ",".join(f.name for f in fields if str(f.type) in ("INT", "BIGINT", "STRING"))
    return {} if key else {"file-index.bloom-filter.columns": names, "file-index.bitmap.columns": names}


def cast(value, past, current):
    if past == current or value is None:
        return value
    kinds = parse_type(past), parse_type(current)
    return cast_array(pa.array([value], to_arrow_type(kinds[0])), *kinds, "UTC")[0].as_py()


class Model:
    """A table whose columns change at random, and its rows as they were written: by field id, the type of then and the
    value."""

    def __init__(self, warehouse, key):
        columns = {"id": "INT", "a": "INT", "b": "STRING"}
        self.table = make_table(warehouse, columns, ["id"] if key else (), options=KEYED if key else APPEND)
        self.key, self.rows = key, []

    def play(self, data):
        """A few steps."""
        steps = st.lists(st.sampled_from(["write", "change", "change", "compact"]), min_size=2, max_size=8)
        for step in data.draw(steps):
            if step == "compact":
                if self.key:
                    self.compact()
            else:
                getattr(self, step)(data)

    def fields(self):
        return [f for f in self.table.schema.fields if f.name != "id"]

    def write(self, data):
        given = []
        for number in data.draw(st.lists(st.integers(0, 8), min_size=1, max_size=4, unique=True)):
            row = {"id": number}
            for field in self.fields():
                kind = str(field.type)
                value = data.draw(st.none() | st.sampled_from(VALUES[kind]))
                row[field.name] = cast(value, "STRING", kind) if kind.startswith("DECIMAL") else value
            given.append(row)
        write(self.table, given)
        if self.key:
            self.rows = [one for one in self.rows if one["id"] not in {row["id"] for row in given}]
        for row in given:
            self.rows.append({"id": row["id"], **{f.id: (str(f.type), row[f.name]) for f in self.fields()}})

    def change(self, data):
        fields, what = (
            list(self.table.schema.fields),
            data.draw(st.sampled_from(["add", "drop", "rename", "type", "move"])),
        )
        others = [i for i, f in enumerate(fields) if f.name != "id"]
        free = [name for name in ("a", "b", "c", "d") if all(f.name != name for f in fields)]
        if what == "add" and free:
            highest = self.table.schemas.load(self.table.schemas.list_ids()[-1]).highest_field_id
            fields.append(DataField(highest + 1, free[0], parse_type(data.draw(st.sampled_from(list(VALUES))))))
        elif what == "move":
            fields = data.draw(st.permutations(fields))
        elif others:
            at = data.draw(st.sampled_from(others))
            if what == "drop":
                del fields[at]
            elif what == "rename" and free:
                fields[at] = replace(fields[at], name=data.draw(st.sampled_from(free)))
            elif what == "type":
                fields[at] = replace(fields[at], type=parse_type(data.draw(st.sampled_from(list(VALUES)))))
        self.table = change(self.table, fields, options={**self.table.schema.options, **indexes(fields, self.key)})

    def compact(self):
        compact(self.table)
        kinds = {f.id: str(f.type) for f in self.fields()}
        # What is compacted is written anew, with the types of then.
        self.rows = [
            {"id": row["id"], **{i: (kind, self._value(row, i, kind)) for i, kind in kinds.items()}}
            for row in self.rows
        ]

    def _value(self, row, number, kind):
        if number not in row:
            return None
        past, value = row[number]
        return cast(value, past, kind)

    def expected(self):
        return [
            {"id": row["id"], **{f.name: self._value(row, f.id, str(f.type)) for f in self.fields()}}
            for row in self.rows
        ]


def ordered(rows):
    return sorted((sorted((name, repr(value)) for name, value in row.items()) for row in rows), key=repr)


def predicates(data, field):
    constant = data.draw(st.sampled_from(VALUES[str(field.type)]))
    if str(field.type).startswith("DECIMAL"):
        constant = cast(constant, "STRING", str(field.type))
    ops = [Compare(field.name, op, constant) for op in ("=", "<", ">=")]
    return [*ops, In(field.name, (constant,)), IsNull(field.name), IsNotNull(field.name)]


def accepts(predicate, row):
    value = row[predicate.column]
    if isinstance(predicate, (IsNull, IsNotNull)):
        return (value is None) == isinstance(predicate, IsNull)
    if value is None:
        return False
    if isinstance(predicate, In):
        return value in predicate.values
    return {"=": value == predicate.value, "<": value < predicate.value, ">=": value >= predicate.value}[predicate.op]
