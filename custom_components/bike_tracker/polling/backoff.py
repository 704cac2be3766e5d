"""When to ask again: after failures in a row, and beside the polls."""

from dataclasses import dataclass
import random
from time import monotonic
from typing import Final, NamedTuple

from ..api.errors import CannotConnectError, ServiceUnavailableError, TrackingError

MINUTE: Final = 60
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR
MAX_WAIT: Final = 5 * MINUTE - 10
"""Seconds. A bike that comes back moves a while later: all within five minutes."""

type Backoff = tuple[float, ...]
"""Seconds after the first failure, the second …; the last wait is repeated."""

NORMAL_BACKOFF: Final = (MINUTE, 2 * MINUTE, 4 * MINUTE, MAX_WAIT)
"""For what is known to work."""
UNSUPPORTED_BACKOFF: Final[Backoff] = (HOUR, DAY)
"""For what is not documented and never worked."""
SIGN_IN_BACKOFF: Final = (MINUTE, *(13 * [MAX_WAIT]), HOUR)
"""So long that a password that is really wrong locks no account: hourly after an hour."""
MISSING_POSITION_BACKOFF: Final = (*NORMAL_BACKOFF, *(10 * [MAX_WAIT]), HOUR)
LIVE_BACKOFF: Final = (5, MINUTE, 2 * MINUTE, 4 * MINUTE, 5 * MINUTE, 15 * MINUTE)
"""For a live connection that worked before."""


class Failures(NamedTuple):
    """Failures in a row, and when to ask again, by the monotonic clock."""

    length: int = 0
    since: float = 0.0
    wait: float = 0.0
    """Seconds from the last one on."""
    retry_at: float = 0.0

    @property
    def is_due(self) -> bool:
        """Return whether it is time to ask again."""
        return monotonic() >= self.retry_at

    def another(self, backoff: Backoff, retry_after: float | None = None) -> Failures:
        """Return these and one more, after which a server may have asked for a wait."""
        now, length = monotonic(), self.length + 1
        wait = backoff[:length][-1]
        # A tenth at most: not all accounts ask in the same second, and none more often
        # than while all is well.
        wait = max(min(wait, MINUTE), wait * random.uniform(0.9, 1))  # noqa: S311 - no secret
        if retry_after is not None:
            wait = min(max(retry_after, MINUTE), HOUR)
        return Failures(length, self.since or now, wait, now + wait)


class EndpointSupport(NamedTuple):
    """Whether the service supports a call that is not documented.

    A service that answered once supports it: whatever else it says from then on, a 401
    and a 404 included, is a failure that passes. One that never did is left alone for an
    hour, then for days, unless it could not answer at all.
    """

    is_supported: bool | None = None
    """None before the service was asked."""
    error: TrackingError | None = None
    """Why the last answer was none."""
    failures: Failures = Failures()

    @property
    def works(self) -> bool:
        """Return whether the service supports it and did not fail the last time."""
        return self.is_supported is True and self.error is None

    def failed(self, err: TrackingError) -> EndpointSupport:
        """Return what an error means."""
        is_supported, failures = self.is_supported, self.failures
        passes = isinstance(err, CannotConnectError | ServiceUnavailableError)
        if is_supported or passes:
            failures = failures.another(NORMAL_BACKOFF, err.retry_after)
        else:
            # Failures before say nothing of what is supported.
            failures = Failures() if is_supported is None else failures
            is_supported, failures = False, failures.another(UNSUPPORTED_BACKOFF)
        # Its traceback would keep the answer.
        return EndpointSupport(is_supported, err.with_traceback(None), failures)


@dataclass(slots=True)
class ExtraRequests:
    """Requests beside the polls: one a minute for an account, whatever they ask for."""

    _next_at: float = 0.0

    @property
    def is_due(self) -> bool:
        """Return whether one may be made now."""
        return monotonic() >= self._next_at

    def count(self) -> None:
        """Count one that is made now."""
        # Polls, at which they are made, come up to a second early.
        self._next_at = monotonic() + MINUTE - 2
