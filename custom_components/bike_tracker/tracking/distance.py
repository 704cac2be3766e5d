"""Distances between fixes: how much of a distance may be noise, and whether a bike can have traveled it."""

from datetime import UTC, datetime
from math import asin, cos, radians, sin, sqrt
from typing import Final, NamedTuple

from ..api.models import Point, Position

_EARTH_METERS = 6_371_000
# None of 100,000 fixes of a parked bike was off by more than this multiple of the
# reported accuracy. Two thirds of the fixes were within the accuracy.
_TIMES_THE_ACCURACY = 3
_MIN_NOISE_METERS = 20
_MIN_NOISE_METERS_WITHOUT_ACCURACY = 50

FASTEST: Final = 320
"""Highest believable speed in km/h of a bike, which may be on a train."""
# Km/h. A higher speed between two fixes is believed only if the tracker reports at
# least two thirds of it.
_FAST = 45
# Assume that a bike traveled at most this long between two fixes. After a long silence,
# any fix would otherwise be plausible.
_MAX_SILENCE_SECONDS = 3_600
# The distance that the server counted is used only up to this average speed (km/h) and
# up to this length. A fix that jumps while the tracker wakes up exceeds these limits.
_FASTEST_DETOUR = 60
_MAX_DETOUR_KILOMETERS = 1_000
# The distance that the server counted is plausible up to this multiple of the straight
# line, plus these kilometers.
_MAX_BENDS = (5, 1)
# Stricter limits if no fix is missing between two fixes: such a short stretch of road
# has few bends, so a larger distance contains a jump.
_MAX_BENDS_BETWEEN_FIXES = (1.2, 0.03)


class Fix(NamedTuple):
    """A measured place."""

    time: datetime
    latitude: float
    longitude: float
    accuracy: float = 0
    """Meters; 0 if unknown."""
    total: float | None = None
    """The server's total distance for the tracker in kilometers."""
    address: str | None = None

    @property
    def point(self) -> Point:
        """Return latitude and longitude in degrees."""
        return self.latitude, self.longitude

    def or_address_of(self, other: Fix) -> Fix:
        """Return this fix. If it has no address, return it with the address of the other fix."""
        return self._replace(address=self.address or other.address)


NOWHERE: Final = Fix(datetime.min.replace(tzinfo=UTC), 0, 0)
"""Placeholder for the place of a tracker without a fix. Its time is earlier than the time of any report."""


def fix_of(position: Position, time: datetime | None) -> Fix | None:
    """Return the fix of a report, measured at `time`. Return None without a time or a place."""
    if time is None or (point := position.point) is None:
        return None
    accuracy, total = position.accuracy, position.total_distance
    return Fix(time, *point, accuracy, total, position.address)


def meters(start: Fix, end: Fix) -> float:
    """Return the distance between two fixes along the surface of the earth, in meters."""
    latitude, other = radians(start.latitude), radians(end.latitude)
    north = sin((other - latitude) / 2)
    east = sin(radians(end.longitude - start.longitude) / 2)
    part = north**2 + cos(latitude) * cos(other) * east**2
    return 2 * _EARTH_METERS * asin(sqrt(part))


def noise(start: Fix, end: Fix) -> float:
    """Return the largest distance in meters that noise explains between two fixes of the same place."""
    is_known = start.accuracy and end.accuracy
    minimum = _MIN_NOISE_METERS if is_known else _MIN_NOISE_METERS_WITHOUT_ACCURACY
    return max(_TIMES_THE_ACCURACY * (start.accuracy + end.accuracy), minimum)


def may_be_one_place(start: Fix, end: Fix) -> bool:
    """Return whether noise explains the distance between two fixes."""
    return meters(start, end) <= noise(start, end)


def is_plausible(
    place: Fix, seen: Fix, fix: Fix, speed: float | None, fastest: float = _FAST
) -> bool:
    """Return whether a bike can have traveled from a place to a fix.

    `seen` is the bike's last fix at the place. Plausible speeds are up to `fastest`
    (km/h), or up to one and a half times the reported `speed` (km/h).
    """
    beyond = meters(place, fix) - noise(place, fix)
    seconds = min(_seconds(seen, fix), _MAX_SILENCE_SECONDS)
    return _speed(beyond, seconds) <= max(fastest, 1.5 * (speed or 0))


def way(
    place: Fix, base: Fix, seen: Fix, fix: Fix, *, has_every_fix: bool = False
) -> float:
    """Return the kilometers ridden from a place to a fix.

    `seen` is the bike's last fix at the place. Use the distance that the server counted
    since `base`, because it includes bends. If that distance is unknown or too large,
    use the straight line. Return 0 if no bike could have arrived so soon after `seen`.
    """
    straight = meters(place, fix) / 1_000
    if _speed(straight * 1_000, _seconds(seen, fix)) > FASTEST:
        return 0
    if base.total is None or fix.total is None:
        return straight
    added = fix.total - base.total
    times, more = _MAX_BENDS_BETWEEN_FIXES if has_every_fix else _MAX_BENDS
    limit = min(times * straight + more, _MAX_DETOUR_KILOMETERS)
    is_slow = _speed(added * 1_000, _seconds(base, fix)) <= _FASTEST_DETOUR
    return max(straight, added) if added <= limit and is_slow else straight


def _seconds(start: Fix, end: Fix) -> float:
    return (end.time - start.time).total_seconds()


def _speed(way: float, seconds: float) -> float:
    """Return the speed in km/h for a distance in meters. Use at least one second: clocks may be a second off."""
    return way / max(seconds, 1) * 3.6
