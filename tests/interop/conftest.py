"""Fixtures of the interop tests. `PYPAIMON_PYTHON` names the interpreter of the other readers (make interop)."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from support.interop.compare import assert_same
from support.interop.java_paimon import JavaPaimon, multiset_of
from support.interop.ours import OurTable
from support.interop.readers import READERS, OtherReaderError, PaimonReader
from support.spark_settings import small_session

from tablestore_engine.catalog import Catalog


def pytest_collection_modifyitems(items):
    here = Path(__file__).parent
    for item in items:
        if here in Path(item.fspath).parents:
            item.add_marker(pytest.mark.interop)


@pytest.fixture(scope="session")
def paimon(tmp_path_factory):
    python = os.environ.get("PYPAIMON_PYTHON")
    if not python:
        pytest.skip("PYPAIMON_PYTHON is not set; `make interop` sets it")
    reader = PaimonReader(python, tmp_path_factory.mktemp("exchange"))
    yield reader
    reader.close()


@pytest.fixture(scope="session")
def catalog(tmp_path_factory):
    return Catalog(tmp_path_factory.mktemp("warehouse"))


@pytest.fixture
def name(request):
    """A table name of the test's own."""
    module = request.module.__name__.removeprefix("test_")
    return re.sub(r"\W+", "_", f"{module}_{request.node.name.removeprefix('test_')}").strip("_").lower()


@pytest.fixture
def all_read(paimon):
    """Check that every reader finds the rows that the engine finds; `fails` names readers and their own message."""

    def check(table: OurTable, expected=None, *, snapshot=None, fails=None):
        own = table.read(snapshot)
        if expected is not None:
            assert_same(own, expected, "tablestore")
        for reader in READERS:
            message = (fails or {}).get(reader)
            if message is None:
                found = paimon.read(reader, table.warehouse, table.name, snapshot=snapshot)
                assert_same(found, own, reader)
            else:
                with pytest.raises((OtherReaderError, AssertionError), match=message):
                    assert_same(paimon.read(reader, table.warehouse, table.name, snapshot=snapshot), own, reader)
        return own

    return check


@pytest.fixture(scope="session")
def java(tmp_path_factory):
    jars = os.environ.get("PAIMON_JARS")
    if not jars:
        pytest.skip("PAIMON_JARS is not set; `make interop-java` sets it")
    server = JavaPaimon(jars, tmp_path_factory.mktemp("java"))
    yield server
    server.close()


@pytest.fixture(scope="session")
def old_java(tmp_path_factory):
    """Java Paimon 0.9."""
    jars = os.environ.get("PAIMON_OLD_JARS")
    if not jars:
        pytest.skip("PAIMON_OLD_JARS is not set; `make interop-java` sets it")
    server = JavaPaimon(jars, tmp_path_factory.mktemp("old-java"), old=True)
    yield server
    server.close()


def _reads(server: JavaPaimon):
    def check(table: OurTable, snapshot: int | None = None):
        own = table.read(snapshot)
        found = server.read(table.table.path, snapshot)[1]
        expected = multiset_of(own, table.table.schema)
        assert found == expected, [
            sorted((found - expected).elements())[:5],
            sorted((expected - found).elements())[:5],
        ]
        return own

    return check


@pytest.fixture
def java_reads(java):
    """Check that Java Paimon finds the rows that the engine finds, of a snapshot or now; these are returned."""
    return _reads(java)


@pytest.fixture
def old_java_reads(old_java):
    """The same of Java Paimon 0.9."""
    return _reads(old_java)


@pytest.fixture
def writer(java):
    """The version of Java Paimon that makes tables."""
    return java


@pytest.fixture
def made(writer, catalog, name, request):
    """A table of the module's columns that Java makes, and another one that gives it rows."""

    def make(options, key=(), partition=()):
        catalog.create_database("db", if_not_exists=True)
        path, columns = f"{catalog.warehouse}/db.db/{name}", request.module.COLUMNS
        writer.create(path, columns, key=key, partition=partition, options=options)
        return OurTable(catalog, "db", name), OurTable.create(catalog, f"{name}_more", request.module.OURS)

    return make


@pytest.fixture(scope="session")
def spark_store(catalog):
    """A store on the warehouse of these tests, with Spark."""
    from tablestore_engine.spark.session.session import new_session
    from tablestore_engine.store import TableStore

    catalog.create_database("db", if_not_exists=True)
    return TableStore(catalog.warehouse, new_session(small_session()), database="db")
