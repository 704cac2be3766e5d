"""The story of one tracker: what outlives lists, outages and restarts."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Final, NamedTuple

from ..api import DeviceStatus, Position
from .alarms import MAX_ALARMS, Alarm, new_alarms
from .checkpoint import HistoryGap, after_older_report, is_at_rest
from .guard import (
    Guard,
    after_alarm,
    after_history as guard_after_history,
    after_report,
    armed,
)
from .history import HistoryAnswer, after_history
from .occurrences import Moment, RideEvent, later
from .reports import in_order, is_older_position, taken
from .ride_log import NO_RIDES, RideLog
from .ride_state import NEW_RIDE_STATE, RideNews, RideState
from .rides import apply_report, end_ride, silent_at
from .unchanged_since import NEVER_HEARD, Since

_OLDEST_ALARM: Final = timedelta(hours=1)


class Story(NamedTuple):
    """What is known of a tracker beside its device, and what happened to it."""

    position: Position | None = None
    """Its newest report, with what older ones said and this one does not."""
    since: Since = NEVER_HEARD
    alarms: tuple[Alarm, ...] = ()
    """The last ones it set off, oldest first."""
    track: RideState | None = None
    """How far it came; None while it has no position."""
    rides: RideLog | None = None
    """What was fired of its rides, and the last ones; None before the first."""
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
    def gap(self) -> HistoryGap | None:
        """Return what is to be asked for of the service's history, None if nothing is."""
        log, track = self.rides, self.track
        known = self.position and self.position.fix_time
        if not (log and (point := log.checkpoint) and track and known):
            return None
        is_of_ride = not is_at_rest(track) or any(map(point.is_since, log.rides))
        return point.gap(known, is_of_ride=is_of_ride)

    @property
    def changes_at(self) -> datetime | None:
        """Return when a silent tracker's ride is over by the clock, None if none is."""
        return self.track and silent_at(self.track)

    @property
    def is_pending(self) -> bool:
        """Return whether a ride is under way, or reports may be missing."""
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

        An alarm that is no news was there before anybody could listen.
        """
        report, known = position, self.position
        now = moment.now
        position, story = taken(known, report), self
        if position.alarm:
            story = self.with_alarms([position], moment, is_news=is_news)
        if position is known:
            return story
        guard, before = story.guard, self.track or NEW_RIDE_STATE
        if guard:
            guard = after_report(guard, report, before, now, received_at)
        track, news = apply_report(before, position, now)
        if before.measured_at and position.fix_time == before.measured_at:
            moment = moment._replace(is_whole=True)
        log = (self.rides or NO_RIDES).after_report(before, track, news, moment)
        return story._replace(
            position=position,
            since=self.since.after_motion(position.motion, now),
            track=track,
            rides=None if log == NO_RIDES else log,
            guard=guard,
        )

    def with_history(self, answer: HistoryAnswer, moment: Moment) -> Story:
        """Return the story after all reports of a gap; old alarms are not fired."""
        now, reports = moment.now, in_order(answer.reports)
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
            guard = guard_after_history(story.guard, older, track, now)
            story = story._replace(guard=guard)
        known = story.position and story.position.fix_time
        if known and story.track and story.rides:
            log, track = after_history(story.rides, story.track, answer, known, moment)
            story = story._replace(rides=log, track=track)
        moment = moment._replace(is_whole=True)
        for report in reports:
            if story.position and is_older_position(story.position, report):
                story = story.with_report(report, moment, is_news=True)
        return story

    def with_older_report(self, position: Position, moment: Moment) -> Story:
        """Return the story after a report older than the newest: its alarms count."""
        story, guard, log = self.with_alarms([position], moment), self.guard, self.rides
        if guard and position.alarm:
            guard = after_alarm(guard, position, self.track, moment.now)
        if log and log.checkpoint:
            point = after_older_report(log.checkpoint, position.fix_time)
            log = log._replace(checkpoint=point)
        return story._replace(guard=guard, rides=log)

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
            track, _ = apply_report(NEW_RIDE_STATE, position, position.fix_time or now)
        guard = armed(track, position, moving and moving.is_so, now, last_fired)
        return guard and self._replace(guard=guard, changed_by=changed_by)

    def after_time(self, moment: Moment) -> Story:
        """Return the story by now: a tracker that is silent for long rides no more."""
        before = track = self.track or NEW_RIDE_STATE
        log, news = self.rides or NO_RIDES, list[RideNews]()
        if (at := silent_at(track)) and at <= moment.now:
            track, news = end_ride(track)
        moment = moment._replace(is_whole=True)
        log = log.after_report(before, track, news, moment)
        return self._replace(track=track, rides=log)


NEW_STORY = Story()
