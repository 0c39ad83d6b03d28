"""Where a command works: the options that name warehouse, schema and session, and what they mean."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from tablestore_engine.errors import NotFoundError

if TYPE_CHECKING:
    from tablestore_engine.catalog import Catalog
    from tablestore_engine.sql.statements.statement import TableName
    from tablestore_engine.store import TableStore

_ENVIRONMENT = "TABLESTORE_WAREHOUSE"
_MISSING_HINT = (
    f"Give the folder of an existing one by -w or {_ENVIRONMENT}. A new one begins with its first schema or table: "
    "by a CREATE statement of `tablestore sql`, by `dbt run`, or from Python."
)


def warehouse_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--warehouse`, for a command that needs one."""
    return click.option(
        "-w",
        "--warehouse",
        envvar=_ENVIRONMENT,
        show_envvar=True,
        required=True,
        type=click.Path(file_okay=False),
        help="Folder of the warehouse.",
    )(command)


def schema_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--schema`, the current schema."""
    return click.option("-s", "--schema", default="default", show_default=True, help="Schema of bare names.")(command)


def session_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--session`, which says whose Spark it is."""
    return click.option(
        "--session",
        envvar="TABLESTORE_SESSION",
        type=click.Choice(["own", "shared"]),
        default="own",
        show_default=True,
        help="A Spark of this process, or the server of the warehouse; by default $TABLESTORE_SESSION.",
    )(command)


def server_folder(warehouse: str) -> str:
    """The folder of a warehouse as a server knows it."""
    from tablestore_engine.storage.paths import local_folder

    return os.path.realpath(local_folder(warehouse))


def open_store(warehouse: str, schema: str, session: str) -> TableStore:
    """A store in a schema. Raises DatabaseNotFound."""
    from tablestore_engine.store import TableStore

    store = TableStore(warehouse, session_factory=_shared_session(warehouse) if session == "shared" else None)
    store.use(schema)
    return store


def _shared_session(warehouse: str) -> Callable[[], Any]:
    from tablestore_engine.spark.session.session import SessionConfig, start_session

    return lambda: start_session(SessionConfig(shared=server_folder(warehouse), any_settings=True))


def existing_catalog(warehouse: str) -> Catalog:
    """The catalog of an existing warehouse: inspecting one never creates it. Raises NotFoundError."""
    from tablestore_engine.catalog import Catalog

    catalog = Catalog(warehouse)
    if not catalog.io.exists(catalog.warehouse):
        raise NotFoundError(f"There is no warehouse at {catalog.warehouse}.", hint=_MISSING_HINT)
    return catalog


def table_name(schema: str, name: str) -> TableName:
    """A name of a command line, which may begin with its schema."""
    from tablestore_engine.sql.statements.statement import TableName

    database, _, bare = name.rpartition(".")
    return TableName(database or schema, bare)


def stored_name(catalog: Catalog, schema: str, name: str) -> tuple[str, str]:
    """Stored database and name of a table. Raises TableNotFound, also for a view."""
    identifier = table_name(schema, name)
    return catalog.load_table(identifier.database or schema, identifier.name).identifier
