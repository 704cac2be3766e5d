"""Sums of rides by day, week, month or year."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from itertools import chain, pairwise
from typing import Any, Final, NamedTuple

from homeassistant.util import dt as dt_util

from ..tracking.rides import Ride

# For each type of period, a number of days that leads from the first day of a period
# into the next period.
_DAYS_OF_PERIOD: Final = {"day": 1, "week": 7, "month": 31, "year": 366}
PERIODS: Final = tuple(_DAYS_OF_PERIOD)
MAX_PERIODS: Final = 4_000
"""Maximum number of periods in a response: more than the days of ten years."""
_PERIODS_BEFORE: Final = 7


class BikeRides(NamedTuple):
    """Finished rides of a bike."""

    device_id: str
    name: str
    rides: Sequence[Ride]


def first_days(period: str, start: datetime | None, end: datetime) -> list[date]:
    """Return the first day of each period in a time range, and of the period after the range.

    By default, the range begins seven periods before its last period. If the range has
    more periods than `MAX_PERIODS`, stop after one period too many. Raise OverflowError
    near the years 1 and 9999.
    """
    # A period that begins at `end` is not part of the range.
    last = _first_day(period, _local_date(end - datetime.resolution))
    first = last if start is None else _first_day(period, _local_date(start))
    if start is None:
        for _ in range(_PERIODS_BEFORE):
            first = _first_day(period, first - timedelta(days=1))
    days = [first]
    while (days[-1] <= last or len(days) == 1) and len(days) <= MAX_PERIODS + 1:
        days.append(
            _first_day(period, days[-1] + timedelta(days=_DAYS_OF_PERIOD[period]))
        )
    return days


def midnight(day: date) -> datetime:
    """Return the time at which a local day begins, in UTC."""
    zone = dt_util.get_default_time_zone()
    return dt_util.as_utc(datetime.combine(day, time.min, zone))


def statistics(
    bikes: Sequence[BikeRides], period: str, days: Sequence[date]
) -> list[dict[str, Any]]:
    """Return the sums of each period, by bike and in total. A ride belongs to the period in which it started."""
    rides = defaultdict[tuple[date, int], list[Ride]](list)
    for number, bike in enumerate(bikes):
        for ride in bike.rides:
            rides[_first_day(period, _local_date(ride.started_at)), number].append(ride)
    return [
        _period(first, after, bikes, [rides[first, it] for it in range(len(bikes))])
        for first, after in pairwise(days)
    ]


def _period(
    first: date, after: date, bikes: Sequence[BikeRides], rides: list[list[Ride]]
) -> dict[str, Any]:
    return {
        "start": dt_util.as_local(midnight(first)).isoformat(),
        "end": dt_util.as_local(midnight(after)).isoformat(),
        "bikes": [
            {"device_id": bike.device_id, "name": bike.name, **_sums(own)}
            for bike, own in zip(bikes, rides, strict=True)
        ],
        "total": _sums(list(chain.from_iterable(rides))),
    }


def _sums(rides: Sequence[Ride]) -> dict[str, Any]:
    distances = [ride.distance for ride in rides]
    return {
        "rides": len(rides),
        "distance": round(sum(distances), 3),
        "duration": round(sum(ride.duration for ride in rides)),
        "longest_distance": round(max(distances, default=0), 3),
        "days": len({_local_date(ride.started_at) for ride in rides}),
    }


def _local_date(time: datetime) -> date:
    return dt_util.as_local(time).date()


def _first_day(period: str, day: date) -> date:
    """Return the first day of the period that contains this day. Weeks begin on Monday."""
    if period == "week":
        return day - timedelta(days=day.weekday())
    if period == "year":
        return day.replace(month=1, day=1)
    return day.replace(day=1) if period == "month" else day
