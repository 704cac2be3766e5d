"""What it means when the service answers `GET /positions` with anything else."""

from time import monotonic
from typing import NamedTuple

from ..api import CannotConnectError, ServiceUnavailableError, TrackingError
from .waits import NEVER_OFFERED, NONE_FAILED, PASSING, Row


class Offer(NamedTuple):
    """Whether the service offers positions, a call that nobody promised.

    A service that answered with positions once offers them: whatever else it says from
    then on, a 401 and a 404 included, is a failure that passes. One that never did is
    left alone for hours, unless it could not answer at all.
    """

    is_made: bool | None = None
    """None before the service was asked."""
    error: TrackingError | None = None
    """Why the last answer was none."""
    passing: Row = NONE_FAILED
    refused: Row = NONE_FAILED
    again_at: float = 0.0
    """When to ask again, by the monotonic clock."""
    said_too_large: bool = False

    @property
    def works(self) -> bool:
        """Return whether the service answers with positions, as far as is known."""
        return self.is_made is True and self.error is None

    @property
    def is_interrupted(self) -> bool:
        """Return whether it did once, and not the last time."""
        return self.is_made is True and self.error is not None

    def failed(self, err: TrackingError) -> Offer:
        """Return what an answer without positions means."""
        offer = self._replace(
            # Its traceback would keep the answer.
            error=err.with_traceback(None),
            said_too_large=self.said_too_large or err.is_too_large,
        )
        may_pass = isinstance(err, CannotConnectError | ServiceUnavailableError)
        if self.is_made or may_pass:
            row = self.passing.another()
            again_at = monotonic() + PASSING.after(row, err.retry_after)
            return offer._replace(passing=row, again_at=again_at)
        row = self.refused.another()
        again_at = monotonic() + NEVER_OFFERED.after(row)
        return offer._replace(is_made=False, refused=row, again_at=again_at)
