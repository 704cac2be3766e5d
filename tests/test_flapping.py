"""A service that is neither well nor down: faults that come and go, alternate and overlap."""

from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

from freezegun.api import FrozenDateTimeFactory
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
import pytest

from .conftest import MakeEntry, async_setup
from .long import IS_LONG
from .tools.faults.flapping import flap, strike
from .tools.faults.home import Home
from .tools.faults.recovery import until_right
from .tools.faults.trouble import NAME_NOT_FOUND, TROUBLES
from .tools.faults.truth import wrong
from .tools.simulator import Simulator

HOUR = 60 * 60
DAY = 24 * HOUR
LONG = DAY if IS_LONG else 4 * HOUR
SOON = 5 * 60 + 10
"""Seconds within which all is right again once the service is well."""
A_MINUTE = 3
"""Requests, at most and on average."""
IN_TEN_MINUTES = 33
"""Requests, at most in any ten: polls with positions, some a second early, and one more a minute."""


@pytest.fixture
async def home(
    hass: HomeAssistant,
    freezer: FrozenDateTimeFactory,
    simulator: Simulator,
    make_entry: MakeEntry,
    monkeypatch: pytest.MonkeyPatch,
    all_enabled: None,
) -> Home:
    """Return a home where all is well, with the same luck each time."""
    monkeypatch.setattr("random.uniform", Random(1).uniform)  # noqa: S311 - no secret
    home = Home(hass, freezer, simulator, make_entry(), TROUBLES[NAME_NOT_FOUND])
    home.watch(monkeypatch)
    await async_setup(hass, home.entry)
    assert home.state is ConfigEntryState.LOADED
    return home


@contextmanager
def few_requests(home: Home) -> Iterator[None]:
    """Hold the requests that come meanwhile against what a service may be burdened with."""
    begin, requests = home.now, home.requests
    yield
    minutes = (home.now - begin) / 60
    # What is on the way when it begins and ends.
    assert home.requests - requests <= A_MINUTE * minutes + 3
    assert most_in_ten_minutes(home) <= IN_TEN_MINUTES


def most_in_ten_minutes(home: Home) -> int:
    """Return how often something was asked for in the ten minutes with the most of it."""
    times = home.asked_at
    return max(
        bisect_left(times, time + 600) - number for number, time in enumerate(times)
    )


async def ride(home: Home, seconds: float) -> None:
    """Let the bikes move each minute for so long."""
    end = home.now + seconds
    while (left := end - home.now) > 0:
        home.simulator.report_many()
        await pass_time(home, min(60, left))


async def pass_time(home: Home, seconds: float) -> None:
    """Let so much time pass."""
    end = home.now + seconds
    while (left := end - home.now) > 0:
        await home.wait_until_due(left)


async def is_right_soon(home: Home) -> bool:
    """Return whether all is right again as soon as it has to be, with nobody there."""
    return await until_right(home, SOON) is not None


# Every so many-th request


@pytest.mark.parametrize("every", [1, 3])
async def test_late_answers(home: Home, every: int) -> None:
    """An answer that takes 20 seconds is an answer."""
    home.simulator.fault("late-answer", every=every)
    with few_requests(home):
        await ride(home, HOUR)
        assert await is_right_soon(home)
    home.simulator.fault(None)
    await ride(home, 600)
    assert await is_right_soon(home)


# The list and the positions


@pytest.mark.parametrize("lag", [60, 600, HOUR // 2])
async def test_positions_behind_the_list(home: Home, lag: float) -> None:
    """The list announces a position that the other call does not have yet."""
    old = home.simulator.listed("positions", "ann@example.com")
    home.simulator.raw_positions(list(old))
    home.simulator.report_many()
    with few_requests(home):
        await pass_time(home, lag)
        home.simulator.raw_positions(None)
        assert await is_right_soon(home)


async def test_list_behind_the_positions(home: Home) -> None:
    """The list still names the position before, or none, when the new one is there."""
    simulator = home.simulator
    before = {uid: device.position_id for uid, device in simulator.devices.items()}
    simulator.report_many()
    for number, (tracker, position_id) in enumerate(before.items()):
        simulator.override_field(tracker, "positionId", 0 if number else position_id)
    with few_requests(home):
        await pass_time(home, HOUR)
        for tracker in before:
            simulator.clear_overrides(tracker)
        assert await is_right_soon(home)


# Coming and going


@pytest.mark.parametrize("seed", range(2))
async def test_flapping_for_hours(home: Home, seed: int) -> None:
    """Whenever the service has been well for some minutes, all is right."""
    random = Random(seed)  # noqa: S311 - no secret
    blind = []
    begin = home.now
    with few_requests(home):
        while home.now < begin + LONG:
            flaps = [flap(random) for _ in range(random.randint(1, 10))]
            for each in flaps:
                strike(home.simulator, each)
                await ride(home, random.choice([5, 20, 61, 200, 1000]))
            home.simulator.fault(None)
            if not await is_right_soon(home):
                blind.append((flaps, wrong(home)))
                break
            await ride(home, random.uniform(0, 600))
    assert not blind
