"""What ANALYZE TABLE stores."""

from __future__ import annotations

import json
from datetime import date, datetime, timezone
from decimal import Decimal

import pytest

from tablestore_engine.errors import CorruptMetadataError
from tablestore_engine.metadata.analyze_statistics import (
    ColumnStatistics,
    Statistics,
    has_bounds,
    value_shown,
    value_text,
)
from tablestore_engine.schema.types.types import parse_type
from tablestore_engine.storage.file_io import LocalFileIO
from tablestore_engine.storage.metadata_files.analyze_statistics_store import StatisticsStore
from tablestore_engine.storage.paths import TablePaths

FOUND = Statistics(
    3, 1, 10, 512, {"id": ColumnStatistics(0, 9, "1", "10", 0, 4, 4), "ü": ColumnStatistics(1, null_count=2)}
)


def test_the_persisted_form():
    assert json.loads(FOUND.to_json()) == {
        "snapshotId": 3,
        "schemaId": 1,
        "mergedRecordCount": 10,
        "mergedRecordSize": 512,
        "colStats": {
            "id": {
                "colId": 0,
                "distinctCount": 9,
                "min": "1",
                "max": "10",
                "nullCount": 0,
                "avgLen": 4,
                "maxLen": 4,
            },
            "ü": {"colId": 1, "nullCount": 2},
        },
    }
    assert Statistics.from_json(FOUND.to_json()) == FOUND
    assert json.loads(FOUND.columns_text())["ü"] == {"colId": 1, "nullCount": 2}
    unknown = Statistics(3, 1, None, 7)
    assert "mergedRecordCount" not in json.loads(unknown.to_json())
    assert Statistics.from_json(unknown.to_json()) == unknown


def test_the_store(tmp_path):
    store = StatisticsStore(LocalFileIO(), TablePaths(str(tmp_path)))
    names = [store.write(FOUND), store.write(FOUND)]
    assert len(set(names)) == 2
    assert store.read(names[0]) == FOUND
    store.delete(names[0])
    (tmp_path / "statistics" / names[1]).write_text('{"snapshotId": 3}')
    with pytest.raises(CorruptMetadataError, match=names[1]):
        store.read(names[1])


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (7, "INT", "7"),
        (True, "BOOLEAN", "true"),
        (Decimal("9.50"), "DECIMAL(10, 2)", "9.50"),
        (1.5, "DOUBLE", "1.5"),
        (1e10, "DOUBLE", "1.0E10"),
        (float("nan"), "DOUBLE", None),
        (None, "INT", None),
        (date(2024, 1, 31), "DATE", "19753"),
        (datetime(2024, 1, 31, 8), "TIMESTAMP(6)", "2024-01-31 08:00:00.000000"),
        (
            datetime(2024, 1, 31, 8, tzinfo=timezone.utc),
            "TIMESTAMP(6) WITH LOCAL TIME ZONE",
            "2024-01-31 08:00:00.000000",
        ),
    ],
)
def test_values(value, kind, text):
    kind = parse_type(kind)
    assert has_bounds(kind)
    assert value_text(value, kind) == text
    if isinstance(value, date) and not isinstance(value, datetime):
        assert value_shown(text, kind) == value.isoformat()
    else:
        assert value_shown(text, kind) == text


def test_texts_have_no_bounds():
    assert not any(has_bounds(parse_type(kind)) for kind in ("STRING", "BYTES"))
