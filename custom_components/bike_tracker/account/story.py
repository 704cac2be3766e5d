"""The story of one tracker: what outlives lists, outages and restarts."""

from datetime import datetime
from typing import NamedTuple

from ..api import DeviceStatus, Position
from .alarms import Alarm, alarms_of, is_same
from .guard import Guard, alarmed, armed, heard as guard_heard
from .happened import RideEvent, later
from .positions import taken
from .rides import ended, heard, recounted
from .since import NEVER_HEARD, Since
from .track import NEW_TRACK, RideNews, Track


class Story(NamedTuple):
    """What is known of a tracker beside its device, and what happened to it."""

    position: Position | None = None
    """Its newest report, with what older ones said and this one does not."""
    shown: Position | None = None
    """Where it is shown while it comes back; None is where it is.

    Home Assistant's zone triggers ignore what changes from unavailable, so a ride away
    during an outage, a reload or a restart would go unnoticed.
    """
    since: Since = NEVER_HEARD
    alarms: tuple[Alarm, ...] = ()
    """The last ones it set off, oldest first."""
    ride_events: tuple[RideEvent, ...] = ()
    """The last starts and ends of its rides, oldest first."""
    track: Track | None = None
    """How far it came; None while it has no position."""
    there_already: int | None = None
    """The position it had when it was listed first: its alarm was before anybody listened."""
    guard: Guard | None = None
    """How it is guarded, None while it is not."""

    def with_status(self, status: DeviceStatus | None, now: datetime) -> Story:
        """Return the story after a status."""
        since = self.since.after_status(status, now)
        return self if since is self.since else self._replace(since=since)

    def with_report(
        self,
        position: Position,
        now: datetime,
        *,
        is_news: bool,
        comes_back: bool,
    ) -> Story:
        """Return the story after the newest report.

        A tracker that comes back is shown where it was for now, and what happened to it
        before may not have been told yet. An alarm that is no news was there before
        anybody could listen.
        """
        report, known = position, self.position
        position, story = taken(known, report), self
        if position.alarm:
            story = self.with_alarms(position, now, untold=comes_back, is_news=is_news)
        if position is known:
            return story
        shown, guard, before = self.shown, story.guard, self.track or NEW_TRACK
        if guard:
            guard = guard_heard(guard, report, before, now)
        if comes_back and shown is None and known and known.latitude is not None:
            shown = known
        track, ride_news = heard(before, position, now)
        return Story(
            position,
            shown,
            self.since.after_motion(position.motion, now),
            story.alarms,
            self._rides(ride_news, now, untold=comes_back),
            track,
            self.there_already,
            guard,
        )

    def with_alarms(
        self, position: Position, now: datetime, *, untold: bool, is_news: bool = True
    ) -> Story:
        """Return the story after the alarms of a report, which may be an old one.

        `untold` is whether those before may not have been told yet.
        """
        new = [
            alarm
            for alarm in alarms_of(position)
            if not any(is_same(known, alarm) for known in self.alarms)
        ]
        if not new:
            return self
        if not is_news:
            return self._replace(alarms=(*self.alarms, *new))
        return self._replace(
            alarms=later(self.alarms, new, now, untold=untold),
            guard=self.guard and alarmed(self.guard, new, self.track, now),
        )

    def armed(self, now: datetime, told: datetime | None) -> Story | None:
        """Return the story once it is guarded, None while it never had a place.

        `told` is the number of what triggered its guard the time before.
        """
        moving = self.since.moving
        guard = armed(self.track, moving and moving.is_so, now, told)
        return guard and self._replace(guard=guard)

    def fallen_silent(self, now: datetime) -> Story:
        """Return the story of a tracker under way that is heard of no more."""
        track, ride_news = ended(self.track or NEW_TRACK)
        return self._replace(
            track=track, ride_events=self._rides(ride_news, now, untold=False)
        )

    def adopted(self) -> Story:
        """Return the story for another account, whose server may be another one.

        Its IDs say nothing there, and its total distances do not go on.
        """
        return self._replace(
            position=self.position and self.position._replace(id=0),
            alarms=tuple(alarm._replace(report=0) for alarm in self.alarms),
            track=self.track and recounted(self.track),
            there_already=None,
        )

    def _rides(
        self, ride_news: list[RideNews], now: datetime, *, untold: bool
    ) -> tuple[RideEvent, ...]:
        if not ride_news:
            return self.ride_events
        new = [RideEvent(kind, ride, None) for kind, ride in ride_news]
        return later(self.ride_events, new, now, untold=untold)


NEW_STORY = Story()
