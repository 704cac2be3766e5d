"""Nights in which a bike is guarded: no false alarm, and each theft is told."""

import pytest

from .long import IS_LONG, longest
from .tools.guard.nights import found_in
from .tools.guard.page import PAGE, page
from .tools.rides.worlds import WORLDS, World

# More are on docs/guard.md, as measured by its command.
_NIGHTS = 10 if IS_LONG else 5
_NAMES = ("6 m, as it says", "drift of 15 m, says 4 m", "2 % spikes, says no accuracy")
_WORLDS = [world for world in WORLDS if world.name in _NAMES]


@pytest.mark.parametrize("world", _WORLDS, ids=lambda world: world.name)
def test_nights(world: World) -> None:
    """A parked bike is left alone; carried off is told with the second report or the next."""
    found = found_in(world, _NIGHTS)
    assert found.false_alarms == 0
    assert set(found.carried) <= {2, 3}
    assert found.ridden == {1: _NIGHTS}


@longest
@pytest.mark.skipif(not IS_LONG, reason="measures all worlds")
def test_page() -> None:
    """docs/guard.md says what is measured."""
    assert PAGE.read_text() == page()
