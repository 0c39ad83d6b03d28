"""The settings of a log, from the options of its table, as one value; and which options do not fit each other."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from tablestore_engine.errors import LogError, OptionError
from tablestore_engine.options import CoreOptions
from tablestore_engine.schema.merge_engines.engine_rules import Kept, rules_of
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.types import DataField

_TOPIC = re.compile(r"(?!\.{1,2}$)[a-zA-Z0-9._-]{1,249}")


@dataclass(frozen=True)
class LogSettings:
    """The log of a table.

    Attributes:
        topic: the topic's name.
        servers: the brokers.
        client: further settings of the client.
        partitions: how many the topic has: one for each bucket, or one where buckets are not fixed.
        primary_keys: the columns of the messages' keys; none for messages without keys.
        bucket_fields: the columns whose hash chooses the partition.
        sends_before: the message of an update holds the row before, too.
        eventual: rows are sent before the commit.
        retention_millis: how long messages are kept; None leaves that to the brokers.
    """

    topic: str
    servers: str
    client: Mapping[str, str] = field(default_factory=dict)
    partitions: int = 1
    primary_keys: tuple[str, ...] = ()
    bucket_fields: tuple[DataField, ...] = ()
    sends_before: bool = True
    retention_millis: int | None = None

    @property
    def brokers(self) -> frozenset[str]:
        """The brokers one by one."""
        return frozenset(one.strip().lower() for one in self.servers.split(","))


def has_log(options: CoreOptions) -> bool:
    """Whether a table has a log."""
    return options.log_system != "none"


def settings_of(schema: TableSchema) -> LogSettings | None:
    """The log of a table with this schema; None when it has none, or no topic yet."""
    options = schema.core_options
    if not has_log(options) or options.log_kafka_topic is None:
        return None
    fixed = options.bucket > 0 and bool(schema.bucket_keys)
    return LogSettings(
        topic=options.log_kafka_topic,
        servers=options.log_kafka_bootstrap_servers or "",
        client={key: text for key, text in options.log_kafka.items() if text is not None},
        partitions=options.bucket if fixed else 1,
        primary_keys=schema.primary_keys,
        bucket_fields=tuple(schema.bucket_fields) if fixed else (),
        sends_before=options.log_changelog_mode == "all" or not schema.primary_keys,
        retention_millis=options.log_retention,
    )


def required_settings(schema: TableSchema, table: str) -> LogSettings:
    """The log of a table with this schema. Raises LogError: it has none."""
    log = settings_of(schema)
    if log is None:
        raise LogError(f"Table {table} has no log.", hint="CREATE TABLE … WITH ('log.system' = 'kafka', …).")
    return log


def check_log(schema: TableSchema) -> None:
    """Raise an OptionError for options of the log that do not fit each other or the table."""
    options, keyed = schema.core_options, bool(schema.primary_keys)
    if not has_log(options):
        return
    if not options.log_kafka_bootstrap_servers:
        raise OptionError(
            "A log on Kafka needs the option 'log.kafka.bootstrap.servers'.", hint="For example 'localhost:9092'."
        )
    if options.log_changelog_mode == "upsert" and not keyed:
        raise OptionError("'log.changelog-mode' = 'upsert' needs a primary key.", hint="Use 'all', or leave it out.")
    if options.log_consistency == "eventual":
        _check_eventual(options, keyed)
    if options.log_kafka_topic is not None:
        check_topic(options.log_kafka_topic)


def _check_eventual(options: CoreOptions, keyed: bool) -> None:
    """Rows that are sent before the commit may repeat, and nothing is known of the rows that they replace."""
    if not keyed:
        raise OptionError(
            "'log.consistency' = 'eventual' needs a primary key: by it, a repeated row does no harm.",
            hint="Add PRIMARY KEY, or leave the option out (transactional).",
        )
    if options.log_changelog_mode == "all":
        raise OptionError(
            "'log.changelog-mode' = 'all' needs 'log.consistency' = 'transactional'.",
            hint="Leave one of the two options out.",
        )
    if rules_of(options.merge_engine).kept is not Kept.NEWEST or options.sequence_field:
        raise OptionError(
            "'log.consistency' = 'eventual' needs the merge engine deduplicate without 'sequence.field': rows are sent "
            "as they come, before they merge.",
            hint="Leave 'log.consistency' out (transactional).",
        )


def check_topic(name: str) -> None:
    """Raise an OptionError for a text that cannot be the name of a topic."""
    if not _TOPIC.fullmatch(name):
        raise OptionError(
            f"'{name}' cannot be the name of a Kafka topic: letters, digits, '.', '_' and '-' are allowed.",
            hint="Set 'log.kafka.topic'.",
        )
