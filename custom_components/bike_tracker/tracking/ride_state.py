"""State of ride detection for one tracker."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from ..api.models import MAX_KILOMETERS
from .distance import FASTEST, NOWHERE, Fix, meters
from .routes import encode, extended

STANDS_AFTER: Final = timedelta(minutes=5)
"""A ride ends as soon as the bike has stood for this time."""
# If fixes drifted at a place, they are expected to drift again within this distance of
# the place, and within this time.
_DRIFT_RADIUS_METERS = 300
_DRIFT_KNOWN_FOR = timedelta(days=7)
# Fixes that are farther apart than this show different places, not drift.
_MAX_DRIFT_METERS = 1_000
_MAX_DRIFTS = 5
# If fixes drifted at this number of places or more, drift is expected everywhere.
_DRIFTS_ANYWHERE = 2


class Ride(NamedTuple):
    """A ride, under way or over."""

    started_at: datetime
    moved_at: datetime
    """Time of the last movement. This is the end of a ride that is over."""
    distance: float = 0
    """Kilometers."""
    maximum_speed: float | None = None
    """Kilometers per hour; None if no speed was reported."""
    start: Fix | None = None
    """Place where the bike stood before the ride; None for rides that were imported."""
    end: Fix | None = None
    """Last place of the ride."""
    route: str | None = None
    """Believed fixes as an encoded polyline."""

    @property
    def duration(self) -> float:
        """Return the duration in seconds."""
        return (self.moved_at - self.started_at).total_seconds()

    def described(self, *, is_over: bool) -> dict[str, Any]:
        """Return the attributes of the ride: its times, distance (km), duration (seconds) and maximum speed (km/h)."""
        speed = self.maximum_speed
        return {
            "started_at": self.started_at.isoformat(),
            **({"ended_at": self.moved_at.isoformat()} if is_over else {}),
            "distance": round(self.distance, 3),
            "duration": round(self.duration),
            "maximum_speed": speed if speed is None else round(speed, 1),
        }

    def with_speed(self, speed: float | None) -> Ride:
        """Return the ride with this speed as maximum, if the speed is higher than before and believable."""
        is_faster = speed is not None and (self.maximum_speed or 0) < speed <= FASTEST
        return self._replace(maximum_speed=speed) if is_faster else self

    def further(self, kilometers: float, end: Fix, time: datetime) -> Ride:
        """Return the ride with these kilometers added, a new last place, and `time` as end if it is later."""
        before = self.end or end
        route = self.route or encode([before.point])
        return self._replace(
            moved_at=max(self.moved_at, time),
            distance=self.distance + kilometers,
            end=end,
            route=extended(route, before.point, end.point),
        )


class Drift(NamedTuple):
    """A place where fixes of a standing bike were off."""

    place: Fix
    time: datetime
    """Time of the last fix that was off there."""
    apart: float = 0
    """Largest distance between the place and a fix that was off, in meters."""
    apart_for_minutes: float = 0
    """Like `apart`, but only if two or more fixes in a row were off before a fix was at the place again; otherwise 0."""


class RideState(NamedTuple):
    """State of ride detection for one tracker."""

    total: float | None = None
    """Kilometers: the server's first total plus all rides; None while unknown."""
    anchor: Fix = NOWHERE
    """The place of the bike. During a ride, the distance is counted up to this place."""
    last_fix: Fix = NOWHERE
    """Newest believed fix."""
    candidate: Fix | None = None
    """A newer fix at another place, which the next report must confirm."""
    newest_fix: Fix | None = None
    """Newest fix, believed or not; None before the first."""
    measured_at: datetime | None = None
    """Time of the newest fix by the tracker's own clock."""
    drift: float = 0
    """Largest distance of recent stray fixes from the place where the bike stood, in meters."""
    drifts: tuple[Drift, ...] = ()
    """The most recent places where fixes were off. The oldest of them comes first."""
    received_at: datetime | None = None
    """When the newest fix was received, by the clock of Home Assistant or of the service, whichever is later."""
    reported_at: datetime | None = None
    """Time of the newest report, even if it had no fix."""
    says_it_moves: bool | None = None
    """The most recently reported motion; None while the tracker does not report motion."""
    ride: Ride | None = None
    """Ride under way. It has no distance as long as the bike only moves on the spot."""
    ended: Ride | None = None
    """The most recent ride that ended."""
    rides: tuple[Ride, ...] = ()
    """Rides that ended or grew after the last settled input, in order of their start."""

    @property
    def is_at_rest(self) -> bool:
        """Return whether the bike has neither a ride under way nor a candidate."""
        return self.ride is None and self.candidate is None

    @property
    def ride_under_way(self) -> Ride | None:
        """Return the ride under way; None as long as the bike has not left its place."""
        return self.ride if self.ride and self.ride.distance else None

    def longer(self, kilometers: float) -> RideState:
        """Return the state with these kilometers added to its total. The total has a maximum."""
        return self._replace(total=min((self.total or 0) + kilometers, MAX_KILOMETERS))

    def booked(self, ride: Ride) -> RideState:
        """Return the state after a ride has ended. A ride with the same start is replaced: it has become longer."""
        rides = (it for it in self.rides if it.started_at != ride.started_at)
        return self._replace(ended=ride, rides=(*rides, ride))

    def with_drift(self, place: Fix, fix: Fix, *, stayed: bool = False) -> RideState:
        """Return the state after a stray fix of a standing bike. With `stayed`, several fixes in a row were off."""
        apart = meters(place, fix)
        if apart > _MAX_DRIFT_METERS:
            return self
        near = [it for it in self.drifts if _counts_at(it, place)]
        new = Drift(place, fix.time, apart, apart if stayed else 0)
        kept = [it for it in self.drifts if it not in near]
        drifts = (*kept, _worst(place, fix.time, [*near, new]))[-_MAX_DRIFTS:]
        return self._replace(drift=max(self.drift, apart), drifts=drifts)

    def drift_at(self, place: Fix, time: datetime) -> Drift:
        """Return the drift to expect in the fixes of a bike that stands at this place."""
        recent = [it for it in self.drifts if time - it.time <= _DRIFT_KNOWN_FOR]
        if len(recent) < _DRIFTS_ANYWHERE:
            recent = [it for it in recent if _counts_at(it, place)]
        return _worst(place, time, recent)

    def was_riding(self, time: datetime) -> bool:
        """Return whether a time is before the end of the last ride that ended, or exactly at its end."""
        return self.ended is not None and time <= self.ended.moved_at


def _counts_at(drift: Drift, place: Fix) -> bool:
    return meters(drift.place, place) <= _DRIFT_RADIUS_METERS


def _worst(place: Fix, time: datetime, drifts: Sequence[Drift]) -> Drift:
    """Return one drift with the largest distances of several drifts; 0 if the list is empty."""
    apart = max((drift.apart for drift in drifts), default=0)
    for_minutes = max((drift.apart_for_minutes for drift in drifts), default=0)
    return Drift(place, time, apart, for_minutes)
