"""How deeply a JSON text is nested. Parsers go down by recursion, and Arrow's dies of a record that is nested too deep,
so such a record is found before they see it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

DEEPEST = 200
"""As many lists and objects a message may have inside of each other."""
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_STEPS = np.zeros(256, np.int8)
_STEPS[[ord("["), ord("{")]], _STEPS[[ord("]"), ord("}")]] = 1, -1


def too_deep(texts: Sequence[bytes]) -> npt.NDArray[np.int64]:
    """The positions of the texts that are nested more deeply than a message may be."""
    if max(map(len, texts), default=0) <= DEEPEST:
        return np.zeros(0, np.int64)
    long = [at for at, text in enumerate(texts) if len(text) > DEEPEST]
    suspects = [at for at in long if texts[at].count(b"[") + texts[at].count(b"{") > DEEPEST]
    return np.array([at for at in suspects if _depth(texts[at]) > DEEPEST], np.int64)


def _depth(text: bytes) -> int:
    """The number of lists and objects that are open at once, at most; brackets in strings do not count."""
    steps = _STEPS[np.frombuffer(_STRING.sub(b"", text), np.uint8)]
    return int(np.cumsum(steps, dtype=np.int64).max(initial=0))
