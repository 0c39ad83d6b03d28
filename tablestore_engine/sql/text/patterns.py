"""The patterns of SHOW … LIKE: `*` is any text, `|` separates alternatives, letters match without regard to case."""

from __future__ import annotations

import re
from collections.abc import Iterable


def matching(names: Iterable[str], pattern: str | None) -> list[str]:
    """The names that a pattern takes, in alphabetical order; all of them without one."""
    if pattern is None:
        return sorted(names)
    alternatives = [".*".join(map(re.escape, one.strip().split("*"))) for one in pattern.split("|")]
    wanted = re.compile("|".join(alternatives), re.IGNORECASE | re.DOTALL)
    return sorted(name for name in names if wanted.fullmatch(name))
