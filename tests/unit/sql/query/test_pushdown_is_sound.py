"""Pruning by the extracted predicates never changes an answer.

Random queries (joins of every kind, nested selects, common table expressions, set operations, nulls) run in
SQLite twice: as they are, and bound to views that hold only the rows on which the predicate is true.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from random import Random

import pytest

from tablestore_engine.schema.table.predicate import And, Compare, In, IsNotNull, IsNull, Or, Predicate
from tablestore_engine.sql.query.bind import Binding, TableReference, bind

pytestmark = pytest.mark.skipif(sqlite3.sqlite_version_info < (3, 39), reason="needs RIGHT and FULL JOIN")

COLUMNS = ("a", "b", "c")
ROWS = [(a, b, c) for a in (None, 1, 2, 3) for b in (None, 1, 2) for c in (None, 2, 3)]


def to_sql(predicate: Predicate) -> str:
    if isinstance(predicate, (And, Or)):
        word = " AND " if isinstance(predicate, And) else " OR "
        return "(" + word.join(to_sql(child) for child in predicate.children) + ")"
    if isinstance(predicate, Compare):
        return f"{predicate.column} {predicate.op} {predicate.value}"
    if isinstance(predicate, In):
        return f"{predicate.column} IN ({', '.join(str(value) for value in predicate.values)})"
    assert isinstance(predicate, (IsNull, IsNotNull))
    return f"{predicate.column} IS {'NOT ' if isinstance(predicate, IsNotNull) else ''}NULL"


def fresh_database() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    for number, table in enumerate(("t0", "t1", "t2")):
        connection.execute(f"CREATE TABLE {table} (a, b, c)")
        chosen = [row for at, row in enumerate(ROWS) if (at * 7 + number * 5) % 3 != 1][: 8 - number]
        connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", chosen)
    return connection


class QueryMaker:
    """Random queries whose output columns are a, b and c."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.ctes: list[str] = []

    def one_in(self, n: int) -> bool:
        return self.random.randrange(n) == 0

    def statement(self) -> str:
        definitions = []
        for name in ("p", "q")[: self.random.choice([0, 0, 1, 2])]:
            definitions.append(f"{name} AS ({self.query(1)})")
            self.ctes.append(name)
        return (f"WITH {', '.join(definitions)} " if definitions else "") + self.query(2)

    def query(self, depth: int) -> str:
        query = self.select(depth)
        if depth and self.one_in(7):
            query += self.random.choice([" UNION ALL ", " UNION ", " EXCEPT "]) + self.select(depth - 1)
        return query

    def relation(self, depth: int) -> str:
        if depth and self.one_in(3):
            return f"({self.query(depth - 1)})"
        return self.random.choice(["t0", "t1", "t2", *self.ctes, *self.ctes])

    def select(self, depth: int) -> str:
        aliases = ["x", "y", "z"][: self.random.choice([1, 1, 1, 2, 2, 3])]
        text, names = f"{self.relation(depth)} AS x", [f"x.{column}" for column in COLUMNS]
        for alias in aliases[1:]:
            join = self.random.choice(["JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", ","])
            own = [f"{alias}.{column}" for column in COLUMNS]
            text += f" {join} {self.relation(depth)} AS {alias}"
            if join != ",":
                text += f" ON x.a = {alias}.a" if self.one_in(2) else f" ON {self.condition(names + own, 0)}"
            names = names + own
        if len(aliases) == 1 and self.one_in(2):
            names = list(COLUMNS)
        items, group = self.items(names, alone=len(aliases) == 1)
        query = f"SELECT {items} FROM {text}"
        if self.one_in(2):
            query += f" WHERE {self.condition(names, 2)}"
            if self.one_in(9):
                query += f" AND EXISTS (SELECT 1 FROM t2 AS w WHERE w.b = {names[1]} AND w.c >= 2)"
        return query + group

    def items(self, names: list[str], *, alone: bool) -> tuple[str, str]:
        """The select list, and a GROUP BY clause or nothing."""
        first, second, third = self.random.sample(names, 3)
        shape = self.random.randrange(7)
        if shape == 0 and alone:
            return self.random.choice(["*", "x.*"]), ""
        if shape == 1:
            return f"{first} AS a, {second} b, coalesce({third}, 2) AS c", ""
        if shape == 2:
            return f"{first} AS a, {second} AS b, count(*) OVER (PARTITION BY {third}) AS c", ""
        if shape == 3:
            return f"{first} AS a, {second} AS b, count(*) AS c", f" GROUP BY {first}, {second}"
        if shape == 4:
            return f"max({first}) AS a, {second} AS b, min({third}) AS c", f" GROUP BY {second}"
        if shape == 5:
            return f"DISTINCT {first} AS a, {second} AS b, {third} AS c", ""
        return f"{first} AS a, {second} AS b, {third} AS c", ""

    def condition(self, names: list[str], depth: int) -> str:
        if depth and self.one_in(3):
            word = self.random.choice([" AND ", " OR "])
            joined = word.join(self.condition(names, depth - 1) for _ in range(self.random.choice([2, 2, 3])))
            return joined if word == " AND " and self.one_in(2) else f"({joined})"
        name, other, value = self.random.choice(names), self.random.choice(names), self.random.randrange(4)
        return self.random.choice(
            [
                f"{name} = {value}",
                f"{name} = {value}",
                f"{value} < {name}",
                f"{name} >= {value}",
                f"{name} BETWEEN {value} AND 3",
                f"{name} IN ({value}, 1, NULL)",
                f"{name} IS NULL",
                f"{name} IS NULL",
                f"{name} IS NOT NULL",
                f"NOT {name} = {value}",
                f"NOT ({name} = {value} AND {other} = 2)",
                f"{name} = {other}",
                f"coalesce({name}, 1) = {value}",
                f"CASE WHEN {name} = 1 THEN {other} ELSE 2 END = {value}",
                f"{name} + 1 = {value}",
                f"{name} = {value} IS NULL",
            ]
        )


