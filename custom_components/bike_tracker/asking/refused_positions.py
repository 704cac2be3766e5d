"""What it means when the service answers `GET /positions` with anything else."""

from time import monotonic
from typing import Final, NamedTuple

from ..api import CannotConnectError, ServiceUnavailableError, TrackingError
from .waits import NEVER_OFFERED, NONE_FAILED, PASSING, Row

_STAY: Final = "({}); trackers stay where they were"
_TOO_LARGE: Final = (
    "(the list is too large to be read: {});"
    " trackers stay where they were, or without a place"
)


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

    def failed(self, err: TrackingError) -> tuple[Offer, str | None]:
        """Return what an answer without positions means, and what is to be said of it."""
        text = _STAY if self.works else None
        if err.is_too_large:
            # Also where positions never worked: the person would not know why.
            text = None if self.said_too_large else _TOO_LARGE
        text = text and text.format(err)
        passes = self.is_made or isinstance(
            err, CannotConnectError | ServiceUnavailableError
        )
        offer = self._replace(
            # Its traceback would keep the answer.
            error=err.with_traceback(None),
            said_too_large=self.said_too_large or err.is_too_large,
        )
        if passes:
            row = self.passing.another()
            again_at = monotonic() + PASSING.after(row, err.retry_after)
            return offer._replace(passing=row, again_at=again_at), text
        row = self.refused.another()
        again_at = monotonic() + NEVER_OFFERED.after(row)
        return offer._replace(is_made=False, refused=row, again_at=again_at), text
