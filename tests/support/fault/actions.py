"""The actions that faults strike, on tables without Spark; each can be run again after it failed."""

from __future__ import annotations

import itertools
import uuid

from support.files import data_files, live_paths
from support.tables import DELETE, PUT, arrow_rows, compact, make_table, new_job, read, schema_of, write
from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import TableNotFound
from tablestore_engine.operation.commit.change import Change
from tablestore_engine.operation.commit.commit_identity import new_identity
from tablestore_engine.operation.commit.replace_table import everything, next_schema, replace_all
from tablestore_engine.operation.compact.schedule_compaction import schedule
from tablestore_engine.operation.compact.scheduled_run import run_next
from tablestore_engine.operation.expiration.snapshot_expire import Retention
from tablestore_engine.operation.transaction.transaction import begin, publish
from tablestore_engine.operation.write.write_task import write_table
from tablestore_engine.operation.write_job.write_intent import PLAIN, WriteIntent
from tablestore_engine.schema.table.schema_changes import AddColumn
from tablestore_engine.schema.types.types import parse_type

COLUMNS = {"p": "STRING", "id": "INT", "v": "INT"}
KEYS, PARTITION = ["p", "id"], ["p"]
OPTIONS = {"bucket": "1", "manifest.merge-min-count": "3", "commit.max-retries": "2"}
START, HOUR = 1_800_000_000_000, 3_600_000
OLD = [{"p": p, "id": n, "v": 0} for p in "ab" for n in range(6)]
NEW = [{"p": p, "id": n, "v": 1} for p in "bc" for n in range(6)]
_hours = itertools.count()


def prepare(warehouse):
    """A table with a history: two writes and what a compaction made of them."""
    table = make_table(warehouse, COLUMNS, KEYS, PARTITION, OPTIONS)
    write(table, OLD)
    write(table, OLD[::2])
    compact(table)
    write(table, OLD[1::3])
    log = make_table(warehouse, COLUMNS, [], PARTITION, {"commit.max-retries": "2"}, name="log")
    write(log, OLD)


def load(warehouse, io=None, name="t"):
    return Catalog(warehouse, io).load_table("default", name)


def state(warehouse):
    """Columns and rows, and those of a table without a key; None when there is no table."""
    try:
        table = load(warehouse)
    except TableNotFound:
        return None
    log = load(warehouse, name="log")
    return table.schema.field_names, sorted(map(repr, read(table))), sorted(map(repr, read(log)))


def upsert(warehouse, io):
    write(load(warehouse, io), NEW)


def overwrite(warehouse, io):
    table = load(warehouse, io)
    write(table, NEW, job=new_job(table, into_empty=True), kind="OVERWRITE", replaces=lambda entry: True)


def compaction(warehouse, io):
    compact(load(warehouse, io))


def scheduled_compaction(warehouse, io):
    """Schedule what is due and carry it out. Each call comes an hour after the one before: leases have run out."""
    table = load(warehouse, io)
    now = START + next(_hours) * HOUR
    schedule(table.state, "full", now)
    run_next(table.state, "test", lambda: now)


def ctas(warehouse, io):
    """CREATE TABLE … AS under a name that is free: staged, filled, published."""
    _create_as(warehouse, io, "atomic")


def ctas_rollback(warehouse, io):
    """… visible while it is filled, and dropped when that fails."""
    _create_as(warehouse, io, "rollback")


def ctas_none(warehouse, io):
    """… visible, and stays."""
    _create_as(warehouse, io, "none")


def _create_as(warehouse, io, level):
    catalog = Catalog(warehouse, io)
    if catalog.table_exists("default", "t"):
        catalog.drop_table("default", "t")
    schema = schema_of(COLUMNS, KEYS, PARTITION, {**OPTIONS, "ctas.atomicity": level})
    identity = new_identity(schema.core_options)

    def fill(table, guard):
        job = begin(table.state, WriteIntent(identity=identity), None)
        result = write_table(job, arrow_rows(schema, NEW), f"{uuid.uuid4().hex[:6]}-")
        return publish(table.state, job, result, Change("APPEND", guard=guard))

    assert catalog.create_filled("default", "t", schema, identity, fill) is not None


def replacement(warehouse, io):
    """CREATE OR REPLACE TABLE … AS with other columns and partitions."""
    table = load(warehouse, io)
    wanted = schema_of({"id": "INT", "name": "STRING"}, ["id"])
    schema = next_schema(table.schema, wanted, table.schemas.list_ids()[-1])
    job = begin(table.state, PLAIN, table.latest_snapshot(), removes=everything, schema=schema)
    rows = arrow_rows(schema, [{"id": n, "name": "x"} for n in range(5)])
    result = write_table(job, rows, f"{uuid.uuid4().hex[:6]}-")
    publish(table.state, job, result, replace_all(table.schema, schema))


def rollback(warehouse, io):
    """To a snapshot whose files a compaction has replaced, so that they are copied."""
    load(warehouse, io).roll_back(2)


def expiry(warehouse, io):
    """All snapshots but the newest, of which a tag keeps one: its files stay, whatever fails."""
    table = load(warehouse, io)
    if not table.tags.names():
        table.create_tag("kept", table.snapshots()[0].id)
    table.expire_snapshots(Retention(1, 1, 0, 1_000))
    assert live_paths(table, table.version("kept")) <= data_files(table)


def enable_retractions(warehouse, io):
    """The first retractions of a table without a key, and a row more."""
    table = load(warehouse, io, "log")
    if OLD[0] in read(table):
        rows = arrow_rows(table.schema, [OLD[0], OLD[7], NEW[0]], [DELETE, DELETE, PUT])
        table.write(rows)


def drop(warehouse, io):
    Catalog(warehouse, io).drop_table("default", "t", if_exists=True)


def add_column(warehouse, io):
    catalog = Catalog(warehouse, io)
    if not catalog.load_table("default", "t").schema.has_field("extra"):
        catalog.alter_table("default", "t", [AddColumn("extra", parse_type("INT"))])


ACTIONS = {
    action.__name__: action
    for action in (
        upsert,
        overwrite,
        compaction,
        scheduled_compaction,
        ctas,
        ctas_rollback,
        ctas_none,
        replacement,
        rollback,
        expiry,
        enable_retractions,
        drop,
        add_column,
    )
}
