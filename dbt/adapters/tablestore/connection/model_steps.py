"""The writes of one model that is computed from changes: its rows and its position are committed together.

A text with one write commits both by it; every built-in strategy, and a snapshot, is such a text. Where more than one
statement writes the model's table, they are a group (`tablestore_engine.operation.table_commands.write_group`): a
user's strategy, also when its macro runs statements of its own, and pre-hooks. It ends behind the model's main text.
Until then no commit has the position, and a later run undoes the group of one that ended in between.

A write to another table has no position: such a table is not the one that says what was used, and each run of the
statement writes to it. Post-hooks come after the position; a run that ends before them does not repeat the rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tablestore_engine.operation.commit.commit_identity import CommitIdentity
from tablestore_engine.operation.commit.consumed_positions import Consumed
from tablestore_engine.operation.write_job.write_intent import WriteIntent
from tablestore_engine.sql.written_tables import Written, written_tables

if TYPE_CHECKING:
    from tablestore_engine.catalog import Catalog

_NOT_MAIN = "step"


@dataclass
class ModelSteps:
    """The writes of a model to its table, `schema.name`, in this run.

    Attributes:
        catalog: where the table is.
        table: its schema and name.
        group: the name of the group, which begins its committing users.
        consumed: the changes that the model uses; known before its first write.
    """

    catalog: Catalog
    table: tuple[str, str]
    group: str
    consumed: Callable[[], tuple[Consumed, ...]]
    begun: bool = False
    anew: bool = False
    numbers: itertools.count[int] = field(default_factory=itertools.count)

    def of_text(self, statements: Sequence[str], intent: WriteIntent, database: str) -> TextSteps:
        """The same for the statements of one text. `intent` has the position when it is the model's main text."""
        writes = [written_tables(one) for one in statements] if self.consumed() else [() for _ in statements]
        return TextSteps(self, intent, tuple(writes), database)

    def begin(self, *, anew: bool) -> None:
        """Begin the group with the first write. `anew`: which makes the table."""
        from tablestore_engine.operation.table_commands.write_group import WriteGroup, begin_group, is_unfinished

        if self.begun or anew:
            self.begun, self.anew = True, self.anew or anew
            return
        table = self.catalog.load_table(*self.table)
        # A write before the one that makes the table anew.
        rebuilds = all(one.before is None for one in self.consumed())
        self.anew = rebuilds and is_unfinished(table.state)
        begin_group(table.state, WriteGroup(table.state.name, self.group), anew=self.anew)
        self.begun = True

    def mark(self, *, anew: bool) -> Consumed:
        """The message of a write of the group."""
        from tablestore_engine.operation.table_commands.write_group import WriteGroup

        group = WriteGroup(".".join(self.table), self.group)
        return group.replaces() if anew else group.goes_on(anew=self.anew)

    def finish(self, consumed: tuple[Consumed, ...]) -> None:
        """Commit the position."""
        from tablestore_engine.operation.table_commands.write_group import WriteGroup, finish_group

        table = self.catalog.load_table(*self.table)
        finish_group(table.state, WriteGroup(table.state.name, self.group), consumed, anew=self.anew)
        self.begun = False


@dataclass(frozen=True)
class TextSteps:
    """The statements of one text, with what each of them writes."""

    model: ModelSteps
    intent: WriteIntent
    writes: tuple[tuple[Written, ...], ...]
    database: str

    @property
    def is_main(self) -> bool:
        """Whether the text is the model's own."""
        return bool(self.intent.consumed)

    @property
    def many(self) -> bool:
        """Whether it is, or belongs to, a group."""
        writes = [one for each in self.writes for one in each]
        more = len(writes) > 1 or not self.is_main
        return self.model.begun or (more and any(map(self._concerns, writes)) and self._can_begin(writes))

    def intent_of(self, number: int) -> WriteIntent:
        """The intent of a statement that is about to run."""
        own, writes = self.intent.of_statement(number), self.writes[number]
        if not self.many:
            last = max((i for i, each in enumerate(self.writes) if each), default=number)
            return own if number == last else replace(own, consumed=())
        if not any(map(self._concerns, writes)):
            return replace(own, consumed=())
        anew = next(one for one in writes if self._concerns(one)).anew
        self.model.begin(anew=anew)
        if own.identity is None:
            identity = CommitIdentity(f"{self.model.group}-{_NOT_MAIN}{next(self.model.numbers)}", 1)
            own = replace(own, identity=identity)
        return replace(own, consumed=(self.model.mark(anew=anew),))

    def finish(self) -> None:
        """After the last statement."""
        if self.is_main and self.model.begun:
            self.model.finish(self.intent.consumed)

    def _concerns(self, one: Written) -> bool:
        """Whether a write is, or may be, one to the model's table."""
        if one.table is None:
            return True
        named = (one.table.database or self.database, one.table.name)
        if [part.lower() for part in named] == [part.lower() for part in self.model.table]:
            return True
        # A name that the catalog does not know is a temporary view, perhaps of the model's table.
        return one.table.database is None and not one.anew and self.model.catalog.object_kind(*named) is None

    def _can_begin(self, writes: Sequence[Written]) -> bool:
        """Whether the model's table exists, or is made by the first write."""
        return self.model.catalog.table_exists(*self.model.table) or next(filter(self._concerns, writes)).anew
