"""What is known of how far one tracker came: its rides, and what tells the next one."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final, Literal, NamedTuple

from ..api.models import MAX_KILOMETRES
from .distance import FASTEST, NOWHERE, Fix, metres

STANDS_AFTER: Final = timedelta(minutes=5)
"""A ride is over once the bike has stood for so long."""
# Metres from where its fixes were off, and how long that is known.
_NEAR = 300
# Metres: what is farther apart is another place.
_MAX_DRIFT = 1_000
_KEPT = timedelta(days=7)
_MAX_PLACES = 5
_ENOUGH_PLACES = 2

type RideEvent = tuple[Literal["started", "ended"], Ride]
"""What happened, and the ride as it was known then."""
type Step = tuple[RideState, list[RideEvent]]
"""How far a tracker came, and what happened by then."""


class Ride(NamedTuple):
    """A ride under way, or one that is over."""

    started_at: datetime
    moved_at: datetime
    """When it moved last: that is when it ended, once it is over."""
    distance: float = 0
    """Kilometres."""
    maximum_speed: float | None = None
    """Kilometres per hour, None if none was reported."""
    start: Fix | None = None
    """Where it stood before; None for a ride from before that was remembered."""
    end: Fix | None = None
    """Where it came to."""

    @property
    def duration(self) -> float:
        """Return how many seconds it took so far."""
        return (self.moved_at - self.started_at).total_seconds()

    def described(self, *, is_over: bool) -> dict[str, Any]:
        """Return what is told and kept of the ride: km, seconds and km/h."""
        speed = self.maximum_speed
        return {
            "started_at": self.started_at.isoformat(),
            **({"ended_at": self.moved_at.isoformat()} if is_over else {}),
            "distance": round(self.distance, 3),
            "duration": round(self.duration),
            "maximum_speed": speed if speed is None else round(speed, 1),
        }

    def with_speed(self, speed: float | None) -> Ride:
        """Return the ride of which this speed was reported."""
        is_faster = speed is not None and (self.maximum_speed or 0) < speed <= FASTEST
        return self._replace(maximum_speed=speed) if is_faster else self

    def further(self, kilometres: float, end: Fix, time: datetime) -> Ride:
        """Return the ride that moved at this time, or later, and so much farther."""
        moved_at, distance = max(self.moved_at, time), self.distance + kilometres
        return self._replace(moved_at=moved_at, distance=distance, end=end)


class Drift(NamedTuple):
    """A place where fixes of a bike that stood were off."""

    place: Fix
    time: datetime
    """When they were off last."""
    apart: float = 0
    """Metres."""
    apart_for_minutes: float = 0
    """The same of those that were off for a while, and back then."""


class RideState(NamedTuple):
    """How far one tracker came, for whoever hears its next report."""

    total: float | None = None
    """Kilometres: what the server counted first, and all rides; None without a fix."""
    highest_total: float = 0
    """What was shown before the history told of shorter rides."""
    anchor: Fix = NOWHERE
    """The place up to which its way is counted."""
    last_fix: Fix = NOWHERE
    """The newest fix that is believed."""
    candidate: Fix | None = None
    """A newer fix that is believed only if the next report is there too."""
    newest_fix: Fix | None = None
    """The newest fix, believed or not; None before there was one."""
    measured_at: datetime | None = None
    """When its newest fix was measured, by the tracker's own clock."""
    drift: float = 0
    """Metres that its fixes were apart lately while it stood."""
    drifts: tuple[Drift, ...] = ()
    """The last places where they were, the newest last."""
    received_at: datetime | None = None
    """When its newest fix was heard of, by the clock."""
    reported_at: datetime | None = None
    """The time of its newest report, with or without a fix."""
    says_it_moves: bool | None = None
    """None is that it does not say."""
    ride: Ride | None = None
    """The ride under way."""
    ended: Ride | None = None
    """The last one that is over."""
    before_ended: Ride | None = None
    """The last one that went anywhere, where `ended` did not."""

    @property
    def is_at_rest(self) -> bool:
        """Return whether it is known where the bike stands."""
        return self.ride is None and self.candidate is None

    @property
    def interrupted(self) -> Ride | None:
        """Return the last ride if the clock alone ended it: it may have gone on."""
        over, newest = self.ended, self.newest_fix
        if self.ride or not over or not newest:
            return None
        return over if newest.time - over.moved_at < STANDS_AFTER else None

    @property
    def last(self) -> Ride | None:
        """Return the last ride that is over and went anywhere."""
        ended = self.ended
        return ended if ended and ended.distance else self.before_ended

    @property
    def shown_total(self) -> float | None:
        """Return the most kilometres that were ever known."""
        return None if self.total is None else max(self.total, self.highest_total)

    def longer(self, kilometres: float) -> RideState:
        """Return the state that is so much longer, as far as a total may be."""
        return self._replace(total=min((self.total or 0) + kilometres, MAX_KILOMETRES))

    def with_drift(self, place: Fix, fix: Fix, *, stayed: bool = False) -> RideState:
        """Return the state of a tracker that stood there, if its fix was not too far off."""
        apart = metres(place, fix)
        if apart > _MAX_DRIFT:
            return self
        near = [item for item in self.drifts if metres(item.place, place) <= _NEAR]
        others = [item for item in self.drifts if item not in near]
        new = Drift(place, fix.time, apart, apart if stayed else 0)
        drifts = (*others, _worst(place, fix.time, [*near, new]))[-_MAX_PLACES:]
        return self._replace(drift=max(self.drift, apart), drifts=drifts)

    def drift_at(self, place: Fix, time: datetime) -> Drift:
        """Return how far fixes of a bike that stands there may be off.

        What was so at two places is the tracker's own, and so anywhere.
        """
        recent = [drift for drift in self.drifts if time - drift.time <= _KEPT]
        if len(recent) < _ENOUGH_PLACES:
            recent = [item for item in recent if metres(item.place, place) <= _NEAR]
        return _worst(place, time, recent)

    def was_riding(self, time: datetime) -> bool:
        """Return whether the last ride that is over was not over yet."""
        return self.ended is not None and time <= self.ended.moved_at


def _worst(place: Fix, time: datetime, drifts: Sequence[Drift]) -> Drift:
    """Return how far fixes were off at any of these places."""
    apart = max((drift.apart for drift in drifts), default=0)
    for_minutes = max((drift.apart_for_minutes for drift in drifts), default=0)
    return Drift(place, time, apart, for_minutes)
