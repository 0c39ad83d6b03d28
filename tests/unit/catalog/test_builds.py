"""Tables that are visible while they are filled: what others see, and what is left of a build that ends early."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from support.damaged import EVERY_DAMAGE, broken
from support.tables import arrow_rows, read, schema_of, write

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import ConflictError
from tablestore_engine.metadata.warehouse.build_record import Process
from tablestore_engine.operation.commit.change import Change
from tablestore_engine.operation.commit.commit_identity import new_identity
from tablestore_engine.operation.transaction.transaction import begin, publish
from tablestore_engine.operation.write.write_task import write_table
from tablestore_engine.operation.write_job.write_intent import WriteIntent
from tablestore_engine.storage.processes import is_running, this_process

ROWS = [{"id": 1, "v": 1}]
MINUTE = 60_000


@pytest.fixture
def warehouse(tmp_path):
    return str(tmp_path / "warehouse")


def create(warehouse, level, meanwhile=lambda: None, rows=ROWS):
    """CREATE TABLE … AS of table `t`; `meanwhile` is called between the start and the commit."""
    schema = schema_of({"id": "INT", "v": "INT"}, ["id"], options={"ctas.atomicity": level})
    identity = new_identity(schema.core_options)

    def fill(table, guard):
        job = begin(table.state, WriteIntent(identity=identity), None)
        result = write_table(job, arrow_rows(schema, rows), "x-")
        meanwhile()
        return publish(table.state, job, result, Change("APPEND", guard=guard))

    return Catalog(warehouse).create_filled("default", "t", schema, identity, fill)


def tables(warehouse, now=None):
    """What another process sees that opens the catalog."""
    catalog = Catalog(warehouse) if now is None else Catalog(warehouse, now_millis=lambda: now)
    return {name: read(catalog.load_table("default", name)) for name in catalog.list_tables("default")}


def left(warehouse):
    """All names in the database and of the builds."""
    found = [os.listdir(os.path.join(warehouse, one)) for one in ("default.db", ".builds")
             if os.path.isdir(os.path.join(warehouse, one))]  # fmt: skip
    return sorted(name for names in found for name in names)


def fail():
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("level", "during", "after_failure"),
    [("atomic", {}, {}), ("rollback", {"t": []}, {}), ("none", {"t": []}, {"t": []})],
)
def test_the_levels(level, during, after_failure, warehouse):
    seen = []
    create(warehouse, level, lambda: seen.append(tables(warehouse)))
    assert seen == [during]
    assert tables(warehouse) == {"t": ROWS}
    assert left(warehouse) == ["t"]
    Catalog(warehouse).drop_table("default", "t")
    with pytest.raises(KeyboardInterrupt):
        create(warehouse, level, fail)
    assert tables(warehouse) == after_failure
    assert left(warehouse) == list(after_failure)


@pytest.mark.parametrize("level", ["atomic", "rollback", "none"])
def test_a_name_that_is_taken_stays_as_it_is(level, warehouse):
    create(warehouse, "atomic")
    assert create(warehouse, level, rows=[]) is None
    assert tables(warehouse) == {"t": ROWS}
    assert left(warehouse) == ["t"]


def test_a_process_is_known_by_its_start_too():
    me = this_process()
    if me.machine is None:
        pytest.skip("this system does not say which processes run")
    assert is_running(me)
    child = subprocess.Popen([sys.executable, "-c", ""])
    number = child.pid
    child.wait()
    assert is_running(Process(me.machine, number, me.started)) is False
    assert is_running(Process(me.machine, me.number, (me.started or 0) + 1)) is False
    assert is_running(Process("another machine", me.number, me.started)) is None


def move_to_another_machine(warehouse, now_millis=0):
    """Make the running build one of another machine, whose last heartbeat was at a time."""
    (record,) = Path(warehouse, ".builds").glob("*.json")
    values = json.loads(record.read_text())
    values["owner"]["machine"] = "another"
    record.write_text(json.dumps(values))
    record.with_suffix(".heartbeat").write_text(str(now_millis))
    return values["time_millis"]


def test_the_table_of_a_slow_owner_elsewhere_stays(warehouse):
    def look():
        began = move_to_another_machine(warehouse)
        assert tables(warehouse, began + MINUTE) == {"t": []}
        Path(next(Path(warehouse, ".builds").glob("*.heartbeat"))).write_text(str(began + 9 * MINUTE))
        assert tables(warehouse, began + 10 * MINUTE) == {"t": []}

    create(warehouse, "rollback", look)
    assert tables(warehouse) == {"t": ROWS}
    assert left(warehouse) == ["t"]


@pytest.mark.parametrize("again", [False, True], ids=["", "and-made-by-others"])
def test_an_owner_that_was_taken_for_dead_cannot_commit(again, warehouse):
    def take_over():
        began = move_to_another_machine(warehouse)
        assert tables(warehouse, began + MINUTE + 1) == {}
        if again:
            create(warehouse, "atomic", rows=[{"id": 2, "v": 2}])

    with pytest.raises(ConflictError, match="was dropped while it was filled"):
        create(warehouse, "rollback", take_over)
    assert tables(warehouse) == ({"t": [{"id": 2, "v": 2}]} if again else {})
    assert left(warehouse) == (["t"] if again else [])


def test_rows_that_others_committed_are_never_dropped(warehouse, caplog):
    other = {"id": 7, "v": 7}

    def interfere():
        write(Catalog(warehouse).load_table("default", "t"), [other])
        fail()

    with suppress(KeyboardInterrupt):
        create(warehouse, "rollback", interfere)
    assert tables(warehouse) == {"t": [other]}
    assert left(warehouse) == ["t"]
    assert "others have written to it" in caplog.text


def test_an_owner_that_could_not_drop_its_table_leaves_it_to_the_next_process(warehouse, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("tablestore_engine.catalog.builds._remove", lambda *_, **__: fail())
        with pytest.raises(KeyboardInterrupt):
            create(warehouse, "rollback", fail)
    assert tables(warehouse) == {}
    assert left(warehouse) == []


@pytest.mark.parametrize("damage", [one for one in EVERY_DAMAGE if one != "missing"])
def test_a_damaged_record_is_named_and_keeps_no_other_from_being_settled(warehouse, monkeypatch, caplog, damage):
    with monkeypatch.context() as patch:
        patch.setattr("tablestore_engine.catalog.builds._remove", lambda *_, **__: fail())
        with pytest.raises(KeyboardInterrupt):
            create(warehouse, "rollback", fail)
    folder = Path(warehouse, ".builds")
    (record,) = folder.glob("*.json")
    file = folder / "0.json"
    file.write_bytes(record.read_bytes())
    (folder / "y.heartbeat").write_text("1")
    with broken(file, damage):
        assert tables(warehouse) == {}
        assert left(warehouse) == ["0.json"]
    assert str(file) in caplog.text
