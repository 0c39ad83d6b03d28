"""A process that commits to a table again and again: `python racer.py <warehouse> <role> <number> <count> [seed]`.

Roles: `insert` upserts rows of its own, `place` the same rows as the others, `increment` reads a counter and writes it back greater by one, `compact`
compacts as the thresholds ask until a file `stop` appears. Each prints what it did as one line of JSON.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from engine_support import by_key, compact, new_job, write

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import ConflictError


def sequence():
    """As the Spark side draws them: a clock with random bits, so that writers do not tie."""
    return (time.time_ns() // 1000) << 10 | random.getrandbits(10)


def insert(table, number, count):
    for i in range(count):
        rows = [{"id": number * 1_000_000 + i * 10 + k, "v": number} for k in range(3)]
        write(table, [*rows, {"id": 7, "v": number * 1000 + i}], job=new_job(table, sequence=sequence()))
    return {"commits": count}


def increment(table, number, count):
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


def compact_until_stopped(table, number, count):
    done = lost = 0
    while not os.path.exists(os.path.join(table.path, "..", "stop")):
        try:
            done += compact(table, full=(done + lost) % 5 == 0) is not None
        except ConflictError:
            lost += 1
        time.sleep(0.01)
    return {"commits": done, "lost": lost}


def endless(table, number, count):
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
        print(generation, flush=True)
        if generation % 4 == 0:
            compact(table, full=generation % 8 == 0)


def place(table, number, count):
    """Upserts the same new keys as the others, so that all of them look for a bucket for each key."""
    retries = 0
    for i in range(count):
        rows = [{"id": i * 5 + k, "v": number} for k in range(8)]
        for _ in range(1_000):
            try:
                write(table, rows, job=new_job(table, sequence=sequence()))
                break
            except ConflictError:
                retries += 1
                time.sleep(random.random() * 0.02)
    return {"commits": count, "retries": retries}


ROLES = {"place": place, "insert": insert, "increment": increment, "compact": compact_until_stopped, "endless": endless}

if __name__ == "__main__":
    warehouse, role, number, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    loaded = Catalog(warehouse).load_table("default", "t")
    print(json.dumps(ROLES[role](loaded, number, count)), flush=True)
