"""A write that carries an identity of its caller is applied once, however often it is sent."""

from __future__ import annotations

import pyarrow as pa
import pytest
from support.fault.fault_io import Fault, FaultInjectingFileIO
from support.files import data_files, live_paths
from support.tables import compact, make_table, read

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import CommitIdentityError, CommitOutcomeUnknownError
from tablestore_engine.operation.expiration.snapshot_expire import Retention
from tablestore_engine.operation.table_commands import arrow_write
from tablestore_engine.operation.transaction import transaction

SUMS = {"merge-engine": "aggregation", "fields.v.aggregate-function": "sum", "bucket": "1", "write-only": "true"}
LOADER = {"commit_user": "loader", "commit_identifier": 1}


@pytest.fixture
def sums(tmp_path):
    return make_table(tmp_path, {"id": "INT", "v": "INT"}, ["id"], options=SUMS)


def batch(value=1, keys=(1, 2)):
    return pa.table({"id": pa.array(keys, pa.int32()), "v": pa.array([value] * len(keys), pa.int32())})


def total(table):
    return {row["id"]: row["v"] for row in read(table)}


def test_a_batch_that_is_sent_again_counts_once(sums):
    first = sums.write(batch(), **LOADER)
    assert (first.commit_user, first.commit_identifier) == ("loader", 1)
    files = data_files(sums)
    assert sums.write(batch(), **LOADER) == first
    assert sums.write(iter(batch().to_batches()), **LOADER) == first
    assert data_files(sums) == files, "nothing was written"
    assert total(sums) == {1: 1, 2: 1}
    sums.write(batch(), commit_user="loader", commit_identifier=2)
    sums.write(batch(), commit_user="another", commit_identifier=1)
    assert total(sums) == {1: 3, 2: 3}


def test_among_other_writers_and_compactions(sums):
    first = sums.write(batch(), **LOADER)
    sums.write(batch(10))
    compact(sums)
    sums.write(batch(100), commit_user="loader", commit_identifier=2)
    assert sums.write(batch(), **LOADER) == first
    assert total(sums) == {1: 111, 2: 111}


def test_as_long_as_its_snapshot_or_a_later_one_of_the_user_is_there(sums):
    sums.write(batch(), **LOADER)
    sums.write(batch(10))
    sums.write(batch(100), commit_user="loader", commit_identifier=2)
    sums.expire_snapshots(Retention(1, 1, 0, 100))
    assert [s.id for s in sums.snapshots()] == [3]
    assert sums.write(batch(100), commit_user="loader", commit_identifier=2).id == 3
    with pytest.raises(CommitIdentityError, match=r"Whether write 1 of 'loader' was applied is not known.*write 2"):
        sums.write(batch(), **LOADER)
    assert total(sums) == {1: 111, 2: 111}
    sums.write(batch(), commit_user="loader", commit_identifier=3)
    assert total(sums) == {1: 112, 2: 112}


def test_identifiers_may_come_in_any_order_while_all_snapshots_are_there(sums):
    sums.write(batch(), commit_user="loader", commit_identifier=2)
    sums.write(batch(10), **LOADER)
    assert total(sums) == {1: 11, 2: 11}


def test_two_that_send_one_batch_at_the_same_time(sums, monkeypatch):
    """The other one commits after this one looked and wrote its files: these are removed."""
    others = [lambda: sums.write(batch(), **LOADER)]
    write_table = arrow_write.write_table

    def slow(job, rows):
        result = write_table(job, rows)
        if others:
            others.pop()()
        return result

    monkeypatch.setattr(arrow_write, "write_table", slow)
    sums.write(batch(), **LOADER)
    assert total(sums) == {1: 1, 2: 1}
    assert live_paths(sums) == data_files(sums)
    assert [s.id for s in sums.snapshots()] == [1]


@pytest.mark.parametrize("when", ["before", "after"])
def test_the_answer_of_the_commit_is_lost(sums, tmp_path, monkeypatch, when):
    """The snapshot was made (after) or not (before), and storage fails until the writer gives up."""
    monkeypatch.setattr(transaction, "ATTEMPTS", 2)
    sums.write(batch(10))
    io = FaultInjectingFileIO(fault=Fault("create snapshot 2", when, lasting=True))
    with pytest.raises(CommitOutcomeUnknownError):
        Catalog(tmp_path, io).load_table("default", "t").write(batch(), **LOADER)
    for _ in range(3):
        assert sums.write(batch(), **LOADER).id == 2
    assert total(sums) == {1: 11, 2: 11}


@pytest.mark.parametrize(
    ("identity", "words"),
    [
        ({"commit_user": "me"}, "'me' has no commit identifier"),
        ({"commit_identifier": -1}, "cannot be -1"),
        ({"commit_identifier": True}, "cannot be True"),
        ({"commit_identifier": 2**63}, "a whole number from 0 to"),
        ({"commit_identifier": "1"}, "cannot be '1'"),
        ({"commit_user": "", "commit_identifier": 1}, "empty"),
    ],
)
def test_wrong_identities_are_refused(sums, identity, words):
    with pytest.raises(CommitIdentityError, match=words):
        sums.write(batch(), **identity)
    assert sums.latest_snapshot() is None


def test_an_identifier_alone_is_enough(sums):
    sums.write(batch(), commit_identifier=7)
    sums.write(batch(), commit_identifier=7)
    assert total(sums) == {1: 1, 2: 1}
    assert sums.latest_snapshot().commit_user == "tablestore"
