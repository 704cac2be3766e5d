"""In random stories, each alarm and each ride is fired exactly once, in order."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from operator import methodcaller
from threading import Event
from typing import Any
from unittest.mock import patch

from freezegun.api import FrozenDateTimeFactory
from homeassistant.helpers import entity_registry as er
from homeassistant.util import dt as dt_util
from hypothesis import HealthCheck, Phase, example, given, settings, strategies as st
import pytest

from custom_components.bike_tracker.database import File

from .conftest import BLUE, BOB, EMAIL, PASSWORD, RED
from .long import examples, longest
from .tools.simulator.server import Simulator
from .tools.simulator.wire import pause
from .tools.story.home import Home
from .tools.story.story import Service, Story

GREEN = "860000000000033"

pytestmark = [pytest.mark.usefixtures("with_live"), longest]

type Step = Callable[[Story], Awaitable[None]]

# `step(name, ...)` makes a step, which calls the method `name` of a Story.
step = methodcaller
bikes = st.integers(0, 2)
fixes = st.sampled_from(["fix", "fix", "late", "no fix"])
numbers, periods = st.sampled_from([2, 3, 6, 12, 40]), st.integers(1, 4)
# Seconds in which Home Assistant does not run: 1,800 seconds are longer than any ride.
seconds_down = st.integers(0, 90) | st.just(1_800)


def steps_of(name: str, *arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[Step]:
    """Return a strategy that draws steps with this name and random arguments."""
    return st.builds(step, st.just(name), *arguments)


happens = st.one_of(
    steps_of("raise_alarm", bikes, st.integers(1, 3), fixes, st.booleans()),
    steps_of("raise_many", bikes, numbers, periods),
    steps_of("set_off", bikes, st.integers(10, 14), st.sampled_from([10, 20, 45, 90])),
    steps_of("pass_time", st.sampled_from([1, 5, 12, 30, 90, 400])),
    steps_of("switch_list"),
    steps_of("switch_live"),
    steps_of("switch_history", st.sampled_from(["status-400", "status-503", "html"])),
    steps_of("shorten_history", st.sampled_from([20, 100])),
    steps_of("outage", st.integers(1, 90)),
    steps_of("reload", st.integers(0, 1)),
    steps_of("restart", seconds_down, st.booleans()),
)
happens_or_worse = st.one_of(
    happens,
    steps_of("kill", seconds_down),
    steps_of(
        "set_clock",
        st.sampled_from([0, 0, 4, 31, 60, 480, 2_000, 20_000, 2_000_000])
        | st.sampled_from([0, -4, -60, -480, -20_000, -2_000_000]),
    ),
)


def story(text: str) -> list[Step]:
    """Return the steps in a text such as "reload 0, raise_alarm 0 2": the name and the numbers of each step."""
    rows = (row.split() for row in text.split(","))
    return [step(name, *map(int, numbers)) for name, *numbers in rows]


# Stories in which earlier versions fired wrong events.
MORE_THAN_ARE_REMEMBERED = story("raise_many 0 40 1, raise_many 0 40 3")
STORM_BEFORE_AN_END = [
    *story("raise_many 0 12 1, raise_many 0 2 1, reload 0, raise_many 0 12 1"),
    *story("restart 55, pass_time 30, raise_alarm 0 2"),
    step("restart", 40, automations_first=True),
]
NEWS_AFTER_A_START = [
    step("raise_alarm", 0, 3, "no fix", twice=True),
    *story("kill 55, raise_alarm 0 2, kill 5"),
]
LATE_AND_FIRST = [step("raise_alarm", 0, 2, "late"), step("pass_time", 90)]
AHEAD_BETWEEN_TWO_REPORTS = story(
    "set_off 0 14 90, pass_time 90, set_clock 20_000, pass_time 90, kill 30, "
    "pass_time 90, set_clock 0"
)
PARTIAL_HISTORIES = story(
    "set_off 0 12 20, shorten_history 20, restart 1_800, pass_time 400, "
    "set_off 0 14 10, pass_time 90, shorten_history 0, restart 55"
)


def _clocks(minutes: int) -> list[Step]:
    """Return a story in which the clock is `minutes` ahead from the middle of a ride to the middle of the next ride."""
    return story(
        f"set_off 0 14 20, pass_time 90, set_clock {minutes}, raise_alarm 0 1, "
        "restart 30, pass_time 400, set_off 0 14 20, set_off 1 12 20, pass_time 90, "
        "set_clock 0, raise_alarm 0 1, pass_time 400, kill 30"
    )


@settings(
    examples(6, suppress=HealthCheck),
    print_blob=True,
    report_multiple_bugs=False,
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
)
@given(
    steps=st.lists(happens, min_size=1, max_size=16)
    | st.lists(happens_or_worse, min_size=1, max_size=16),
    trackers=st.integers(1, 3),
    accounts=st.integers(1, 2),
)
@example(steps=PARTIAL_HISTORIES, trackers=1, accounts=1)
@example(steps=MORE_THAN_ARE_REMEMBERED, trackers=1, accounts=1)
@example(steps=STORM_BEFORE_AN_END, trackers=2, accounts=1)
@example(steps=LATE_AND_FIRST, trackers=1, accounts=1)
@example(steps=NEWS_AFTER_A_START, trackers=1, accounts=2)
@example(steps=AHEAD_BETWEEN_TWO_REPORTS, trackers=1, accounts=1)
@example(steps=_clocks(480), trackers=2, accounts=1)
@example(steps=_clocks(-480), trackers=2, accounts=1)
@example(steps=_clocks(2_000_000), trackers=2, accounts=1)
async def test_any_story(
    freezer: FrozenDateTimeFactory,
    hass_storage: dict[str, Any],
    hass_tmp_config_dir: str,
    steps: list[Step],
    trackers: int,
    accounts: int,
) -> None:
    """Event entities and triggers both fire each alarm and ride exactly once.

    Only events of the last seconds before a kill may be lost or fired again. A wrong
    clock of Home Assistant has only one effect: a ride may end early.
    """
    hass_storage.clear()
    emails = [EMAIL, BOB][:accounts]
    async with Service() as service, AsyncExitStack() as stack:
        for email in emails:
            service.add_account(email, PASSWORD)
        for tracker in [RED, BLUE, GREEN][:trackers]:
            service.add_device(tracker)
            for email in emails:
                service.assign(email, tracker)
        home = Home(freezer, service, hass_storage, hass_tmp_config_dir)
        stack.enter_context(patch.object(dt_util, "utcnow", home.utcnow))
        try:
            await home.async_move_in(*emails)
            story = Story(home, service)
            for happen in steps:
                await happen(story)
            await story.end()
        finally:
            await home.async_stop()
            # Let timers run that are still due.
            await home.async_wait(60)


@pytest.fixture
async def home(
    freezer: FrozenDateTimeFactory,
    simulator: Simulator,
    hass_storage: dict[str, Any],
    hass_tmp_config_dir: str,
) -> AsyncIterator[Home]:
    """Return a home with the red and the blue bike and a live connection. The clock is frozen."""
    home = Home(freezer, simulator, hass_storage, hass_tmp_config_dir)
    await home.async_move_in(EMAIL)
    yield home
    await home.async_stop()


async def async_alarm(home: Home, word: str, seconds: float = 70) -> None:
    """Let the red bike report an alarm, and move the clock forward by `seconds`."""
    home.simulator.report(RED, attributes={"alarm": word})
    await home.async_wait(seconds)


async def test_entity_that_was_disabled(home: Home) -> None:
    """After an event entity was disabled for a while, it fires only later events. Triggers fire all events."""
    await async_alarm(home, "sos")
    user = er.RegistryEntryDisabler.USER
    # Half a minute after the entity is enabled, Home Assistant reloads the account.
    for word, disabled_by, seconds in (("tow", user, 70), ("vibration", None, 130)):
        entities = er.async_get(home.hass)
        entities.async_update_entity("event.red_bike_alarm", disabled_by=disabled_by)
        await home.async_wait(seconds)
        await async_alarm(home, word)
    assert [run.which for run in home.listener.entities] == ["sos", "vibration"]
    assert [run.which for run in home.listener.triggers] == ["sos", "tow", "vibration"]


@pytest.mark.parametrize("way", ["reload", "stop"])
async def test_alarms_while_a_slow_disk_is_written(home: Home, way: str) -> None:
    """Alarms that are reported during an unload, while a slow disk is written, are fired one time.

    The next poll has only the newest report. The earlier alarm comes later, from the
    history.
    """
    disk, run = Event(), File.run

    def slow(file: File, work: Callable[..., Any], *args: Any) -> Any:
        disk.wait(10)
        return run(file, work, *args)

    await async_alarm(home, "sos", 2)
    with patch.object(File, "run", slow):
        leaving = asyncio.create_task(
            home.async_reload(EMAIL) if way == "reload" else home.async_stop()
        )
        for word in ("tow", "door"):
            await pause(0.1)
            home.simulator.report(RED, attributes={"alarm": word})
        await pause(0.1)
        disk.set()
        await leaving
    if way == "stop":
        await home.async_start()
    await home.async_wait(200)
    for runs in (home.listener.entities, home.listener.triggers):
        assert [run.which for run in runs] == ["sos", "door", "tow"]
