"""The user's cache folder."""

from __future__ import annotations

import os

from tablestore_engine.spark.session.session_cache import cache_directory, new_log_file, support_file


def test_the_cache_is_the_users_own(tmp_path):
    path = cache_directory(None, {"XDG_CACHE_HOME": str(tmp_path)})
    assert path == f"{tmp_path}/dbt-tablestore"
    assert os.stat(path).st_mode & 0o777 == 0o700


def test_a_configured_folder_goes_first(tmp_path):
    assert cache_directory(str(tmp_path / "x"), {"XDG_CACHE_HOME": "/elsewhere"}) == f"{tmp_path}/x"


def test_a_folder_that_others_can_write_is_no_cache(tmp_path):
    tmp_path.chmod(0o777)  # any user who can write there could run code in our JVM
    assert cache_directory(str(tmp_path), {}) is None


def test_a_folder_that_cannot_be_made_is_no_cache(tmp_path):
    (tmp_path / "file").write_text("")
    assert cache_directory(str(tmp_path / "file" / "cache"), {}) is None


def test_support_files_are_named_by_their_content(tmp_path):
    one, two = (support_file(str(tmp_path), "log4j2.properties", text) for text in ("a", "b"))
    assert one != two
    assert one == support_file(str(tmp_path), "log4j2.properties", "a")
    with open(one) as file:
        assert file.read() == "a"
    assert one.endswith(".properties")
    assert support_file(None, "x.xml", "a") is None


def test_logs_do_not_pile_up(tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    for number in range(40):
        (folder / f"spark-{number:02}.log").write_text("")
        os.utime(folder / f"spark-{number:02}.log", (number, number))
    path = new_log_file(str(tmp_path))
    assert os.path.dirname(path) == str(folder)
    assert min(os.listdir(folder)) == "spark-21.log"


def test_without_a_cache_the_log_is_a_temporary_file():
    path = new_log_file(None)
    assert os.path.exists(path)
    os.unlink(path)
