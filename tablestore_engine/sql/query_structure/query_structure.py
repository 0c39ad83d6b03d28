"""The structure of a query: which relations it reads, under which names, in which scope.

A *query* is a list of *selects* (joined by set operations) that can see its *common table expressions*; a
select owns the *relations* of its FROM list and the token spans of its clauses. The rest of a query is
expressions, of which only subqueries and dotted names matter. ``scan_query`` finds only these parts.

Invariants: every relation carries the exact span of its name; a name of one part that means a common
table expression in that scope is never reported as a table; a query that Spark would refuse is scanned as
far as possible and raises no error.
"""

from __future__ import annotations

from dataclasses import dataclass, field

Span = tuple[int, int]


@dataclass(frozen=True)
class TimeTravel:
    """``VERSION AS OF`` or ``TIMESTAMP AS OF``: exactly one of the two expressions, as written."""

    version_sql: str | None = None
    timestamp_sql: str | None = None


@dataclass(eq=False)
class Relation:
    """One item of a FROM list. ``parts`` is empty unless it is a name."""

    select: Select
    parts: tuple[str, ...] = ()
    name_span: Span = (0, 0)  # characters of the whole dotted name
    last_text: str = ""  # the last part as written
    alias: str | None = None
    renames_columns: bool = False  # an alias with a column list
    alias_at: int | None = None  # where an alias may be inserted; None when there is one or none is legal
    time_travel: TimeTravel | None = None
    travel_span: Span | None = None  # characters of the clause and the blanks before it
    changes: tuple[str, ...] = ()  # of `table_changes`: the expressions of its bounds, one or two
    options: tuple[tuple[str, str], ...] = ()  # of a hint or a clause WITH (…) behind the name
    hint_span: Span | None = None  # characters of both
    sampled: bool = False
    join: str = "inner"  # inner, left, right, full, semi, anti: the kind of the join to the relations before it
    on: Span | None = None  # tokens of the ON condition
    query: Query | None = None  # a subquery
    cte: Cte | None = None

    @property
    def visible_name(self) -> str | None:
        """The one-part name that qualifies columns of this relation."""
        return self.alias or (self.parts[-1] if self.parts and not self.changes else None)


@dataclass(eq=False)
class Select:
    """One SELECT with its relations and clause spans (token indexes, end exclusive)."""

    parent: Select | None
    query: Query
    relations: list[Relation] = field(default_factory=list)
    items: Span | None = None
    where: Span | None = None
    grouped: bool = False  # GROUP BY, HAVING, QUALIFY
    limited: bool = False  # LIMIT, OFFSET
    opaque: bool = False  # pipes, pivots, nested joins, …: no predicates are derived


@dataclass(eq=False)
class Cte:
    """A common table expression and the relations that read it."""

    name: str
    query: Query
    renames_columns: bool = False
    recursive: bool = False
    readers: list[Relation] = field(default_factory=list)


@dataclass(eq=False)
class Query:
    """Selects joined by set operations."""

    owner: Relation | Cte | None = None  # the relation or CTE it defines; None for the statement and in expressions
    selects: list[Select] = field(default_factory=list)
    combined: bool = False  # more than one select: UNION, EXCEPT, …


@dataclass(frozen=True)
class DottedName:
    """``a.b.c`` in an expression: the parts, their spans, and whether ``.*`` follows."""

    parts: tuple[str, ...]
    spans: tuple[Span, ...]
    star: bool
    select: Select


@dataclass
class Structure:
    """The result of a scan: the tables in order of appearance, and the dotted names of expressions."""

    root: Query
    tables: list[Relation] = field(default_factory=list)
    names: list[DottedName] = field(default_factory=list)
