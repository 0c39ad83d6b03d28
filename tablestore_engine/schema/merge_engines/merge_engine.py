"""Merge engines: how the records of one key become one row.

`engine_rules` says what distinguishes the engines. Where a row is folded, each column outside the key has a *function*
(`aggregate_functions`) that folds its values in the order of their records: in a `partial-update` the last value that
is not null, in an `aggregation` the function that an option names. A fold of folds equals the fold of everything, so
neighbouring runs may merge in any grouping; products that round are the exception. In a *sequence group* of a partial
update, columns have their own sequence columns, and take the values of the record that is greatest in these. A record
that is less comes *late*: most functions put its value before what is there.

Where users say the order of records (`sequence.field`, sequence groups), a late record cannot be put between others
that are one record already. A function that needs the order of all then gives what depends on when runs merged, as
Paimon's does.

A *retraction* is a record of kind -U or -D: it takes back what an earlier record gave. Each column has a `RetractRule`
for it. If every column can express the retraction as an ordinary record (a negated number, a null), the writer writes
that, and files hold no retractions. Otherwise retractions are *stored*: they keep their kind, a file never holds them
folded with other records of their key, and only a merge of all runs of a bucket settles them. With sequence groups they
always are, because one without a row before it has no effect; after a row of the same write they may be folded into
it, and a merge of some runs may look up whether older ones have a row.

A product of decimals *rounds* to the scale of its column at each step, so records must be multiplied in their order:
a file holds such a record folded with others only if these are all the older ones. The same is true of a map that
*takes out* what earlier ones gave for a key.

The semantics are those of Apache Paimon's merge engines. That the result does not depend on when runs merge is a
guarantee of this engine alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from tablestore_engine.schema.merge_engines.aggregate_functions import FUNCTIONS, FunctionRules, Order, RetractRule
from tablestore_engine.schema.merge_engines.engine_rules import EngineRules, Functions, Kept, Retraction, rules_of


@dataclass(frozen=True)
class Fold:
    """How the values of one column become one.

    `delimiter` is an option of listagg, `distinct` of listagg and collect, `nested_key` and `null_keys` of nested rows,
    `nested_sequence` and `count_limit` of nested_update, `time_field` of merge_map_with_keytime. `nested_fields` are
    the fields of nested rows. `sequence` are the sequence columns of its group; `last_value` is then the value of the
    record that is greatest in them. `rounds` says that every step rounds, so that a fold of folds may differ from the
    fold of everything. `named` says that an option names the function: a retraction that comes late then clears even a
    last value.
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
    count_limit: int | None = None
    named: bool = False
    nullable: bool = True
    null_keys: str = "merge"
    nested_sequence: tuple[str, ...] = ()
    nested_fields: tuple[str, ...] = ()
    time_field: str = ""

    @property
    def ignores_as_null(self) -> bool:
        """Whether a retraction that the function ignores is a record without a value to it: so it is, once it was
        folded into a row."""
        return self.ignore_retract and self.function == "first_value"

    @property
    def cleans(self) -> bool:
        """Whether the function changes the value even of a single record as soon as its key has another one."""
        return (self.distinct and self.function == "collect") or bool(self.nested_sequence) or self.null_keys != "merge"

    @property
    def goes_singly(self) -> bool:
        """Whether what a record gives depends on all that came before it, so that no others may be folded first."""
        return self.count_limit is not None or self.rules.takes_out

    @property
    def rules(self) -> FunctionRules:
        """The rules of the column's function."""
        return FUNCTIONS[self.function]

    @property
    def picks_by_sequence(self) -> bool:
        """Whether the value is that of the record which wins the column's sequence group."""
        return bool(self.sequence) and self.function == "last_value" and not self.named

    @property
    def puts_late_first(self) -> bool:
        """Whether a record that comes late for the column's sequence group is put before those that are there."""
        return bool(self.sequence) and not self.picks_by_sequence and self.rules.puts_late_first


