"""How long it takes until news comes live again, and that nothing is worse meanwhile."""

from .cases import Case
from .home import Home
from .right import change, until_right
from .truth import wrong

# Home Assistant polls a minute after the last poll, and half a second late.
_AS_WITH_POLLS_ALONE = 62
# The longest wait between two tries, and what it may be longer for an answer.
_PATIENCE = 16 * 60
# So often one of the bikes is somewhere else, in seconds.
_RIDE = 600


async def live_again(home: Home, case: Case, at_most: float) -> float | None:
    """Let the live connection be in trouble; return the seconds until it is live again.

    None if it was not after `at_most` seconds. It ends at the worst moment: just after
    it was tried in vain, where it was. Fails if news is ever older than with polls alone.
    """
    rider, _ = home.simulator.devices
    assert await _is_live(home, rider)
    home.simulator.live_fault(case.trouble)
    begin = home.now
    while (now := home.now) < begin + case.lasted:
        change(home, rider)
        late = await until_right(home, _AS_WITH_POLLS_ALONE)
        assert late is not None, "later than with polls alone"
        until = min(now + _RIDE, begin + case.lasted)
        while home.now < until:
            await home.wait_until_due(until - home.now)
    await _until_tried(home)
    home.simulator.live_fault(None)
    begin = home.now
    while not await _is_live(home, rider):
        left = at_most - (home.now - begin)
        if left <= 0:
            return None
        await home.wait_until_due(left)
    return home.now - begin


async def _is_live(home: Home, rider: str) -> bool:
    """Return whether news is shown although no time passes."""
    change(home, rider)
    await home.wait(0)
    return not wrong(home)


async def _until_tried(home: Home) -> None:
    """Wait for it to be tried once more, if it is."""
    begin, before = home.now, home.live_tries
    while home.live_tries == before and home.now < begin + _PATIENCE:
        await home.wait_until_due(_PATIENCE)
