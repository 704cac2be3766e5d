"""How near to the truth rides are: measured, and what is promised."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from statistics import median

from custom_components.bike_tracker.tracking.ride_state import Ride

from .home import Home, Service
from .plan import BEGIN, a_journey
from .trackers import Tracker, reports
from .trips import Trip

_DAYS = 120


def distance_error(rides: Iterable[Ride], trip: Trip) -> float:
    """Return by how many per cent the rides of a trip are too long."""
    return (sum(ride.distance for ride in rides) / trip.kilometres - 1) * 100


@dataclass(frozen=True)
class Measured:
    """What became of all rides of one tracker."""

    trips: int
    recognised: int
    """As one ride."""
    distance: tuple[float, float, float]
    """Of a single ride too much: the least, the median and the most, in per cent."""
    in_all: float
    """Of the total distance too much, in per cent."""
    start: tuple[float, float, float]
    """Seconds too late."""
    end: tuple[float, float, float]
    """Seconds too late."""


def measure(
    tracker: Tracker, seed: int = 1, days: int = _DAYS, *, has_history: bool = False
) -> Measured:
    """Return how near to the truth some months of rides are."""
    journey = a_journey(seed, days)
    begin = datetime.combine(BEGIN, time(), UTC)
    end = begin + timedelta(days=days + 1)
    home = Home(Service(has_history))
    home.live(reports(tracker, journey, begin, end, seed), end)
    rides = home.booked if has_history else home.rides
    pairs = [
        (trip, found)
        for trip in journey.trips
        if (found := rides_of(trip, rides, timedelta(seconds=tracker.every)))
    ]
    first, last = home.totals[0][1], home.totals[-1][1]
    true = sum(trip.kilometres for trip in journey.trips)
    return Measured(
        trips=len(journey.trips),
        recognised=sum(len(found) == 1 for _, found in pairs),
        distance=_spread(distance_error(found, trip) for trip, found in pairs),
        in_all=((last - first) / true - 1) * 100,
        start=_spread(
            (found[0].started_at - trip.starts_at).total_seconds()
            for trip, found in pairs
        ),
        end=_spread(
            (found[-1].moved_at - trip.ends_at).total_seconds() for trip, found in pairs
        ),
    )


def rides_of(trip: Trip, rides: Iterable[Ride], late: timedelta) -> list[Ride]:
    """Return what a trip was taken for."""
    return [
        ride
        for ride in rides
        if trip.starts_at - late < ride.moved_at
        and ride.started_at < trip.ends_at + late
    ]


def _spread(values: Iterable[float]) -> tuple[float, float, float]:
    numbers = list(values)
    return min(numbers), median(numbers), max(numbers)
