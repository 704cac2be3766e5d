"""From when on reports of a tracker may be missing, which the service's history has."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from .distance import Fix, metres, noise
from .occurrences import UpdateContext
from .ride_state import Ride, RideEvent, RideState

MAX_AGE: Final = timedelta(days=7)
"""How far back the history is asked for, and how long a gap waits."""
_BEFORE_A_RIDE: Final = timedelta(hours=1)
# A gap of a week may wait in the queue as long as this.
_SPARE: Final = timedelta(hours=1)
# Reports of a bike under way that are farther apart: a poll, or a report a minute, may be
# half a minute late.
_MAX_STEP: Final = timedelta(seconds=90)
# Metres from one report to the next, in such a time, that say it was under way.
_MAX_SKIPPED: Final = 300
# Metres that the server counts between two reports of a bike that stood.
_DRIFT: Final = 150


class HistoryGap(NamedTuple):
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

    ride_state: RideState
    start: datetime
    """From when on reports may be missing."""
    has_gap: bool
    """Whether some may be."""
    wanted_at: datetime | None = None
    """When it was found that the history is needed; None while it is not."""
    over: Ride | None = None
    """The last ride that was over at the start."""
    found: tuple[Ride, ...] = ()
    """Rides since the start that are over, by the part of the history that came."""

    @property
    def begins_at(self) -> datetime:
        """Return from when on the next answer of the history tells."""
        newest = self.ride_state.newest_fix
        return max(self.start, newest.time) if newest else self.start

    def gap(self, known: datetime, *, is_of_ride: bool) -> HistoryGap | None:
        """Return what is to be asked for, up to the newest fix that is known."""
        if self.wanted_at is None:
            return None
        return HistoryGap(self.begins_at, known, self.wanted_at, is_of_ride)

    def is_since(self, ride: Ride) -> bool:
        """Return whether a ride was not over at the start."""
        return self.over is None or ride.started_at > self.over.moved_at


def checkpoint_at(ride_state: RideState) -> Checkpoint | None:
    """Return where to begin once every report is known up to here, None at rest."""
    if is_at_rest(ride_state) or ride_state.newest_fix is None:
        return None
    return Checkpoint(
        ride_state, ride_state.newest_fix.time, has_gap=False, over=ride_state.ended
    )


def after_report(
    point: Checkpoint | None,
    before: RideState,
    ride_state: RideState,
    events: list[RideEvent],
    context: UpdateContext,
) -> Checkpoint | None:
    """Return where to begin after a report, None if nothing is missing that matters."""
    last, newest, now = before.newest_fix, ride_state.newest_fix, context.now
    if last is None or newest is None or not context.has_history:
        return None
    if ride_state.measured_at and ride_state.measured_at > newest.time:
        # By a clock that is ahead the history tells nothing.
        return None
    stood = is_at_rest(before) and is_at_rest(ride_state)
    went_unseen = stood and _went_unseen(last, newest)
    # What is older than all that is asked for, the history tells nothing of.
    oldest = now - MAX_AGE + _SPARE
    has_gap = newest.time > oldest and (
        not context.is_complete or went_unseen or _has_skipped(before, last, newest)
    )
    is_needed = has_gap and (context.recovering or went_unseen)
    if point and now - point.start < MAX_AGE:
        point = point._replace(has_gap=True) if has_gap else point
    elif is_needed or events or not is_at_rest(ride_state):
        begin = oldest if is_needed else newest.time - _BEFORE_A_RIDE
        point = Checkpoint(before, max(last.time, begin), has_gap, over=before.ended)
    else:
        return None
    return point._replace(wanted_at=now) if is_needed else point


def after_older_report(point: Checkpoint, time: datetime | None) -> Checkpoint:
    """Return where to begin after a report that came behind a newer one."""
    return point._replace(has_gap=point.has_gap or bool(time and time > point.start))


def is_at_rest(ride_state: RideState) -> bool:
    """Return whether it is known where the bike stands."""
    return ride_state.ride is None and ride_state.candidate is None


def _went_unseen(last: Fix, newest: Fix) -> bool:
    """Return whether the server counted more than a bike that stood drifts."""
    if last.total is None or newest.total is None:
        return False
    counted = (newest.total - last.total) * 1_000
    return counted > metres(last, newest) + max(_DRIFT, 2 * noise(last, newest))


def _has_skipped(before: RideState, last: Fix, newest: Fix) -> bool:
    """Return whether a bike under way, or that set off, was not heard of for a while."""
    if newest.time - last.time <= _MAX_STEP:
        return False
    return not is_at_rest(before) or metres(last, newest) > _MAX_SKIPPED
