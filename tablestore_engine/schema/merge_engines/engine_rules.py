"""The differences of the merge engines: one row an engine, one column a rule.

A new engine is a new row of `RULES`. A rule that follows from other rules, or from the functions of the columns, is a
property of `MergeEngine`. A partial update with sequence groups has a row of its own: it has the same options as one
without, but a retraction means something else to it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from tablestore_engine.options.declarations.merge_options import COUNT_ENGINE, MergeOptions


class Kept(Enum):
    """Which records of a key its row is made of."""

    NEWEST = "the newest record, whole"
    OLDEST = "the oldest record, whole"
    FOLD = "all records: each column is folded by its function"
    EVERY = "no record is dropped: without a key, files hold rows and counts of rows that were taken back"


class Functions(Enum):
    """Where the functions of the columns come from, if a row is folded."""

    NONE = "there are none: a row is a record, whole"
    NAMED = "options name that of each column; the others have the default"
    LAST = "the last value that is not null; in a sequence group, options may name another"


class Retraction(Enum):
    """The meaning of a record of kind -U or -D, unless an option changes it."""

    DELETE = "the key has no row until a newer record comes"
    REFUSED = "it cannot be written"
    BY_COLUMN = "each column takes its value back as its RetractRule says, once all older records are there"
    AS_RECORD = "a record like others, which shows no row by itself; without a row before it, it has no effect"
    TAKES_A_ROW = "one row that is equal to it is removed"


@dataclass(frozen=True)
class EngineRules:
    """One row of the table.

    `needs_key`: the table must have a primary key. `options`: those of tables with this engine alone.
    `no_sequence_field`: why the option 'sequence.field' is refused, and what to do instead; None where it is allowed.
    `retraction_hint`: what to do where a retraction is refused. `removal`: the option that lets a delete remove rows of
    a fold.
    """

    kept: Kept
    retraction: Retraction
    functions: Functions = Functions.NONE
    needs_key: bool = True
    options: tuple[str, ...] = ()
    no_sequence_field: str | None = None
    retraction_hint: str = "Write +I and +U rows only, or make the table with 'ignore-delete' = 'true'."
    removal: str = ""

    @property
    def keeps_one_record(self) -> bool:
        """Whether a row is one of its key's records, whole."""
        return self.kept in (Kept.NEWEST, Kept.OLDEST)

    @property
    def is_multiset(self) -> bool:
        """Whether the table has no key and takes retractions: it counts equal rows."""
        return self.kept is Kept.EVERY


_GROUP = MergeOptions.column_sequence_groups.key
_PARTIAL_REMOVES = MergeOptions.partial_update_removes_on_delete.key
_PARTIAL_REMOVES_IN_GROUP = MergeOptions.partial_update_removes_on_sequence_group.key
_AGGREGATION_REMOVES = MergeOptions.aggregation_removes_on_delete.key
_IN_GROUPS = " in sequence groups"
_PARTIAL_UPDATE = EngineRules(
    Kept.FOLD,
    Retraction.REFUSED,
    Functions.LAST,
    options=(_GROUP, _PARTIAL_REMOVES, _PARTIAL_REMOVES_IN_GROUP),
    retraction_hint="Write +I and +U rows only, or make the table with 'ignore-delete', "
    f"'{_PARTIAL_REMOVES}' or sequence groups.",
    removal=f"'{_PARTIAL_REMOVES}' = 'true'",
)
RULES = {
    "deduplicate": EngineRules(Kept.NEWEST, Retraction.DELETE, needs_key=False),
    "first-row": EngineRules(
        Kept.OLDEST, Retraction.REFUSED, no_sequence_field="Leave it out: the first record that is written stays."
    ),
    "partial-update": _PARTIAL_UPDATE,
    f"partial-update{_IN_GROUPS}": replace(
        _PARTIAL_UPDATE, retraction=Retraction.AS_RECORD, removal=f"'{_PARTIAL_REMOVES_IN_GROUP}' = '…'"
    ),
    "aggregation": EngineRules(
        Kept.FOLD,
        Retraction.BY_COLUMN,
        Functions.NAMED,
        options=(_AGGREGATION_REMOVES,),
        retraction_hint="Write +I and +U rows only, or make the table with 'fields.<column>.ignore-retract' = 'true', "
        f"or with '{_AGGREGATION_REMOVES}' = 'true' (for -D).",
        removal=f"'{_AGGREGATION_REMOVES}' = 'true'",
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
    as one that needs a key and folds. Reads and writes refuse it (`CoreOptions.check_readable`).
    """
    known = name if name in RULES else "partial-update"
    return RULES[known + _IN_GROUPS if in_groups else known]


def engine_with(option: str) -> str:
    """The engine that alone has an option."""
    return next(name for name, row in RULES.items() if option in row.options)
