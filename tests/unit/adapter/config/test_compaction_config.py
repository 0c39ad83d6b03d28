"""`compaction` in a model's config becomes options of the table."""

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.config.compaction_config import compaction_options
from dbt.adapters.tablestore.config.table_layout import TableLayout


def layout(**config):
    return TableLayout.of({"config": {"materialized": "incremental", "unique_key": "id", **config}})


def test_nothing_is_set_without_it():
    assert compaction_options(None) == {}
    assert dict(layout().options) == {}


@pytest.mark.parametrize(
    ("mode", "write_only", "scheduled"),
    [("auto", "false", "false"), ("scheduled", "false", "true"), ("none", "true", "false")],
)
def test_a_word_says_when(mode, write_only, scheduled):
    expected = {"write-only": write_only, "compaction.schedule.enabled": scheduled}
    assert compaction_options(mode) == expected
    assert dict(layout(compaction={"mode": mode}).options) == expected


def test_settings_are_options():
    options = layout(compaction={"mode": "scheduled", "delta_commits": 10, "trigger": 8}).options
    assert options["compaction.delta-commits"] == "10"
    assert options["num-sorted-run.compaction-trigger"] == "8"
    assert compaction_options({"mode": None, "trigger": None}) == compaction_options("auto")
    assert layout(compaction={"size_ratio": 5}).options["compaction.size-ratio"] == "5"


def test_wrong_configs_are_named():
    with pytest.raises(DbtRuntimeError, match=r"'auto' or 'scheduled' or 'none'.*not 'often'"):
        layout(compaction="often")
    with pytest.raises(DbtRuntimeError, match=r"'compaction.delta-comits'.*Did you mean 'compaction.delta-commits'"):
        layout(compaction={"delta_comits": 3})
    with pytest.raises(DbtRuntimeError, match="'write-only' is set twice"):
        layout(compaction="none", table_options={"write-only": False})


def test_buckets_have_two_names():
    assert layout(bucket=3).options["bucket"] == layout(buckets=3).options["bucket"] == "3"
    assert layout(bucket=3, buckets=3).options["bucket"] == "3"
    with pytest.raises(DbtRuntimeError, match=r"`buckets` \(2\) and `bucket` \(3\) disagree"):
        layout(bucket=3, buckets=2)
