"""Who commits: the user and identifier by which a commit that was made already is known again."""

from __future__ import annotations

import itertools
import os
import uuid
from dataclasses import dataclass

from tablestore_engine.options import CoreOptions

_PROCESS = uuid.uuid4().hex
_identifiers = itertools.count(1)


@dataclass(frozen=True)
class CommitIdentity:
    """Who commits and which of its commits this is; the same pair is never committed twice."""

    user: str
    identifier: int
    check_duplicate: bool = False


def new_identity(options: CoreOptions, work: str = "tablestore") -> CommitIdentity:
    """An identity that no other commit has. `work` becomes part of the snapshot's commit user."""
    user = f"{work}-{_PROCESS}-{os.getpid()}"
    prefix = options.commit_user_prefix
    return CommitIdentity(f"{prefix}_{user}" if prefix else user, next(_identifiers))
