"""Options of the log store: the topic of a message queue that holds the changes of a table."""

from __future__ import annotations

from tablestore_engine.options.declarations.needs import LOG
from tablestore_engine.options.option import ColumnOption, Option
from tablestore_engine.options.option_type import DURATION, ENUM, INT, TEXT


class LogOptions:
    """Which log a table has, what is written to it, and where a reader of it begins."""

    __slots__ = ()

    log_system = Option(
        "log.system",
        ENUM,
        "none",
        "The system that holds the changes of the table as a log: none, or kafka. CREATE TABLE makes the topic, "
        "DROP TABLE deletes it, and each commit publishes its changes.",
        choices=("none", "kafka"),
        immutable=True,
        ours=True,
    )
    log_kafka_bootstrap_servers = Option(
        "log.kafka.bootstrap.servers",
        TEXT,
        None,
        "Kafka brokers, such as `localhost:9092`.",
        ours=True,
        needs=LOG,
    )
    log_kafka_topic = Option(
        "log.kafka.topic",
        TEXT,
        None,
        "The topic of the log; when not set, `<schema>.<table>`. The name is kept when the table is renamed.",
        immutable=True,
        fallback_keys=("log.topic",),
        ours=True,
        needs=LOG,
    )
    log_kafka = ColumnOption(
        "log.kafka.*",
        TEXT,
        None,
        "Settings of the Kafka client (librdkafka), such as `log.kafka.security.protocol`.",
        ours=True,
        needs=LOG,
    )
    log_format = Option(
        "log.format",
        ENUM,
        "debezium-json",
        "Format of the messages' values.",
        choices=("debezium-json",),
        immutable=True,
        ours=True,
        needs=LOG,
    )
    log_key_format = Option(
        "log.key.format",
        ENUM,
        "json",
        "Format of the messages' keys in a table with a primary key; without one they have no key.",
        choices=("json",),
        immutable=True,
        ours=True,
        needs=LOG,
    )
    log_consistency = Option(
        "log.consistency",
        ENUM,
        "transactional",
        "transactional: one Kafka transaction publishes the changes of a snapshot after its commit. eventual: rows are "
        "sent before the commit and may repeat; this needs a primary key and the changelog mode upsert.",
        choices=("transactional", "eventual"),
        immutable=True,
        ours=True,
        needs=LOG,
    )
    log_changelog_mode = Option(
        "log.changelog-mode",
        ENUM,
        "auto",
        "upsert: a message holds the new row of a key, or says that it is deleted. all: a message of an update holds "
        "the row before it, too. auto: upsert with a primary key, all without.",
        choices=("auto", "upsert", "all"),
        immutable=True,
        ours=True,
        needs=LOG,
    )
    log_retention = Option(
        "log.retention",
        DURATION,
        None,
        "How long the log keeps changes; when not set, as the brokers say. The table keeps all rows.",
        immutable=True,
        ours=True,
        needs=LOG,
    )
    log_on_failure = Option(
        "log.on-failure",
        ENUM,
        "catch-up",
        "When changes cannot be published. catch-up: the write succeeds with a warning, and a later write, or "
        "`CALL sys.publish_log`, publishes them. fail: the statement fails; its commit stays.",
        choices=("catch-up", "fail"),
        ours=True,
        needs=LOG,
    )
    log_scan = Option(
        "log.scan",
        ENUM,
        "full",
        "Where a reader of the log begins. full: with the rows of the table, then the changes since. latest: with new "
        "changes. from-timestamp: with the changes since `log.scan.timestamp-millis`.",
        choices=("full", "latest", "from-timestamp"),
        ours=True,
        needs=LOG,
    )
    log_scan_timestamp_millis = Option(
        "log.scan.timestamp-millis",
        INT,
        None,
        "The time, in milliseconds since 1970, of `log.scan` = from-timestamp.",
        minimum=0,
        fallback_keys=("log.scan.timestamp-mills",),
        ours=True,
        needs=LOG,
    )
