"""Sums of rides by day, week, month or year, in the house's time zone."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from homeassistant.util import dt as dt_util
import pytest

from custom_components.bike_tracker.responses.statistics import (
    BikeRides,
    first_days,
    midnight,
    statistics,
)
from custom_components.bike_tracker.tracking.rides import Ride

BERLIN = "Europe/Berlin"


@pytest.fixture(autouse=True)
def zone(request: pytest.FixtureRequest) -> Iterator[None]:
    """Set the time zone of the house, by default Berlin."""
    dt_util.set_default_time_zone(ZoneInfo(getattr(request, "param", BERLIN)))
    yield
    dt_util.set_default_time_zone(UTC)


def local(text: str) -> datetime:
    """Convert a time in the house's time zone to UTC."""
    zone = dt_util.get_default_time_zone()
    return dt_util.as_utc(datetime.fromisoformat(text).replace(tzinfo=zone))


def ride(start: str, distance: float = 1, minutes: int = 10) -> Ride:
    """Return a ride that starts at a local time. The distance is in kilometers."""
    started_at = local(start)
    return Ride(started_at, started_at + timedelta(minutes=minutes), distance)


@pytest.mark.parametrize(
    ("period", "start", "end", "first", "last", "count"),
    [
        # By default, the range has the current period and the seven before it.
        ("day", None, "2026-11-26T11:00", "2026-11-19", "2026-11-27", 8),
        ("week", None, "2026-11-26T11:00", "2026-10-05", "2026-11-30", 8),
        ("month", None, "2026-03-31T11:00", "2025-08-01", "2026-04-01", 8),
        ("year", None, "2024-02-29T11:00", "2017-01-01", "2025-01-01", 8),
        # Periods are always complete, even if the range begins or ends in the middle of
        # one.
        ("week", "2026-11-18T08:00", "2026-11-26T11:00", "2026-11-16", "2026-11-30", 2),
        ("year", "2025-12-31T23:59", "2026-01-01T00:01", "2025-01-01", "2027-01-01", 2),
        # A period that begins at the end of the range is not part of it.
        ("week", "2026-11-16T00:00", "2026-11-23T00:00", "2026-11-16", "2026-11-23", 1),
        ("day", "2026-11-23T00:00", "2026-11-23T00:00", "2026-11-23", "2026-11-24", 1),
        # Weeks begin on Monday, also at the turn of the year and on February 29.
        ("week", "2027-01-03T12:00", "2027-01-04T12:00", "2026-12-28", "2027-01-11", 2),
        ("month", "2028-01-31T12", "2028-03-01T12", "2028-01-01", "2028-04-01", 3),
        # A longer range gives one period more than the maximum, so the action refuses it.
        ("day", "1950-01-01", "2026-01-01", "1950-01-01", "1960-12-15", 4_001),
    ],
)
def test_periods(
    period: str, start: str | None, end: str, first: str, last: str, count: int
) -> None:
    """The list has the first day of each period, and the first day after the last period."""
    days = first_days(period, local(start) if start else None, local(end))
    assert (f"{days[0]}", f"{days[-1]}", len(days) - 1) == (first, last, count)


@pytest.mark.parametrize(
    ("zone", "day", "hours", "start"),
    [
        (BERLIN, "2026-03-29", 23, "2026-03-29T00:00:00+01:00"),
        (BERLIN, "2026-10-25", 25, "2026-10-25T00:00:00+02:00"),
        # This day has no midnight, and begins at 01:00.
        ("America/Santiago", "2026-09-06", 23, "2026-09-06T01:00:00-03:00"),
        # This day has two midnights, and begins with the first of them.
        ("America/Havana", "2026-11-01", 25, "2026-11-01T00:00:00-04:00"),
        # Samoa skipped this day completely.
        ("Pacific/Apia", "2011-12-30", 0, "2011-12-31T00:00:00+14:00"),
    ],
    indirect=["zone"],
)
def test_days_with_clock_changes(day: str, hours: int, start: str) -> None:
    """A day on which clocks change has 23 or 25 hours. A skipped day has none."""
    days = [date.fromisoformat(day), date.fromisoformat(day) + timedelta(days=1)]
    begin, end = map(midnight, days)
    assert end - begin == timedelta(hours=hours)
    [period] = statistics([], "day", days)
    assert period["start"] == start


@pytest.mark.parametrize(
    ("zone", "start", "day"),
    [
        (BERLIN, "2026-11-22T22:59:59+00:00", "2026-11-22"),
        (BERLIN, "2026-11-22T23:00:00+00:00", "2026-11-23"),
        ("America/Los_Angeles", "2026-11-23T07:59:59+00:00", "2026-11-22"),
        # The hour from 2 to 3 o'clock comes twice. Both times belong to the same day.
        (BERLIN, "2026-10-25T00:30:00+00:00", "2026-10-25"),
        (BERLIN, "2026-10-25T01:30:00+00:00", "2026-10-25"),
    ],
    indirect=["zone"],
)
def test_ride_counts_where_it_started(start: str, day: str) -> None:
    """The sums of a day contain each ride that starts on this day in the house's time zone, even if it ends later."""
    time, first = datetime.fromisoformat(start), date.fromisoformat(day)
    rides = [Ride(time, time + timedelta(hours=2), 5)]
    days = [first + timedelta(days=number) for number in (-1, 0, 1, 2)]
    periods = statistics([BikeRides("red", "Red", rides)], "day", days)
    assert [period["total"]["rides"] for period in periods] == [0, 1, 0]


def sums(*values: float) -> dict[str, float]:
    """Return these values as the sums of a period, with their names as keys."""
    names = ("rides", "distance", "duration", "longest_distance", "days")
    return dict(zip(names, values, strict=True))


def test_sums() -> None:
    """Each period has sums for each bike, and totals of all bikes, even without a ride."""
    monday = [ride("2026-11-09T08:00", 4.25, 20), ride("2026-11-09T18:00", 3.5, 15)]
    red = BikeRides("red", "Red bike", [*monday, ride("2026-11-15T23:50", 12.5, 45)])
    blues = [ride("2026-11-09T10:00", 1.1, 5), ride("2026-11-24T10:00", 2.0004, 5)]
    blue = BikeRides("blue", "Blue bike", blues)
    days = first_days("week", local("2026-11-09"), local("2026-11-30"))
    first, second, third = statistics([red, blue], "week", days)
    names = [{"device_id": bike.device_id, "name": bike.name} for bike in (red, blue)]
    assert first == {
        "start": "2026-11-09T00:00:00+01:00",
        "end": "2026-11-16T00:00:00+01:00",
        "bikes": [
            names[0] | sums(3, 20.25, 4800, 12.5, 2),
            names[1] | sums(1, 1.1, 300, 1.1, 1),
        ],
        "total": sums(4, 21.35, 5100, 12.5, 2),
    }
    assert second["start"] == first["end"]
    assert second["bikes"][0] == names[0] | sums(0, 0, 0, 0, 0)
    assert second["total"] == sums(0, 0, 0, 0, 0)
    assert third["total"] == sums(1, 2, 300, 2, 1)