@dataclass(frozen=True)
class MergeEngine:
    """`folds` covers every column outside the key, unless a whole record is taken (then it is empty).

    `removing_groups` are the sequence groups, given by their sequence columns, in which a -D removes the whole row
    unless an earlier record has a greater sequence.
    """

    name: str = "deduplicate"
    folds: tuple[Fold, ...] = ()
    ignores_deletes: bool = False
    ignores_updates_before: bool = False
    removes_on_delete: bool = False
    removing_groups: tuple[tuple[str, ...], ...] = ()

    # -- rules of the engine ------------------------------------------------------------------------------

    @property
    def rules(self) -> EngineRules:
        """The engine's row of the table.

        Its rule of retractions holds unless `removes_on_delete`, `removing_groups` or an `ignores_` flag says more.
        """
        return rules_of(self.name, in_groups=self.has_sequence_groups)

    @property
    def has_sequence_groups(self) -> bool:
        """Whether columns of a partial update are ordered by sequence columns of their own."""
        return any(f.sequence for f in self.folds)

    # -- rules that follow from the engine and the functions of its columns -------------------------------

    @property
    def stores_retractions(self) -> bool:
        """Whether retractions keep their kind in files until all records of their key meet."""
        if self.rules.retraction is Retraction.AS_RECORD:
            return True
        if not self.folds:
            return False
        if self.removes_on_delete or self.rules.retraction is not Retraction.BY_COLUMN:
            return self.removes_on_delete
        rules = {f.retract_rule for f in self.folds}
        return RetractRule.IN_ORDER in rules and RetractRule.REFUSE not in rules

    @property
    def looks_rows_up(self) -> bool:
        """Whether runs with retractions may merge by themselves if it is known which keys have a row in older ones."""
        in_order = any(f.retract_rule is RetractRule.IN_ORDER for f in self.folds)
        return self.rules.retraction is Retraction.AS_RECORD and not in_order

    @property
    def settles_retractions(self) -> bool:
        """Whether a retraction in a file changes values even when no other record of its key is there."""
        return bool(self.folds) and self.rules.retraction is not Retraction.AS_RECORD

    @property
    def reads_retractions(self) -> bool:
        """Whether files with retractions can be read: another writer may have made them."""
        if self.rules.retraction is Retraction.BY_COLUMN and not self.removes_on_delete:
            return all(f.retract_rule is not RetractRule.REFUSE for f in self.folds)
        return self.removes_on_delete or self.rules.retraction in (Retraction.DELETE, Retraction.AS_RECORD)

    @property
    def late_groups(self) -> tuple[tuple[str, ...], ...]:
        """The sequence groups with a column to which it matters whether a record comes late."""
        return tuple(dict.fromkeys(f.sequence for f in self.folds if f.puts_late_first))

    @property
    def needs_positions(self) -> bool:
        """Whether a fold needs the position of each record in the order of all, where users say that order."""
        in_order = any(f.rules.order is Order.ALL for f in self.folds)
        return bool(self.folds) and (in_order or self.removes_on_delete or self.has_sequence_groups)

    @property
    def folds_in_order(self) -> bool:
        """Whether records may be folded only from the oldest one on: a column rounds at each step, or takes out."""
        return any(f.rounds or f.rules.takes_out for f in self.folds)

    @property
    def keeps_apart(self) -> bool:
        """Whether some records are not folded with others in files until all older ones of their key meet them."""
        return self.stores_retractions or self.folds_in_order

    @property
    def takes_late(self) -> bool:
        """Whether a record may arrive after newer and older ones of its key were folded with each other.

        `last_value` does not allow it, even with a sequence field: of records with equal sequences the newest wins.
        """
        return not self.keeps_apart and all(f.rules.order is Order.NONE for f in self.folds)

    @property
    def may_outgrow(self) -> bool:
        """Whether a fold of some records of a key may not fit its column where that of all of them does."""
        return any(f.rules.may_outgrow for f in self.folds)

    def obstacle(self, kind: int) -> str | None:
        """Why a record of that kind (1 -U, 3 -D) cannot be written, as the end of a sentence; None when it can."""
        if self.removes_on_delete and (kind == 3 or self.rules.retraction is Retraction.REFUSED):
            return None  # a partial update that removes rows leaves -U out
        if self.rules.retraction in (Retraction.BY_COLUMN, Retraction.AS_RECORD):
            stuck = [f for f in self.folds if f.retract_rule is RetractRule.REFUSE]
            if not stuck:
                return None
            return f"column '{stuck[0].column}' cannot take back a value (its function is {stuck[0].function})"
        return None if self.rules.retraction is Retraction.DELETE else f"its merge engine is '{self.name}'"

    @property
    def leaves_out_updates_before(self) -> bool:
        """Whether records of kind -U are ignored, by option or because rows are removed by -D alone."""
        removes_only = self.removes_on_delete and self.rules.retraction is Retraction.REFUSED
        return self.ignores_updates_before or removes_only

    @property
    def takes_updates(self) -> bool:
        """Whether a whole row that is written replaces the row of its key: columns are not added up.

        A partial update keeps the value of a column where that of the new row is null.
        """
        if self.rules.kept is Kept.FOLD:
            return self.rules.functions is Functions.LAST and not any(f.named for f in self.folds)
        return self.rules.kept is Kept.NEWEST

    # -- the engine for some columns ----------------------------------------------------------------------

    def only(self, columns: Sequence[str]) -> MergeEngine:
        """The engine for rows that have these columns only."""
        return replace(self, folds=tuple(f for f in self.folds if f.column in columns))

    def columns_for(self, columns: Iterable[str]) -> tuple[str, ...]:
        """These columns, and the sequence columns that are needed to fold them."""
        names = tuple(columns)
        groups = [f.sequence for f in self.folds if f.column in names]
        # Whether the row is visible depends on the groups, whichever columns are read.
        groups += self.removing_groups or [f.sequence for f in self.folds if f.sequence][:1]
        return tuple(dict.fromkeys((*names, *chain.from_iterable(groups))))
