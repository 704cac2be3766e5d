"""Let everything change, and wait until all of it is shown."""

from itertools import count

from homeassistant.config_entries import ConfigEntryState

from .home import Home
from .truth import wrong


async def until_right(home: Home, at_most: float) -> float | None:
    """Return the seconds until all is right, None if it is not after so many."""
    begin = home.now
    while wrong(home) or not _is_content(home):
        left = at_most - (home.now - begin)
        if left <= 0:
            return None
        await home.wait_until_due(left)
    return home.now - begin


def _is_content(home: Home) -> bool:
    return home.state is ConfigEntryState.LOADED and not home.asks_to_sign_in


_turns = count(1)


def change(home: Home, tracker: str) -> None:
    """Let everything about a tracker be another than it was."""
    turn = next(_turns)
    simulator = home.simulator
    simulator.rename(tracker, f"Bike {turn}")
    simulator.set_status(tracker, ("online", "offline")[turn % 2])
    simulator.set_disabled(tracker, turn % 3 == 0)
    simulator.set_group(tracker, turn)
    simulator.report(
        tracker,
        latitude=round(47 + turn % 10_000 / 10_000, 4),
        speed=float(turn % 30),
        course=float(turn % 360),
        altitude=float(turn % 500),
        battery_level=turn % 100,
        motion=turn % 2 == 0,
    )
