"""What is done with the rows of keys that cross partitions, by merge engine; without rows."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tablestore_engine.operation.write.cross_partition_routing import (
    Held,
    KeptRows,
    Target,
    routing_of,
    row_order,
    unique_kinds,
)
from tablestore_engine.schema.merge_engines.engine_rules import Kept
from tablestore_engine.schema.merge_engines.merge_engine import MergeEngine
from tablestore_engine.schema.table.row_kind import KINDS

ENGINES = ("deduplicate", "first-row", "partial-update", "aggregation")


def actions(engine, held, *, retracts=False, ignores_deletes=False):
    """What the parts do with one row, as words."""
    return [
        " ".join(
            word
            for word, is_so in [
                ("delete", part.as_deletes),
                ("together", part.together),
                ("at location", part.target is Target.LOCATION),
                ("opened", part.target is Target.OPENED),
            ]
            if is_so
        )
        for part in routing_of(MergeEngine(engine, ignores_deletes=ignores_deletes)).parts
        if held in part.held and (part.retractions or not retracts)
    ]


@pytest.mark.parametrize(
    ("engine", "held", "added", "retracted"),
    [
        ("deduplicate", Held.NOWHERE, ["opened"], []),
        ("deduplicate", Held.SAME_PARTITION, ["at location"], ["at location"]),
        ("deduplicate", Held.OTHER_PARTITION, ["delete at location", "opened"], ["delete at location"]),
        ("first-row", Held.NOWHERE, ["opened"], ["opened"]),
        ("first-row", Held.SAME_PARTITION, [], []),
        ("first-row", Held.OTHER_PARTITION, [], []),
        ("partial-update", Held.NOWHERE, ["together opened"], ["together opened"]),
        ("partial-update", Held.SAME_PARTITION, ["at location"], ["at location"]),
        ("partial-update", Held.OTHER_PARTITION, ["at location"], ["at location"]),
        ("aggregation", Held.NOWHERE, ["together opened"], ["together opened"]),
        ("aggregation", Held.SAME_PARTITION, ["at location"], ["at location"]),
        ("aggregation", Held.OTHER_PARTITION, ["at location"], ["at location"]),
    ],
)
def test_rows_are_routed_by_where_their_key_is(engine, held, added, retracted):
    assert actions(engine, held) == added
    assert actions(engine, held, retracts=True) == retracted


def test_a_row_stays_with_its_key_if_deletes_are_ignored():
    found = {held: actions("deduplicate", held, ignores_deletes=True) for held in Held}
    assert found == {
        Held.NOWHERE: ["opened"],
        Held.SAME_PARTITION: ["at location"],
        Held.OTHER_PARTITION: ["at location"],
    }


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("held", Held)
def test_a_row_is_added_at_most_once_and_only_a_held_key_has_a_location(engine, held):
    parts = [part for part in routing_of(MergeEngine(engine)).parts if held in part.held]
    assert sum(not part.as_deletes for part in parts) <= 1
    assert held is not Held.NOWHERE or all(part.target is Target.OPENED for part in parts)


@pytest.mark.parametrize(
    ("engine", "kept"),
    [
        ("deduplicate", KeptRows.LAST),
        ("first-row", KeptRows.FIRST),
        ("partial-update", KeptRows.ALL),
        ("aggregation", KeptRows.ALL),
    ],
)
def test_the_rows_of_a_key_that_are_kept(engine, kept):
    engine = MergeEngine(engine)
    assert routing_of(engine).kept_rows is kept
    assert (kept is KeptRows.ALL) == (engine.rules.kept is Kept.FOLD), "rows that fold are all needed"


@pytest.mark.parametrize(
    ("engine", "live"),
    [
        (MergeEngine("deduplicate"), ["+I", "+U"]),
        (MergeEngine("first-row"), ["+I", "-U", "+U", "-D"]),
        (MergeEngine("partial-update"), ["+I", "-U", "+U", "-D"]),
        (MergeEngine("aggregation"), ["+I", "-U", "+U", "-D"]),
        (MergeEngine("partial-update", removes_on_delete=True), ["+I", "-U", "+U"]),
        (MergeEngine("aggregation", removes_on_delete=True), ["+I", "-U", "+U"]),
    ],
)
def test_the_last_records_with_which_a_key_exists(engine, live):
    assert [KINDS[kind] for kind in routing_of(engine).live_kinds] == live


UPSERT, ROW_LEVEL = SimpleNamespace(row_level=False), SimpleNamespace(row_level=True)


def test_changes_delete_a_key_before_they_add_it_again():
    assert [(c.name, c.descending) for c in row_order(UPSERT)] == [("__tablestore_ordinal", False)]
    assert [(c.name, c.descending) for c in row_order(ROW_LEVEL)] == [
        ("__tablestore_row_kind", True),
        ("__tablestore_ordinal", False),
    ]
    assert [KINDS[kind] for kind in unique_kinds(ROW_LEVEL)] == ["+I"]
    assert len(unique_kinds(UPSERT)) == len(KINDS)
