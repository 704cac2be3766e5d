"""How far it is from one fix to the next, and how much of that a bike went."""

from datetime import UTC, datetime
from math import asin, cos, radians, sin, sqrt
from typing import Final, NamedTuple

from ..api.models import Position

_EARTH = 6_371_000
# Of a hundred thousand fixes of a parked bike, none is farther away than that many times
# the accuracy, which two out of three keep.
_TIMES_THE_ACCURACY = 3
_LEAST_NOISE = 20
_LEAST_NOISE_WHERE_UNKNOWN = 50

_FAST: Final = 45
FASTEST: Final = 320
"""Kilometres per hour that a bike may have, if only on a train."""
# Seconds. After a longer silence a fix that jumped would be no jump.
_LONGEST_SILENCE = 3_600
# What a server may have added beyond the straight way, in one report: less than a fix
# that jumps while the tracker wakes up.
_FASTEST_DETOUR = 60
_LONGEST_DETOUR = 1_000
_MOST_BENDS = 5
_LEAST_BENDS = 1


class Fix(NamedTuple):
    """Where a tracker was at one time."""

    time: datetime
    latitude: float
    longitude: float
    accuracy: float = 0
    """Metres; 0 is unknown."""
    total: float | None = None
    """Kilometres that the server says the tracker went in all."""
    address: str | None = None
    """The service's word for the place."""

    @property
    def point(self) -> tuple[float, float]:
        """Return latitude and longitude."""
        return self.latitude, self.longitude

    def or_address_of(self, other: Fix) -> Fix:
        """Return this fix, with the address of another one there if it has none."""
        return self._replace(address=self.address or other.address)


NOWHERE: Final = Fix(datetime.min.replace(tzinfo=UTC), 0, 0)
"""Where a tracker is that never had a fix."""


def fix_of(position: Position, time: datetime | None) -> Fix | None:
    """Return where a tracker was at this time, None if its report does not say it."""
    latitude, longitude = position.latitude, position.longitude
    if time is None or latitude is None or longitude is None:
        return None
    accuracy, total = position.accuracy, position.total_distance
    return Fix(time, latitude, longitude, accuracy, total, position.address)


def metres(start: Fix, end: Fix) -> float:
    """Return the straight way between two fixes."""
    latitude, other = radians(start.latitude), radians(end.latitude)
    north = sin((other - latitude) / 2)
    east = sin(radians(end.longitude - start.longitude) / 2)
    return 2 * _EARTH * asin(sqrt(north**2 + cos(latitude) * cos(other) * east**2))


def noise(start: Fix, end: Fix) -> float:
    """Return how many metres apart two fixes of one place may be."""
    explained = _TIMES_THE_ACCURACY * (start.accuracy + end.accuracy)
    is_known = start.accuracy and end.accuracy
    return max(explained, _LEAST_NOISE if is_known else _LEAST_NOISE_WHERE_UNKNOWN)


def may_be_one_place(start: Fix, end: Fix) -> bool:
    """Return whether noise explains the distance between two fixes."""
    return metres(start, end) <= noise(start, end)


def is_plausible(place: Fix, seen: Fix, fix: Fix, speed: float | None) -> bool:
    """Return whether a bike with this speed, in km/h, came from a place to a fix."""
    beyond = metres(place, fix) - noise(place, fix)
    seconds = min(_seconds(seen, fix), _LONGEST_SILENCE)
    return _speed(beyond, seconds) <= max(_FAST, 1.5 * (speed or 0))


def way(place: Fix, base: Fix, seen: Fix, fix: Fix) -> float:
    """Return the kilometres from a place to a fix of a tracker that was seen in between.

    The server knows each report, so its total since the base counts all bends between two
    that are seen here, but also each fix that jumped. Nothing is counted where nobody is
    so fast.
    """
    straight = metres(place, fix) / 1_000
    if _speed(straight * 1_000, _seconds(seen, fix)) > FASTEST:
        return 0
    if base.total is None or fix.total is None:
        return straight
    added = fix.total - base.total
    most = min(_MOST_BENDS * straight + _LEAST_BENDS, _LONGEST_DETOUR)
    is_slow = _speed(added * 1_000, _seconds(base, fix)) <= _FASTEST_DETOUR
    return max(straight, added) if added <= most and is_slow else straight


def _seconds(start: Fix, end: Fix) -> float:
    return (end.time - start.time).total_seconds()


def _speed(way: float, seconds: float) -> float:
    """Return the km/h of so many metres in that time; clocks may be a second off."""
    return way / max(seconds, 1) * 3.6
