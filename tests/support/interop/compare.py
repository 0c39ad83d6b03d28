"""Comparing rows exactly, as multisets, whatever Arrow types a reader chose for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

import pyarrow as pa


def canonical(value: Any) -> Any:
    """A value whose repr differs from every other: times in UTC, map entries in order, floats by their bits."""
    if isinstance(value, datetime):
        moment = value if value.tzinfo is None else value.astimezone(timezone.utc)
        return ("time", moment.replace(tzinfo=None).isoformat(), value.tzinfo is not None)
    if isinstance(value, Mapping):
        return {k: canonical(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [canonical(v) for v in value]
    if isinstance(value, float):
        return ("float", value.hex())
    return value


def multiset(rows: pa.Table | Sequence[Mapping[str, Any]]) -> Counter[str]:
    """Rows as a multiset of texts, with columns by name."""
    maps: dict[str, bool] = {}
    if isinstance(rows, pa.Table):
        maps = {f.name: pa.types.is_map(f.type) for f in rows.schema}
        rows = rows.to_pylist()
    return Counter(
        repr(
            {n: canonical(sorted(v, key=repr) if maps.get(n) and v is not None else v) for n, v in sorted(row.items())}
        )
        for row in rows
    )


def assert_same(found: pa.Table, expected: pa.Table, who: str) -> None:
    """Fail with the rows that only one of both has."""
    assert set(found.column_names) == set(expected.column_names), who
    one, other = multiset(found), multiset(expected)
    if one != other:
        extra, missing = list((one - other).elements()), list((other - one).elements())
        shown = "\n".join([*(f"+ {r}" for r in sorted(extra)[:5]), *(f"- {r}" for r in sorted(missing)[:5])])
        raise AssertionError(f"{who}: {len(extra)} rows too many, {len(missing)} missing\n{shown}")
