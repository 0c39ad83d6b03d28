"""What `dbt debug` checks: the few things without which no run can succeed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from dbt_common.exceptions import DbtRuntimeError

if TYPE_CHECKING:
    from dbt.adapters.tablestore.credentials import TableStoreCredentials


def check_environment(credentials: TableStoreCredentials) -> None:
    """Raise an error that says what to do, unless models can be built with this profile."""
    check_warehouse(credentials.warehouse)
    if not credentials.remote:
        from tablestore_engine.spark.java import find_java

        find_java(os.environ, None)


def check_warehouse(path: str) -> None:
    """Raise unless the folder, or the nearest one above it that exists, can be written to."""
    if os.path.exists(path) and not os.path.isdir(path):
        raise DbtRuntimeError(f"The warehouse {path} is not a folder.")
    existing = path
    while not os.path.exists(existing):
        existing = os.path.dirname(existing)
    if not os.access(existing, os.W_OK | os.X_OK):
        raise DbtRuntimeError(
            f"The warehouse {path} cannot be written to: this user has no write permission on {existing}."
        )
