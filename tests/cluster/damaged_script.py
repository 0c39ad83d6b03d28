"""What an application sees of broken files: `python damaged_script.py <warehouse> <url>`; prints, as JSON, how many
reads and writes were tried, and the errors of those that do not name the file in one message."""

from __future__ import annotations

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from support.damaged import EVERY_DAMAGE, FILES, NOT_NEEDED, STATEMENTS, broken, make_tables

from tablestore_engine.errors import CorruptFileError, StorageError
from tablestore_engine.spark.session.session import SessionConfig, start_session
from tablestore_engine.store import TableStore

SELECT = "select * from {}"


def acts(store, kind, name):
    """What reads a kind of file, by the name of its door."""
    statement = STATEMENTS[kind].format(name)
    found = {"SQL": lambda: store.sql(statement).collect()}
    if STATEMENTS[kind] == SELECT:
        found["DataFrame"] = lambda: store.read(name).groupBy("v").count().toPandas()
        found["write"] = lambda: store.execute(f"insert into copy select id, v from {name}")
    return found


def main(warehouse, url):
    def opened():
        return TableStore(warehouse, start_session(SessionConfig(remote=url)))

    store = opened()
    make_tables(store.catalog)
    store.execute("create table copy (id bigint, v string)")
    tried, bad = 0, []
    for at, (kind, (name, path_of)) in enumerate(FILES.items()):
        # Data files are read by Spark, all others by the engine as without Connect: one damage of each is enough.
        damages = EVERY_DAMAGE if kind.startswith("data file") else (EVERY_DAMAGE[at % len(EVERY_DAMAGE)], "cut")
        for damage in dict.fromkeys(damages):
            if (kind, damage) in NOT_NEEDED:
                continue
            if "manifest" in kind:  # a session keeps the frame of an unchanged table
                store = opened()
            path = path_of(store.table(name))
            with broken(path, damage):
                for door, act in acts(store, kind, name).items():
                    tried += 1
                    said = error_of(act)
                    if f"{path} (table default.{name}): " not in said or len(said.splitlines()) > 4:
                        bad.append(f"{kind}, {damage}, {door}: {said}")
    print(json.dumps({"tried": tried, "bad": bad, "copied": store.sql("select * from copy").count()}))


def error_of(act):
    try:
        act()
    except (CorruptFileError, StorageError) as error:
        return str(error)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "no error"


main(*sys.argv[1:])
