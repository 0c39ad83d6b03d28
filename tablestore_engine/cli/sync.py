"""`tablestore sync`: messages of a Kafka topic become rows of a table."""

from __future__ import annotations

import time
from typing import Any

import click

from tablestore_engine.cli.warehouse import existing_catalog, open_store, schema_option, warehouse_option


@click.command()
@warehouse_option
@schema_option
@click.option("--servers", required=True, help="Kafka brokers, such as localhost:9092.")
@click.option("--format", "form", default="debezium-json", show_default=True, help="Format of the messages.")
@click.option("--start", default="earliest", show_default=True, help="Where a table begins that took nothing yet.")
@click.option("--new-columns", is_flag=True, help="Add columns that the table lacks.")
@click.option("--dead-letters", metavar="TABLE", help="Table of messages that cannot be read.")
@click.option("--client", help="Settings of the Kafka client: key=value, …")
@click.option("--batch", type=click.IntRange(1), metavar="MESSAGES", help="As many messages are one commit, about.")
@click.option("--every", type=click.FloatRange(0.1), metavar="SECONDS", help="Go on, with such a pause, until Ctrl-C.")
@click.argument("topic")
@click.argument("table")
def sync(warehouse: str, schema: str, topic: str, table: str, every: float | None, **given: Any) -> None:
    """Take the new messages of a Kafka TOPIC into TABLE, each exactly once."""
    given["format"] = given.pop("form")
    existing_catalog(warehouse)
    store = open_store(warehouse, schema, "own")
    arguments = {"table": table, "topic": topic, **given}
    call = f"CALL sys.sync_from_kafka({', '.join(f'{k} => {_constant(v)}' for k, v in arguments.items() if v)})"
    while True:
        (messages, rows, bad, _, columns), *_ = store.execute(call).rows or [(0, 0, 0, 0, None)]
        if messages or every is None:
            added = f", new columns {columns}" if columns else ""
            click.echo(f"{messages:,} messages, {rows:,} rows, {bad:,} that cannot be read{added}")
        if every is None:
            return
        time.sleep(every)


def _constant(value: str | bool | int) -> str:
    from tablestore_engine.schema.types.sql_literals import literal

    if isinstance(value, int):
        return str(value).lower()
    return literal(value)
