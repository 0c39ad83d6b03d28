"""Messages whose rows a table does not take go to its dead letters, and the others are taken."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field

import pytest
from support.tables import make_table, reload

from tablestore_engine import TableStore
from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import UserError
from tablestore_engine.operation.kafka_source.dead_letters import dead_letter_schema
from tablestore_engine.operation.kafka_source.source import KafkaSource
from tablestore_engine.operation.kafka_source.sync_topic import SyncRules, _Sync
from tablestore_engine.schema.table.computed_columns import ComputedColumn, computed_options


@dataclass(frozen=True)
class Message:
    """A message of a topic, at an offset."""

    at: int
    row: dict = field(default_factory=dict)
    kind: str = "c"

    def value(self):
        images = {"before": self.row, "after": None} if self.kind == "d" else {"before": None, "after": self.row}
        return json.dumps({**images, "op": self.kind}).encode()

    def key(self):
        return None

    def topic(self):
        return "shop.orders"

    def partition(self):
        return 2

    def offset(self):
        return self.at


def sync_of(table, letters=None, source_format="debezium-json", **rules):
    source = KafkaSource("shop.orders", "localhost:9092", source_format, cluster="c", topic_id="t")
    state = TableStore(os.path.dirname(os.path.dirname(table.path))).table("default.t").state
    return _Sync(state, source, SyncRules(dead_letters=letters and letters.state, **rules), None)


CHARS, NUMBERS = {"type": "ARRAY", "element": "CHAR(2)"}, {"type": "ARRAY", "element": "INT NOT NULL"}
GOOD = {str(CHARS): ["ab"], str(NUMBERS): [1], "INT": 1, "VARCHAR(3)": "abc"}
CASES = {
    "a long text": ({"id": "INT", "v": "VARCHAR(3)"}, {}, {"v": "abcd"}, "c", "VARCHAR(3), and a value has 4"),
    "a long text inside": ({"id": "INT", "v": CHARS}, {}, {"v": ["ab", "abc"]}, "c", "has 3 characters"),
    "a null inside": ({"id": "INT", "v": NUMBERS}, {}, {"v": [1, None]}, "c", "is NOT NULL"),
    "a CHECK": ({"id": "INT", "v": "INT"}, {"constraint.check.positive": "v > 0"}, {"v": -1}, "c", "positive (v > 0)"),
    "a delete, first-row": ({"id": "INT", "v": "INT"}, {"merge-engine": "first-row"}, {"v": 1}, "d", "retraction"),
    "a delete, partial-update": (
        {"id": "INT", "v": "INT"}, {"merge-engine": "partial-update"}, {"v": 1}, "d", "retraction"
    ),
    "a delete, max": (
        {"id": "INT", "v": "INT"},
        {"merge-engine": "aggregation", "fields.v.aggregate-function": "max"},
        {"v": 1},
        "d",
        "retraction",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_row_that_the_table_refuses(tmp_path, case):
    columns, options, values, kind, reason = CASES[case]
    table = make_table(tmp_path, columns, ["id"], options=options)
    letters = Catalog(tmp_path).create_table("default", "bad", dead_letter_schema(0))
    good = GOOD[str(columns["v"])]
    messages = [Message(at, {"id": at, "v": good}) for at in range(20)]
    messages[7] = Message(7, {"id": 7, **values}, kind)
    messages[15] = Message(15, {"id": 15, **values}, kind)
    with pytest.raises(UserError, match=r"at offset 7 of partition 2 .*dead_letters") as refused:
        sync_of(table).take(messages, (20,))
    assert reason in str(refused.value)
    assert reload(table).to_arrow().num_rows == 0
    sync = sync_of(table, letters)
    sync.take(messages, (20,))
    assert sorted(reload(table).to_arrow(["id"]).column("id").to_pylist()) == [
        at for at in range(20) if at not in (7, 15)
    ]
    found = reload(letters).to_arrow().to_pylist()
    assert sorted((one["kafka_partition"], one["kafka_offset"]) for one in found) == [(2, 7), (2, 15)]
    assert all(reason in one["reason"] for one in found)
    assert (sync.result.messages, sync.result.rows, sync.result.bad) == (20, 18, 2)


@pytest.mark.parametrize("name", ["_KEY_id", "", " ", "_row_kind", "RowKind", "_SEQUENCE_NUMBER", "\ud800"])
def test_a_name_that_no_column_can_have(tmp_path, name):
    table = make_table(tmp_path, {"id": "INT"}, ["id"])
    letters = Catalog(tmp_path).create_table("default", "bad", dead_letter_schema(0))
    rows = [{"id": 0}, {"id": 1, name: "x"}, {"id": 2, name: None}, {"id": 3, "more": 1}]
    messages = [Message(at, row) for at, row in enumerate(rows)]
    with pytest.raises(UserError, match=r"at offset 1 of partition 2 .*name"):
        sync_of(table, new_columns=True).take(messages[:3], (3,))
    sync = sync_of(table, letters, new_columns=True)
    sync.take(messages, (4,))
    assert sync.result.columns == ("more",)
    assert [one["id"] for one in reload(table).to_arrow().to_pylist()] == [0, 2, 3]
    (found,) = reload(letters).to_arrow().to_pylist()
    assert found["kafka_offset"] == 1 and "name" in found["reason"]
    other = make_table(tmp_path / "other", {"id": "INT"}, ["id"])
    sync_of(other).take(messages, (4,))
    assert reload(other).to_arrow().num_rows == 4, "without new_columns the field is left out"


def test_values_of_a_computed_column_are_left_out(tmp_path):
    options = computed_options([ComputedColumn(2, "twice", "v * 2", type_text="INT")])
    table = make_table(tmp_path, {"id": "INT", "v": "INT"}, ["id"], options=options)
    sync = sync_of(table, new_columns=True)
    sync.take([Message(0, {"id": 1, "v": 2, "TWICE": 100, "w": 3})], (1,))
    assert sync.result.columns == ("w",)
    assert reload(table).to_arrow(["id", "v", "w"]).to_pylist() == [{"id": 1, "v": 2, "w": 3}]
