"""kill -9 of streams, again and again at random moments: each row arrives once. `make streams` kills 20 times."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from itertools import count

import pytest
from support.invariants import check_invariants
from support.tables import make_table, reload, rows, write

pytestmark = [pytest.mark.spark, pytest.mark.slow]

KILLS = int(os.environ.get("TABLESTORE_KILLS", "0"))
VICTIM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "stream_victim.py")
COLUMNS = {"id": "INT", "v": "INT"}
SECONDS = 120


def started(*arguments):
    return subprocess.Popen(
        [sys.executable, VICTIM, *map(str, arguments)], stdout=subprocess.PIPE, text=True, start_new_session=True
    )


def killed(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=SECONDS)


@pytest.mark.skipif(not KILLS, reason="make streams")
def test_killed_streams_neither_lose_nor_repeat(tmp_path):
    dice = random.Random(KILLS)
    source = make_table(tmp_path, COLUMNS, options={"snapshot.num-retained.max": "10"}, name="source")
    copy = make_table(tmp_path, COLUMNS, options={"snapshot.num-retained.max": "10"}, name="copy")
    sent = count()
    within = 0
    for _ in range(KILLS):
        for _ in range(5):
            write(source, rows([next(sent), next(sent)]))
        process = started(tmp_path, tmp_path / "checkpoint")
        try:
            assert process.stdout.readline().strip() == "ready"
            before = copy.snapshot_store.latest_id() or 0
            deadline = time.monotonic() + SECONDS
            # While it writes: after some of its commits, at a random moment of the next one.
            while (copy.snapshot_store.latest_id() or 0) < before + dice.randrange(1, 4):
                assert process.poll() is None
                assert time.monotonic() < deadline, "the stream does not move"
                time.sleep(0.002)
            time.sleep(dice.random() / 2)
        finally:
            killed(process)
        found = Counter(row["id"] for row in copy.to_arrow().to_pylist())
        assert max(found.values()) == 1, "a row came twice"
        within += len(found) < source.to_arrow(["id"]).num_rows
    last = started(tmp_path, tmp_path / "checkpoint", "once")
    out, _ = last.communicate(timeout=SECONDS)
    assert "done" in out
    expected = sorted(row["id"] for row in source.to_arrow(["id"]).to_pylist())
    assert sorted(row["id"] for row in reload(copy).to_arrow(["id"]).to_pylist()) == expected
    assert within, "no kill came before the end"
    check_invariants(reload(copy))
