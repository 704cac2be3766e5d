"""How long, and with which luck: without Home Assistant, which pytest has to load first."""

from collections.abc import Callable
from dataclasses import dataclass

POLLS_A_DAY = 24 * 60


def _say_nothing(_: str) -> None:
    """Take a line of progress that nobody reads."""


@dataclass(frozen=True)
class Options:
    """What a run is to be like."""

    polls: int = POLLS_A_DAY
    seed: int = 1
    say: Callable[[str], None] = _say_nothing
    """Takes a line of progress."""
