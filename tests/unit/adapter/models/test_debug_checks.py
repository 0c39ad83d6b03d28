"""What `dbt debug` reports for a warehouse that is not writable, for every user; also for root."""

from __future__ import annotations

import errno
import os
import tempfile

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.connection.credentials import TableStoreCredentials
from dbt.adapters.tablestore.models.debug_checks import check_environment, check_warehouse


def said(path):
    with pytest.raises(DbtRuntimeError) as caught:
        check_warehouse(str(path))
    return str(caught.value)


@pytest.mark.parametrize("name", ["", "warehouse", "not/yet/there"])
def test_a_warehouse_that_can_be_made_and_nothing_is_left_of_the_trial(tmp_path, name):
    check_warehouse(str(tmp_path / name))
    assert os.listdir(tmp_path) == []


def test_a_file_is_no_warehouse(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    assert f"The warehouse {file} is not a folder." in said(file)
    assert f"cannot be made: {file} is not a folder." in said(file / "a" / "warehouse")


def test_a_link_that_leads_nowhere_is_no_warehouse(tmp_path):
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "gone")
    assert f"The warehouse {link} is not a folder." in said(link)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (PermissionError(errno.EACCES, "Permission denied"), "this user has no write permission on {}."),
        (PermissionError(errno.EPERM, "Operation not permitted"), "this user has no write permission on {}."),
        (OSError(errno.EROFS, "Read-only file system"), "{} says 'Read-only file system'."),
        (OSError(errno.ENOSPC, "No space left on device"), "{} says 'No space left on device'."),
    ],
)
def test_a_file_system_that_refuses(tmp_path, monkeypatch, error, reason):
    def refuse(prefix, dir):
        assert dir == str(tmp_path)
        raise error

    monkeypatch.setattr(tempfile, "mkdtemp", refuse)
    warehouse = tmp_path / "warehouse"
    assert f"The warehouse {warehouse} cannot be written to: {reason.format(tmp_path)}" in said(warehouse)


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
def test_a_file_system_in_which_nobody_can_make_folders():
    assert "The warehouse /proc/warehouse cannot be written to: " in said("/proc/warehouse")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_of_somebody_else(tmp_path):
    tmp_path.chmod(0o500)
    assert f"this user has no write permission on {tmp_path}." in said(tmp_path / "warehouse")


def test_the_warehouse_of_the_profile_is_what_is_checked(tmp_path):
    (tmp_path / "file").write_text("")
    profile = TableStoreCredentials.from_dict(
        {"warehouse": str(tmp_path / "file" / "w"), "schema": "dev", "remote": "sc://nowhere:1"}
    )
    with pytest.raises(DbtRuntimeError, match="is not a folder"):
        check_environment(profile)
