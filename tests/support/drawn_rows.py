"""Queries of random rows for tables of many columns."""

from __future__ import annotations


def drawn_rows(rng, leading, texts):
    """A query: each row begins with its `leading` values, and each text makes one more of a random number.

    A text names its number, from 0 to 99, as `{r}`; a quarter of these values is null. The leading columns are called
    c0, c1, and so on. All numbers are one table of constants: a union of single rows would be a task for each.
    """
    given = [f"c{i}" for i in range(len(leading[0]))]
    names = [f"r{i}" for i in range(len(texts))]
    rows = [
        [*first, *("int(NULL)" if rng.random() < 0.25 else str(rng.randrange(100)) for _ in texts)] for first in leading
    ]
    values = [f"if({n} IS NULL, NULL, {text.replace('{r}', n)})" for n, text in zip(names, texts, strict=True)]
    constants = ", ".join(f"({', '.join(map(str, row))})" for row in rows)
    return f"SELECT {', '.join([*given, *values])} FROM VALUES {constants} AS x({', '.join([*given, *names])})"
