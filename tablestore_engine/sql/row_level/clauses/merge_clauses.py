"""The query that computes which clause of a MERGE applies to each row, and its values.

A *side* is the target or the source; a *scope* is what a clause sees. The scope of WHEN MATCHED has both sides, that of
WHEN NOT MATCHED only the source, and that of WHEN NOT MATCHED BY SOURCE only the target, so that an unqualified name is
unique there. Invariant: Spark alone resolves names. Each scope is a nested SELECT, and no text of a clause is
rewritten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tablestore_engine.schema.types.sql_literals import literal, quoted_name
from tablestore_engine.spark.errors.raised_errors import CHANGED_KEY
from tablestore_engine.sql.pinned_views.text_facts import has_subquery

CLAUSE_COLUMN: Final = "__tablestore_clause"


@dataclass(frozen=True)
class Side:
    """One side of the join: its quoted alias, the column that is true on its rows, and the columns that clauses see.

    `hidden_columns` are seen, too, and are none of the table's own.
    """

    alias: str
    flag: str
    columns: tuple[str, ...]
    hidden_columns: tuple[str, ...] = ()

    def carried(self) -> list[str]:
        """Items that pass the side's columns through the selects between the join and its scope."""
        return [f"{self.alias}.{quoted_name(n)} AS {self._hidden(i)}" for i, n in enumerate(self._seen)]

    def shown(self) -> list[str]:
        """Items that restore the names of passed columns."""
        return [f"{self._hidden(i)} AS {quoted_name(n)}" for i, n in enumerate(self._seen)]

    def hidden(self) -> list[str]:
        """The temporary names of passed columns."""
        return [self._hidden(i) for i in range(len(self._seen))]

    @property
    def _seen(self) -> tuple[str, ...]:
        return (*self.columns, *self.hidden_columns)

    def _hidden(self, index: int) -> str:
        return f"{self.flag}_{index}"


@dataclass(frozen=True)
class ClauseScope:
    """The clauses of one kind, in order: `conditions` and `values` (SQL by column) of each.

    `state` is true on the rows of the scope, and `first` is the number of the first clause. `keys` are columns whose
    values are refused unless they are those that the row has.
    """

    state: str
    first: int
    conditions: tuple[str | None, ...]
    values: tuple[Mapping[str, str], ...]
    keys: tuple[str, ...] = ()

    def number(self, otherwise: str) -> str:
        """SQL of the number of the clause that applies."""
        picks = " ".join(
            f"WHEN {self.state}{'' if condition is None else f' AND ({condition})'} THEN {number}"
            for number, condition in enumerate(self.conditions, self.first)
        )
        return f"CASE {picks} ELSE {otherwise} END" if picks else otherwise

    def keeps(self, column: str, own: str) -> bool:
        """Whether every clause, of which there is one, leaves a column as it is: its value needs no CASE, which Spark
        would analyse."""
        return bool(self.values) and all(values[column] == own for values in self.values)

    def value(self, number: str, column: str, typed: tuple[str, str], otherwise: str) -> str:
        """SQL of a column's value under the clause of a number. `typed` is SQL of the value that the row has, and its
        type."""
        own, kind = typed
        given = [f"CAST({values[column]} AS {kind})" for values in self.values]
        if column in self.keys:
            pairs = zip(given, self.values, strict=True)
            given = [one if values[column] == own else _same_key(column, own, one) for one, values in pairs]
        cases = " ".join(f"WHEN {i} THEN {value}" for i, value in enumerate(given, self.first))
        return f"CASE {number} {cases} ELSE {otherwise} END" if cases else otherwise


def _same_key(name: str, own: str, value: str) -> str:
    """SQL of a key column that a MERGE assigns, which is allowed if the key does not change."""
    refused = literal(f"{CHANGED_KEY}'{name}', which belongs to the primary key, of a matched row.")
    return f"CASE WHEN {value} <=> {own} THEN {own} ELSE raise_error({refused}) END"


@dataclass(frozen=True)
class ClauseScopes:
    """All clauses of a MERGE, by kind."""

    matched: ClauseScope
    not_matched: ClauseScope
    not_matched_by_source: ClauseScope


def value_column(index: int) -> str:
    """The column with the value of the target's column at an index."""
    return f"__tablestore_value_{index}"


def clause_rows(
    *,
    join_sql: str,
    target: Side,
    source: Side,
    types: Sequence[str],
    extra: Sequence[str],
    scopes: ClauseScopes,
    remote: bool = False,
) -> str:
    """A query with `CLAUSE_COLUMN` (null where no clause applies), the values of the target's columns, and `extra`.

    join_sql: the item of the FROM list that joins both sides under their aliases.
    types: SQL types of the target's columns.
    extra: columns of the target that are passed on as they are.
    scopes: the clauses.
    remote: whether Spark Connect runs the query. It resolves functions in a later pass, in which Spark 4.1 loses
        lateral aliases if `extra` are columns of files, so the number of the clause comes from a lateral subquery.
    """
    every = (scopes.matched, scopes.not_matched, scopes.not_matched_by_source)
    conditions = [condition for scope in every for condition in scope.conditions if condition]
    # A subquery in the condition could not see the target from there. It is resolved before the functions.
    by_subquery = remote and bool(extra) and not any(map(has_subquery, conditions))
    values = [value_column(i) for i in range(len(types))]
    later = [(scopes.not_matched, source), (scopes.not_matched_by_source, target)]
    later = [(scope, side) for scope, side in later if scope.conditions]

    def number(level: int) -> str:
        # A column of the same name takes precedence over a lateral alias, so each level has its own names.
        return f"{CLAUSE_COLUMN}_{level}"

    def rows(scope: ClauseScope, level: int, others: Sequence[str], joined: str) -> str:
        item = f"{scope.number(number(level - 1) if level else 'CAST(NULL AS INT)')} AS {number(level)}"
        if by_subquery:
            item, joined = number(level), f"{joined}, LATERAL (SELECT {item})"
        return f"SELECT {', '.join([item, *items(scope, level), *others])} FROM {joined}"

    def items(scope: ClauseScope, level: int) -> list[str]:
        found = []
        for name, kind, value in zip(target.columns, types, values, strict=True):
            own = f"{target.alias}.{quoted_name(name)}"
            if not level and scope.keeps(name, own):
                found.append(f"CAST({own} AS {kind}) AS {value}")
                continue
            before = value if level else f"CAST(NULL AS {kind})"
            found.append(f"{scope.value(number(level), name, (own, kind), before)} AS {value}")
        return found

    passed = [*extra, target.flag, source.flag]
    carried = [item for _, side in later for item in side.carried()]
    own = [f"{target.alias}.{c} AS {c}" for c in extra]
    text = rows(scopes.matched, 0, [*own, target.flag, source.flag, *carried], join_sql)
    for level, (scope, side) in enumerate(later, 1):
        waiting = [name for _, other in later[level:] for name in other.hidden()]
        inner = ", ".join([*side.shown(), number(level - 1), *values, *passed, *waiting])
        text = rows(scope, level, [*passed, *waiting], f"(SELECT {inner} FROM ({text})) AS {side.alias}")
    return f"SELECT {number(len(later))} AS {CLAUSE_COLUMN}, {', '.join([*values, *extra])} FROM ({text})"
