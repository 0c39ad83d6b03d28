"""Merge engines: how the records of one key become one row.

Each column that is not part of the key has a *function* that folds its values in the order of their records. A fold of
folds equals the fold of everything, so runs may merge in any groups of neighbours (products that round are the
exception). `deduplicate` takes the last record whole, `first-row` the first; `partial-update` is the last value of each
column that is not null; `aggregation` names a function per column. In a *sequence group* of a partial update, columns
come together from the record that is greatest in the group's own sequence columns. `tablestore-count` is for tables
without a key: it counts whole rows (`schema.table.multiset`).

A *retraction* is a record of kind -U or -D: it takes back what an earlier one gave. What a column makes of it is its
`Undo`. Where every column can say it as an ordinary record (a negated number, a null), the writer does, and files hold
no retractions. Where one cannot, retractions are *stored*: they keep their kind, a file never holds them folded with
other records of their key, and only a merge of all runs of a bucket settles them.

A product of decimals *rounds* to the scale of its column at each step, so each record takes its turn after all older
ones: a file never holds such a record folded with others, unless with all that are older.

Semantics after Apache Paimon's merge engines; that they do not depend on when runs merge is this engine's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import chain

from tablestore_engine.options.catalog import COUNT_ENGINE

# A function of the order in which records meet is not among them, even where users say that order: equals are in it.
_COMMUTATIVE = ("sum", "count", "product", "max", "min", "bool_and", "bool_or", "hll_sketch", "theta_sketch")


class RetractRule(Enum):
    """What a retraction means to one column."""

    NEGATE = "a record of the negated value"
    CLEAR = "a record without a value"
    KEEP = "a record of the same value"
    IN_ORDER = "what it makes of the records before it, and only of them"
    REFUSE = "nothing: it cannot be written"


@dataclass(frozen=True)
class Fold:
    """How the values of one column become one.

    `delimiter` is listagg's, `distinct` is for listagg and collect, `nested_key` for nested_update. `sequence` are the
    columns of its sequence group; `last_value` is then the value of the record that is greatest in them. `rounds` says
    that every step rounds, so that a fold of folds is not that of everything.
    """

    column: str
    function: str
    delimiter: str = ","
    distinct: bool = False
    nested_key: tuple[str, ...] = ()
    ignore_retract: bool = False
    sequence: tuple[str, ...] = ()
    retract_rule: RetractRule = RetractRule.REFUSE
    rounds: bool = False

    @property
    def picks_by_sequence(self) -> bool:
        """Whether the value is that of the record which wins the column's sequence group."""
        return bool(self.sequence) and self.function == "last_value"


@dataclass(frozen=True)
class MergeEngine:
    """`folds` covers every column outside the key, unless a whole record is taken (then it is empty).

    `removing_groups` are the sequence groups, by their sequence columns, in which a delete that does not come too late
    removes the whole row.
    """

    name: str = "deduplicate"
    folds: tuple[Fold, ...] = ()
    ignores_deletes: bool = False
    ignores_updates_before: bool = False
    removes_on_delete: bool = False
    removing_groups: tuple[tuple[str, ...], ...] = ()

    @property
    def keeps_last(self) -> bool:
        """Whether the newest record replaces all others of its key."""
        return self.name == "deduplicate"

    @property
    def keeps_first(self) -> bool:
        """Whether the oldest record of a key stays."""
        return self.name == "first-row"

    @property
    def is_multiset(self) -> bool:
        """Whether the table has no key and counts rows, so that it takes retractions."""
        return self.name == COUNT_ENGINE

    @property
    def changes_single_rows(self) -> bool:
        """Whether the fold of one record may differ from it: a blank text, a list that is to hold each value once."""
        return any(
            f.function in ("listagg", "nested_update") or (f.function == "collect" and f.distinct) for f in self.folds
        )

    @property
    def grouped(self) -> bool:
        """Whether there are sequence groups. A retraction is then a record like others: it may be folded with any, but
        shows no row by itself. Only a -D that may remove the row is folded when all records of its key meet."""
        return any(f.sequence for f in self.folds)

    @property
    def stores_retractions(self) -> bool:
        """Whether retractions keep their kind in files until all records of their key meet."""
        if self.removing_groups:
            return True
        if not self.folds or self.grouped:
            return False
        rules = {f.retract_rule for f in self.folds}
        return self.removes_on_delete or (
            self.name == "aggregation" and RetractRule.IN_ORDER in rules and RetractRule.REFUSE not in rules
        )

    @property
    def folds_in_order(self) -> bool:
        """Whether records may be folded only from the oldest one on, for a column rounds at each step."""
        return any(f.rounds for f in self.folds)

    @property
    def keeps_apart(self) -> bool:
        """Whether some records stand by themselves in files until all older ones of their key meet them."""
        return self.stores_retractions or self.folds_in_order

    @property
    def may_outgrow(self) -> bool:
        """Whether a fold of some records of a key may not fit its column where that of all of them does."""
        return any(f.function in ("sum", "count", "product") for f in self.folds)

    @property
    def takes_late(self) -> bool:
        """Whether it does not matter to a record that newer ones of its key were folded with older ones before it
        came."""
        if self.keeps_apart:
            return False
        return all(f.function in _COMMUTATIVE for f in self.folds)

    @property
    def settles_retractions(self) -> bool:
        """Whether a retraction in a file says something about values even when it stands alone."""
        return bool(self.folds) and not self.grouped

    @property
    def reads_retractions(self) -> bool:
        """Whether files with retractions can be read: another writer may have made them."""
        if self.keeps_last or self.grouped or self.removes_on_delete:
            return True
        return self.name == "aggregation" and all(f.retract_rule is not RetractRule.REFUSE for f in self.folds)

    def obstacle(self, kind: int) -> str | None:
        """Why a record of that kind (1 -U, 3 -D) cannot be written, as the end of a sentence; None when it can."""
        if self.keeps_last or (self.removes_on_delete and (kind == 3 or self.name == "partial-update")):
            return None
        if self.name == "aggregation" or self.grouped:
            stuck = [f for f in self.folds if f.retract_rule is RetractRule.REFUSE]
            if not stuck:
                return None
            return f"column '{stuck[0].column}' cannot take back a value (its function is {stuck[0].function})"
        return f"its merge engine is '{self.name}'"

    def only(self, columns: Sequence[str]) -> MergeEngine:
        """The engine for rows that have these columns only."""
        return replace(self, folds=tuple(f for f in self.folds if f.column in columns))

    def columns_for(self, columns: Iterable[str]) -> tuple[str, ...]:
        """These columns, and those that are needed to fold them."""
        names = tuple(columns)
        groups = [f.sequence for f in self.folds if f.column in names]
        # A group says whether the row shows, whatever is asked for.
        groups += self.removing_groups or [f.sequence for f in self.folds if f.sequence][:1]
        return tuple(dict.fromkeys((*names, *chain.from_iterable(groups))))
