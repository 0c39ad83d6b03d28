"""A stream from one table into another, which is killed: `python stream_victim.py <warehouse> <checkpoint> [once]`.

With `once` it ends when it has read what there is.
"""

from __future__ import annotations

import sys

from tablestore_engine.spark.session.session import SessionConfig, start_session
from tablestore_engine.store import TableStore

if __name__ == "__main__":
    settings = {
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "600m",
        "spark.ui.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
    }
    store = TableStore(sys.argv[1], start_session(SessionConfig(master="local[2]", spark_config=settings)))
    frame = store.read_stream("source", options={"read.stream.maxFilesPerTrigger": 2, "consumer-id": "victim"})
    trigger = {"availableNow": True} if sys.argv[3:] else {"processingTime": "0 seconds"}
    query = store.write_stream("copy", frame, checkpoint_location=sys.argv[2], trigger=trigger)
    print("ready", flush=True)
    query.awaitTermination()
    print("done", flush=True)
