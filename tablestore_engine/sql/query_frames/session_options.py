"""Options that the session sets for all tables, `spark.paimon.<option>`, or for some, `spark.paimon.<catalog>.<db>.
<table>.<option>`, where `*` is any name: as in Paimon, they hold for every statement and DataFrame.

`commit.user-prefix` and `commit.identifier` are the identity of a write. Options that say which rows of a table are
read hold for tables that are read; a table that a statement changes is changed as it is now.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tablestore_engine.errors import CommitIdentityError, OptionError
from tablestore_engine.operation.commit.commit_identity import CommitIdentity, chosen_identity
from tablestore_engine.options import CommitOptions, find_option, nearest_key
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.spark.changelog.read_changes import BETWEEN, BETWEEN_TIMES, READ_OPTIONS
from tablestore_engine.spark.session.session_settings import settings_below
from tablestore_engine.sql.query.bind import TableReference
from tablestore_engine.sql.query.options_hint import time_travel_of
from tablestore_engine.sql.tokens.cursor import OWN_CATALOGS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PREFIX: Final = "spark.paimon."
COMMIT_USER: Final = CommitOptions.commit_user_prefix.key
COMMIT_IDENTIFIER: Final = "commit.identifier"
IDENTITY: Final = (COMMIT_USER, COMMIT_IDENTIFIER)
_OF_READS: Final = ("scan.", "log.scan", "incremental-", "consumer-id", "consumer.")
_ANY: Final = "*"


def session_options(spark: SparkSession) -> dict[str, str]:
    """The options of the session, without the prefix."""
    return settings_below(spark, PREFIX)


def of_write(settings: Mapping[str, str], database: str, table: str) -> dict[str, str]:
    """The options of a write to a table, with its identity. Raises OptionError for a setting that is no option."""
    return {key: v for key, v in _of_table(settings, database, table).items() if not key.startswith(_OF_READS)}


def of_read(settings: Mapping[str, str], database: str, table: str) -> dict[str, str]:
    """The options of a read of a table. Raises OptionError for a setting that is no option."""
    return {key: value for key, value in _of_table(settings, database, table).items() if key not in IDENTITY}


def referring(reference: TableReference, options: Mapping[str, str]) -> TableReference:
    """A reference to a table with the session's options for it, which those of the query win over."""
    own = dict(reference.options)
    rest = [(key, value) for key, value in options.items() if key not in own]
    if reference.time_travel is not None or reference.changes or own.keys() & READ_OPTIONS:
        rest = [(key, value) for key, value in rest if key not in READ_OPTIONS]
        return replace(reference, options=(*time_travel_of(rest, None)[1], *reference.options))
    if not options.keys() & {BETWEEN, BETWEEN_TIMES}:
        rest = [(key, value) for key, value in rest if key not in READ_OPTIONS]
    travel, rest_of_all = time_travel_of(rest, None)
    return replace(reference, time_travel=travel, options=(*rest_of_all, *reference.options))


def identity_of(options: Mapping[str, str]) -> CommitIdentity | None:
    """The identity that options give to a write; None without a number. Raises CommitIdentityError."""
    text = options.get(COMMIT_IDENTIFIER)
    if text is None:
        return None
    try:
        number = int(text)
    except ValueError:
        raise CommitIdentityError(f"'{COMMIT_IDENTIFIER}' cannot be '{text}': a whole number is expected.") from None
    return chosen_identity(options.get(COMMIT_USER), number)


def besides_identity(options: Mapping[str, str]) -> dict[str, str]:
    """The options of a write without those of its identity; the prefix alone is one of the table."""
    if COMMIT_IDENTIFIER not in options:
        return dict(options)
    return {key: value for key, value in options.items() if key not in IDENTITY}


def _of_table(settings: Mapping[str, str], database: str, table: str) -> dict[str, str]:
    """The options for one table. Those that name it win over those for all."""
    general: dict[str, str] = {}
    named: dict[str, str] = {}
    for setting, value in settings.items():
        if _is_option(setting):
            general[setting] = value
            continue
        parts = setting.split(".", 3)
        if len(parts) < len(("catalog", "database", "table", "option")) or not _is_option(parts[3]):
            raise _unknown(setting)
        catalog, *names, option = parts
        wanted = [(catalog, OWN_CATALOGS), (names[0], (database.lower(),)), (names[1], (table.lower(),))]
        if all(name == _ANY or name.lower() in ours for name, ours in wanted):
            named[option] = value
    return {**general, **named}


def _is_option(key: str) -> bool:
    return key == COMMIT_IDENTIFIER or find_option(key) is not None


def _unknown(setting: str) -> OptionError:
    parts = setting.split(".", 3)
    near = nearest_key(setting) or (nearest_key(parts[3]) if len(parts) > 3 else None)
    hint = f"Did you mean '{near}'?" if near else f"RESET {quoted_name(PREFIX + setting)} takes it back."
    return OptionError(f"The session sets '{PREFIX}{setting}', and there is no such option.", hint=hint)
