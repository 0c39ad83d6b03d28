"""Automatic tags: which snapshot gets which tag, and how many are kept."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from datetime import datetime, timezone

import pyarrow as pa
import pytest
from support.tables import keyed_table, write

from tablestore_engine.errors import OptionError, SnapshotNotFound, UserError
from tablestore_engine.metadata.tag_lifetime import lifetime_of
from tablestore_engine.operation.tags.automatic_tags import create_automatic_tags
from tablestore_engine.operation.tags.tag_periods import TagPeriods
from tablestore_engine.options import CoreOptions, validate

HOURLY = {"tag.creation-period": "hourly"}
ROWS = pa.table({"id": pa.array([1], pa.int32()), "v": pa.array([1], pa.int32())})
BY_TIME = {"tag.automatic-creation": "process-time", "sink.process-time-zone": "UTC", "num-levels": "3"}


def at(text):
    return int(datetime.fromisoformat(text).replace(tzinfo=timezone.utc).timestamp() * 1000)


@pytest.fixture
def commit_at(tmp_path):
    """A function that commits to a table at a time, and one that returns its tags with the ids of their snapshots."""

    def of(**options):
        table = keyed_table(tmp_path, {"bucket": "1", "write-only": "true", **options})

        def commit(*times):
            for text in times:
                made = replace(write(table, [{"id": 1, "v": 1}]), time_millis=at(text))
                table.io.write(table.paths.snapshot(made.id), made.to_json().encode())
                create_automatic_tags(table.state, at(text))
            return {name: one.id for name, one in table.tags.all().items()}

        commit.table = table
        return commit

    return of


@pytest.mark.parametrize(
    ("options", "moment", "name"),
    [
        ({}, "2024-03-10T05:30", "2024-03-09"),
        (HOURLY, "2024-03-10T00:30", "2024-03-09 23"),
        (
            {**HOURLY, "tag.period-formatter": "without_dashes"},
            "2024-03-10T05:30",
            "20240310 04",
        ),
        ({"tag.creation-period": "two-hours"}, "2024-03-10T05:30", "2024-03-10 02"),
        ({"tag.creation-period-duration": "10 min"}, "2024-03-10T05:37", "202403100520"),
    ],
)
def test_names_of_periods(options, moment, name):
    periods = TagPeriods.of(CoreOptions.parse(options))
    begin = periods.last_before(datetime.fromisoformat(moment))
    assert periods.name_of(begin) == name
    assert periods.begin_of(name) == begin
    assert periods.begin_of("year-end") is None


def test_the_first_commit_after_a_day_gets_its_tag(commit_at):
    commit = commit_at(**BY_TIME)
    days = ("2024-03-10T05:00", "2024-03-10T06:00", "2024-03-11T00:00", "2024-03-11T09:00", "2024-03-14T01:00")
    assert commit(*days) == {"2024-03-09": 1, "2024-03-10": 3, "2024-03-13": 5}
    assert create_automatic_tags(commit.table.state, 0) == [], "each tag is made once"


def test_a_delay_leaves_time_for_late_rows(commit_at):
    commit = commit_at(**BY_TIME, **{"tag.creation-delay": "2 h"})
    assert commit("2024-03-10T05:00", "2024-03-11T01:59", "2024-03-11T02:00") == {"2024-03-09": 1, "2024-03-10": 3}


def test_missing_periods_are_completed(commit_at):
    commit = commit_at(**BY_TIME, **{"tag.automatic-completion": "true"})
    days = ("2024-03-10T05:00", "2024-03-13T01:00", "2024-03-13T02:00", "2024-03-13T03:00", "2024-03-13T04:00")
    assert commit(*days) == {"2024-03-09": 1, "2024-03-10": 2, "2024-03-11": 3, "2024-03-12": 4}


def test_only_so_many_are_kept_and_for_so_long(commit_at):
    commit = commit_at(**BY_TIME, **{"tag.num-retained-max": "2", "tag.default-time-retained": "7 d"})
    commit("2024-03-10T05:00")
    commit.table.create_tag("mine", 1)
    assert commit("2024-03-11T05:00", "2024-03-12T05:00") == {"mine": 1, "2024-03-10": 2, "2024-03-11": 3}
    lifetime = lifetime_of(commit.table.tags.load("2024-03-11"))
    assert (lifetime.created_millis, lifetime.retained_millis) == (at("2024-03-12T05:00"), 7 * 86_400_000)


@pytest.mark.parametrize(
    ("name", "found"), [(None, {"batch-write-2024-03-10": 2, "batch-write-2024-03-11": 3}), ("done", {"done": 3})]
)
def test_a_batch_names_its_newest_snapshot(commit_at, name, found):
    options = {**BY_TIME, "tag.automatic-creation": "batch"}
    commit = commit_at(**options, **({"tag.batch.customized-name": name} if name else {}))
    assert commit("2024-03-10T05:00", "2024-03-10T06:00", "2024-03-11T07:00") == found


def test_only_so_many_batches_are_kept_and_tags_of_somebody_stay(commit_at):
    commit = commit_at(**{**BY_TIME, "tag.automatic-creation": "batch", "tag.num-retained-max": "1"})
    commit("2024-03-10T05:00")
    commit.table.create_tag("mine", 1)
    assert commit("2024-03-11T05:00") == {"mine": 1, "batch-write-2024-03-11": 2}


def test_time_zone_and_the_usual_write(tmp_path):
    table = keyed_table(tmp_path, {"bucket": "1", **BY_TIME, "sink.process-time-zone": "Asia/Tokyo"})
    snapshot = table.write(
        table.to_arrow().schema.empty_table().from_pylist([{"id": 1, "v": 1}], table.to_arrow().schema)
    )
    made = datetime.fromtimestamp(snapshot.time_millis / 1000 + 9 * 3600 - 86_400, timezone.utc)
    assert list(table.tags.all()) == [f"{made:%Y-%m-%d}"], "a write makes the tags by itself"


def test_success_files_come_and_go_with_their_tags(tmp_path):
    table = keyed_table(tmp_path, {"bucket": "1", "tag.create-success-file": "true"})
    write(table, [{"id": 1, "v": 1}])
    table.create_tag("first")
    path = tmp_path.rglob("first_SUCCESS")
    content = json.loads(next(path).read_text())
    assert content["creationTime"] == content["modificationTime"] > 0
    assert table.tags.names() == ["first"], "the directory of success files is no tag"
    table.delete_tag("first")
    assert not list(tmp_path.rglob("*_SUCCESS"))


def test_tags_whose_time_is_over_stay_when_nobody_removes_them(tmp_path):
    found = {}
    for enabled in ("true", "false"):
        table = keyed_table(tmp_path / enabled, {"bucket": "1", "tag.time-expire-enabled": enabled})
        table.write(ROWS)
        table.create_tag("short", retained_millis=1)
        time.sleep(0.005)
        table.write(ROWS)
        table.write(ROWS)
        found[enabled] = table.tags.names()
    assert found == {"true": [], "false": ["short"]}


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"tag.period-formatter": "without_dashes"}, r"\d{8}"),
        ({"tag.creation-period": "hourly", "tag.period-formatter": "without_dashes_and_spaces"}, r"\d{10}"),
        ({"tag.creation-period-duration": "1 min"}, r"\d{12}"),
    ],
)
def test_a_name_of_digits_is_a_version(tmp_path, options, name):
    table = keyed_table(tmp_path, {"bucket": "1", "tag.automatic-creation": "process-time", **options})
    table.write(ROWS)
    (tag,) = table.tags.names()
    assert re.fullmatch(name, tag)
    table.write(ROWS)
    assert [table.version(one).id for one in (tag, int(tag), 2)] == [1, 1, 2]
    assert (table.change_range(tag, 2).before.id, table.change_range(tag, 2).after.id) == (1, 2)
    with pytest.raises(SnapshotNotFound):
        table.version("9" * len(tag))


def test_a_short_number_is_no_name(tmp_path):
    table = keyed_table(tmp_path, {"bucket": "1"})
    table.write(ROWS)
    with pytest.raises(UserError, match="less than 8 digits"):
        table.create_tag("1234567")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tag.creation-delay": "24 h"}, "must be shorter than the period"),
        ({"sink.process-time-zone": "Mars/Olympus"}, "not a time zone"),
        ({"tag.creation-period": "weekly"}, "daily, hourly, two-hours"),
    ],
)
def test_options_that_make_no_tags_are_refused(options, words):
    with pytest.raises(OptionError, match=words):
        validate({"tag.automatic-creation": "process-time", **options})
