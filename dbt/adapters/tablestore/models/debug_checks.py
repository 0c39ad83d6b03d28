"""The checks of `dbt debug`: what every run needs."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING

from dbt_common.exceptions import DbtRuntimeError

if TYPE_CHECKING:
    from dbt.adapters.tablestore.connection.credentials import TableStoreCredentials


def check_environment(credentials: TableStoreCredentials) -> None:
    """Raise an error that says what to do, unless the warehouse can be written and Java is found where it is needed."""
    check_warehouse(credentials.warehouse)
    if not credentials.remote:
        from tablestore_engine.spark.session.java import find_java

        find_java(os.environ, None)


def check_warehouse(path: str) -> None:
    """Raise unless a folder can be created in the warehouse or, if that does not exist, in its nearest existing parent.

    The check creates one, because permissions do not show this: an administrator may write every folder, but a
    file system may still be read-only.
    """
    existing = path
    while not os.path.lexists(existing):
        existing = os.path.dirname(existing)
    if not os.path.isdir(existing):
        where = "is not a folder" if existing == path else f"cannot be made: {existing} is not a folder"
        raise DbtRuntimeError(f"The warehouse {path} {where}.")
    try:
        os.rmdir(tempfile.mkdtemp(prefix=".dbt-debug-", dir=existing))
    except OSError as error:
        if isinstance(error, PermissionError):
            reason = f"this user has no write permission on {existing}"
        else:
            reason = f"{existing} says '{error.strerror}'"
        raise DbtRuntimeError(f"The warehouse {path} cannot be written to: {reason}.") from None
