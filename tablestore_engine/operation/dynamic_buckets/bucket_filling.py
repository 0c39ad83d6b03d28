"""Which buckets new keys are assigned to in a table with dynamic buckets. Pure.

Rules, for one partition: a bucket takes keys until it has `target_rows`; existing buckets are filled first, in
the order of their numbers; then new ones are opened, with the smallest free numbers. The first `initial` buckets are
opened together and share their first keys evenly. If there are `most` buckets and all are full, they share the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from tablestore_engine.errors import OptionError

MOST_BUCKETS = 32_767  # other writers number dynamic buckets by 16 bits


@dataclass(frozen=True)
class FillRule:
    """How many rows a bucket shall have, and how many buckets a partition; `most` is None if there is no limit."""

    target_rows: int
    initial: int = 1
    most: int | None = None


def shares(rows: Mapping[int, int], new: int, rule: FillRule) -> list[tuple[int, int]]:
    """How many of `new` keys each bucket takes: (bucket, number) by bucket, numbers from 1 on.

    Args:
        rows: the buckets of the partition and how many keys each has had.
        new: the number of keys that have no bucket yet.
        rule: the table's.

    Raises:
        OptionError: the format has no numbers for so many buckets.
    """
    given: dict[int, int] = {}
    left = new
    most = MOST_BUCKETS if rule.most is None else min(rule.most, MOST_BUCKETS)
    unused = (number for number in range(most) if number not in rows)
    first = list(islice(unused, max(rule.initial - len(rows), 0)))
    for bucket, part in zip(first, evenly(min(left, len(first) * rule.target_rows), len(first)), strict=True):
        given[bucket] = part
        left -= part
    for bucket in sorted(rows):
        part = min(left, max(rule.target_rows - rows[bucket], 0))
        given[bucket] = part
        left -= part
    free = (number for number in range(most) if number not in given)
    while left and (number := next(free, None)) is not None:
        given[number] = min(left, rule.target_rows)
        left -= given[number]
    if left and rule.most is None:
        raise OptionError(
            f"The partition would need more than {MOST_BUCKETS} buckets.",
            hint="Raise the option 'dynamic-bucket.target-row-num'.",
        )
    for bucket, part in zip(sorted(given), evenly(left, len(given)), strict=True):
        given[bucket] += part
    return [(bucket, part) for bucket, part in sorted(given.items()) if part]


def evenly(number: int, parts: int) -> list[int]:
    """A number as `parts` whole numbers that differ by one at most, the greater ones first."""
    return [number // parts + (i < number % parts) for i in range(parts)] if parts else []