def run(connection: sqlite3.Connection, query: str) -> Counter[tuple[object, ...]] | None:
    """The rows of a query; None when SQLite cannot (some nestings of RIGHT JOIN), or not in a million steps."""
    steps = iter([0] * 10)
    connection.set_progress_handler(lambda: next(steps, 1), 100_000)
    try:
        return Counter(connection.execute(query).fetchall())
    except sqlite3.OperationalError as error:
        if "interrupted" not in str(error) and "ON clause" not in str(error):
            raise
        return None
    finally:
        connection.set_progress_handler(None, 0)


def compare(connection: sqlite3.Connection, query: str) -> tuple[bool, bool]:
    """Runs a query with and without pruning. Returns whether it had rows, and whether anything was pruned."""
    views: list[TableReference] = []

    def resolve(reference: TableReference) -> Binding:
        views.append(reference)
        return Binding(f"v{len(views)}")

    bound = bind(query, resolve)
    expected = run(connection, query)
    if expected is None:
        return False, False
    for number, reference in enumerate(views, 1):
        where = "" if reference.predicate is None else f" WHERE {to_sql(reference.predicate)}"
        connection.execute(f"CREATE TEMP VIEW v{number} AS SELECT * FROM {reference.name}{where}")
    found = run(connection, bound.text)
    assert found is None or found == expected, query
    for number in range(1, len(views) + 1):
        connection.execute(f"DROP VIEW v{number}")
    return bool(expected), any(reference.predicate for reference in views)


@pytest.mark.parametrize("block", range(4))
def test_pruned_tables_give_the_same_answer(block: int) -> None:
    connection = fresh_database()
    seeds = range(block * 400, (block + 1) * 400)
    outcomes = Counter(compare(connection, QueryMaker(seed).statement()) for seed in seeds)
    assert outcomes[(True, True)] > 50
