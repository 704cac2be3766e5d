"""The story of one tracker: what outlives lists, outages and restarts."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Final, NamedTuple

from ..api import DeviceStatus, Position
from .alarms import MAX_ALARMS, Alarm, new_alarms
from .checkpoint import Gap, is_at_rest
from .guard import Guard, after_alarm, after_history, after_report, armed
from .history import Past, after_past
from .occurrences import Moment, RideEvent, later
from .reports import in_order, is_older_position, taken
from .ride_log import NO_RIDES, RideLog
from .rides import ended, heard, silent_at
from .track import NEW_TRACK, RideNews, Track
from .unchanged_since import NEVER_HEARD, Since

_OLDEST_ALARM: Final = timedelta(hours=1)


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
    track: Track | None = None
    """How far it came; None while it has no position."""
    rides: RideLog | None = None
    """What was told of its rides, and what is going to be; None before the first."""
    there_already: int | None = None
    """The position it had when it was listed first: its alarm was before anybody listened."""
    guard: Guard | None = None
    """How it is guarded, None while it is not."""
    changed_by: str | None = None
    """The name of the person who armed or disarmed it last, None for automations."""

    @property
    def ride_events(self) -> tuple[RideEvent, ...]:
        """Return the last starts and ends of its rides, oldest first."""
        return self.rides.events if self.rides else ()

    @property
    def gap(self) -> Gap | None:
        """Return what is to be asked for of the service's history, None if nothing is."""
        log, track = self.rides, self.track
        known = self.position and self.position.fix_time
        if not (log and log.checkpoint and track and known):
            return None
        is_of_ride = bool(log.waiting) or not is_at_rest(track)
        return log.checkpoint.gap(known, is_of_ride=is_of_ride)

    @property
    def waits_until(self) -> datetime | None:
        """Return when what waits for the history is told all the same."""
        return self.rides and self.rides.waits_until

    @property
    def changes_at(self) -> datetime | None:
        """Return when something is told by the clock alone, None if nothing is."""
        times = (self.track and silent_at(self.track), self.waits_until)
        return min((time for time in times if time), default=None)

    @property
    def is_pending(self) -> bool:
        """Return whether there is more to come of it, by the clock or of the history."""
        track, log = self.track, self.rides
        return bool((track and track.ride) or (log and log.checkpoint))

    def with_status(self, status: DeviceStatus | None, now: datetime) -> Story:
        """Return the story after a status."""
        since = self.since.after_status(status, now)
        return self if since is self.since else self._replace(since=since)

    def with_report(
        self,
        position: Position,
        moment: Moment,
        *,
        is_news: bool,
        received_at: datetime | None = None,
    ) -> Story:
        """Return the story after the newest report.

        A tracker that comes back is shown where it was for now. An alarm that is no news
        was there before anybody could listen.
        """
        report, known = position, self.position
        now, came_back = moment.now, moment.came_back
        position, story = taken(known, report), self
        if position.alarm:
            story = self.with_alarms([position], moment, is_news=is_news)
        if position is known:
            return story
        shown, guard, before = self.shown, story.guard, self.track or NEW_TRACK
        if guard:
            guard = after_report(guard, report, before, now, received_at)
        if came_back and shown is None and known and known.latitude is not None:
            shown = known
        track, news = heard(before, position, now)
        if before.measured_at and position.fix_time == before.measured_at:
            moment = moment._replace(is_whole=True)
        log = (self.rides or NO_RIDES).after_report(before, track, news, moment)
        return story._replace(
            position=position,
            shown=shown,
            since=self.since.after_motion(position.motion, now),
            track=track,
            rides=None if log == NO_RIDES else log,
            guard=guard,
        )

    def with_past(self, past: Past, moment: Moment) -> Story:
        """Return the story after all that was reported in a gap; old alarms are not told."""
        now, reports = moment.now, in_order(past.reports)
        recent = [
            report
            for report in reports
            if (time := report.device_time or report.fix_time)
            and now - time <= _OLDEST_ALARM
        ]
        story = self.with_alarms(recent, moment)
        track = story.rides and story.rides.checkpoint and story.rides.checkpoint.track
        if story.guard and track and (newest := story.position):
            # Newer ones follow below.
            older = (item for item in reports if not is_older_position(newest, item))
            guard = after_history(story.guard, older, track, now)
            story = story._replace(guard=guard)
        known = story.position and story.position.fix_time
        if known and story.track and story.rides:
            log, track = after_past(story.rides, story.track, past, known, moment)
            story = story._replace(rides=log, track=track)
        moment = moment._replace(is_whole=True)
        for report in reports:
            if story.position and is_older_position(story.position, report):
                story = story.with_report(report, moment, is_news=True)
        return story

    def with_older_report(self, position: Position, moment: Moment) -> Story:
        """Return the story after a report older than the newest: its alarms count."""
        story, guard = self.with_alarms([position], moment), self.guard
        if guard and position.alarm:
            guard = after_alarm(guard, position, self.track, moment.now)
        return story._replace(guard=guard)

    def with_alarms(
        self, reports: Sequence[Position], moment: Moment, *, is_news: bool = True
    ) -> Story:
        """Return the story after the alarms of reports, which may be old ones."""
        if not (new := new_alarms(self.alarms, reports)):
            return self
        if not is_news:
            return self._replace(alarms=(*self.alarms, *new)[-MAX_ALARMS:])
        # A history may tell the others again, also if the tracker's clock is ahead.
        since = moment.now - _OLDEST_ALARM
        old = takewhile(lambda known: known.is_older(since), self.alarms)
        alarms = later(self.alarms, new, moment, old=len(list(old)))
        return self._replace(alarms=alarms[-MAX_ALARMS:])

    def armed(
        self, now: datetime, last_fired: datetime | None, changed_by: str | None
    ) -> Story | None:
        """Return the story once it is guarded, None while it never had a place."""
        moving, track, position = self.since.moving, self.track, self.position
        if track is None and position:
            # Version 1.0 remembered nothing else.
            track, _ = heard(NEW_TRACK, position, position.fix_time or now)
        guard = armed(track, position, moving and moving.is_so, now, last_fired)
        return guard and self._replace(guard=guard, changed_by=changed_by)

    def after_time(self, moment: Moment) -> Story:
        """Return the story by now: what waits is told, who is silent rides no more."""
        before = track = self.track or NEW_TRACK
        log, news = self.rides or NO_RIDES, list[RideNews]()
        if (at := silent_at(track)) and at <= moment.now:
            track, news = ended(track)
        moment = moment._replace(is_whole=True)
        log = log.after_report(before, track, news, moment)
        return self._replace(track=track, rides=log)

    def wait_no_more(self, moment: Moment) -> Story:
        """Return the story once nothing of it waits for the history."""
        return self._replace(rides=self.rides and self.rides.wait_no_more(moment))


NEW_STORY = Story()
