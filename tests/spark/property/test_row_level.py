"""Random MERGE, UPDATE and DELETE statements against Spark's answer by joins, on tables whose rows are looked up.

One query of Spark over plain rows computes the changes of a statement, and a dictionary takes them. Texts here name the
columns p, id, name, v and w, and the values of `id` by their numbers (`#3`); a `Kind` of table writes the names and
constants that it has. The rows of the dictionary hold `id` as the text that Spark makes of it.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from decimal import Decimal

import pytest
from support.histories import EXAMPLES
from support.invariants import check_invariants

from tablestore_engine.errors import TableStoreError
from tablestore_engine.spark.read import merge_source_bounds
from tablestore_engine.sql.row_level.row_level_target import RowLevelTarget

pytestmark = pytest.mark.spark

NAMES = ["p", "id", "name", "v", "w"]
QUOTED = {"p": "`Part.of it`", "id": "`The ID`", "name": "`a``b.c`", "v": "VALUE", "w": "`Größe, in m`"}
# Eight values of `id` in their order, and a greater one that no row has.
VALUES = {
    "INT": ["0", "1", "2", "3", "4", "5", "6", "7", "99"],
    "DATE": [
        *("0001-01-01", "1582-10-04", "1582-10-10", "1582-10-15", "1969-12-31", "1970-01-01", "2024-02-29"),
        *("9999-12-30", "9999-12-31"),
    ],
    "TIMESTAMP": [
        *("1582-10-10 00:00:00", "1969-12-31 23:59:59.999999", "1970-01-01 00:00:00", "2024-02-29 00:00:00"),
        *("2024-02-29 00:00:00.000001", "2024-02-29 00:00:01", "2024-12-31 12:00:00", "9000-01-01 00:00:00.5"),
        "9000-01-01 00:00:01",
    ],
    "DECIMAL(12, 2)": [
        *("-9999999999.99", "-0.01", "0.00", "0.01", "1.00", "1.10", "12.00", "9999999999.98", "9999999999.99"),
    ],
}
COLUMNS = ", ".join(f"c{i}" for i in range(6))
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
    " AND s.id IN (#0, #2, #4, #6)",
    " AND (t.v IN (1, s.v) OR NOT s.w BETWEEN 1 AND t.w)",
    " AND abs(t.v - s.v) < 3",
]
UNMATCHED = [
    "length(t.name) + t.v > 4",
    "t.p = 'a' AND t.v > 2",
    "t.id < #4",
    "t.v IS NULL AND t.w > 1",
    "t.name = 'x' AND t.p = 'b'",
]
WHERE = [
    "id IN (SELECT id FROM s)",
    "(p, id, name) IN (SELECT p, id, name FROM s WHERE v > 1)",
    "t.name IN (SELECT name FROM s) AND v > 2",
    "v IN (SELECT v FROM s)",
    "id IN (#1, #2, #8) AND name = 'x' AND p IN ('a', 'b')",
    "p = 'a' AND id = #3 AND name = 'y'",
    "EXISTS (SELECT 1 FROM s WHERE s.id = t.id AND s.v > t.v)",
    "v > 3 OR w < 2",
    "id NOT IN (SELECT id FROM s WHERE id IS NOT NULL)",
    "v = (SELECT max(v) FROM s)",
]


@dataclass(frozen=True)
class Kind:
    """A kind of table: the columns of its key, its options, a seed, how many statements it gets, and the type of `id`.

    `held`: whether Arrow computes the changed rows of some statements; in other tables Spark does.
    """

    key: str
    options: str
    seed: int
    statements: int
    of_id: str = "INT"
    quoted: bool = False
    held: bool = False

    @property
    def keeps_values(self):
        """Whether a null leaves the value that a row has."""
        return "partial-update" in self.options

    def text(self, template):
        """A text with the table's names and constants."""
        named = re.sub(r"\b(p|id|name|v|w)\b", lambda one: self.name(one[0]), template)
        return re.sub(r"#(\d)", lambda one: self.constant(VALUES[self.of_id][int(one[1])]), named)

    def name(self, column):
        return QUOTED[column] if self.quoted else column

    def constant(self, value):
        return f"{self.of_id} '{value}'" if self.of_id in ("DATE", "TIMESTAMP") else value

    @property
    def types(self):
        return {"p": "STRING", "id": self.of_id, "name": "STRING", "v": "INT", "w": "DECIMAL(9, 2)"}

    def some_rows(self, chance, count, nulls):
        def value(make):
            return None if chance.random() < nulls else make()

        return [
            (
                value(lambda: chance.choice("ab")),
                value(lambda: VALUES[self.of_id][chance.randrange(8)]),
                value(lambda: chance.choice("xyz")),
                None if chance.random() < 0.2 else chance.randrange(6),
                None if chance.random() < 0.2 else chance.randrange(400) / 100,
            )
            for _ in range(count)
        ]

    def sql_rows(self, rows):
        shown = [
            ", ".join("NULL" if v is None else str(v) if isinstance(v, Decimal) else repr(v) for v in row)
            for row in rows
        ]
        casts = ", ".join(f"CAST({n} AS {kind}) AS {self.name(n)}" for n, kind in self.types.items())
        return f"SELECT {casts} FROM VALUES {', '.join(f'({one})' for one in shown)} AS x({', '.join(NAMES)})"


