"""Processes that commit to a table again and again. `start` forks one from a server that has imported what it needs.

Roles: `insert` upserts rows of its own, `assign` the same rows as the others, `churn` adds rows to a table without a
key and takes half of them away, `mark` marks rows of its own as deleted and adds others, `increment` reads a counter
and writes it back greater by one, `compact` compacts as the thresholds ask until a file `stop` appears, `schedule` does
so by plans that it makes and takes, `take` carries out the plans that there are. `endless` sends the number of each of
its commits; the others send what they did.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import time
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import Connection
from typing import Any
from unittest import mock

from support.append_deletion_vectors import prepared_delete
from support.repository import ROOT
from support.tables import DELETE, arrow_rows, by_key, compact, new_job, rows, write
from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import ConflictError
from tablestore_engine.metadata.compaction_plan import PlanState
from tablestore_engine.operation.compact.schedule_compaction import schedule
from tablestore_engine.operation.compact.scheduled_run import run_next
from tablestore_engine.storage.clock import now_millis

PROCESSES = 4  # that race in a test
COMMITS = 20  # of each, unless the test says otherwise


def sequence():
    """As the Spark side draws them: a clock with random bits, so that writers do not tie."""
    return (time.time_ns() // 1000) << 10 | random.getrandbits(10)


def insert(table, number, count, send):
    for i in range(count):
        own = [{"id": number * 1_000_000 + i * 10 + k, "v": number} for k in range(3)]
        write(table, [*own, {"id": 7, "v": number * 1000 + i}], job=new_job(table, sequence=sequence()))
    return {"commits": count}


def churn(table, number, count, send):
    for i in range(count):
        row = {"id": number * 1_000_000 + i, "v": number}
        table.write(arrow_rows(table.schema, [row, row]))
        table.write(arrow_rows(table.schema, [row], [DELETE]))
    return {"commits": 2 * count}


def increment(table, number, count, send):
    done = retries = 0
    while done < count:
        snapshot = table.latest_snapshot()
        value = by_key(table, snapshot=snapshot)[1]["v"]
        try:
            live = max(e.file.max_sequence_number for e in table.live_files(snapshot))
            job = new_job(table, sequence=max(sequence(), live + 1))
            write(table, [{"id": 1, "v": value + 1}], job=job, read_snapshot=snapshot.id)
            done += 1
        except ConflictError:
            retries += 1
            time.sleep(random.random() * 0.02)
    return {"commits": done, "retries": retries}


def mark(table, number, count, send):
    retries = 0
    for i in range(count):
        chosen = number + i * PROCESSES
        while True:
            try:
                prepared_delete(table, [chosen], rows([chosen + 1000], v=number) if i % 2 else ())()
                break
            except ConflictError:
                retries += 1
                time.sleep(random.random() * 0.02)
    return {"commits": count, "retries": retries}


def until_stopped(table):
    """Turns until the file `stop` is there, and one more, which nobody is in the way of."""
    stopped = False
    while not stopped:
        stopped = os.path.exists(os.path.join(table.path, "..", "stop"))
        yield
        time.sleep(0.01)


def compact_until_stopped(table, number, count, send):
    done = lost = 0
    for _ in until_stopped(table):
        try:
            done += compact(table, full=(done + lost) % 5 == 0) is not None
        except ConflictError:
            lost += 1
    return {"commits": done, "lost": lost}


def schedule_until_stopped(table, number, count, send):
    """Plans of its own and of others; an attempt that was overtaken is rolled back and reported as lost."""
    done, lost = [], 0
    for _ in until_stopped(table):
        try:
            schedule(table.state, "full" if number else "minor", now_millis())
            result = run_next(table.state, f"racer-{number}", now_millis)
            if result is not None and result.outcome.state is PlanState.COMPLETED:
                done.append(result.plan.instant)
        except ConflictError:
            lost += 1
    return {"plans": done, "lost": lost}


def take(table, number, count, send):
    """All plans that nobody else takes."""
    done = []
    while (result := run_next(table.state, f"racer-{number}", now_millis)) is not None:
        done.append(result.plan.instant)
    return {"plans": done}


def endless(table, number, count, send):
    """Upserts one growing generation after the other until it is killed; says when each is committed."""
    generation = 0
    while True:
        generation += 1
        write(
            table,
            [{"id": n, "v": generation} for n in range(50)],
            job=new_job(table, sequence=sequence()),
            properties={"generation": str(generation)},
        )
        send(generation)
        if generation % 4 == 0:
            compact(table, full=generation % 8 == 0)


def meet(table, number):
    """Wait for the others, for five minutes."""
    deadline = time.monotonic() + 300
    folder = os.path.join(table.path, "..", "meeting")
    os.makedirs(folder, exist_ok=True)
    open(os.path.join(folder, str(number)), "w").close()
    while len(os.listdir(folder)) < PROCESSES:
        if time.monotonic() > deadline:
            raise TimeoutError(f"Only {os.listdir(folder)} came.")
        time.sleep(0.005)


def assign(table, number, count, send):
    """Upserts the same new keys as the others, so that all of them look for a bucket for each key.

    They meet when each has begun its first write, so that all but one have to look again.
    """
    retries = 0
    for i in range(count):
        own = [{"id": i * 5 + k, "v": number} for k in range(8)]
        for attempt in range(1_000):
            try:
                job = new_job(table, sequence=sequence())
                if i == attempt == 0:
                    meet(table, number)
                write(table, own, job=job)
                break
            except ConflictError:
                retries += 1
                time.sleep(random.random() * 0.02)
    return {"commits": count, "retries": retries}


ROLES = {
    "assign": assign,
    "insert": insert,
    "churn": churn,
    "increment": increment,
    "mark": mark,
    "compact": compact_until_stopped,
    "schedule": schedule_until_stopped,
    "take": take,
    "endless": endless,
}


def race(warehouse, role, number, count, sending):
    """What a process does."""
    table = Catalog(warehouse).load_table("default", "t")
    sending.send(ROLES[role](table, number, count, sending.send))


@dataclass
class Racer:
    """A process, and what it sends."""

    process: Any
    received: Connection

    def result(self):
        """What it did, once it has ended."""
        assert self.received.poll(300)
        done = self.received.recv()
        self.process.join(300)
        assert self.process.exitcode == 0
        return done

    def kill(self):
        """Kill it (SIGKILL). Returns what it sent until then."""
        self.process.kill()
        sent = []
        try:
            while True:
                sent.append(self.received.recv())
        except EOFError:
            self.process.join(300)
            return sent


@cache
def _processes():
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    # Before Python 3.13 the server does not look where this process looks.
    folders = [str(ROOT), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")]
    with mock.patch.dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, folders))):
        first = context.Process(target=os.getpid)
        first.start()
        first.join()
    return context


def start(warehouse, role, number=0, count=COMMITS):
    """A process in a role."""
    receiving, sending = _processes().Pipe(duplex=False)
    process = _processes().Process(target=race, args=(str(warehouse), role, number, count, sending))
    process.start()
    sending.close()
    return Racer(process, receiving)
