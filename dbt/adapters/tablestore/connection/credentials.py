"""The profile of `type: tablestore`.

Only `type`, `warehouse` and `schema` are required. Invariant: a `TableStoreCredentials` that exists is usable: the
warehouse is an absolute local path, the schema is a name and every value has its type. A mistake in a profile is
reported by the key's name when the profile is read.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Dict, Optional, Tuple  # noqa: UP035 - mashumaro reads these at run time

from dbt.adapters.contracts.connection import Credentials
from dbt_common.exceptions import DbtConfigError, DbtRuntimeError

from dbt.adapters.tablestore.connection.target_type import NAME, SparkLike
from dbt.adapters.tablestore.dialect.refusal import checked_dialect
from tablestore_engine.errors import UserError
from tablestore_engine.storage.paths import local_folder

_TABLE_DEFAULT = "table-storage."
_SESSIONS = ("own", "shared")


@dataclass
class TableStoreCredentials(Credentials):
    """Where the tables are stored and which Spark works on them.

    warehouse: the folder that holds the schemas. It is local; a relative path starts at the dbt project.
    master: a Spark master (`local[4]`, `spark://…`); by default all cores of this machine.
    remote: a Spark Connect address (`sc://host:15002`) to use instead of a master.
    session: `own` (the default), a Spark in this process, or `shared`, one that later processes find again.
    session_idle_minutes: how long a shared Spark stays when no process uses it.
    spark_config: Spark settings of the session, set when it starts, and `table-storage.<option>` for new tables.
    class_data_sharing: whether an archive in the user's cache folder makes a local Java start faster.
    user: for information only; packages and hooks may read `target.user`.
    dialect: the dialect of models that set none, if it is not Spark's.
    like_spark: whether `target.type` equals 'spark', in addition to 'tablestore', in projects and packages.
    ignore_database: whether models and sources may name a database, which is left out; otherwise it is refused.
    """

    database: Optional[str] = None  # type: ignore[assignment]  # noqa: UP045
    schema: str = ""
    warehouse: str = ""
    master: Optional[str] = None  # noqa: UP045
    remote: Optional[str] = None  # noqa: UP045
    session: Optional[str] = None  # noqa: UP045
    session_idle_minutes: float = 30
    spark_config: Dict[str, Any] = field(default_factory=dict)  # noqa: UP006
    class_data_sharing: bool = True
    user: Optional[str] = None  # noqa: UP045
    dialect: Optional[str] = None  # noqa: UP045
    like_spark: bool = True
    ignore_database: bool = False

    _ALIASES: ClassVar[Dict[str, str]] = {"path": "warehouse", "dbname": "database"}  # noqa: UP006

    @classmethod
    def validate(cls, data: Mapping[str, Any]) -> None:
        """Refuse a misspelt key too. dbt drops keys that it does not know, and profiles may hold those of others."""
        known = [one.name for one in fields(cls) if one.init]
        for key in data:
            near = difflib.get_close_matches(str(key).lower(), known, n=1, cutoff=0.85)
            if near and key not in known:
                raise DbtConfigError(f"Unknown key '{key}' in the profile. Did you mean '{near[0]}'?")
        super().validate(data)

    def __post_init__(self) -> None:
        if not self.warehouse:
            raise DbtConfigError(
                "The profile needs `warehouse`: the folder in which the tables live, for example "
                "`warehouse: ./warehouse`."
            )
        if not self.schema:
            raise DbtConfigError("The profile needs `schema`: the schema in which models are built.")
        if self.database and self.database != self.schema:
            raise DbtConfigError(
                f"The profile sets `database: {self.database}`, but tables have no database here, only a schema. "
                "Remove `database`."
            )
        if self.master and self.remote:
            raise DbtConfigError("The profile sets both `master` and `remote`. Keep the one that should do the work.")
        if self.remote and not self.remote.startswith("sc://"):
            raise DbtConfigError(
                f"`remote: {self.remote}` is not a Spark Connect address. It looks like `sc://host:15002`."
            )
        self._check_session()
        try:
            self.dialect = checked_dialect(self.dialect)
        except DbtRuntimeError as error:
            raise DbtConfigError(f"In the profile: {error.msg}") from None
        self.database = None
        self.warehouse = _absolute(self.warehouse)
        self.spark_config = {str(key): _setting(value) for key, value in self.spark_config.items()}

    def _check_session(self) -> None:
        if self.session not in (None, *_SESSIONS):
            raise DbtConfigError(f"`session: {self.session}` is not known. It is `own` or `shared`.")
        if self.is_shared and self.remote:
            raise DbtConfigError("The profile sets both `session: shared` and `remote`. Keep one of them.")
        if self.is_shared and self.master and not self.master.startswith("local"):
            raise DbtConfigError(
                f"`session: shared` is a Spark on this machine, and `master: {self.master}` is not. Keep one of them."
            )
        if not self.session_idle_minutes > 0:  # nan, too
            raise DbtConfigError(f"`session_idle_minutes: {self.session_idle_minutes}` must be more than 0.")

    @property
    def is_shared(self) -> bool:
        """Whether Spark is in a process of its own, which later processes find again."""
        return self.session == "shared"

    @property
    def uses_connect(self) -> bool:
        """Whether sessions are those of a Spark Connect server."""
        return self.is_shared or self.remote is not None

    @property
    def table_defaults(self) -> dict[str, Any]:
        """The defaults of the session for the options of new tables."""
        return {key: value for key, value in self.spark_config.items() if key.startswith(_TABLE_DEFAULT)}

    @property
    def spark_settings(self) -> dict[str, Any]:
        """The settings of Spark alone."""
        return {key: value for key, value in self.spark_config.items() if not key.startswith(_TABLE_DEFAULT)}

    @property
    def type(self) -> str:
        return SparkLike(NAME) if self.like_spark else NAME

    @property
    def unique_field(self) -> str:
        return self.warehouse

    def _connection_keys(self) -> Tuple[str, ...]:  # noqa: UP006
        return ("warehouse", "schema", "master", "remote", "session", "class_data_sharing", "user", "dialect")

    def connection_info(self, *, with_aliases: bool = False) -> Iterable[Tuple[str, Any]]:  # noqa: UP006
        """The keys that are set. Others stay undefined in `target`, as dbt projects expect.

        An exception is `target.database`, which is an empty text: packages use it for sources and models that have no
        database of their own, and dbt refuses an undefined value there. `dbt debug` does not show it.
        """
        if with_aliases:
            yield "database", ""
        for key in self._connection_keys():
            value = getattr(self, key)
            if value is not None:
                yield key, value


def _absolute(warehouse: str) -> str:
    try:
        return os.path.abspath(os.path.join(_project_dir(), local_folder(warehouse.strip())))
    except UserError as error:
        raise DbtConfigError(str(error)) from error


def _project_dir() -> str:
    """The folder that a relative warehouse starts from: the dbt project, whatever the working directory is."""
    from dbt.flags import get_flags

    return str(getattr(get_flags(), "PROJECT_DIR", None) or os.getcwd())


def _setting(value: Any) -> str:
    """A YAML value in Spark's spelling."""
    return str(value).lower() if isinstance(value, bool) else str(value)