class Plain:
    """The rows that the table should have, by key: the first columns from `begin` on."""

    def __init__(self, store, kind, begin):
        self.store, self.kind, self.begin, self.rows = store, kind, begin, {}

    def key(self, row):
        return tuple(row)[self.begin : 3]

    def changes(self, sql):
        """Rows of `sql`: whether one is put, the values of the columns. None when one key is changed twice."""
        rows_of = self.kind.sql_rows
        view = rows_of(self.rows.values()) if self.rows else f"{rows_of([(None,) * 5])} WHERE 1 > 2"
        self.store.spark.sql(view).createOrReplaceTempView("t")
        found = self.store.spark.sql(f"SELECT c0, c1, CAST(c2 AS STRING), c3, c4, c5 FROM ({sql}) AS x({COLUMNS})")
        changes = [(one[0], tuple(one)[1:]) for one in found.collect()]
        keys = [self.key(row) for _, row in changes]
        return changes if len(set(keys)) == len(keys) else None

    def apply(self, changes):
        for put, row in changes:
            old = self.rows.pop(self.key(row), None)
            if old is not None and self.kind.keeps_values:
                merged = tuple(had if one is None else one for had, one in zip(old, row, strict=True))
            else:
                merged = row
            if put:
                self.rows[self.key(row)] = merged

    def differs(self):
        """What the rows of the table should be and are, where these differ."""
        names = [self.kind.name(one) for one in NAMES]
        names[1] = f"CAST({names[1]} AS STRING)"
        found = [tuple(one) for one in self.store.sql(f"SELECT {', '.join(names)} FROM d.t").collect()]
        pairs = [sorted(map(_shown, rows), key=repr) for rows in (self.rows.values(), found)]
        return None if pairs[0] == pairs[1] else pairs


def _shown(row):
    return (*row[:4], None if row[4] is None else float(row[4]))


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


KINDS = {
    "date key": Kind("p, id, name", "'bucket' = '2'", 7, 6, of_id="DATE", held=True),
    "key across partitions": Kind("id, name", "'bucket' = '-1'", 7, 6),
    # Three of the first ten statements change rows that the source has not, in files that its bounds skip.
    "deletion vectors": Kind("", "'deletion-vectors.enabled' = 'true'", 1480, 10),
    "timestamp key, quoted names": Kind("name, p, id", "'bucket' = '2'", 3, 5, "TIMESTAMP", quoted=True, held=True),
    "decimal key, partial update": Kind(
        "p, id, name",
        "'merge-engine' = 'partial-update', 'partial-update.remove-record-on-delete' = 'true', 'bucket' = '1'",
        *(3, 5, "DECIMAL(12, 2)"),
        held=True,
    ),
}


@pytest.mark.parametrize("name", KINDS)
def test_statements(store, monkeypatch, name):
    monkeypatch.setattr(merge_source_bounds, "LARGE_FILES", 0)
    kind = KINDS[name]
    chance = random.Random(kind.seed)
    columns = ", ".join(f"{kind.name(one)} {of}" for one, of in kind.types.items())
    key = kind.text(f", PRIMARY KEY ({kind.key}) NOT ENFORCED") if kind.key else ""
    store.execute("CREATE DATABASE d")
    store.execute(f"CREATE TABLE d.t ({columns}{key}) PARTITIONED BY ({kind.name('p')}) WITH ({kind.options})")
    crosses, keyless = bool(kind.key) and "p" not in kind.key.split(", "), not kind.key
    plain, refused, held = Plain(store, kind, int(crosses)), 0, []
    write_held = RowLevelTarget.write_held
    monkeypatch.setattr(RowLevelTarget, "write_held", lambda *args: held.append(args) or write_held(*args))
    statements = max(kind.statements, EXAMPLES // 10)
    for number in range(statements):
        if number % 8 == 0:
            some = kind.some_rows(chance, 60, 0)
            some = [(None if crosses and chance.random() < 0.3 else p, *row) for p, *row in some]
            rows = {plain.key(row): row for row in some if not (keyless and plain.key(row) in plain.rows)}
            store.execute(f"INSERT INTO d.t {kind.sql_rows(rows.values())}")
            plain.apply([(True, row) for row in rows.values()])
        source = kind.sql_rows(kind.some_rows(chance, chance.choice([3, 20]), 0.1))
        store.spark.sql(source).createOrReplaceTempView("s")
        statement, query = statement_of(chance)
        changes = plain.changes(kind.text(query))
        if keyless and (changes is None or _may_repeat(statement)):
            continue
        statement = kind.text(statement)
        if changes is None:
            refused += 1
            with pytest.raises(TableStoreError):
                store.execute(statement)
        else:
            assert store.execute(statement).rows_affected == len(changes), statement
            plain.apply(changes)
        assert plain.differs() is None, statement
    assert refused < statements
    assert bool(held) == kind.held
    check_invariants(store.table("d.t"))
