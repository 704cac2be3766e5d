"""From where on reports of a tracker may lack, which the service's own history has."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from .distance import Fix, metres, noise
from .happened import Moment
from .track import Ride, RideNews, Track

LONGEST: Final = timedelta(days=7)
"""How far back the history is asked for, at once, and how long a gap waits."""
_WAITS: Final = timedelta(seconds=30)
_BEFORE_A_RIDE: Final = timedelta(hours=1)
# A gap of a week may be asked for as long as this.
_SPARE: Final = timedelta(hours=1)
# Metres that the server counts between two reports of a bike that stood.
_DRIFT: Final = 150


class Gap(NamedTuple):
    """A time of a tracker of which not every report is known."""

    start: datetime
    """The fix of the newest report before it, in UTC."""
    known: datetime
    """The fix of the newest report of all."""
    noticed_at: datetime


class Checkpoint(NamedTuple):
    """How far a tracker came before reports that may not be all there were."""

    track: Track
    start: datetime
    """From when on reports may lack."""
    lacks: bool
    """Whether some may."""
    wanted_at: datetime | None = None
    """When it was found that the history is needed; None while it is not."""
    over: Ride | None = None
    """The last ride that was over at the start."""
    found: tuple[Ride, ...] = ()
    """Rides since the start that a part of the history told and that are over."""

    @property
    def waits_until(self) -> datetime | None:
        """Return until when what is told of rides waits for the history."""
        return self.wanted_at and self.wanted_at + _WAITS

    def gap(self, known: datetime) -> Gap | None:
        """Return what is to be asked for, up to the newest fix that is known."""
        if self.wanted_at is None:
            return None
        newest = self.track.newest
        start = max(self.start, newest.time) if newest else self.start
        return Gap(start, known, self.wanted_at)

    def is_since(self, ride: Ride) -> bool:
        """Return whether a ride was not over at the start."""
        return self.over is None or ride.started_at > self.over.moved_at

    def wanted(self, now: datetime) -> Checkpoint:
        """Return the checkpoint of which the history is needed."""
        return self._replace(wanted_at=now)


def checkpoint_at(track: Track) -> Checkpoint | None:
    """Return where to begin once every report is known up to here, None at rest."""
    newest = track.newest
    return (
        None
        if _is_at_rest(track) or newest is None
        else Checkpoint(track, newest.time, lacks=False, over=track.ended)
    )


def after_report(
    point: Checkpoint | None,
    before: Track,
    track: Track,
    news: list[RideNews],
    moment: Moment,
) -> Checkpoint | None:
    """Return where to begin after a report, None if nothing lacks that matters."""
    last, newest = before.newest, track.newest
    if point and moment.now - point.start >= LONGEST:
        point = None
    if last is None or newest is None or not _is_to_be_asked(track, moment):
        return None
    lacks = not moment.is_whole
    is_needed = lacks and (
        moment.came_back or _went_unseen(before, track, last, newest)
    )
    if point:
        point = point._replace(lacks=point.lacks or lacks)
    elif is_needed:
        start = max(last.time, moment.now - LONGEST + _SPARE)
        point = Checkpoint(before, start, lacks, over=before.ended)
    elif news or not _is_at_rest(track):
        start = max(last.time, newest.time - _BEFORE_A_RIDE)
        point = Checkpoint(before, start, lacks, over=before.ended)
    return point.wanted(moment.now) if point and is_needed else point


def at_rest(point: Checkpoint | None, track: Track) -> Checkpoint | None:
    """Return where to begin once a report is told of: nowhere where nothing lacks."""
    is_over = point and not point.wanted_at and _is_at_rest(track)
    return None if is_over else point


def _is_at_rest(track: Track) -> bool:
    return track.ride is None and track.doubt is None


def _is_to_be_asked(track: Track, moment: Moment) -> bool:
    """Return whether the history tells of it; not by a clock that is ahead."""
    newest, measured_at = track.newest, track.measured_at
    is_ahead = newest and measured_at and measured_at > newest.time
    return moment.has_history and not is_ahead


def _went_unseen(before: Track, track: Track, last: Fix, newest: Fix) -> bool:
    """Return whether the server counted more than a bike that stood drifts."""
    if not (_is_at_rest(before) and _is_at_rest(track)):
        return False
    if last.total is None or newest.total is None:
        return False
    counted = (newest.total - last.total) * 1_000
    return counted > metres(last, newest) + max(_DRIFT, 2 * noise(last, newest))
