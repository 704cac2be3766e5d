"""Whether the service offers positions, and what it means when it fails to."""

from homeassistant.config_entries import ConfigEntry

from ..api import (
    CannotConnectError,
    InvalidResponseError,
    ServiceUnavailableError,
    TrackingError,
)
from ..const import LOGGER
from ..identity import name_of
from .waits import HOURS, Backoff


class PositionOffer:
    """Judges the answers to `GET /positions`, a call that nobody promised.

    A service that answered with positions once offers them: whatever else it says from
    then on, a 401 and a 404 included, is a failure that passes.
    """

    def __init__(self, entry: ConfigEntry, *, known: bool) -> None:
        """Take whether the service is known to offer them, from before a restart."""
        self._entry = entry
        self.is_made: bool | None = True if known else None
        """Whether the service offers positions; None before it was asked."""
        self.last_error: TrackingError | None = None
        """Why the last answer was none."""
        self._said_too_large = False
        self._backoff = Backoff()
        self._left_alone = Backoff(HOURS)

    @property
    def works(self) -> bool:
        """Return whether the service answers with positions, as far as is known."""
        return self.is_made is True and self.last_error is None

    def succeed(self) -> None:
        """Take in an answer with positions."""
        if self.is_made and self.last_error is not None:
            LOGGER.info("%s: Positions are fetched again", name_of(self._entry))
        self.is_made, self.last_error = True, None
        self._said_too_large = False
        self._backoff.succeed()

    def fail(self, err: TrackingError) -> float:
        """Take in an answer without; return the wait, in seconds, until the next try.

        It is as after a failed poll where positions are offered, or where the service
        could not answer at all. A service that never offered them is left alone for 1,
        2, 4 … 24 hours.
        """
        if isinstance(err, InvalidResponseError) and err.is_too_large:
            self._say_too_large(err)
        elif self.is_made and self.last_error is None:
            LOGGER.warning(
                "%s: Positions cannot be fetched (%s); trackers stay where they were",
                name_of(self._entry),
                err,
            )
        # Its traceback would keep the answer.
        self.last_error = err.with_traceback(None)
        if self.is_made or isinstance(
            err, CannotConnectError | ServiceUnavailableError
        ):
            return self._backoff.fail(err.retry_after)
        self.is_made = False
        return self._left_alone.fail()

    def _say_too_large(self, err: TrackingError) -> None:
        """Say it once, also where positions never worked: the person would not know why."""
        if not self._said_too_large:
            LOGGER.warning(
                "%s: Positions cannot be fetched (the list is too large to be read: %s);"
                " trackers stay where they were, or without a place",
                name_of(self._entry),
                err,
            )
        self._said_too_large = True
