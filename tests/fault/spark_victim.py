"""An application that is killed: `python spark_victim.py <warehouse> <statement>`; says `ready` before it begins."""

from __future__ import annotations

import sys

from tablestore_engine.spark.session.session import SessionConfig, start_session
from tablestore_engine.spark.write import writer
from tablestore_engine.store import TableStore

if __name__ == "__main__":
    writer.SMALL_INPUT_BYTES = -1  # through executors
    settings = {
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "600m",
        "spark.ui.enabled": "false",
    }
    store = TableStore(sys.argv[1], start_session(SessionConfig(master="local[2]", spark_config=settings)))
    print("ready", flush=True)
    store.execute(sys.argv[2])
    print("done", flush=True)
