"""When to ask for the service's own history: what trackers reported meanwhile.

Nobody promised it either. Servers like Traccar answer `GET /positions` with a device and a
time; whether this one does is found out by asking.
"""

from collections import deque
from datetime import datetime, timedelta
from time import monotonic
from typing import Final, NamedTuple

from ..account import Trackers
from ..api import (
    CannotConnectError,
    InvalidResponseError,
    Position,
    ServiceUnavailableError,
    TrackingClient,
    TrackingError,
)
from ..const import LOGGER
from .waits import HOURS, Backoff, Requests

LONGEST: Final = timedelta(days=7)
"""What is asked for at once, and how long a question waits."""
_MINUTE: Final = 60
# Polls, at which it is asked for, come up to a second early.
_BETWEEN: Final = _MINUTE - 2
_MOST_WAITING: Final = 500
# Of what somebody asks for who waits for the answer.
_MOST_A_MINUTE: Final = 10
_SHORTEST: Final = timedelta(minutes=1)
_WAITS: Final = tuple(_MINUTE * minutes for minutes in (1, 2, 4, 8, 16, 32, 60))


class Gap(NamedTuple):
    """A time of a tracker of which not every report is known."""

    tracker: str
    """Its `uniqueId`."""
    start: datetime
    """The fix of the newest report before it, in UTC."""
    known: datetime
    """The fix of the newest report of all: a history that ends before it goes on."""
    noticed_at: datetime
    portion: timedelta = LONGEST
    """How much the service can answer at once."""

    def joined(self, later: Gap) -> Gap:
        """Return this and a later one as one."""
        return later._replace(
            start=min(self.start, later.start),
            known=max(self.known, later.known),
            portion=self.portion,
        )


class Past(NamedTuple):
    """What a tracker reported, in order of its fixes."""

    tracker: str
    """Its `uniqueId`."""
    reports: list[Position]


class History:
    """Asks for one gap after another, the newest first: one a minute at most.

    Lists and positions come first, and an idle account has no gaps.
    """

    def __init__(self, client: TrackingClient, requests: Requests) -> None:
        """Begin with nothing to ask for."""
        self._client = client
        self._requests = requests
        self.gaps: dict[str, Gap] = {}
        """What is to be asked for, the newest last, by `uniqueId`."""
        self.is_offered: bool | None = None
        """Whether the service tells it; None before it was asked."""
        self._not_before = 0.0
        self._backoff = Backoff(_WAITS)
        self._left_alone = Backoff(HOURS)
        self._asked = deque[float](maxlen=_MOST_A_MINUTE)

    def note(self, gap: Gap) -> None:
        """Take in a gap, which is asked for with what waits of the same tracker."""
        if before := self.gaps.pop(gap.tracker, None):
            gap = before.joined(gap)
        self.gaps[gap.tracker] = gap
        if len(self.gaps) > _MOST_WAITING:
            del self.gaps[next(iter(self.gaps))]

    @property
    def is_due(self) -> bool:
        """Return whether there is something to ask for now."""
        is_time = monotonic() >= self._not_before
        return bool(self.gaps) and is_time and self._requests.spare > 0

    async def async_ask(self, trackers: Trackers, now: datetime) -> Past | None:
        """Return what fills the newest gap, None if nothing is to be asked for now.

        No error of this call goes further than this: it is asked for again later. What
        is too much at once is filled from its beginning, in portions.
        """
        self.gaps = {
            key: gap
            for key, gap in self.gaps.items()
            if now - gap.noticed_at < LONGEST
            and key in trackers
            and trackers[key].device.id
        }
        if not self.is_due:
            return None
        gap = self.gaps[next(reversed(self.gaps))]
        device_id = trackers[gap.tracker].device.id or 0
        start = max(gap.start, now - LONGEST)
        end = min(now, start + gap.portion)
        self._not_before = monotonic() + _BETWEEN
        try:
            reports = await self.async_get(device_id, start, end)
        except TrackingError as err:
            self._fail(gap, err, end - start)
            return None
        self._fill(gap, end if end < now else _newest(reports, start))
        return Past(gap.tracker, reports)

    async def async_get(
        self, device_id: int, start: datetime, end: datetime
    ) -> list[Position]:
        """Return what a device reported in a time; raises what the client does."""
        self._requests.note()
        reports = await self._client.async_get_history(device_id, start, end)
        if not self.is_offered:
            self._not_before = monotonic() + _BETWEEN
        self.is_offered = True
        self._backoff.succeed()
        return reports

    def allows(self) -> bool:
        """Count a question of somebody who waits; return whether it may be asked.

        That is ten times a minute, whatever else is asked for.
        """
        now = monotonic()
        if len(self._asked) == _MOST_A_MINUTE and now - self._asked[0] < _MINUTE:
            return False
        self._asked.append(now)
        return True

    def _fail(self, gap: Gap, err: TrackingError, asked_for: timedelta) -> None:
        """Take in an answer that is none: whom it was about comes last from now on."""
        LOGGER.debug("No history (%s)", err)
        if isinstance(err, InvalidResponseError) and err.is_too_large:
            self._replace(gap, gap._replace(portion=asked_for / 2))
            return
        self._replace(gap, gap, is_last=True)
        passes = isinstance(err, CannotConnectError | ServiceUnavailableError)
        if passes or self.is_offered:
            wait = self._backoff.fail(err.retry_after)
        else:
            self.is_offered = False
            wait = self._left_alone.fail()
        self._not_before = monotonic() + wait

    def _fill(self, gap: Gap, up_to: datetime) -> None:
        """Take in that a gap is filled up to a time: what is left of it is asked for next."""
        is_left = gap.start < up_to < gap.known
        self._replace(gap, gap._replace(start=up_to) if is_left else None)

    def _replace(self, gap: Gap, rest: Gap | None, *, is_last: bool = False) -> None:
        """Put what is left of a gap in its place, unless there is a newer one by now."""
        if self.gaps.get(gap.tracker) is not gap:
            return
        if rest is None or rest.portion < _SHORTEST:
            del self.gaps[gap.tracker]
        elif is_last:
            self.gaps = {gap.tracker: rest} | self.gaps
        else:
            self.gaps[gap.tracker] = rest


def _newest(reports: list[Position], otherwise: datetime) -> datetime:
    return reports[-1].moment if reports else otherwise
