"""Every kind of file of a table, broken in every way, under the doors with Spark: SQL, DataFrames, the command line.

`tests/unit/test_table_damaged.py` has the doors without Spark, `tests/functional/test_damaged_tables.py` has dbt.
"""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from support.damaged import EVERY_DAMAGE, FILES, NOT_NEEDED, STATEMENTS, broken, make_tables

from tablestore_engine.cli import main
from tablestore_engine.errors import CorruptFileError, StorageError

WRITTEN = ("hash index", "index manifest")
CELLS = [(kind, damage) for kind in FILES for damage in EVERY_DAMAGE if (kind, damage) not in NOT_NEEDED]


@pytest.fixture(scope="module")
def opened(spark, tmp_path_factory):
    from tablestore_engine.spark.session.session import new_session
    from tablestore_engine.store import TableStore

    store = TableStore(tmp_path_factory.mktemp("warehouse"), new_session(spark))
    make_tables(store.catalog)
    return store


def error_of(act):
    with pytest.raises((CorruptFileError, StorageError)) as caught:
        act()
    return str(caught.value)


def printed(store, statement):
    run = CliRunner().invoke(main, ["sql", "-w", str(store.catalog.warehouse), statement])
    assert (run.exit_code, len(run.stderr.splitlines())) == (3, 1), run.output
    return run.stderr


@pytest.mark.parametrize(("kind", "damage"), CELLS)
def test_a_broken_file_is_named(opened, kind, damage):
    from tablestore_engine.spark.session.session import new_session
    from tablestore_engine.store import TableStore

    name, path_of_kind = FILES[kind]
    # A session keeps the frame of an unchanged table, and then needs no manifest.
    store = TableStore(opened.catalog.warehouse, new_session(opened.spark)) if "manifest" in kind else opened
    path, statement = path_of_kind(store.table(name)), STATEMENTS[kind].format(name)
    rows = store.spark.createDataFrame([(30, "z")], "id bigint, v string")
    doors = {"SQL": lambda: error_of(lambda: store.sql(statement).collect())}
    if not kind.startswith("manifest"):  # in this process it has that session
        doors["command line"] = lambda: printed(store, statement)
    if kind in WRITTEN:
        doors["DataFrame"] = lambda: error_of(lambda: store.write(name, rows))
    elif STATEMENTS[kind] == "select * from {}":
        doors["DataFrame"] = lambda: error_of(lambda: store.read(name).groupBy("v").count().collect())
    with broken(path, damage):
        for door, act in doors.items():
            text = act()
            assert f"{path} (table default.{name}): " in text, f"{door}: {text}"
            assert len(text.splitlines()) <= 4, f"{door}: {text}"
