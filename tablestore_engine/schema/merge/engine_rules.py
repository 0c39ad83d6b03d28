"""What distinguishes the merge engines: one row an engine, one column a rule.

A new engine is a new row of `RULES`. A rule that follows from other rules, or from the functions of the columns, is a
property of `MergeEngine`. A partial update with sequence groups has a row of its own: it has the same options as one
without, but a retraction means something else to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tablestore_engine.options.merge_options import COUNT_ENGINE


class Kept(Enum):
    """Which records of a key its row is made of."""

    NEWEST = "the newest record, whole"
    OLDEST = "the oldest record, whole"
    FOLD = "all records: each column is folded by its function"
    EVERY = "no record is dropped: without a key, files hold rows and counts of rows that were taken back"


class Retraction(Enum):
    """What a record of kind -U or -D means, unless an option says otherwise."""

    DELETE = "the key has no row until a newer record comes"
    REFUSED = "it cannot be written"
    BY_COLUMN = "each column takes its value back as its RetractRule says, once all older records are there"
    AS_RECORD = "a record like others, which may be folded with any; it shows no row by itself"
    TAKES_A_ROW = "one row that is equal to it is removed"


@dataclass(frozen=True)
class EngineRules:
    """One row of the table.

    `needs_key`: the table must have a primary key. `no_sequence_field`: why the option 'sequence.field' is refused, and
    what to do instead; None where it is allowed. `retraction_hint`: what to do where a retraction is refused.
    """

    kept: Kept
    retraction: Retraction
    needs_key: bool = True
    no_sequence_field: str | None = None
    retraction_hint: str = "Write +I and +U rows only, or make the table with 'ignore-delete' = 'true'."


_IN_GROUPS = " in sequence groups"
_PARTIAL_UPDATE_HINT = (
    "Write +I and +U rows only, or make the table with 'ignore-delete', "
    "'partial-update.remove-record-on-delete' or sequence groups."
)
RULES = {
    "deduplicate": EngineRules(Kept.NEWEST, Retraction.DELETE, needs_key=False),
    "first-row": EngineRules(
        Kept.OLDEST, Retraction.REFUSED, no_sequence_field="Leave it out: the first record that is written stays."
    ),
    "partial-update": EngineRules(Kept.FOLD, Retraction.REFUSED, retraction_hint=_PARTIAL_UPDATE_HINT),
    f"partial-update{_IN_GROUPS}": EngineRules(Kept.FOLD, Retraction.AS_RECORD, retraction_hint=_PARTIAL_UPDATE_HINT),
    "aggregation": EngineRules(
        Kept.FOLD,
        Retraction.BY_COLUMN,
        retraction_hint="Write +I and +U rows only, or make the table with 'fields.<column>.ignore-retract' = 'true', "
        "or with 'aggregation.remove-record-on-delete' = 'true' (for -D).",
    ),
    COUNT_ENGINE: EngineRules(
        Kept.EVERY,
        Retraction.TAKES_A_ROW,
        needs_key=False,
        no_sequence_field="Leave it out: rows without a key have no order.",
    ),
}


def rules_of(name: str, *, in_groups: bool = False) -> EngineRules:
    """The row of an engine, by its name in the option 'merge-engine'.

    A table of another writer may name an engine that is unknown here. Its options can still be changed: it is treated
    as one that needs a key and folds. Reads and writes refuse it (`CoreOptions.refuse_unsupported`).
    """
    known = name if name in RULES else "partial-update"
    return RULES[known + _IN_GROUPS if in_groups else known]
