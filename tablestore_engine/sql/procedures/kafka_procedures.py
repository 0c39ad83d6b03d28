"""Procedures on Kafka: publishing what the log of a table lacks, and taking changes from a topic."""

from __future__ import annotations

from tablestore_engine.errors import SqlError
from tablestore_engine.sql.procedures.procedure import Arguments, Procedure, Rows, count, flag, table_name_of, text
from tablestore_engine.sql.write_statements.statement_context import RowContext
from tablestore_engine.table import Table
from tablestore_engine.table_state import TableState


def _publish(table: Table, arguments: Arguments, context: RowContext) -> Rows:
    """Publishes the changes that the log of the table lacks, oldest snapshot first: after a failure, or a crash.

    With `restart`, the topic is deleted and made anew, with all rows of the table as inserted ones: for a log that no
    longer fits the table, because one of them was lost or restored.
    """
    from tablestore_engine.operation.log_store.unpublished_snapshots import publish_log, restart_log

    done = restart_log(table.state) if flag("restart", arguments) else publish_log(table.state)
    return [(done.snapshots, done.messages, done.last)]


def _sync(table: Table, arguments: Arguments, context: RowContext) -> Rows:
    """Takes the messages that a topic has now and the table has not, each exactly once: offsets are committed, too.

    `format` is debezium-json (the default), canal-json, maxwell-json, ogg-json, json (each message is a row) or
    upsert-json (a message without a value deletes the row of its key). `start` is earliest (the default) or latest, for
    a table that has taken nothing yet. With `new_columns`, columns that the table lacks are added. `dead_letters` names
    a table, which is made when it does not exist, for messages that cannot be read; without it they are errors.
    `client` are settings of the Kafka client, such as 'security.protocol=SSL, ssl.ca.location=/ca.pem'. `batch` is the
    number of messages of a commit.
    """
    from tablestore_engine.operation.kafka_source.source import KafkaSource
    from tablestore_engine.operation.kafka_source.sync_topic import SyncRules, sync_from_kafka

    source = KafkaSource(
        str(arguments["topic"]).strip(),
        str(arguments["servers"]).strip(),
        (text("format", arguments) or "debezium-json").lower(),
        _settings(text("client", arguments)),
    )
    rules = SyncRules(
        start=(text("start", arguments) or "earliest").lower(),
        new_columns=flag("new_columns", arguments),
        dead_letters=_dead_letters(text("dead_letters", arguments), context),
        batch=count("batch", arguments, SyncRules.batch),
    )
    done = sync_from_kafka(table.state, source, rules)
    return [(done.messages, done.rows, done.bad, done.commits, ", ".join(done.columns) or None)]


def _settings(given: str | None) -> dict[str, str]:
    pairs = [one.partition("=") for one in (given or "").split(",") if one.strip()]
    wrong = [key for key, equals, _ in pairs if not equals]
    if wrong:
        raise SqlError(f"client has '{wrong[0].strip()}' without a value.", hint="Write 'security.protocol=SSL, …'.")
    return {key.strip(): value.strip() for key, _, value in pairs}


def _dead_letters(name: str | None, context: RowContext) -> TableState | None:
    """The table of messages that cannot be read; made when there is none."""
    if name is None:
        return None
    from tablestore_engine.operation.kafka_source.dead_letters import dead_letter_schema

    identifier = context.identifier(table_name_of(name))
    schema = dead_letter_schema(context.now_millis())
    return context.catalog.create_table(*identifier, schema, if_not_exists=True).state


PROCEDURES: dict[str, Procedure] = {
    "publish_log": Procedure(
        _publish,
        ("table", "restart"),
        1,
        {"published_snapshots": "int", "published_messages": "bigint", "last_snapshot": "bigint"},
        "CALL sys.publish_log(table => 'db.t').",
    ),
    "sync_from_kafka": Procedure(
        _sync,
        ("table", "topic", "servers", "format", "start", "new_columns", "dead_letters", "client", "batch"),
        3,
        {"messages": "bigint", "rows": "bigint", "bad": "bigint", "commits": "int", "new_columns": "string"},
        "CALL sys.sync_from_kafka(table => 'db.t', topic => 'shop.orders', servers => 'localhost:9092').",
    ),
}
