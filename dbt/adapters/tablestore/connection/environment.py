"""Where the work is done: one warehouse, its catalog, and the Spark sessions of this process.

Vocabulary: the *root session* is the one Spark session of a process, started when the first row is needed or, by
`warm_up`, in the background before. A *lease* is a store with its own session (own temporary views and settings),
lent to one dbt connection at a time.

Invariants: the catalog answers without Spark; a lease whose session was changed by a statement (SET, USE, temporary
views) is never lent again.
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
"""dbt commands that are sure to read or write rows; others start Spark only if they turn out to."""


@dataclass
class Lease:
    """A store, the session it started (None until rows are needed) and whether it may be lent again."""

    store: TableStore
    database: str
    session: SparkSession | None = None
    reusable: bool = True
    cancelled: bool = False


class Environment:
    """One warehouse and the Spark that works on it. Safe for many threads."""

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
        """Start Spark in the background. An error shows when a session is asked for."""
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
        """Take a store back."""
        if lease.reusable:
            with self._lock:
                self._free.append(lease)
        elif lease.session is not None and self._credentials.remote:
            lease.session.stop()  # on Spark Connect: ends the session on the server

    def _new_lease(self, database: str) -> Lease:
        from tablestore_engine.store import TableStore

        lease: Lease

        def start() -> SparkSession:
            from tablestore_engine.spark.session.session import new_session

            lease.session = new_session(_wait(_root_of(self._credentials), lease))
            return lease.session

        lease = Lease(TableStore(self.warehouse, session_factory=start, database=database), database)
        return lease

    def interrupt(self, lease: Lease) -> None:
        """Stop what runs in the lease's session, or its wait for Spark. Called from another thread than the
        worker's."""
        lease.cancelled = True
        lease.reusable = False
        if lease.session is not None:
            lease.session.interruptAll()


_environments: dict[tuple[object, ...], Environment] = {}
_roots: dict[tuple[object, ...], Future[SparkSession]] = {}
_lock = threading.Lock()


def environment_of(credentials: TableStoreCredentials) -> Environment:
    """The environment of a profile; the same one for all adapters of this process that share the profile."""
    key = (credentials.warehouse, *_session_key(credentials))
    with _lock:
        if key not in _environments:
            _environments[key] = Environment(credentials)
        return _environments[key]


def _session_key(credentials: TableStoreCredentials) -> tuple[object, ...]:
    settings = tuple(sorted(credentials.spark_config.items()))
    return (credentials.master, credentials.remote, settings, credentials.class_data_sharing)


def _root_of(credentials: TableStoreCredentials) -> Future[SparkSession]:
    """The root session, started in a thread of its own. One that failed to start is tried again."""
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
                spark_config=credentials.spark_config,
                class_data_sharing=credentials.class_data_sharing,
            )
        )
        return root


def _wait(root: Future[SparkSession], lease: Lease) -> SparkSession:
    """The root session once it stands, unless the lease is cancelled meanwhile."""
    from concurrent.futures import wait

    while not root.done():
        if lease.cancelled:
            raise StatementCancelledError("The statement was cancelled.")
        wait([root], timeout=0.1)
    return root.result()
