"""A process that writes to a table with a log, and kills itself at a step of the publication.

python writer.py <table> <step>          one write, killed there
python writer.py <table> many <number>   ten writes of keys of its own
"""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from support.fault.die import die
from support.tables import keyed_arrow

from tablestore_engine.catalog import Catalog
from tablestore_engine.kafka import transactional_producer
from tablestore_engine.operation.log_store import unpublished_snapshots


class Dying:
    """A producer that kills its process at a step."""

    def __init__(self, inner, step):
        self._inner, self._step = inner, step

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def __len__(self):
        if self._step == "sent":
            die()
        return len(self._inner)

    def begin_transaction(self, *given):
        self._inner.begin_transaction(*given)
        if self._step == "begun":
            die()

    def flush(self, *given):
        return self._inner.flush(*given)

    def commit_transaction(self, *given):
        if self._step == "flushed":
            die()
        self._inner.commit_transaction(*given)
        if self._step == "published":
            die()


def main(path, step, number=0):
    warehouse, _, name = path.rpartition("/")[0].rpartition("/")[0], "", path.rpartition("/")[2]
    table = Catalog(warehouse).load_table("default", name)
    if step == "many":
        for value in range(1, 11):
            own = 5 * int(number)
            table.write(keyed_arrow(value, *range(own, own + 5)))
        return
    make = transactional_producer.transactional_producer
    transactional_producer.transactional_producer = lambda log: Dying(make(log), step)
    if step == "committed":
        unpublished_snapshots.publish_after_commit = die
    if step == "noted":
        note = unpublished_snapshots.note_position
        unpublished_snapshots.note_position = lambda *given: (note(*given), die())
    table.write(keyed_arrow(1, *range(10)))


if __name__ == "__main__":
    main(*sys.argv[1:])
