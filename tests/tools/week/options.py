"""How long, and what becomes of it: without Home Assistant, which pytest has to load first."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from .found import Found


def _forget(_: Found) -> None:
    """Take what nobody reads."""


@dataclass(frozen=True)
class Options:
    """What a run is to be like."""

    begin: timedelta = timedelta(hours=9)
    """After the midnight before the week begins."""
    length: timedelta = timedelta(hours=3)
    bikes: int = 5
    booked: int = 0
    """Rides that are in the book before the week begins."""
    take: Callable[[Found], None] = _forget
    """Takes what was found."""
