"""What an application does with a store: `python session_script.py <warehouse> <url>`; prints answers as JSON.

The url is a master (`spark://…`) or a Spark Connect server (`sc://…`). Every write and compaction is sent to executors.
"""

from __future__ import annotations

import json
import os
import sys

from tablestore_engine.errors import PrimaryKeyError, TableStoreError
from tablestore_engine.spark.compact import compactor
from tablestore_engine.spark.read import merge_source_bounds
from tablestore_engine.spark.session.session import SessionConfig, start_session
from tablestore_engine.spark.write import writer
from tablestore_engine.store import TableStore

SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.memory": "600m",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.memory": "512m",
    "spark.ui.enabled": "false",
}


def main(warehouse, url):
    writer.SMALL_INPUT_BYTES = compactor.LOCAL_BYTES = -1
    merge_source_bounds.LARGE_FILES = 0
    if url.startswith("sc://"):
        config = SessionConfig(remote=url)
    else:
        config = SessionConfig(master=url, spark_config=SETTINGS)
    store = TableStore(warehouse, start_session(config))
    answers = {"pid": os.getpid()}

    def ask(name, query):
        answers[name] = [list(row) for row in store.sql(query).collect()]

    created = store.execute(
        "CREATE TABLE t (PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '4')"
        " AS SELECT id, cast(id AS STRING) AS name, 1 AS v FROM range(20000)"
    )
    answers["created"] = created.rows_affected
    ask("counted", "SELECT count(*), sum(v), max(id) FROM t")
    before = store.sql("SELECT count(*) AS n FROM t")
    answers["upserted"] = store.execute("INSERT INTO t SELECT id + 19000, 'new', 5 FROM range(2000)").rows_affected
    answers["deleted"] = store.execute("DELETE FROM t WHERE id < 500").rows_affected
    answers["merged"] = store.execute(
        "MERGE INTO t USING (SELECT id + 499 AS id FROM range(2)) s ON t.id = s.id"
        " WHEN MATCHED THEN UPDATE SET v = 7 WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, 9)"
    ).rows_affected
    chance = "500 + abs(hash(reflect('java.util.UUID', 'randomUUID'))) % 100"
    store.execute(
        f"MERGE INTO t USING (SELECT DISTINCT {chance} AS id FROM range(20)) s ON t.id = s.id"
        " WHEN MATCHED AND t.v < 0 THEN DELETE WHEN NOT MATCHED THEN INSERT (id, v) VALUES (-s.id, 9)"
    )  # changes nothing, unless the rows that are joined are others than those that were looked at
    answers["pinned"] = before.collect()[0][0]
    ask("changed", "SELECT count(*), sum(v), max(id) FROM t")
    store.execute("CALL sys.compact(table => 't')")
    ask("compacted", "SELECT count(*), sum(v), max(id) FROM t")
    answers["files"] = len(store.table("t").live_files())
    ask("point", "SELECT name, v FROM t WHERE id = 19500")
    store.execute("CREATE VIEW w AS SELECT v, count(*) AS n FROM t GROUP BY v")
    ask("view", "SELECT * FROM w ORDER BY v")
    try:
        store.execute("INSERT INTO t SELECT if(id = 3, NULL, id), 'x', 1 FROM range(10)")
    except PrimaryKeyError as error:
        answers["null"] = str(error)
    try:
        store.execute("INSERT INTO t SELECT id, raise_error('own words'), 1 FROM range(10)")
    except TableStoreError as error:
        answers["failed"] = str(error)
    if url.startswith("sc://"):
        answers["streamed"] = streamed(store, warehouse)
    print(json.dumps(answers), flush=True)
    store.spark.stop()


def streamed(store, warehouse):
    """What a stream copies in two runs: the rows of the copy, and the number of its last batch."""
    found = []
    for name in ("numbers", "copy"):
        store.execute(f"CREATE TABLE {name} (id INT, PRIMARY KEY (id) NOT ENFORCED)")
    for statement in ("INSERT INTO numbers VALUES (1), (2)", "DELETE FROM numbers WHERE id = 1"):
        store.execute(statement)
        plain = store.spark.readStream.format("tablestore").load(store.table("numbers").path)
        checkpoint = f"{warehouse}-checkpoint"
        query = store.write_stream("copy", plain, checkpoint_location=checkpoint, trigger={"availableNow": True})
        query.awaitTermination()
        copy = store.table("copy")
        found.append(
            [sorted(row["id"] for row in copy.to_arrow().to_pylist()), copy.latest_snapshot().commit_identifier]
        )
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])
