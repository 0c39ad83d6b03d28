"""A fault at every step of every action: the table is as before or as after, and running it again succeeds.

The steps are found by a run that records them, so a new step is tested the day it is written.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest
from support.fault.actions import ACTIONS, load, prepare, state
from support.fault.fault_io import Fault, FaultInjectingFileIO
from support.files import data_files, live_paths
from support.invariants import check_invariants
from support.soak import SOAK

from tablestore_engine.errors import TableNotFound, TableStoreError
from tablestore_engine.metadata.compaction_plan import PlanState
from tablestore_engine.operation.compact.scheduled_run import PLAN_PROPERTY
from tablestore_engine.operation.expiration.orphan_files import named_files
from tablestore_engine.operation.files.entry_paths import EntryPaths


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    directory = tmp_path_factory.mktemp("prepared") / "warehouse"
    prepare(str(directory))
    return str(directory)


@pytest.fixture(scope="module")
def recorded(prepared, tmp_path_factory):
    """Steps, state before and state after of each action."""
    found = {}
    for name, action in ACTIONS.items():
        warehouse = copy(prepared, tmp_path_factory.mktemp(name))
        before = start(name, warehouse)
        io = FaultInjectingFileIO()
        action(warehouse, io)
        found[name] = (io.steps, before, state(warehouse))
    return found


def copy(prepared, directory):
    """The warehouse elsewhere; absolute paths are part of no metadata."""
    target = os.path.join(directory, "warehouse")
    shutil.copytree(prepared, target)
    return target


def start(name, warehouse):
    if name.startswith("ctas"):  # it begins without a table
        shutil.rmtree(os.path.join(warehouse, "default.db", "t"))
    return state(warehouse)


def check_after(name, warehouse, before, after):
    """What holds after any failure, and after running the action again."""
    now = state(warehouse)
    shown_empty = (after[0], [], after[2]) if name == "ctas_none" else after
    assert now in (before, shown_empty, after)
    if now is not None:
        for table in (load(warehouse), load(warehouse, name="log")):
            check_invariants(table)
            assert live_paths(table) <= data_files(table)
    ACTIONS[name](warehouse, None)
    assert state(warehouse) == after
    if after is not None:
        table = load(warehouse)
        check_invariants(table)
        check_files(table)
    if name == "scheduled_compaction":
        check_timeline(load(warehouse))
    return now


def check_files(table):
    """Each snapshot has its files, which were read when it was the latest one."""
    for snapshot in table.snapshots():
        paths = EntryPaths(table.paths, table.schema_of(snapshot))
        for entry in table.live_files(snapshot):
            assert os.path.getsize(paths.data_file(entry)) == entry.file.file_size, snapshot.id


def check_timeline(table):
    """One plan was made, and committed once; no file is left of attempts that came to nothing."""
    assert [one.state for one in table.state.timeline.load()] == [PlanState.COMPLETED]
    made = [s for s in table.snapshots() if PLAN_PROPERTY in table.properties_of(s)]
    assert [s.commit_kind for s in made] == ["COMPACT"]
    left = {os.path.basename(path) for path in data_files(table)} - named_files(table.state)
    assert left == set()


@pytest.mark.cover
@pytest.mark.parametrize("name", ACTIONS)
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("lasting", [False, True], ids=["once", "lasting"])
def test_an_error_at_each_step(name, when, lasting, prepared, recorded, tmp_path):
    steps, before, after = recorded[name]
    assert steps
    for number, step in enumerate(steps):
        directory = tmp_path / str(number)
        directory.mkdir()
        warehouse = copy(prepared, directory)
        start(name, warehouse)
        io = FaultInjectingFileIO(fault=Fault(step, when, lasting=lasting))
        raised = None
        try:
            ACTIONS[name](warehouse, io)
        except TableStoreError as error:
            raised = error
        assert io.struck, step
        now = check_after(name, warehouse, before, after)
        if raised is None:
            assert now == after, f"{step}: success was reported"
        if name == "ctas_rollback" and raised and number < steps.index("create snapshot 1"):
            assert now is None, "dropped, by the statement or when the catalog is opened again"
        shutil.rmtree(warehouse)


@pytest.mark.parametrize("name", ["upsert", "overwrite", "compaction", "replacement"])
def test_an_error_that_passes_leaves_no_manifest_behind(name, prepared, recorded, tmp_path):
    """Once storage works again, a failed commit has removed what it wrote, unless its outcome was unknown."""
    steps, before, _ = recorded[name]
    for number, step in enumerate(steps):
        if not step.startswith(("write manifest", "write list")):
            continue
        directory = tmp_path / str(number)
        directory.mkdir()
        warehouse = copy(prepared, directory)
        table = load(warehouse)
        manifests = set(os.listdir(table.paths.manifest_dir))
        with pytest.raises(TableStoreError):
            ACTIONS[name](warehouse, FaultInjectingFileIO(fault=Fault(step)))
        assert set(os.listdir(table.paths.manifest_dir)) == manifests
        assert state(warehouse) == before


def run_and_die(name, warehouse, step, when):
    tests = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    code = (
        f"import sys; sys.path[:0] = [{tests!r}]\n"
        "from support.fault.actions import ACTIONS\nfrom support.fault.fault_io import Fault, FaultInjectingFileIO\n"
        "import os\n"
        "for line in sys.stdin:\n"
        "    name, warehouse, step, when = line.rstrip('\\n').split('\\t')\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        try:\n"
        "            ACTIONS[name](warehouse, FaultInjectingFileIO(fault=Fault(step, when, how='die')))\n"
        "        finally:\n"
        "            os._exit(1)\n"
        "    print(os.waitpid(child, 0)[1], flush=True)\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system", "OMP_NUM_THREADS": "1"},
    )


@pytest.fixture(scope="module")
def killer():
    """A process that forks a child for each action, which a fault kills."""
    process = run_and_die("", "", "", "")

    def kill(*line):
        process.stdin.write("\t".join(line) + "\n")
        process.stdin.flush()
        return int(process.stdout.readline())

    yield kill
    process.stdin.close()
    process.wait(300)


@pytest.mark.parametrize("name", ACTIONS)
def test_kill_9_at_each_step(name, prepared, recorded, tmp_path, killer):
    """A process that is killed after a step leaves what one leaves that is killed before the next step; `make soak`
    kills it at both."""
    steps, before, after = recorded[name]
    for number, step in enumerate(steps):
        for when in ("before", "after") if SOAK or number == len(steps) - 1 else ("before",):
            directory = tmp_path / f"{number}-{when}"
            directory.mkdir()
            warehouse = copy(prepared, directory)
            start(name, warehouse)
            assert killer(name, warehouse, step, when) == 9, step
            now = check_after(name, warehouse, before, after)
            if name.startswith("ctas"):
                check_level(name, step, when, steps, now, after)
            shutil.rmtree(warehouse)


def check_level(name, step, when, steps, now, after):
    """What each level promises of a table whose creator was killed at a step, before or after it."""
    reached = steps.index(step) + (when == "after")
    shown, committed = steps.index("rename table"), steps.index("create snapshot 1")
    if name == "ctas_none":
        assert (now is not None) == (reached > shown), "visible from the start, and stays"
        assert (now == after) == (reached > committed)
    else:
        complete = committed if name == "ctas_rollback" else shown
        assert now == (after if reached > complete else None)


def test_the_steps_have_names(recorded):
    steps = recorded["upsert"][0]
    assert "create snapshot 5" in steps
    assert "write manifest" in steps
    assert "write list 2" in steps
    assert "rename table" in recorded["ctas"][0]
    assert recorded["drop"][0] == ["rename table", "delete tree table"]
    noted = [step for step in recorded["scheduled_compaction"][0] if "compaction" in step]
    assert noted == [f"create compaction {note}" for note in ("requested", "inflight", "completed")]
    named = re.compile(r"^[a-z ]+ [a-z]+( \d+)?( \d+)?$")
    assert all(named.match(step) for steps, _, _ in recorded.values() for step in steps)


def test_leftovers_of_a_failed_ctas_are_never_listed(prepared, recorded, tmp_path):
    warehouse = copy(prepared, tmp_path)
    start("ctas", warehouse)
    with pytest.raises(TableStoreError):
        ACTIONS["ctas"](warehouse, FaultInjectingFileIO(fault=Fault("create snapshot 1", lasting=True)))
    from tablestore_engine.catalog import Catalog

    catalog = Catalog(warehouse)
    assert catalog.list_tables("default") == ["log"]
    with pytest.raises(TableNotFound):
        catalog.load_table("default", "t")


@pytest.mark.parametrize("name", ["replacement", "enable_retractions"])
def test_a_new_schema_comes_directly_before_its_snapshot(recorded, name):
    """Other readers take it for the schema of the old rows, until the snapshot is there."""
    steps = recorded[name][0]
    assert [step.split()[1] for step in steps if step.startswith("create ")] == ["schema", "snapshot"]
    schema = next(number for number, step in enumerate(steps) if step.startswith("create schema"))
    assert steps[schema + 1].startswith("create snapshot")


def test_enabling_retractions_that_fails_in_between_changes_no_row(prepared, recorded, tmp_path):
    """The schema is there and its snapshot is not: the table counts, and everything else is as before."""
    steps, before, after = recorded["enable_retractions"]
    assert steps.index("create schema 1") < steps.index("create snapshot 2")
    warehouse = copy(prepared, tmp_path)
    fault = Fault("create schema 1", "after", lasting=True)
    with pytest.raises(TableStoreError):
        ACTIONS["enable_retractions"](warehouse, FaultInjectingFileIO(fault=fault))
    assert state(warehouse) == before
    table = load(warehouse, name="log")
    assert table.schema.merge_engine.rules.is_multiset
    assert table.latest_snapshot().schema_id == 0
    ACTIONS["enable_retractions"](warehouse, None)
    assert state(warehouse) == after
    assert load(warehouse, name="log").latest_snapshot().schema_id == 1
