"""Errors survive the way back from an executor, and each has one message."""

from __future__ import annotations

import errno
import inspect
import os
import pickle
import re

import pyarrow.fs
import pytest
from support.repository import ROOT

from tablestore_engine import errors

ALL = [one for _, one in inspect.getmembers(errors, inspect.isclass) if issubclass(one, errors.TableStoreError)]
OF_PATHS = (errors.CorruptFileError, errors.StorageError)


def make(kind):
    return kind("/t/f", "gone", hint="Look.") if issubclass(kind, OF_PATHS) else kind("Wrong.", hint="Look.")


def test_the_drawing_shows_every_error():
    drawn = set(re.findall(r"\w+", errors.__doc__))
    assert [one.__name__ for one in ALL if one.__name__ not in drawn] == []


def test_no_error_of_the_engine_is_defined_elsewhere():
    engine = ROOT / "tablestore_engine"
    found = [
        f"{file.relative_to(ROOT)}: {line}"
        for file in sorted(engine.rglob("*.py"))
        if file != engine / "errors.py"
        for line in re.findall(
            rf"^class \w+\((?:{'|'.join(one.__name__ for one in ALL)})\):", file.read_text(), re.MULTILINE
        )
    ]
    assert found == []


def test_the_drawing_shows_no_other_error():
    tree = [line for line in errors.__doc__.splitlines() if line.strip().startswith(("│", "├", "└"))]
    drawn = {name for line in tree for name in re.findall(r"\b[A-Z]\w*(?:Error|Found|Exists|Problem)\b", line)}
    assert drawn <= {one.__name__ for one in ALL}


@pytest.mark.parametrize("kind", ALL, ids=lambda one: one.__name__)
def test_survives_pickling(kind):
    error = make(kind)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is kind
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)


@pytest.mark.parametrize("kind", ALL, ids=lambda one: one.__name__)
def test_only_conflicts_are_retryable(kind):
    assert kind.retryable is issubclass(kind, errors.ConflictError)


def test_message_ends_with_the_hint():
    assert str(errors.OptionError("No.", hint="Try yes.")) == "No. Try yes."
    assert str(errors.OptionError("No.")) == "No."


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.EROFS, "mounted read-only"),
        (errno.ENOSPC, "Free some space"),
        (errno.ENOTDIR, "A file is where a folder"),
    ],
)
def test_a_common_cause_has_advice(number, advice):
    error = errors.StorageError.of("/w", OSError(number, os.strerror(number)))
    assert str(error).startswith(f"Storage failure at /w: {os.strerror(number)}. ")
    assert advice in str(error)


def test_storage_error_of_an_os_error():
    error = errors.StorageError.of("/a", FileNotFoundError(errno.ENOENT, "No such file"))
    assert error.missing
    assert "/a" in str(error)
    assert "No such file" in str(error)
    denied = errors.StorageError.of("/a", PermissionError(errno.EACCES, "Permission denied"))
    assert not denied.missing
    assert "write there" in str(denied)


def test_a_folder_with_the_name_of_a_file(tmp_path):
    path = tmp_path / "shop.db" / "orders" / "bucket-0" / "data-1.parquet"
    path.mkdir(parents=True)
    with pytest.raises(OSError, match="directory") as raised:
        pyarrow.fs.LocalFileSystem().open_input_file(str(path))
    error = errors.StorageError.of(str(path), raised.value)
    assert str(error).startswith(f"Storage failure at {path} (table shop.orders): Is a directory. Restore the file")


@pytest.mark.parametrize(
    ("path", "table", "hint"),
    [
        ("/w/shop.db/orders/bucket-0/data-1.parquet", "shop.orders", "VERSION AS OF"),
        ("/w/shop.db/orders/day=x.db/bucket-0/data-1.parquet", "shop.orders", "CALL sys.rollback"),
        ("/old.db/w/shop.db/orders/snapshot/snapshot-1", "shop.orders", "Restore the file"),
        ("/w/shop.db/orders/tag/tag-a", "shop.orders", "CALL sys.delete_tag"),
        ("/w/shop.db/orders/statistics/stat-a", "shop.orders", "ANALYZE TABLE"),
    ],
)
def test_a_damaged_file_is_named_with_its_table_and_the_way_out(path, table, hint):
    lost = errors.StorageError.of(path, FileNotFoundError(errno.ENOENT, "gone"))
    for error in (errors.CorruptMetadataError(path, "odd"), errors.CorruptDataError(path, "odd"), lost):
        assert f"{path} (table {table}): " in str(error)
        assert hint in str(error)


def test_an_error_on_top_of_ctrl_c():
    try:
        try:
            raise KeyboardInterrupt
        finally:
            raise OSError("closed")
    except OSError as error:
        assert errors.interrupted(error)
    assert not errors.interrupted(OSError("closed"))


def test_user_errors_are_one_family():
    for kind in (errors.TableNotFound, errors.ParseError, errors.PrimaryKeyError, errors.DependencyError):
        assert issubclass(kind, errors.UserError)
    assert not issubclass(errors.ConflictError, errors.UserError)


@pytest.mark.parametrize(
    ("given", "known", "hint"),
    [
        ("order_idd", ["id", "order_id"], "Did you mean 'order_id'?"),
        ("ORDER_IT", ["Order_Id", "x"], "Did you mean 'Order_Id'?"),
        ("zzz", ["id", "order_id"], "There are: id, order_id."),
        ("id", [], None),
    ],
)
def test_the_hint_names_the_nearest_name_or_all(given, known, hint):
    assert errors.did_you_mean(given, known) == hint
