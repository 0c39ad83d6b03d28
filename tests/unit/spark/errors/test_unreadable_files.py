"""A file that Spark could not read is named, whatever is around its name."""

from __future__ import annotations

import pytest

from tablestore_engine.errors import CorruptDataError, CorruptMetadataError, StorageError, TableNotFound
from tablestore_engine.spark.errors.translate_errors import failure
from tablestore_engine.spark.errors.unreadable_files import failed_file

FILE = "/w/a b/shop.db/orders/bucket-0/data-1.parquet"
ADDRESS = "file:///w/a%20b/shop.db/orders/bucket-0/data-1.parquet"
STACK = "\n\tat org.apache.spark.x.Y.z(Y.scala:1)\n"
READING = f"Encountered error while reading file {ADDRESS}."


def _raised(condition, cause):
    return (
        "An error occurred while calling o12.getResult.\n: org.apache.spark.SparkException: Exception thrown in "
        f"awaitResult: {STACK}Caused by: org.apache.spark.SparkException: [FAILED_READ_FILE.{condition}] {READING} "
        f"Words. SQLSTATE: KD001{STACK}Caused by: {cause}{STACK}\n"
    )


@pytest.mark.parametrize(
    ("condition", "cause", "reason"),
    [
        ("NO_HINT", f"java.lang.RuntimeException: {ADDRESS} is not a Parquet file.", "decoded (is not a Parquet file)"),
        ("CANNOT_READ_FILE_FOOTER", "java.io.IOException: footer is too large", "footer cannot be read (footer is too"),
        ("NO_HINT", "org.apache.spark.SparkException: Exception thrown in awaitResult: ", "it cannot be decoded."),
    ],
)
def test_a_damaged_file(condition, cause, reason):
    error = failure(_raised(condition, cause))
    assert type(error) is CorruptDataError
    assert error.path == FILE
    assert f"{FILE} (table shop.orders): " in str(error)
    assert reason in str(error)
    assert "\tat" not in str(error)


def test_a_lost_file(tmp_path):
    table = tmp_path / "shop.db" / "orders"
    file = f"{table}/bucket-0/data-1.parquet"
    said = f"[FAILED_READ_FILE.FILE_NOT_EXIST] {READING.replace(ADDRESS, f'file://{file}')} File does not exist. It …"
    table.mkdir(parents=True)
    error = failure(said)
    assert type(error) is StorageError
    assert (error.path, error.missing) == (file, True)
    assert "VERSION AS OF" in error.hint
    table.rmdir()
    error = failure(said)
    assert type(error) is TableNotFound
    assert "Table 'shop.orders' does not exist any more" in str(error)


def test_a_file_that_may_not_be_read():
    cause = f"java.io.FileNotFoundException: {FILE} (Permission denied)"
    error = failure(_raised("FILE_NOT_EXIST", cause))
    assert type(error) is StorageError
    assert (error.path, error.missing) == (FILE, False)
    assert str(error).endswith("Permission denied. Check that the user of this process may read and write there.")


def test_another_message():
    assert failed_file("Job aborted due to stage failure: out of memory") is None


def test_an_error_of_a_worker():
    text = (
        'Traceback (most recent call last):\n  File "worker.py", line 1, in main\n'
        "tablestore_engine.errors.CorruptMetadataError: Damaged metadata file /w/d.db/t/index/i (table d.t): odd. Do.\n"
    )
    error = failure(text)
    assert type(error) is CorruptMetadataError
    assert str(error) == "Damaged metadata file /w/d.db/t/index/i (table d.t): odd. Do."
