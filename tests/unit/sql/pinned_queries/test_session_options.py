"""Which options the settings `spark.paimon.…` of a session give to a table."""

from __future__ import annotations

import pytest

from tablestore_engine.errors import CommitIdentityError, OptionError
from tablestore_engine.sql.pinned_queries.session_options import (
    besides_identity,
    identity_of,
    of_read,
    of_write,
    referring,
)
from tablestore_engine.sql.query.bind import TableReference
from tablestore_engine.sql.query_structure.query_structure import TimeTravel

SETTINGS = {
    "file.compression": "gzip",
    "*.*.t.file.compression": "snappy",
    "tablestore.db.T.write-only": "true",
    "spark_catalog.other.t.target-file-size": "1 mb",
    "hive.db.t.target-file-size": "2 mb",
    "scan.snapshot-id": "3",
    "commit.identifier": "7",
    "commit.user-prefix": "loader",
}


def test_settings_hold_for_all_tables_or_for_those_that_they_name():
    identity = {"commit.identifier": "7", "commit.user-prefix": "loader"}
    assert of_write(SETTINGS, "db", "t") == {"file.compression": "snappy", "write-only": "true", **identity}
    assert of_write(SETTINGS, "db", "u") == {"file.compression": "gzip", **identity}
    assert of_read(SETTINGS, "Other", "t") == {
        "file.compression": "snappy", "target-file-size": "1 mb", "scan.snapshot-id": "3"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("setting", "hint"),
    [
        ("file.compresion", "Did you mean 'file.compression'?"),
        ("*.*.t.write-onli", "Did you mean 'write-only'?"),
        ("qqq", "RESET `spark.paimon.qqq`"),
    ],
)
def test_a_setting_that_is_no_option_is_refused_by_name(setting, hint):
    for options in (of_read, of_write):
        with pytest.raises(OptionError) as caught:
            options({setting: "1"}, "db", "t")
        assert f"'spark.paimon.{setting}'" in str(caught.value)
        assert hint in str(caught.value)


def test_options_of_the_query_win():
    session = {"scan.snapshot-id": "3", "file.compression": "gzip"}
    plain = referring(TableReference("db", "t"), session)
    assert plain.time_travel == TimeTravel(version_sql="'3'")
    assert plain.options == (("file.compression", "gzip"),)
    written = TableReference("db", "t", TimeTravel(version_sql="5"), options=(("file.compression", "lz4"),))
    assert referring(written, session) == written
    between = TableReference("db", "t", options=(("incremental-between", "1,2"),))
    assert referring(between, session).time_travel is None
    changes = TableReference("db", "t", changes=("1", "2"))
    assert referring(changes, {"incremental-between": "1,2", **session}).options == (("file.compression", "gzip"),)


def test_a_scan_mode_is_kept_for_ranges_only():
    mode = {"incremental-between-scan-mode": "diff"}
    assert referring(TableReference("db", "t"), mode).options == (), "for those that ask for a range"
    both = {**mode, "incremental-between": "1,2"}
    assert dict(referring(TableReference("db", "t"), both).options) == both


def test_the_identity_of_a_write():
    given = {"commit.identifier": "7", "commit.user-prefix": "loader", "write-only": "true"}
    found = identity_of(given)
    assert (found.user, found.identifier, found.check_duplicate) == ("loader", 7, True)
    assert besides_identity(given) == {"write-only": "true"}
    prefix = {"commit.user-prefix": "loader"}
    assert (identity_of(prefix), besides_identity(prefix)) == (None, prefix)
    with pytest.raises(CommitIdentityError, match="cannot be 'x'"):
        identity_of({"commit.identifier": "x"})
