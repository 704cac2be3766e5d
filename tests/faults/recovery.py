"""How long it takes until all is right again, once the service is well and nobody does anything."""

from itertools import count

from homeassistant.config_entries import ConfigEntryState

from tests.simulator.render import Endpoint

from .cases import Case
from .home import Home
from .trouble import TROUBLES
from .truth import wrong

# For so long after a trouble a poll is waited for that still fails: the longest Retry-After.
_PATIENCE = 3600
# So often one of the bikes is somewhere else, in seconds.
_RIDE = 600


async def recovery(home: Home, case: Case, at_most: float) -> float | None:
    """Let it be in trouble, and return the seconds until all is right again.

    None if it was not after `at_most` seconds. The trouble ends at the worst moment:
    just after the service was asked for the last time. One bike moved when it began
    and never again, the other one all the time.
    """
    home.trouble = TROUBLES[case.trouble]
    still, rider = home.simulator.devices
    with home.in_trouble("positions" if case.path == "positions" else None):
        _change(home, still)
        begin = now = home.now
        while now < begin + case.lasted:
            _change(home, rider)
            until = min(now + _RIDE, begin + case.lasted)
            while now < until:
                await home.wait_until_due(until - now)
                now = home.now
        _change(home, rider)
        await _until_asked(home, case.path)
        _change(home, rider)
    return await until_right(home, at_most)


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


async def _until_asked(home: Home, path: Endpoint) -> None:
    """Wait for the service to be asked once more, if it is."""

    def asked() -> int:
        return home.polls if path == "devices" else home.position_requests

    before, begin = asked(), home.now
    while asked() == before and home.now < begin + _PATIENCE:
        await home.wait_until_due(_PATIENCE)


_turns = count(1)


def _change(home: Home, tracker: str) -> None:
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
