"""Every kind of file of a table, broken in every way, under the doors with Spark: SQL, DataFrames, the command line.

`tests/unit/test_table_damaged.py` has the doors without Spark, `tests/functional/test_damaged_tables.py` has dbt.
"""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from support.damaged import EVERY_DAMAGE, FILES, NOT_NEEDED, STATEMENTS, broken, make_tables
from support.files import path_of

from tablestore_engine.cli import main
from tablestore_engine.errors import CorruptDataError, CorruptFileError, ExecutionError, StorageError

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


@pytest.mark.cover
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


def test_an_rdd_names_a_damaged_file(store):
    store.sql("create table r (id int, v int)")
    store.sql("insert into r values (1, 0), (2, 3)")
    found = store.sql("select * from r").rdd
    assert found.map(lambda row: row.id).sum() == 3
    assert found.map(lambda row: (row.id,)).toDF(["x"]).count() == 2
    with pytest.raises(ExecutionError, match="DIVIDE_BY_ZERO"):
        store.sql("select 1 / v as x from r").rdd.map(lambda row: row.x).collect()
    frame = store.sql("select * from r")
    with open(path_of(store.table("r"), store.table("r").live_files()[0]), "wb") as file:
        file.write(b"x" * 100)
    for run in (
        frame.rdd.collect,
        lambda: frame.rdd.map(len).count(),
        lambda: list(frame.rdd.toLocalIterator()),
    ):
        with pytest.raises(CorruptDataError, match=r"\(table default\.r\)"):
            run()
