"""The dialect of a node: its config `dialect`, or else the variable `dialect` of its project, or that of the profile.

Generic tests, which packages write for Spark, have only a dialect of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dbt.adapters.tablestore.dialect.refusal import checked_dialect


def dialect_of(node: Any, variables: Mapping[str, Any], profile: str | None) -> str | None:
    """The dialect of a node, an object or a mapping; None where its text is Spark's. Raises DbtRuntimeError."""
    own = _get(_get(node, "config") or {}, "dialect")
    if own is not None:
        return checked_dialect(own)
    if _get(node, "test_metadata") is not None:
        return None
    return checked_dialect(variables.get("dialect", profile))


def _get(holder: Any, key: str) -> Any:
    return holder.get(key) if hasattr(holder, "get") else getattr(holder, key, None)
