"""Formats of messages that hold a change: where the rows are, and what the words for kinds of changes mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

INSERT, BEFORE, AFTER, DELETE = range(4)
SKIP, REMOVAL, UNKNOWN = -1, -2, -3
"""Kinds without rows: a message of something else, one that says that rows were removed which it does not name, and
one of which nothing is known."""
Kinds = npt.NDArray[np.int8]


@dataclass(frozen=True)
class MessageFormat:
    """Where an envelope has the rows after and before, and the kind of change; what its words mean."""

    after: str
    before: str
    kind: str
    words: Mapping[str, int]
    in_list: bool = False
    whole_before: bool = True

    def kinds_of(self, words: pa.Array) -> Kinds:
        """The meanings of words; null is none of them."""
        codes = pc.fill_null(pc.index_in(words, pa.array(list(self.words))), -1).to_numpy(zero_copy_only=False)
        meanings = np.array([*self.words.values(), UNKNOWN], np.int8)
        kinds: Kinds = meanings[codes]  # -1 is the last one
        return kinds

    def why(self, kind: int, word: str | None) -> str:
        """Why a message of a kind, which its word says, is of no use."""
        if kind == REMOVAL:
            return f"'{word}' removes rows that the message does not name"
        if kind == UNKNOWN:
            known = ", ".join(one for one, meaning in self.words.items() if meaning >= 0)
            return f"there is no '{self.kind}'" if word is None else f"'{self.kind}' is '{word}', and none of {known}"
        if kind == DELETE:
            return f"a delete has no row in '{self.before if self.whole_before else self.after}'"
        if kind == AFTER:
            what = "the whole row" if self.whole_before else "the values before"
            return f"an update lacks its row in '{self.after}', or {what} in '{self.before}'"
        return f"there is no row in '{self.after}'"


def _all(kind: int, words: str) -> dict[str, int]:
    return dict.fromkeys(words.split(), kind)


ENVELOPES = {
    "debezium-json": MessageFormat(
        "after", "before", "op", {"c": INSERT, "r": INSERT, "u": AFTER, "d": DELETE, "m": SKIP, "t": REMOVAL}
    ),
    "ogg-json": MessageFormat("after", "before", "op_type", {"I": INSERT, "U": AFTER, "D": DELETE, "T": REMOVAL}),
    "canal-json": MessageFormat(
        "data",
        "old",
        "type",
        {
            "INSERT": INSERT,
            "UPDATE": AFTER,
            "DELETE": DELETE,
            **_all(SKIP, "CREATE ALTER RENAME CINDEX DINDEX QUERY GTID MHEARTBEAT XACOMMIT XAROLLBACK TIDB_WATERMARK"),
            **_all(REMOVAL, "TRUNCATE ERASE"),
        },
        in_list=True,
        whole_before=False,
    ),
    "maxwell-json": MessageFormat(
        "data",
        "old",
        "type",
        {
            "insert": INSERT,
            "bootstrap-insert": INSERT,
            "update": AFTER,
            "delete": DELETE,
            **_all(SKIP, "bootstrap-start bootstrap-complete heartbeat"),
            **_all(SKIP, "table-create table-alter database-create database-alter"),
            **_all(REMOVAL, "table-truncate table-drop database-drop"),
        },
        whole_before=False,
    ),
}
"""Of canal and maxwell with the words of statements on tables. ERASE is canal's for DROP TABLE."""
