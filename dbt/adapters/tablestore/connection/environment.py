"""One warehouse, its catalog, and the Spark sessions of this process that work on it.

Vocabulary: the *root session* is the first Spark session of the process. It starts when the first row is needed, or
earlier in the background (`warm_up`). A *lease* is a store with a session of its own (own temporary views and
settings); one dbt connection uses it at a time.

Invariants: the catalog needs no Spark. A lease whose session a statement has changed (SET, USE, temporary views) is
not reused.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from dbt.adapters.tablestore.connection.errors import StatementCancelledError

if TYPE_CHECKING:
    from concurrent.futures import Future

    from pyspark.sql import SparkSession

    from dbt.adapters.tablestore.connection.credentials import TableStoreCredentials
    from tablestore_engine.catalog import Catalog
    from tablestore_engine.store import TableStore

COMMANDS_WITH_ROWS = frozenset({"run", "build", "test", "seed", "snapshot", "show", "retry"})
"""dbt commands that always read or write rows. Others start Spark only when they need it."""
COMMANDS_THAT_BUILD = frozenset({"run", "build", "retry"})
COMMANDS_THAT_COMPILE = frozenset({"compile", "generate"})
"""dbt commands that make the text of models, and run none."""


def reads_rows() -> bool:
    """Whether the dbt command that runs in this process is one of them; not when dbt is used as a library."""
    from dbt.flags import get_flags

    return getattr(get_flags(), "WHICH", "") in COMMANDS_WITH_ROWS


def builds_models() -> bool:
    """Whether the dbt command that runs in this process writes the rows of models."""
    from dbt.flags import get_flags

    return getattr(get_flags(), "WHICH", "") in COMMANDS_THAT_BUILD


def only_compiles() -> bool:
    """Whether the dbt command that runs in this process makes the text of models only, for the user to read."""
    from dbt.flags import get_flags

    return getattr(get_flags(), "WHICH", "") in COMMANDS_THAT_COMPILE


def takes_some_rows() -> bool:
    """Whether the dbt command that runs in this process filters what models read (`--empty`, `--sample`)."""
    from dbt.flags import get_flags

    flags = get_flags()
    return bool(getattr(flags, "EMPTY", False) or getattr(flags, "SAMPLE", None))


@dataclass
class Lease:
    """A store, its session and that one's root (None until rows are needed), and whether another connection may use it
    afterwards."""

    store: TableStore
    database: str
    session: SparkSession | None = None
    root: Future[SparkSession] | None = None
    reusable: bool = True
    cancelled: bool = False


class Environment:
    """One warehouse and the Spark that works on it. Thread-safe."""

    def __init__(self, credentials: TableStoreCredentials) -> None:
        self._credentials = credentials
        self._lock = threading.Lock()
        self._free: list[Lease] = []

    @property
    def warehouse(self) -> str:
        return self._credentials.warehouse

    @cached_property
    def catalog(self) -> Catalog:
        """The catalog of the warehouse. Needs no Spark."""
        from tablestore_engine.catalog import Catalog

        return Catalog(self.warehouse)

    def warm_up(self) -> None:
        """Start Spark in the background. An error is raised when a session is first used."""
        _root_of(self._credentials)

    def acquire(self, database: str) -> Lease:
        """A store for one connection, with `database` as its current schema. Starts nothing."""
        with self._lock:
            for lease in reversed(self._free):
                if lease.database == database:
                    self._free.remove(lease)
                    return lease
        return self._new_lease(database)

    def release(self, lease: Lease) -> None:
        """Take a store back, to be reused where its session allows."""
        if lease.reusable:
            with self._lock:
                self._free.append(lease)
        elif lease.session is not None and self._credentials.uses_connect:
            lease.session.stop()  # on Spark Connect: ends the session on the server

    def _new_lease(self, database: str) -> Lease:
        from tablestore_engine.store import TableStore

        lease: Lease

        def start() -> SparkSession:
            from tablestore_engine.spark.session.session import new_session

            lease.root = _root_of(self._credentials)
            lease.session = new_session(_wait(lease.root, lease))
            return lease.session

        defaults = self._credentials.table_defaults
        store = TableStore(self.warehouse, session_factory=start, database=database, options=defaults)
        lease = Lease(store, database)
        return lease

    def forget_ended(self, lease: Lease) -> bool:
        """Whether a lease's shared Spark server was ended; then the next connection starts another one."""
        root = lease.root
        if not self._credentials.is_shared or root is None or not root.done() or root.exception() is not None:
            return False
        from tablestore_engine.spark.session.session import server_ended

        if not server_ended(root.result()):
            return False
        key = _session_key(self._credentials)
        with _lock:
            if _roots.get(key) is root:
                del _roots[key]
        with self._lock:
            self._free = [one for one in self._free if one.root is not root]
        return True

    def interrupt(self, lease: Lease) -> None:
        """Stop what runs in the lease's session, or its wait for Spark. Called from another thread."""
        lease.cancelled = True
        lease.reusable = False
        if lease.session is not None:
            from tablestore_engine.spark.queries.small_plans import interrupt_all

            interrupt_all(lease.session)


_environments: dict[tuple[object, ...], Environment] = {}
_roots: dict[tuple[object, ...], Future[SparkSession]] = {}
_lock = threading.Lock()


def environment_of(credentials: TableStoreCredentials) -> Environment:
    """The environment of a profile. All adapters of this process with the same profile share one."""
    key = (credentials.warehouse, *_session_key(credentials))
    with _lock:
        if key not in _environments:
            _environments[key] = Environment(credentials)
        return _environments[key]


def _session_key(credentials: TableStoreCredentials) -> tuple[object, ...]:
    settings = tuple(sorted(credentials.spark_config.items()))
    shared = credentials.warehouse if credentials.is_shared else None
    return (credentials.master, credentials.remote, settings, credentials.class_data_sharing, shared)


def _root_of(credentials: TableStoreCredentials) -> Future[SparkSession]:
    """The root session, started in a thread of its own. A failed start is tried again."""
    key = _session_key(credentials)
    with _lock:
        root = _roots.get(key)
        if root is not None and not (root.done() and root.exception() is not None):
            return root
        from tablestore_engine.spark.session.session import SessionConfig, start_in_background

        root = _roots[key] = start_in_background(
            SessionConfig(
                master=credentials.master,
                remote=credentials.remote,
                spark_config=credentials.spark_settings,
                class_data_sharing=credentials.class_data_sharing,
                shared=credentials.warehouse if credentials.is_shared else None,
                idle_minutes=credentials.session_idle_minutes,
            )
        )
        return root


def _wait(root: Future[SparkSession], lease: Lease) -> SparkSession:
    """Wait for the root session, unless the lease is cancelled in the meantime."""
    from concurrent.futures import wait

    while not root.done():
        if lease.cancelled:
            raise StatementCancelledError("The statement was cancelled.")
        wait([root], timeout=0.1)
    return root.result()
