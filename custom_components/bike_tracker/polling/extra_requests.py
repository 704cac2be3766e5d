"""Requests beside the polls: one a minute for an account, whatever they ask for."""

from dataclasses import dataclass
from time import monotonic
from typing import Final

# Polls, at which they are made, come up to a second early.
_INTERVAL: Final = 58


@dataclass(slots=True)
class ExtraRequests:
    """When the next one may be made."""

    _next_at: float = 0.0

    @property
    def is_due(self) -> bool:
        """Return whether one may be made now."""
        return monotonic() >= self._next_at

    def count(self) -> None:
        """Count one that is made now."""
        self._next_at = monotonic() + _INTERVAL
