"""Rows of answers as tuples; and those of table `t` as Spark and as Arrow read them, comparable as sorted texts."""

from __future__ import annotations

from datetime import datetime

from pyspark.sql import Row


def answers(store, statement):
    """The rows of a statement, in the order in which they come."""
    return [tuple(row) for row in store.sql(statement).collect()]


def rows(store, query="SELECT * FROM t"):
    """The rows of a query, sorted."""
    return in_order(answers(store, query))


def stored(store, name="t"):
    """The rows of a table as Arrow reads them, sorted: what a statement has written, without a query of Spark."""
    return in_order(tuple(row.values()) for row in store.table(name).to_arrow().to_pylist())


def ids_of(store, query):
    """The first values of a query's rows, sorted."""
    return sorted(row[0] for row in store.sql(query).collect())


def plan_of(store, query, capsys):
    """Spark's plan of a query, as text."""
    store.sql(query).explain()
    return capsys.readouterr().out


def in_order(found):
    """Rows sorted by their values; in each column, nulls come last."""
    return sorted(found, key=lambda row: [(value is None, _sortable(value)) for value in row])


def _sortable(value):
    return repr(value) if isinstance(value, (dict, list, tuple)) else value


def normal(value):
    """NaN equals itself, a map or a row is its items, and times are in UTC."""
    if isinstance(value, dict):
        return [(key, normal(one)) for key, one in sorted(value.items())]
    if isinstance(value, list):
        return [normal(one) for one in value]
    if isinstance(value, datetime):
        return value.replace(tzinfo=None)
    if isinstance(value, Row):
        return normal(value.asDict())
    return "NaN" if isinstance(value, float) and value != value else value  # noqa: PLR0124


def by_spark(store):
    return sorted(str([normal(v) for v in row]) for row in store.sql("SELECT * FROM t").collect())


def by_arrow(store):
    rows = store.table("t").to_arrow().to_pylist()
    maps = [f.name for f in store.table("t").schema.fields if str(f.type).startswith("MAP")]
    for row in rows:
        row.update({name: dict(row[name]) for name in maps if row[name] is not None})
    return sorted(str([normal(v) for v in row.values()]) for row in rows)
