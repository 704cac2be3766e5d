"""How long it takes until all is right again, once the service is well and nobody does anything."""

from .cases import Case, Path
from .home import Home
from .live import live_again
from .right import change, until_right
from .trouble import TROUBLES

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
    if case.path == "live":
        return await live_again(home, case, at_most)
    home.trouble = TROUBLES[case.trouble]
    still, rider = home.simulator.devices
    with home.in_trouble("positions" if case.path == "positions" else None):
        change(home, still)
        begin = now = home.now
        while now < begin + case.lasted:
            change(home, rider)
            until = min(now + _RIDE, begin + case.lasted)
            while now < until:
                await home.wait_until_due(until - now)
                now = home.now
        change(home, rider)
        await _until_asked(home, case.path)
        change(home, rider)
    return await until_right(home, at_most)


async def _until_asked(home: Home, path: Path) -> None:
    """Wait for the service to be asked once more, if it is."""

    def asked() -> int:
        return home.polls if path == "devices" else home.position_requests

    before, begin = asked(), home.now
    while asked() == before and home.now < begin + _PATIENCE:
        await home.wait_until_due(_PATIENCE)
