"""Waits after failed requests, and rate limits of requests besides polls."""

from collections import deque
from dataclasses import dataclass, field
import random
from time import monotonic
from typing import Final, NamedTuple, override

from ..api.errors import CannotConnectError, ServiceUnavailableError, TrackingError

MINUTE: Final = 60
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR
MAX_WAIT: Final = 5 * MINUTE - 10
"""Seconds. It is short enough that a poll follows the end of an outage within five minutes."""
# Number of requests that a rate limit allows: in a minute or, for extra requests, in
# ten minutes. With two requests in each poll, once a minute, an account sends at most
# 30 requests in ten minutes.
_MAX_REQUESTS: Final = 10
_MAX_REQUESTS_AT_ONCE: Final = 5
# Tolerance in seconds: retries and extra requests follow polls. A poll may start or be
# answered a second earlier than the last one.
_EARLY: Final = 2

type Backoff = tuple[float, ...]
"""Seconds to wait after each failure in a row; the last value is repeated."""

NORMAL_BACKOFF: Final = (MINUTE, 2 * MINUTE, 4 * MINUTE, MAX_WAIT)
"""For calls that the service supports."""
UNSUPPORTED_BACKOFF: Final[Backoff] = (HOUR, DAY)
"""For undocumented calls that never worked."""
SIGN_IN_BACKOFF: Final = (MINUTE, *(13 * [MAX_WAIT]), HOUR)
"""Hourly after the first hour: more frequent attempts with a wrong password could lock the account."""
MISSING_POSITION_BACKOFF: Final = (*NORMAL_BACKOFF, *(10 * [MAX_WAIT]), HOUR)
LIVE_BACKOFF: Final = (5, MINUTE, 2 * MINUTE, 4 * MINUTE, 5 * MINUTE, 15 * MINUTE)
"""For a live connection that worked before."""


class Failures(NamedTuple):
    """Consecutive failures and the time of the next try, by the monotonic clock."""

    length: int = 0
    since: float = 0.0
    wait: float = 0.0
    """Seconds from the last failure to the next try."""
    retry_at: float = 0.0

    @property
    def is_due(self) -> bool:
        """Return whether the next try is due."""
        return monotonic() >= self.retry_at

    def another(self, backoff: Backoff, retry_after: float | None = None) -> Failures:
        """Return these failures and another that happens now. `retry_after` is the server's wait in seconds."""
        now, length = monotonic(), self.length + 1
        wait = backoff[:length][-1]
        # Shorten the wait by up to 10 %, so that accounts do not retry in the same
        # second. But wait at least a minute, unless the backoff itself is shorter.
        wait = max(min(wait, MINUTE), wait * random.uniform(0.9, 1))  # noqa: S311 - no secret
        retry_at = now + wait - _EARLY
        if retry_after is not None:
            wait = min(max(retry_after, MINUTE), HOUR)
            retry_at = now + wait
        return Failures(length, self.since or now, wait, retry_at)


class EndpointSupport(NamedTuple):
    """Whether the service supports an undocumented call.

    A call is supported as soon as it has succeeded. From then on, every error is treated
    as temporary, even 401 and 404. A call that was refused and never succeeded is tried
    again after an hour, then daily. A connection error or a temporary error does not
    show whether a call is supported.
    """

    is_supported: bool | None = None
    """None until an answer shows whether the call is supported."""
    error: TrackingError | None = None
    """The error of the last request, if it failed."""
    failures: Failures = Failures()

    @property
    def works(self) -> bool:
        """Return whether the call is supported and its last request succeeded."""
        return self.is_supported is True and self.error is None

    def failed(self, err: TrackingError) -> EndpointSupport:
        """Return the support after a failed request, with the time of the next try."""
        is_supported, failures = self.is_supported, self.failures
        is_temporary = isinstance(err, CannotConnectError | ServiceUnavailableError)
        if is_supported or is_temporary:
            failures = failures.another(NORMAL_BACKOFF, err.retry_after)
        else:
            # Count from the first refusal: earlier connection errors must not lengthen
            # the wait for an unsupported call.
            failures = Failures() if is_supported is None else failures
            is_supported, failures = False, failures.another(UNSUPPORTED_BACKOFF)
        # Drop the traceback, because it would keep the response in memory.
        return EndpointSupport(is_supported, err.with_traceback(None), failures)


@dataclass(slots=True)
class RateLimit:
    """A rate limit: at most ten requests a minute."""

    _times: deque[float] = field(default_factory=lambda: deque(maxlen=_MAX_REQUESTS))

    @property
    def is_due(self) -> bool:
        """Return whether a request is allowed now."""
        times = self._times
        return len(times) < _MAX_REQUESTS or monotonic() - times[0] >= MINUTE

    def count(self) -> None:
        """Note that a request is sent now."""
        self._times.append(monotonic())


@dataclass(slots=True)
class ExtraRequests(RateLimit):
    """Rate limit of an account's requests besides polls: ten in ten minutes.

    Requests must be a minute apart. While the service answers quickly, the first five
    requests in ten minutes may follow each other without a pause.
    """

    is_quick: bool = False
    """Whether the last answer of the history took less than a second."""

    @property
    @override
    def is_due(self) -> bool:
        ages = [monotonic() - time for time in self._times]
        recent = sum(age < _MAX_REQUESTS * MINUTE - _EARLY for age in ages)
        if not recent or (self.is_quick and recent < _MAX_REQUESTS_AT_ONCE):
            return True
        return recent < _MAX_REQUESTS and ages[-1] >= MINUTE - _EARLY
