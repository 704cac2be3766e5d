"""From where on reports of a tracker may lack, which the service's own history has."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from .distance import Fix, metres, noise
from .occurrences import Moment
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
    is_of_ride: bool = False
    """Whether a ride is known of that it has more of."""


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

    def gap(self, known: datetime, *, is_of_ride: bool) -> Gap | None:
        """Return what is to be asked for, up to the newest fix that is known."""
        if self.wanted_at is None:
            return None
        newest = self.track.newest
        start = max(self.start, newest.time) if newest else self.start
        return Gap(start, known, self.wanted_at, is_of_ride)

    def is_since(self, ride: Ride) -> bool:
        """Return whether a ride was not over at the start."""
        return self.over is None or ride.started_at > self.over.moved_at


def checkpoint_at(track: Track) -> Checkpoint | None:
    """Return where to begin once every report is known up to here, None at rest."""
    if is_at_rest(track) or track.newest is None:
        return None
    return Checkpoint(track, track.newest.time, lacks=False, over=track.ended)


def after_report(
    point: Checkpoint | None,
    before: Track,
    track: Track,
    news: list[RideNews],
    moment: Moment,
) -> Checkpoint | None:
    """Return where to begin after a report, None if nothing lacks that matters."""
    last, newest, now = before.newest, track.newest, moment.now
    if last is None or newest is None or not moment.has_history:
        return None
    if track.measured_at and track.measured_at > newest.time:
        # By a clock that is ahead the history tells nothing.
        return None
    # What is older than all that is asked for, the history tells nothing of.
    oldest = now - LONGEST + _SPARE
    lacks = not moment.is_whole and newest.time > oldest
    stood = is_at_rest(before) and is_at_rest(track)
    is_needed = lacks and (moment.came_back or (stood and _went_unseen(last, newest)))
    if point and now - point.start < LONGEST:
        point = point._replace(lacks=True) if lacks and not point.lacks else point
    elif is_needed or news or not is_at_rest(track):
        begin = oldest if is_needed else newest.time - _BEFORE_A_RIDE
        point = Checkpoint(before, max(last.time, begin), lacks, over=before.ended)
    else:
        return None
    return point._replace(wanted_at=now) if is_needed else point


def is_at_rest(track: Track) -> bool:
    """Return whether it is known where the bike stands."""
    return track.ride is None and track.doubt is None


def _went_unseen(last: Fix, newest: Fix) -> bool:
    """Return whether the server counted more than a bike that stood drifts."""
    if last.total is None or newest.total is None:
        return False
    counted = (newest.total - last.total) * 1_000
    return counted > metres(last, newest) + max(_DRIFT, 2 * noise(last, newest))
