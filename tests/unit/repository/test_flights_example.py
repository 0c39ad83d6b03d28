"""The example's deliveries, applied in order by a naive fold, give the published year without cancelled flights.

What the demo compares its tables with is computed by pyarrow; here that is compared with plain loops.
"""

from __future__ import annotations

import sys
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.repository import ROOT

EXAMPLE = str(ROOT / "examples" / "flights")


@pytest.fixture(scope="module")
def deliveries():
    sys.path.insert(0, EXAMPLE)
    try:
        import deliveries

        yield deliveries
    finally:
        sys.path.remove(EXAMPLE)


@pytest.fixture(scope="module")
def answers(deliveries):
    import answers

    return answers


@pytest.fixture(scope="module")
def year(deliveries):
    return deliveries.published_year()


@pytest.fixture(scope="module")
def weather(deliveries):
    return deliveries.published_weather()


def _rows(table):
    return zip(*(table[name].to_pylist() for name in table.column_names), strict=True)


@pytest.fixture(scope="module")
def folded(deliveries, year):
    """The flights that are known after each delivery, and before the first, each in the columns of the raw data."""
    latest, found = {}, [[]]
    width = len(deliveries.KEY)
    for delivery in deliveries.plan():
        for kind, *row in _rows(delivery.reports(year)):
            if kind == "cancellation":
                del latest[tuple(row[:width])]
            else:
                latest[tuple(row[:width])] = tuple(row)
        found.append(list(latest.values()))
    return found


def test_folding_all_deliveries_gives_the_published_year(deliveries, folded, year):
    assert set(folded[-1]) == set(_rows(deliveries.not_cancelled(year)))


def test_sizes_are_foretold(deliveries, year):
    plan = deliveries.plan()
    sizes = list(deliveries.expected_sizes(year, plan))
    assert sizes[0] == 80_789
    assert sizes[-1] == deliveries.not_cancelled(year).num_rows == 328_521


def test_corrections_correct_something(deliveries, year):
    first, second = (delivery.reports(year) for delivery in deliveries.plan()[:2])
    width = len(deliveries.KEY)
    before = {tuple(row[:width]): row for _, *row in _rows(first)}
    corrections = [row for kind, *row in _rows(second) if kind == "correction"]
    assert all(before[tuple(row[:width])] != row for row in corrections)


def test_a_delivery_names_each_flight_once(deliveries, year):
    for delivery in deliveries.plan():
        reports = delivery.reports(year)
        assert isinstance(reports, pa.Table)
        assert reports.group_by(list(deliveries.KEY)).aggregate([]).num_rows == reports.num_rows


def test_all_weather_is_landed_with_its_months(deliveries, weather, tmp_path):
    landed = []
    for delivery in deliveries.plan():
        deliveries.land_weather(str(tmp_path), delivery, weather)
        landed.append(pq.read_table(tmp_path / "weather"))
    assert set(landed[0]["month"].to_pylist()) == {1, 2, 3}
    assert Counter(_rows(landed[-1])) == Counter(_rows(weather))


def test_the_weather_is_joined_as_two_loops_would(deliveries, answers, folded, year, weather):
    flights = folded[2]
    at = {name: number for number, name in enumerate(deliveries.COLUMNS)}
    held_up = {}
    for row in flights:
        if row[at["dep_delay"]] is None or row[at["dep_delay"]] > 60:
            hour = (row[at["origin"]], *row[:3], row[at["sched_dep_time"]] // 100)
            held_up.setdefault(hour, []).append((row[at["carrier"]], row[at["dep_delay"]]))
    naive = Counter(
        (*observed, *flight) for observed in _rows(weather) for flight in held_up.get(observed[:5], [(None, None)])
    )
    assert Counter(_rows(answers.weather_and_delays(_table(year, at, flights), weather))) == naive
    assert max(naive.values()) > 1  # nothing in a row is a key


def test_a_delivery_takes_rows_of_the_join_back(deliveries, answers, folded, year, weather):
    at = {name: number for number, name in enumerate(deliveries.COLUMNS)}
    before, after = (
        Counter(_rows(answers.weather_and_delays(_table(year, at, folded[count]), quarter)))
        for count in (1, 2)
        for quarter in [weather.filter(pa.compute.less(weather["month"], 4))]
    )
    removed, come = before - after, after - before
    quiet = (None, None)
    assert {row[-2:] == quiet for row in removed} == {row[-2:] == quiet for row in come} == {True, False}


def _table(year, columns, rows):
    schema = pa.schema([year.schema.field(name) for name in columns])
    values = zip(*rows, strict=True)
    return pa.table([pa.array(one, field.type) for one, field in zip(values, schema, strict=True)], schema=schema)


@pytest.mark.parametrize("width", [80, 110])
def test_the_chart_fits_its_screen(deliveries, width):
    """One line for each delivery, in which the bars begin below each other."""
    import io

    from rich.console import Console
    from screen import Played, Screen

    screen, titles = Screen(), [one.title for one in deliveries.plan()]
    screen.console = Console(file=io.StringIO(), width=width)
    history = [Played(title, {}, 9_999 * n, 30_000 * n, 1, 50, 50 / n) for n, title in enumerate(titles, 1)]
    screen.chart(history)
    lines = [line for line in screen.console.file.getvalue().splitlines() if line.startswith(tuple(titles))]
    assert len(lines) == len(titles)
    assert all(line.index("█") == lines[0].index("█") for line in lines)
    assert max(map(len, lines)) <= width


def test_the_chart_says_what_was_measured(deliveries):
    from screen import Played, growth

    measured = [(10, 90.0), (1_000, 5.0), (3_000, 20.0), (2_900, 4.0)]
    history = [Played("a title", {}, 1, size, 1, 1, seconds) for size, seconds in measured]
    assert growth(history) == "Flights in the table: 1,000 → 3,000. Seconds of a build: 5.0 → 20.0"
