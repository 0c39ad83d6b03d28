"""The answers of the tables at the end of the year, compared with those of the published file.

The right-hand side is computed here with pyarrow from the raw CSV: neither the engine nor Spark nor dbt is involved.

Vocabulary: `ask` runs a query on the managed tables and returns Arrow; `flights` is the published year without the
cancelled flights; `weather` is the published weather of the year.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date

import pyarrow as pa
import pyarrow.compute as pc
from deliveries import COLUMNS, KEY, WEATHER

HELD_UP = ("carrier", "dep_delay")

Ask = Callable[[str], pa.Table]


@dataclass(frozen=True)
class Answer:
    """One question, what the tables say and what the raw data says."""

    question: str
    answered: str
    recomputed: str

    @property
    def right(self) -> bool:
        return self.answered == self.recomputed


def answers(ask: Ask, flights: pa.Table, weather: pa.Table) -> Iterator[Answer]:
    """All questions, cheapest to understand first."""
    yield _number_of_flights(ask, flights)
    yield _every_column(ask, flights)
    yield _every_day(ask, flights)
    yield _every_carrier(ask, flights)
    yield _every_hour_of_weather(ask, flights, weather)
    yield _worst_day(ask, flights)
    yield _most_punctual_carrier(ask, flights)
    yield _most_travelled_aircraft(ask, flights)


def _number_of_flights(ask: Ask, flights: pa.Table) -> Answer:
    (answered,) = ask("select count(*) as n from flights")["n"].to_pylist()
    return Answer("Flights that took off in 2013", f"{answered:,}", f"{flights.num_rows:,}")


def _every_column(ask: Ask, flights: pa.Table) -> Answer:
    """Row by row: every value of the twelve columns that the table shares with the file."""
    answered = ask(
        """
        select year(flight_date) as year, month(flight_date) as month, day(flight_date) as day,
            origin, carrier, flight_number as flight, destination as dest, tail_number as tailnum,
            hour(scheduled_departure) * 100 + minute(scheduled_departure) as sched_dep_time,
            departure_delay as dep_delay, arrival_delay as arr_delay, air_time, distance
        from flights
        """
    )
    raw = flights.select(COLUMNS)
    same = _ordered(answered).cast(raw.schema).equals(_ordered(raw))
    size = f"{raw.num_rows:,} rows × {raw.num_columns} columns"
    return Answer("Every value of every flight", size if same else "different", size)


def _ordered(table: pa.Table) -> pa.Table:
    return table.sort_by([(name, "ascending") for name in KEY]).combine_chunks()


def _every_day(ask: Ask, flights: pa.Table) -> Answer:
    days = _by_day(flights)
    raw = set(zip(*(days[name].to_pylist() for name in days.column_names), strict=True))
    table = ask(
        """
        select month(flight_date) as month, day(flight_date) as day, flights, arrived, late, minutes_lost
        from daily_traffic
        """
    )
    answered = set(zip(*(table[name].to_pylist() for name in table.column_names), strict=True))
    agreeing = f"{len(raw & answered)} of {len(answered)} days agree"
    return Answer("The daily figures, kept day by day", agreeing, f"{len(raw)} of {len(raw)} days agree")


def _every_carrier(ask: Ask, flights: pa.Table) -> Answer:
    carriers = flights.group_by("carrier").aggregate([([], "count_all")])
    raw = set(zip(carriers["carrier"].to_pylist(), carriers["count_all"].to_pylist(), strict=True))
    table = ask("select carrier, flown - cancellations as flights from reports_by_carrier")
    answered = set(zip(table["carrier"].to_pylist(), table["flights"].to_pylist(), strict=True))
    agreeing = f"{len(raw & answered)} of {len(answered)} carriers agree"
    return Answer("Reports, added up as they came", agreeing, f"{len(raw)} of {len(raw)} carriers agree")


def _by_day(flights: pa.Table) -> pa.Table:
    """Month, day, flights, arrived, late, minutes_lost."""
    delay = flights["arr_delay"]
    late = pc.fill_null(pc.greater(delay, 15), False).cast(pa.int64())
    lost = pc.max_element_wise(delay, pa.scalar(0, delay.type), skip_nulls=False)
    grouped = (
        flights.select(["month", "day", "arr_delay"])
        .append_column("late", late)
        .append_column("lost", lost)
        .group_by(["month", "day"])
        .aggregate([([], "count_all"), ("arr_delay", "count"), ("late", "sum"), ("lost", "sum")])
    )
    return grouped.select(["month", "day", "count_all", "arr_delay_count", "late_sum", "lost_sum"])


def _every_hour_of_weather(ask: Ask, flights: pa.Table, weather: pa.Table) -> Answer:
    """Row by row, and each as often as it has to be: the table has no key."""
    answered = _counted(
        ask(
            """
            select origin, year(observed_at) as year, month(observed_at) as month, day(observed_at) as day,
                hour(observed_at) as hour, visibility as visib, wind_speed, precipitation as precip,
                carrier, departure_delay as dep_delay
            from weather_and_delays
            """
        )
    )
    raw = _counted(weather_and_delays(flights, weather))
    agreeing = f"{(raw & answered).total():,} of {answered.total():,} rows agree"
    return Answer(
        "Each hour of weather, and the flights that it held up",
        agreeing,
        f"{raw.total():,} of {raw.total():,} rows agree",
    )


def weather_and_delays(flights: pa.Table, weather: pa.Table) -> pa.Table:
    """Each hour of weather with the flights that left more than an hour late or not yet, or with nulls; in no order.

    Columns: those of `WEATHER`, then carrier and dep_delay.
    """
    late = flights.filter(pc.fill_null(pc.greater(flights["dep_delay"], 60), True))
    hour = pc.divide(late["sched_dep_time"], 100).cast(weather["hour"].type)
    held_up = late.append_column("hour", hour)
    at = ["origin", "year", "month", "day", "hour"]
    joined = weather.join(held_up.select([*at, *HELD_UP]), keys=at, join_type="left outer")
    return joined.select([*WEATHER, *HELD_UP])


def _counted(table: pa.Table) -> Counter[tuple[object, ...]]:
    return Counter(zip(*(table[name].to_pylist() for name in (*WEATHER, *HELD_UP)), strict=True))


def _worst_day(ask: Ask, flights: pa.Table) -> Answer:
    table = ask("select flight_date, minutes_lost from daily_traffic order by minutes_lost desc limit 1")
    (worst,) = table.to_pylist()
    answered = f"{worst['flight_date']:%d %B}, {worst['minutes_lost'] / 60:,.0f} hours"
    row = _by_day(flights).sort_by([("lost_sum", "descending")]).slice(0, 1).to_pylist()[0]
    day = date(2013, row["month"], row["day"])
    return Answer(
        "The worst day, in hours lost by arrivals", answered, f"{day:%d %B}, {row['lost_sum'] / 60:,.0f} hours"
    )


def _most_punctual_carrier(ask: Ask, flights: pa.Table) -> Answer:
    """Among carriers with a thousand flights, by the share that arrived no more than 15 minutes late."""
    (best,) = ask(
        """
        select carrier, sum(on_time) / sum(arrived) as share
        from carrier_routes
        group by carrier having sum(arrived) > 1000
        order by share desc limit 1
        """
    ).to_pylist()
    answered = f"{best['carrier']}, {best['share']:.1%}"
    arrived = flights.filter(pc.is_valid(flights["arr_delay"]))
    on_time = pc.less_equal(arrived["arr_delay"], 15).cast(pa.float64())
    shares = (
        arrived.select(["carrier"])
        .append_column("on_time", on_time)
        .group_by("carrier")
        .aggregate([("on_time", "mean"), ([], "count_all")])
    )
    row = shares.filter(pc.greater(shares["count_all"], 1000)).sort_by([("on_time_mean", "descending")])
    top = row.slice(0, 1).to_pylist()[0]
    return Answer("The most punctual carrier", answered, f"{top['carrier']}, {top['on_time_mean']:.1%}")


def _most_travelled_aircraft(ask: Ask, flights: pa.Table) -> Answer:
    (top,) = ask("select tail_number, miles from fleet order by miles desc limit 1").to_pylist()
    miles = (
        flights.filter(pc.is_valid(flights["tailnum"]))
        .group_by("tailnum")
        .aggregate([("distance", "sum")])
        .sort_by([("distance_sum", "descending")])
    )
    raw = miles.slice(0, 1).to_pylist()[0]
    return Answer(
        "The aircraft that travelled farthest",
        f"{top['tail_number']}, {top['miles']:,} miles",
        f"{raw['tailnum']}, {raw['distance_sum']:,} miles",
    )
