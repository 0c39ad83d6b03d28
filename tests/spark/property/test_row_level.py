"""Random MERGE, UPDATE and DELETE statements against Spark's answer by joins, on tables whose rows are looked up.

One query of Spark over plain rows computes the changes of a statement, and a dictionary takes them.
"""

from __future__ import annotations

import random
from decimal import Decimal

import pytest
from support.histories import EXAMPLES
from support.invariants import check_invariants

from tablestore_engine.errors import TableStoreError
from tablestore_engine.spark.read import merge_source_bounds
from tablestore_engine.sql.row_level.row_level_target import RowLevelTarget

pytestmark = pytest.mark.spark

STATEMENTS = max(10, EXAMPLES // 10)
SHAPE = "p STRING, id INT, name STRING, v INT, w DECIMAL(9, 2)"
NAMES = ["p", "id", "name", "v", "w"]
KEYS = {"whole": "t.p = s.p AND t.id = s.id AND t.name = s.name", "prefix": "t.id = s.id AND s.name = t.name"}
ON = [
    KEYS["whole"],
    f"{KEYS['whole']} AND t.v < 3",
    f"{KEYS['whole']} AND s.v IS NOT NULL",
    KEYS["prefix"],
    "t.id = s.id",
    "t.v = s.v AND t.name = s.name",
    "t.w = s.w AND t.p = 'a'",
]
MATCHED = [
    "",
    " AND s.v > 2",
    " AND t.v IS NULL",
    " AND t.v > s.v",
    " AND t.w < s.w",
    " AND s.id % 2 = 0",
    " AND (t.v IN (1, s.v) OR NOT s.w BETWEEN 1 AND t.w)",
    " AND abs(t.v - s.v) < 3",
]
UNMATCHED = [
    "length(t.name) + t.v > 4",
    "t.p = 'a' AND t.v > 2",
    "t.id < 4",
    "t.v IS NULL AND t.w > 1",
    "t.name = 'x' AND t.p = 'b'",
]
WHERE = [
    "id IN (SELECT id FROM s)",
    "(p, id, name) IN (SELECT p, id, name FROM s WHERE v > 1)",
    "t.name IN (SELECT name FROM s) AND v > 2",
    "v IN (SELECT v FROM s)",
    "id IN (1, 2, 99) AND name = 'x' AND p IN ('a', 'b')",
    "p = 'a' AND id = 3 AND name = 'y'",
    "EXISTS (SELECT 1 FROM s WHERE s.id = t.id AND s.v > t.v)",
    "v > 3 OR w < 2",
    "id NOT IN (SELECT id FROM s WHERE id IS NOT NULL)",
    "v = (SELECT max(v) FROM s)",
]


def some_rows(chance, count, nulls):
    def value(make):
        return None if chance.random() < nulls else make()

    return [
        (
            value(lambda: chance.choice("ab")),
            value(lambda: chance.randrange(8)),
            value(lambda: chance.choice("xyz")),
            None if chance.random() < 0.2 else chance.randrange(6),
            None if chance.random() < 0.2 else chance.randrange(400) / 100,
        )
        for _ in range(count)
    ]


def sql_rows(rows):
    shown = [
        ", ".join("NULL" if v is None else str(v) if isinstance(v, Decimal) else repr(v) for v in row) for row in rows
    ]
    kinds = [one.split(" ", 1)[1] for one in SHAPE.replace(", 2", ";2").split(", ")]
    casts = ", ".join(f"CAST({n} AS {kind.replace(';', ', ')}) AS {n}" for n, kind in zip(NAMES, kinds, strict=True))
    return f"SELECT {casts} FROM VALUES {', '.join(f'({one})' for one in shown)} AS x({', '.join(NAMES)})"


class Plain:
    """The rows that the table should have, by key: the first columns from `begin` on."""

    def __init__(self, store, begin):
        self.store, self.begin, self.rows = store, begin, {}

    def key(self, row):
        return tuple(row)[self.begin : 3]

    def changes(self, sql):
        """Rows of `sql`: whether one is put, the values of the columns. None when one key is changed twice."""
        view = sql_rows(self.rows.values()) if self.rows else f"{sql_rows([(None,) * 5])} WHERE id > 0"
        self.store.spark.sql(view).createOrReplaceTempView("t")
        found = [(one[0], tuple(one)[1:]) for one in self.store.spark.sql(sql).collect()]
        keys = [self.key(row) for _, row in found]
        return found if len(set(keys)) == len(keys) else None

    def apply(self, changes):
        for put, row in changes:
            self.rows.pop(self.key(row), None)
            if put:
                self.rows[self.key(row)] = row


def merge_of(chance):
    """A random MERGE after `MERGE INTO t USING s ON`, and the query of its changes."""
    on = chance.choice(ON)
    cases, clauses = [], []
    for condition in chance.sample(MATCHED, 2):
        if chance.random() < 0.4:
            clauses.append(f"WHEN MATCHED{condition} THEN DELETE")
            cases.append((f"in_t AND in_s{condition}", False, [f"t.{n}" for n in NAMES]))
        else:
            clauses.append(f"WHEN MATCHED{condition} THEN UPDATE SET v = s.v, w = t.w + 1")
            cases.append((f"in_t AND in_s{condition}", True, ["t.p", "t.id", "t.name", "s.v", "t.w + 1"]))
        if not condition:
            break
    if chance.random() < 0.6:
        condition = "s.p IS NOT NULL AND s.id IS NOT NULL AND s.name IS NOT NULL" + chance.choice(["", " AND s.v > 1"])
        clauses.append(f"WHEN NOT MATCHED AND {condition} THEN INSERT (p, id, name, v) VALUES (s.p, s.id, s.name, s.v)")
        cases.append((f"in_t IS NULL AND {condition}", True, ["s.p", "s.id", "s.name", "s.v", "NULL"]))
    if chance.random() < 0.4:
        condition = chance.choice(UNMATCHED)
        puts = chance.random() < 0.5
        clauses.append(f"WHEN NOT MATCHED BY SOURCE AND {condition} THEN {'UPDATE SET v = -1' if puts else 'DELETE'}")
        values = ["t.p", "t.id", "t.name", "-1" if puts else "t.v", "t.w"]
        cases.append((f"in_s IS NULL AND {condition}", puts, values))
    whens = " ".join(f"WHEN {c} THEN {i}" for i, (c, _, _) in enumerate(cases))
    picked = [
        f"CASE act {' '.join(f'WHEN {i} THEN {values[column]}' for i, (_, _, values) in enumerate(cases))} END"
        for column in range(len(NAMES))
    ]
    kinds = " ".join(f"WHEN {i} THEN {str(puts).lower()}" for i, (_, puts, _) in enumerate(cases))
    join = f"(SELECT *, true AS in_t FROM t) t FULL OUTER JOIN (SELECT *, true AS in_s FROM s) s ON {on}"
    inner = f"SELECT struct(t.*) AS t, struct(s.*) AS s, CASE {whens} END AS act FROM {join}"
    query = f"SELECT CASE act {kinds} END, {', '.join(picked)} FROM ({inner}) WHERE act IS NOT NULL"
    return f"{on} {' '.join(clauses)}", query


def statement_of(chance):
    kind = chance.choice(["merge", "merge", "update", "delete"])
    if kind == "merge":
        text, query = merge_of(chance)
        return f"MERGE INTO d.t AS t USING s ON {text}", query
    where = chance.choice(WHERE)
    if kind == "update":
        return f"UPDATE d.t AS t SET v = v + 1, w = 0 WHERE {where}", (
            f"SELECT true, p, id, name, v + 1, CAST(0 AS DECIMAL(9, 2)) FROM t WHERE {where}"
        )
    return f"DELETE FROM d.t AS t WHERE {where}", f"SELECT false, * FROM t WHERE {where}"


def _may_repeat(statement):
    """Whether a MERGE may insert a row with a key that the table has: without a primary key both stay."""
    return "WHEN NOT MATCHED AND" in statement and f"ON {KEYS['whole']} WHEN" not in statement


TABLES = {
    "key with the partition": (", PRIMARY KEY (p, id, name) NOT ENFORCED", "'bucket' = '2'", 7),
    "key across partitions": (", PRIMARY KEY (id, name) NOT ENFORCED", "'bucket' = '-1'", 7),
    # Three of the first ten statements change rows that the source has not, in files that its bounds skip.
    "deletion vectors": ("", "'deletion-vectors.enabled' = 'true'", 1480),
}


@pytest.mark.parametrize("kind", TABLES)
def test_statements(store, monkeypatch, kind):
    monkeypatch.setattr(merge_source_bounds, "LARGE_FILES", 0)
    key, options, seed = TABLES[kind]
    chance = random.Random(seed)
    store.execute("CREATE DATABASE d")
    store.execute(f"CREATE TABLE d.t ({SHAPE}{key}) PARTITIONED BY (p) WITH ({options})")
    crosses, keyless = kind == "key across partitions", kind == "deletion vectors"
    plain, refused, held = Plain(store, int(crosses)), 0, []
    write_held = RowLevelTarget.write_held
    monkeypatch.setattr(RowLevelTarget, "write_held", lambda *args: held.append(args) or write_held(*args))
    for number in range(STATEMENTS):
        if number % 8 == 0:
            some = [(None if crosses and chance.random() < 0.3 else p, *row) for p, *row in some_rows(chance, 60, 0)]
            rows = {plain.key(row): row for row in some if not (keyless and plain.key(row) in plain.rows)}
            store.execute(f"INSERT INTO d.t {sql_rows(rows.values())}")
            plain.rows |= rows
        store.spark.sql(sql_rows(some_rows(chance, chance.choice([3, 20]), 0.1))).createOrReplaceTempView("s")
        statement, query = statement_of(chance)
        changes = plain.changes(query)
        if keyless and (changes is None or _may_repeat(statement)):
            continue
        if changes is None:
            refused += 1
            with pytest.raises(TableStoreError):
                store.execute(statement)
        else:
            assert store.execute(statement).rows_affected == len(changes), statement
            plain.apply(changes)
        found = {plain.key(one): tuple(one) for one in store.sql("SELECT * FROM d.t").collect()}
        expected = {key: (*row[:4], row[4] if row[4] is None else float(row[4])) for key, row in plain.rows.items()}
        shown = {key: (*row[:4], row[4] if row[4] is None else float(row[4])) for key, row in found.items()}
        assert shown == expected, statement
    assert refused < STATEMENTS
    # In the other tables Spark computes the changed rows.
    assert bool(held) == (kind == "key with the partition")
    check_invariants(store.table("d.t"))
