"""Nights in which a bike is guarded: no false alarm, and each theft is told."""

import pytest

from .guard.nights import found_in
from .guard.page import PAGE, page
from .rides.worlds import WORLDS, World

# More are on docs/guard.md, as measured by its command.
_NIGHTS = 6
_NAMES = ("6 m, as it says", "drift of 15 m, says 4 m", "2 % spikes, says no accuracy")
_WORLDS = [world for world in WORLDS if world.name in _NAMES]


@pytest.mark.parametrize("world", _WORLDS, ids=lambda world: world.name)
def test_nights(world: World) -> None:
    """A parked bike is left alone; carried off is told with the second report or the next."""
    found = found_in(world, _NIGHTS)
    assert found.false_alarms == 0
    assert set(found.carried) <= {2, 3}
    assert found.ridden == {1: _NIGHTS}


def test_page() -> None:
    """docs/guard.md has a row for each world, and says what the guard does."""
    written = PAGE.read_text()
    before, after = page(worlds=()).split("| --- | --- | --- | --- |\n")
    assert written.startswith(before)
    assert written.endswith(after.lstrip())
    for world in WORLDS:
        assert written.count(f"| {world.name} |") == 1
