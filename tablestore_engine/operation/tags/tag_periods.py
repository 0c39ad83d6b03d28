"""The periods of automatic tags: their names and times. Pure.

Names and times are Paimon's: a tag is named after the period that is over when it is made, in local time of a zone.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.options import CoreOptions

_EPOCH = datetime(1970, 1, 1)
_FORMATS = {
    ("daily", "with_dashes"): "%Y-%m-%d",
    ("daily", "without_dashes"): "%Y%m%d",
    ("daily", "without_dashes_and_spaces"): "%Y%m%d",
    ("hourly", "with_dashes"): "%Y-%m-%d %H",
    ("hourly", "without_dashes"): "%Y%m%d %H",
    ("hourly", "without_dashes_and_spaces"): "%Y%m%d%H",
}
_MINUTES = "%Y%m%d%H%M"


@dataclass(frozen=True)
class TagPeriods:
    """Periods of one length, and the format of their names."""

    length: timedelta
    name_format: str

    @classmethod
    def of(cls, options: CoreOptions) -> TagPeriods:
        """The periods that a table's options define."""
        length = timedelta(milliseconds=options.tag_period_millis)
        if options.tag_creation_period_duration_millis is not None:
            return cls(length, _MINUTES)
        kind = options.tag_creation_period
        # Two hours are always written with dashes.
        key = ("hourly", "with_dashes") if kind == "two-hours" else (kind, options.tag_period_formatter)
        return cls(length, _FORMATS[key])

    def name_of(self, begin: datetime) -> str:
        """The tag of the period that begins at a time."""
        return begin.strftime(self.name_format)

    def begin_of(self, name: str) -> datetime | None:
        """When the period of a tag begins; None when the name is not that of an automatic tag."""
        try:
            begin = datetime.strptime(name, self.name_format)
        except ValueError:
            return None
        return begin if self.name_of(begin) == name else None

    def last_before(self, time: datetime) -> datetime:
        """When the last period that was over at a time begins."""
        return _EPOCH + (time - _EPOCH) // self.length * self.length - self.length


def time_of(snapshot: Snapshot, options: CoreOptions) -> datetime | None:
    """The time that decides which period a snapshot ends, in local time; None when it has none."""
    if options.tag_automatic_creation == "watermark":
        if snapshot.reached_watermark is None:
            return None
        return _local(snapshot.reached_watermark, options.sink_watermark_time_zone)
    return _local(snapshot.time_millis, options.sink_process_time_zone)


def _local(millis: int, zone: str | None) -> datetime:
    moment = datetime.fromtimestamp(millis / 1000, timezone.utc)
    return moment.astimezone(None if zone is None else ZoneInfo(zone)).replace(tzinfo=None)
