"""The identities of a command's writes: `dbt retry` sends those of the command that failed.

The *origin* of a command is the command whose writes it may send again: the one that `dbt retry` retries, or the first
of a chain of retries; any other command is its own. A write is known by its origin, its node (and batch) and its text,
so a model that was changed since is written anew. The text of a Python model's write is without the number of its view,
and with its code. That of an incremental model is its code: the command may have made the table, to which a retry
would add the same rows. So is a table that is made anew from others, which may have changed.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
from dbt_common.invocation import get_invocation_id

from dbt.adapters.tablestore.models.python_models import VIEW
from tablestore_engine.errors import SqlError
from tablestore_engine.operation.commit.commit_identity import CommitIdentity
from tablestore_engine.options import CommitOptions
from tablestore_engine.sql.tokens.split_statements import split
from tablestore_engine.sql.written_tables import makes_anew, written_tables

RUN_RESULTS = "run_results.json"
_NUMBERED_VIEW = re.compile(rf"{VIEW}\d+")
ORIGIN = "tablestore_retry.json"  # after a retry: its own id, and its origin

_numbers = itertools.count(1)


def new_user(options: Mapping[str, str]) -> str:
    """A committing user that names the dbt command, so a command that is run again writes again."""
    prefix = options.get(CommitOptions.commit_user_prefix.key)
    user = f"dbt-{get_invocation_id()}-{next(_numbers)}"
    return f"{prefix}_{user}" if prefix else user


class CommitIdentities:
    """The identities of the writes of one command."""

    def __init__(self, origin: str | None) -> None:
        """`origin`: the command whose writes this one may send again, if it is another one."""
        self._origin = origin
        self._numbers: defaultdict[str, Iterator[int]] = defaultdict(itertools.count)

    def identity(self, model: Mapping[str, Any], sql: str, prefix: str | None) -> CommitIdentity:
        """The identity of the next write of a node; `prefix` begins the name of the user."""
        batch = (model.get("batch") or {}).get("id", "")
        write = hashlib.sha256(f"{model['unique_id']}\n{batch}\n{_text(model, sql)}".encode()).hexdigest()[:16]
        origin = None if self._origin is None or _makes_anew(model, sql) else self._origin
        user = f"dbt-{origin or get_invocation_id()}-{write}-{next(self._numbers[write])}"
        identity = CommitIdentity(f"{prefix}_{user}" if prefix else user, 1)
        return identity if origin is None else identity.sent_again()


def _text(model: Mapping[str, Any], sql: str) -> str:
    is_python = model.get("language") == "python"
    code = str((model.get("raw_code") if is_python else model.get("compiled_code")) or "").strip()
    has_rows = _NUMBERED_VIEW.search(sql) is not None if is_python else bool(code) and code in sql
    if has_rows and (model.get("config") or {}).get("materialized") == "incremental":
        return code
    return f"{_NUMBERED_VIEW.sub(VIEW, sql)}\n{code}" if is_python else sql


def _makes_anew(model: Mapping[str, Any], sql: str) -> bool:
    """Whether all that a text writes may be written twice. The tables that a Python model has read are not known."""
    if model.get("language") == "python":
        return False
    try:
        writes = [one for one in split(sql) if written_tables(one)]
        return bool(writes) and all(map(makes_anew, writes))
    except SqlError:
        return False  # reported when it runs


def identities_of_command(config: Any) -> CommitIdentities:
    """Those of the command that runs in the project of a configuration."""
    context = click.get_current_context(silent=True)  # the flags are those of the command that is retried
    if context is None or context.info_name != "retry":
        return CommitIdentities(None)
    root, target = Path(config.project_root), str(config.target_path)
    return CommitIdentities(origin_of_retry(root / str(context.params.get("state") or target), root / target))


def origin_of_retry(state: Path, target: Path) -> str | None:
    """The origin of `dbt retry`, whose earlier command left its results in the folder `state`; None if they name none.

    It is kept in `target` for a retry of this retry.
    """
    retried = (_json_in(state / RUN_RESULTS).get("metadata") or {}).get("invocation_id")
    known = _json_in(state / ORIGIN)
    origin = known.get("origin") if retried and known.get("command") == retried else retried
    if origin is not None:
        target.mkdir(parents=True, exist_ok=True)
        (target / ORIGIN).write_text(json.dumps({"command": get_invocation_id(), "origin": origin}), encoding="utf-8")
    return None if origin is None else str(origin)


def _json_in(file: Path) -> dict[str, Any]:
    """The object in a file; empty where dbt itself will say what is wrong with it."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
