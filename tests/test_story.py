"""Any story: each alarm, each ride and each theft is told exactly once, oldest first."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any
from unittest.mock import patch

from freezegun.api import FrozenDateTimeFactory
from homeassistant.util import dt as dt_util
from hypothesis import HealthCheck, Phase, example, given, settings, strategies as st
import pytest

from .conftest import BLUE, BOB, EMAIL, PASSWORD, RED
from .long import examples, longest
from .tools.story.home import Home
from .tools.story.listener import TRIGGERS, automation
from .tools.story.service import Service
from .tools.story.steps import Step, Steps, step

GREEN = "860000000000033"

pytestmark = [pytest.mark.usefixtures("with_live"), longest]

any_story = settings(
    examples(3, suppress=HealthCheck),
    print_blob=True,
    report_multiple_bugs=False,
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
)

bikes = st.integers(0, 2)
# At times for longer than a ride takes.
seconds_down = st.integers(0, 90) | st.just(1_800)


def steps_of(name: str, *arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[Step]:
    """Return a strategy for steps of a kind."""
    return st.builds(step, st.just(name), *arguments)


happens = st.one_of(
    steps_of(
        "raise_alarm",
        bikes,
        st.integers(1, 3),
        st.sampled_from(["fix", "fix", "late", "no fix"]),
        st.booleans(),
    ),
    steps_of(
        "raise_many",
        bikes,
        st.sampled_from([2, 3, 6, 12, 40]),
        st.integers(1, 4),
        st.booleans(),
        st.booleans(),
    ),
    steps_of("set_off", bikes, st.integers(10, 14), st.sampled_from([10, 20, 45, 90])),
    steps_of("guard", bikes),
    steps_of("pass_time", st.sampled_from([1, 5, 12, 30, 90, 400])),
    steps_of("switch_list"),
    steps_of("switch_live"),
    steps_of("switch_history", st.sampled_from(["status-400", "status-503", "html"])),
    steps_of("shorten_history", st.sampled_from([20, 100])),
    steps_of("rename", bikes, st.sampled_from(["alarm", "ride"])),
)
interruptions = st.one_of(
    steps_of("outage", st.integers(1, 90)),
    steps_of("reload", st.integers(0, 1)),
    steps_of("restart", seconds_down, st.booleans()),
)
kills = steps_of("kill", seconds_down)
clocks = steps_of(
    "set_clock",
    st.sampled_from([0, 0, 4, 31, 60, 480, 2_000, 20_000, 2_000_000])
    | st.sampled_from([0, -4, -60, -480, -20_000, -2_000_000]),
)
orderly = st.lists(happens | interruptions, min_size=1, max_size=16)
with_kills = st.lists(happens | interruptions | kills, min_size=1, max_size=16)

type Tell = Callable[[list[Step], int, int], Awaitable[None]]


@pytest.fixture
def tell(
    freezer: FrozenDateTimeFactory,
    hass_storage: dict[str, Any],
    hass_tmp_config_dir: str,
) -> Tell:
    """Return a function that lets a story happen, to bikes of one or two accounts."""

    async def _tell(steps: list[Step], trackers: int, accounts: int) -> None:
        hass_storage.clear()
        emails = [EMAIL, BOB][:accounts]
        async with Service() as service, AsyncExitStack() as stack:
            for email in emails:
                service.add_account(email, PASSWORD)
            for tracker in [RED, BLUE, GREEN][:trackers]:
                service.add_device(tracker)
                for email in emails:
                    service.assign(email, tracker)
            home = Home(
                freezer,
                service,
                hass_storage,
                hass_tmp_config_dir,
                automations=list(map(automation, (*TRIGGERS, "guard_triggered"))),
            )
            stack.enter_context(patch.object(dt_util, "utcnow", home.utcnow))
            story = Steps(home, service)
            try:
                await home.async_move_in(*emails)
                story.begin(list(service.devices))
                for item in steps:
                    await item.run(story)
                story.let_all_be_well()
                await story.async_pass(500)
                await story.async_arrive()
                await story.check()
            finally:
                if home.is_running:
                    await home.async_stop()
                # What is left of it, until its time is over.
                await home.async_wait(60)

    return _tell


# Stories that were not told right once.
MORE_THAN_ARE_REMEMBERED = [
    step("raise_many", 0, 40, 1, in_one_message=True, settles=True),
    step("raise_many", 0, 40, 3, in_one_message=False, settles=True),
]
STORM_BEFORE_AN_END = [
    step("raise_many", 0, 12, 1, in_one_message=False, settles=True),
    step("raise_many", 0, 2, 1, in_one_message=False, settles=True),
    step("reload", 0),
    step("raise_many", 0, 12, 1, in_one_message=False, settles=True),
    step("restart", 55, automations_first=False),
    step("pass_time", 30),
    step("raise_alarm", 0, 2, "fix", twice=False),
    step("restart", 40, automations_first=True),
]
NEWS_AFTER_A_START = [
    step("raise_alarm", 0, 3, "no fix", twice=True),
    step("kill", 55),
    step("raise_alarm", 0, 2, "fix", twice=False),
    step("kill", 5),
]
LATE_AND_FIRST = [step("raise_alarm", 0, 2, "late", twice=False), step("pass_time", 90)]
AHEAD_BETWEEN_TWO_REPORTS = [
    step("set_off", 0, 14, 90),
    step("pass_time", 90),
    step("set_clock", 20_000),
    step("pass_time", 90),
    step("kill", 30),
    step("pass_time", 90),
    step("set_clock", 0),
]
PARTIAL_HISTORIES = [
    step("set_off", 0, 12, 20),
    step("shorten_history", 20),
    step("restart", 1_800, automations_first=False),
    step("pass_time", 400),
    step("set_off", 0, 14, 10),
    step("pass_time", 90),
    step("shorten_history", 0),
    step("restart", 55, automations_first=False),
]
STOLEN_MEANWHILE = [
    step("guard", 0),
    step("set_off", 0, 10, 20),
    step("restart", 1_800, automations_first=False),
    step("guard", 0),
    step("outage", 60),
    step("set_off", 0, 12, 45),
]


@any_story
@given(steps=orderly, trackers=st.integers(1, 3), accounts=st.integers(1, 2))
@example(steps=STOLEN_MEANWHILE, trackers=1, accounts=2)
@example(steps=PARTIAL_HISTORIES, trackers=1, accounts=1)
@example(steps=MORE_THAN_ARE_REMEMBERED, trackers=1, accounts=1)
@example(steps=STORM_BEFORE_AN_END, trackers=2, accounts=1)
@example(steps=LATE_AND_FIRST, trackers=1, accounts=1)
async def test_any_story(
    tell: Tell, steps: list[Step], trackers: int, accounts: int
) -> None:
    """Exactly once, by event entities and triggers alike."""
    await tell(steps, trackers, accounts)


@any_story
@given(steps=with_kills, trackers=st.integers(1, 3), accounts=st.integers(1, 2))
@example(steps=NEWS_AFTER_A_START, trackers=1, accounts=2)
async def test_any_story_with_kills(
    tell: Tell, steps: list[Step], trackers: int, accounts: int
) -> None:
    """Nothing is lost, and nothing fired twice but what had just been told."""
    await tell(steps, trackers, accounts)


def _clocks(minutes: int) -> list[Step]:
    """Let the clock be wrong from the midst of one ride to the midst of the next."""
    return [
        step("guard", 1),
        step("set_off", 0, 14, 20),
        step("pass_time", 90),
        step("set_clock", minutes),
        step("guard", 0),
        step("raise_alarm", 0, 1, "fix", twice=False),
        step("restart", 30, automations_first=False),
        step("pass_time", 400),
        step("set_off", 0, 14, 20),
        step("set_off", 1, 12, 20),
        step("pass_time", 90),
        step("set_clock", 0),
        step("raise_alarm", 0, 1, "fix", twice=False),
        step("pass_time", 400),
        step("kill", 30),
        step("guard", 1),
    ]


@any_story
@given(
    steps=st.lists(happens | interruptions | kills | clocks, min_size=1, max_size=16),
    trackers=st.integers(1, 3),
    accounts=st.integers(1, 2),
)
@example(steps=AHEAD_BETWEEN_TWO_REPORTS, trackers=1, accounts=1)
@example(steps=_clocks(480), trackers=2, accounts=1)
@example(steps=_clocks(-480), trackers=2, accounts=1)
@example(steps=_clocks(2_000_000), trackers=2, accounts=1)
async def test_any_story_with_wrong_clocks(
    tell: Tell, steps: list[Step], trackers: int, accounts: int
) -> None:
    """Nor does any clock of the house, wrong by minutes or weeks: a ride may end early, once."""
    await tell(steps, trackers, accounts)
