"""The patterns of SHOW … LIKE: `*` is any text, `|` separates alternatives, the case of letters does not matter."""

from __future__ import annotations

import re
from collections.abc import Iterable


def matching(names: Iterable[str], pattern: str | None) -> list[str]:
    """The names that match a pattern, in alphabetical order; all of them if there is no pattern."""
    if pattern is None:
        return sorted(names)
    alternatives = [".*".join(map(re.escape, one.strip().split("*"))) for one in pattern.split("|")]
    wanted = re.compile("|".join(alternatives), re.IGNORECASE | re.DOTALL)
    return sorted(name for name in names if wanted.fullmatch(name))
