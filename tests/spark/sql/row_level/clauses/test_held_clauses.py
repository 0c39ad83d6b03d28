"""Clauses on rows in memory have Spark's answers, with ANSI SQL and without, or none."""

from __future__ import annotations

from datetime import datetime, timezone
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from support import random_conditions

from tablestore_engine.operation.write_job.write_job import ROW_KIND_COLUMN
from tablestore_engine.schema.table.row_kind import DELETE_KIND
from tablestore_engine.schema.types.arrow import arrow_schema
from tablestore_engine.schema.types.names import ANY_CASE
from tablestore_engine.sql.row_level.clauses.held_clauses import HeldScope, HeldSide, held_changes
from tablestore_engine.sql.row_level.clauses.merge_clauses import ClauseScope
from tablestore_engine.sql.tokens.lexer import WORD, tokenize

pytestmark = pytest.mark.spark

ROWS, STATEMENTS = 30, 500
ASSIGNED = [name for name in random_conditions.COLUMNS if name != "id"]
TYPES = {"c": "STRING", "clock": "TIMESTAMP_LTZ"} | {
    name: kind for name, kind in random_conditions.COLUMNS.items() if name not in ("c", "clock")
}


def qualified(sql, random):
    """An expression with each of its columns taken from the target or the source."""
    tokens, out, end = tokenize(sql), "", 0
    for at, token in enumerate(tokens[:-1]):
        if token.kind == WORD and token.text in random_conditions.COLUMNS and tokens[at + 1].key != "(":
            out += f"{sql[end : token.start]}{random.choice(('tgt', 'src'))}."
            end = token.start
    return out + sql[end:]


def statement_of(generate, random):
    """Clauses: of each the condition, the values of some columns, and whether it removes rows."""
    clauses = []
    for _ in range(random.choice((1, 2, 3))):
        condition = None if random.random() < 0.2 else qualified(generate.one(2), random)
        names = random.sample(ASSIGNED, random.choice((1, 1, 2)))
        given = {name: qualified(generate.value(name), random) for name in names}
        clauses.append((condition, given, random.random() < 0.2))
    return clauses


def random_rows(store, name, random):
    table = store.create_table(name, random_conditions.COLUMNS)
    kinds = arrow_schema(table.schema.fields)
    columns = zip(*random_conditions.rows(ROWS, random), strict=True)
    rows = pa.table([pa.array(one, kind.type) for one, kind in zip(columns, kinds, strict=True)], schema=kinds)
    table.write(rows)
    return HeldSide(name, table.schema.fields, rows)


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_random_clauses_change_rows_as_spark_does(store, ansi):
    before = store.spark.conf.get("spark.sql.ansi.enabled")
    store.spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        random = Random(f"clauses {ansi}")
        target, source = random_rows(store, "tgt", random), random_rows(store, "src", random)
        generate, asked, answers = random_conditions.Conditions(random), [], []
        for _ in range(STATEMENTS):
            statement = statement_of(generate, random)
            found = changes_of(statement, target, source)
            if found is not None:
                asked.append(spark_answer(statement))
                answers.append((statement, found))
        assert len(asked) > STATEMENTS // 10, "most statements are left to Spark"
        items = ", ".join(f"{one} AS c{number}" for number, one in enumerate(asked))
        rows = store.sql(f"SELECT {items} FROM tgt JOIN src ON tgt.id = src.id ORDER BY tgt.id").toArrow()
    finally:
        store.spark.conf.set("spark.sql.ansi.enabled", before)
    changed = 0
    for number, (statement, found) in enumerate(answers):
        given = {row.pop("id"): row for row in rows.column(number).to_pylist() if row is not None}
        names = names_of(statement)
        mine = {
            row["id"]: {"removed": row[ROW_KIND_COLUMN] == DELETE_KIND} | {name: row[name] for name in names}
            for row in found.to_pylist()
        }
        changed += len(mine)
        assert shown(mine) == shown(given), statement
    assert changed > 10 * len(answers), "hardly any row is changed"


def changes_of(statement, target, source):
    """The rows that Arrow changes."""
    own = {one.name: f"tgt.{one.name}" for one in target.fields}
    conditions, values = [one for one, _, _ in statement], [own | given for _, given, _ in statement]
    at = np.arange(ROWS)
    scope = ClauseScope("true", 0, tuple(conditions), tuple(values))
    held = HeldScope(scope, ((target, at), (source, at)), tuple(removes for _, _, removes in statement))
    return held_changes([held], target.fields, ANY_CASE)


def names_of(statement):
    return list(dict.fromkeys(name for _, given, _ in statement for name in given))


def shown(rows):
    """Rows as text, in which NaN is equal to itself and 0.0 is not -0.0."""
    return {
        key: {
            name: repr(one.astimezone(timezone.utc) if isinstance(one, datetime) and one.tzinfo else one)
            for name, one in row.items()
        }
        for key, row in rows.items()
    }


def spark_answer(statement):
    """SQL of a row's new values, null where no clause applies."""
    names = names_of(statement)
    cases = []
    for condition, given, removes in statement:
        new = {} if removes else given
        values = [f"CAST({new.get(name, f'tgt.{name}')} AS {TYPES[name]})" for name in names]
        # Arrow takes no null struct whose fields are never null.
        fields = dict(zip(("removed", *names), (f"{removes}", *values), strict=True))
        items = ", ".join(f"CASE WHEN tgt.id >= 0 THEN {value} END AS {name}" for name, value in fields.items())
        struct = f"struct(tgt.id AS id, {items})"
        cases.append(f"WHEN {'true' if condition is None else condition} THEN {struct}")
    return f"CASE {' '.join(cases)} END"
