"""Rides of which polls see nothing: how many are found, with and without history."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, time, timedelta
from math import sin
from random import Random

from custom_components.bike_tracker.api.models import Position
from custom_components.bike_tracker.tracking.ride_state import Ride
from tests.tools.simulator.streets import HOME, METRES_PER_DEGREE

from .home import Home, Service, Span
from .plan import BEGIN, a_journey
from .trackers import Report, Tracker, reports

_DAY = timedelta(days=1)
_MINUTE = timedelta(minutes=1)
_EVERY = timedelta(seconds=10)
_SPINS = 100
_REPORTS = 5
_ACCURACY = 6.0
_DAYS = 60
_MARGIN = timedelta(seconds=30)


def between_polls(*, has_history: bool) -> tuple[int, int]:
    """Return how many rides there were back to the same place, and how many are found.

    Each takes fifty seconds, and polls are a minute apart.
    """
    begin = datetime.combine(BEGIN, time(), UTC)
    starts = [
        begin + timedelta(minutes=20 * (number + 1), seconds=2)
        for number in range(_SPINS)
    ]
    spins = [Span(start, start + _REPORTS * _EVERY) for start in starts]
    home = Home(Service(has_history))
    home.live(_spun(spins, begin), spins[-1].end + timedelta(hours=1))
    return len(spins), _found(spins, home.booked)


def during_outages(*, has_history: bool) -> tuple[int, int]:
    """Return how many rides there were while nothing was heard for a day, and found."""
    begin = datetime.combine(BEGIN, time(), UTC)
    journey, end = a_journey(1, _DAYS), begin + _DAY * (_DAYS + 1)
    # Each second day, from midnight to midnight.
    outages = [Span(begin + n * _DAY, begin + (n + 1) * _DAY) for n in range(1, 60, 2)]
    tracker = Tracker("every 10 s", 10, repeats=3_600)
    home = Home(Service(has_history))
    home.live(reports(tracker, journey, begin, end, 1), end, outages)
    trips = [
        Span(trip.starts_at, trip.ends_at)
        for trip in journey.trips
        if any(
            trip.starts_at in outage and trip.ends_at in outage for outage in outages
        )
    ]
    return len(trips), _found(trips, home.booked)


def _found(rides: Iterable[Span], known: Iterable[Ride]) -> int:
    """Return of how many rides one is known at their time, and no more than one."""
    known = list(known)
    return sum(
        sum(
            ride.begin - _MARGIN < one.moved_at and one.started_at < ride.end + _MARGIN
            for one in known
        )
        == 1
        for ride in rides
    )


def _spun(spins: Iterable[Span], begin: datetime) -> Iterator[Report]:
    """Yield a report a minute of a bike that stands, and all of its rides there and back."""
    random = Random("spins")  # noqa: S311 - no secret
    now, total, metres, number = begin, 0.0, 0.0, 0
    for spin in spins:
        stands = []
        while now < spin.begin:
            stands.append((now, 0.0))
            now += _MINUTE
        far = random.uniform(90, 150)
        rides = [
            (spin.begin + part * _EVERY, far * sin(3.1416 * part / _REPORTS))
            for part in range(1, _REPORTS + 1)
        ]
        for when, place in stands + rides:
            number += 1
            off = place + random.gauss(0, _ACCURACY / 1.5)
            total += abs(off - metres)
            metres = off
            yield Report(
                Position(
                    device_id=1,
                    id=number,
                    fix_time=when,
                    device_time=when,
                    latitude=HOME[0] + off / METRES_PER_DEGREE,
                    longitude=HOME[1],
                    accuracy=_ACCURACY,
                    speed=15.0 if place > 1 else 0.0,
                    motion=place > 1,
                    total_distance=total / 1_000,
                ),
                when,
            )
