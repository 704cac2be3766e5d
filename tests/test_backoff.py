"""When the next poll comes, and when a person is asked to sign in again."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from email.utils import format_datetime

from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import CONF_PASSWORD, STATE_UNAVAILABLE
from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from .conftest import EMAIL, PASSWORD, RED, Poll, StateOf, async_setup
from .tools.simulator import Simulator

MINUTE = 60
HOUR = 60 * MINUTE
DAY = 24 * HOUR

LONGEST = 290
"""Seconds. What comes back has ten more to be right in, within five minutes."""
GROWING = [1, 2, 4, *[LONGEST / MINUTE] * 4]
"""Minutes after the first, second … failure in a row."""

type Wait = Callable[[float], Awaitable[None]]
type AskedIn = Callable[..., Awaitable[list[int]]]


@pytest.fixture(autouse=True)
def enable_event_loop_debug() -> None:
    """Do without: writing down where each task was made takes half of the time."""


@pytest.fixture(autouse=True)
def jitter(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Callable[[float, float], float]:
    """Let all waits be of the same length, the longest unless the test says which."""
    choose: Callable[[float, float], float] = getattr(request, "param", max)
    monkeypatch.setattr("random.uniform", choose)
    return choose


@pytest.fixture
def next_poll(simulator: Simulator, poll: Poll) -> Wait:
    """Return a function that waits for the next poll, which comes in so many seconds.

    Home Assistant polls up to a second early and half a second late.
    """

    async def _next_poll(seconds: float) -> None:
        polls = simulator.record.counts["/api/devices"]
        await poll(seconds - 2)
        assert simulator.record.counts["/api/devices"] == polls
        await poll(3)
        assert simulator.record.counts["/api/devices"] == polls + 1

    return _next_poll


@pytest.fixture
def asked_in(simulator: Simulator, poll: Poll) -> AskedIn:
    """Return a function that says in which of the next minutes a call is asked for."""

    async def _asked_in(
        minutes: int, call: str = "positions", step: int = 1
    ) -> list[int]:
        asked = []
        for minute in range(step, minutes + 1, step):
            before = simulator.record.counts[f"/api/{call}"]
            await poll(step * MINUTE)
            if simulator.record.counts[f"/api/{call}"] > before:
                asked.append(minute)
        return asked

    return _asked_in


def is_asked_to_sign_in(hass: HomeAssistant) -> bool:
    """Return whether the person is asked for the password."""
    flows = hass.config_entries.flow.async_progress()
    return [flow["context"]["source"] for flow in flows] == ["reauth"]


# Growing waits


@pytest.mark.parametrize("jitter", [min, max], indirect=True)
@pytest.mark.usefixtures("setup")
async def test_waits_grow(
    simulator: Simulator, next_poll: Wait, jitter: Callable[[float, float], float]
) -> None:
    """After each failure in a row the wait is longer, up to 5 minutes, less a tenth but a minute."""
    simulator.fault("status-500")
    await next_poll(MINUTE)
    for minutes in GROWING:
        await next_poll(max(MINUTE, minutes * MINUTE * jitter(0.9, 1)))


@pytest.mark.usefixtures("setup")
async def test_a_success_ends_the_waiting(
    simulator: Simulator, next_poll: Wait
) -> None:
    """After the first good answer polls come every minute, and waits begin anew."""
    for _ in range(2):
        simulator.fault("status-500")
        await next_poll(MINUTE)
        for minutes in (1, 2, 4):
            await next_poll(minutes * MINUTE)
        simulator.fault(None)
        await next_poll(LONGEST)
        await next_poll(MINUTE)


@pytest.mark.usefixtures("setup")
async def test_whatever_fails_counts(simulator: Simulator, next_poll: Wait) -> None:
    """A row of failures is a row, of one kind or of many."""
    faults = ["html", "status-503", "redirect-302-other", "length-too-long"]
    wait: float = MINUTE
    for fault in faults:
        simulator.fault(fault)
        await next_poll(wait)
        wait = MINUTE * GROWING[faults.index(fault)]


async def test_a_reload_ends_the_waiting(
    hass: HomeAssistant, simulator: Simulator, setup: MockConfigEntry, next_poll: Wait
) -> None:
    """A person who reloads does not wait for what went on before."""
    simulator.fault("status-500")
    await next_poll(MINUTE)
    await next_poll(MINUTE)
    simulator.fault(None)
    assert await hass.config_entries.async_reload(setup.entry_id)
    await next_poll(MINUTE)
    simulator.fault("status-500")
    await next_poll(MINUTE)
    await next_poll(MINUTE)


async def test_a_person_who_polls_by_hand(
    hass: HomeAssistant, simulator: Simulator, entry: MockConfigEntry, poll: Poll
) -> None:
    """With polling disabled nothing is asked for again, however it failed."""
    hass.config_entries.async_update_entry(entry, pref_disable_polling=True)
    await async_setup(hass, entry)
    simulator.fault("status-500")
    requests = simulator.record.counts["/api/devices"]
    await poll(DAY)
    assert simulator.record.counts["/api/devices"] == requests


# Retry-After


@pytest.mark.parametrize("status", [408, 429, 500, 503])
@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("600", 600),
        ("3600", HOUR),
        ("0", MINUTE),
        ("59", MINUTE),
        ("3601", HOUR),
        ("999999999999", HOUR),
        ("-5", MINUTE),
        ("1.5", MINUTE),
        ("soon", MINUTE),
    ],
)
@pytest.mark.usefixtures("setup")
async def test_retry_after(
    simulator: Simulator, next_poll: Wait, status: int, value: str, seconds: int
) -> None:
    """It is obeyed between a minute and an hour; nonsense is not there."""
    simulator.fault(f"status-{status}", retry_after=value)
    await next_poll(MINUTE)
    await next_poll(seconds)


@pytest.mark.parametrize(
    ("ahead", "seconds"),
    [
        (timedelta(minutes=10), 10 * MINUTE),
        (timedelta(days=365), HOUR),
        (timedelta(), MINUTE),
        (timedelta(days=-1), MINUTE),
    ],
)
@pytest.mark.usefixtures("setup")
async def test_retry_after_a_date(
    simulator: Simulator, next_poll: Wait, ahead: timedelta, seconds: int
) -> None:
    """A date is as good as seconds."""
    # A minute until the server says so, and a second that dates leave off.
    moment = dt_util.utcnow() + timedelta(seconds=MINUTE + 2) + ahead
    simulator.fault("status-429", retry_after=format_datetime(moment, usegmt=True))
    await next_poll(MINUTE)
    await next_poll(seconds)


@pytest.mark.usefixtures("setup")
async def test_waits_grow_behind_a_retry_after(
    simulator: Simulator, next_poll: Wait
) -> None:
    """What the server asks for is for once; the row of failures goes on."""
    simulator.fault("status-500")
    await next_poll(MINUTE)
    simulator.fault("status-429", retry_after="600")
    await next_poll(MINUTE)
    simulator.fault("status-500")
    await next_poll(600)
    await next_poll(4 * MINUTE)


# 401


@pytest.mark.usefixtures("setup")
async def test_one_401_is_forgiven(
    hass: HomeAssistant, simulator: Simulator, next_poll: Wait, state_of: StateOf
) -> None:
    """The trackers are unavailable for a minute, and nobody is asked for anything."""
    simulator.fault("status-401-once")
    await next_poll(MINUTE)
    state = state_of(RED)
    assert state is not None
    assert state.state == STATE_UNAVAILABLE
    await next_poll(MINUTE)
    state = state_of(RED)
    assert state is not None
    assert state.state != STATE_UNAVAILABLE
    assert not is_asked_to_sign_in(hass)


@pytest.mark.parametrize(
    ("answers", "asks"),
    [
        (["status-401", "status-401"], True),
        (["status-401", None, "status-401"], False),
        (["status-401", "status-500", "status-401"], False),
        (["status-401", "connection-refused", "status-401"], False),
        (["status-401", "html", "status-401"], False),
        (["status-401", "status-403", "status-401"], False),
        (["status-401", "status-500", "status-401", "status-401"], True),
        (["status-500", "status-500", "status-401"], False),
        (["status-500", "status-500", "status-401", "status-401"], True),
        (["status-403"] * 4, False),
        (["redirect-302-same"] * 4, False),
    ],
)
@pytest.mark.usefixtures("setup")
async def test_only_two_in_a_row_ask_to_sign_in(
    hass: HomeAssistant,
    simulator: Simulator,
    poll: Poll,
    answers: list[str | None],
    asks: bool,
) -> None:
    """Whatever comes between two of them, a failure or not, they are no row."""
    for answer in answers:
        assert not is_asked_to_sign_in(hass)
        simulator.fault(answer)
        await poll(HOUR)
    assert is_asked_to_sign_in(hass) is asks


@pytest.mark.usefixtures("setup")
async def test_second_try_comes_after_a_minute(
    simulator: Simulator, next_poll: Wait
) -> None:
    """However long the waits were before, and whatever the server asks for."""
    simulator.fault("status-500")
    await next_poll(MINUTE)
    for minutes in (1, 2, 4):
        await next_poll(minutes * MINUTE)
    simulator.fault("status-401", retry_after="3600")
    await next_poll(LONGEST)
    await next_poll(MINUTE)


@pytest.mark.usefixtures("setup")
async def test_waits_of_a_refused_sign_in(
    simulator: Simulator, asked_in: AskedIn, next_poll: Wait
) -> None:
    """A password that is really wrong must not lock an account."""
    simulator.set_password(EMAIL, "new password")
    await next_poll(MINUTE)
    await next_poll(MINUTE)
    assert await asked_in(60, "devices") == [*range(5, 61, 5)]
    assert await asked_in(23 * 60, "devices", 5) == [*range(15, 23 * 60 + 1, 15)]
    assert await asked_in(24 * 60, "devices", 15) == [*range(60, 24 * 60 + 1, 60)]


@pytest.mark.usefixtures("setup")
async def test_other_failures_after_the_person_was_asked(
    hass: HomeAssistant, simulator: Simulator, asked_in: AskedIn, next_poll: Wait
) -> None:
    """They do not make a password that is wrong be tried more often."""
    simulator.fault("status-401")
    await next_poll(MINUTE)
    await next_poll(MINUTE)
    await asked_in(119, "devices")
    simulator.fault("status-503")
    assert await asked_in(1, "devices") == [1]
    simulator.fault("status-401")
    assert await asked_in(46, "devices") == [1, 16, 31, 46]
    assert is_asked_to_sign_in(hass)


@pytest.mark.parametrize("days", [0, 1, 7])
@pytest.mark.usefixtures("setup")
async def test_service_that_takes_the_password_again(
    hass: HomeAssistant,
    simulator: Simulator,
    poll: Poll,
    next_poll: Wait,
    state_of: StateOf,
    days: int,
) -> None:
    """All is well again with nobody there, and nobody is asked any more."""
    simulator.fault("status-401")
    await next_poll(MINUTE)
    await next_poll(MINUTE)
    assert is_asked_to_sign_in(hass)
    for _ in range(24 * days):
        await poll(HOUR)
    simulator.fault(None)

    await poll(HOUR if days else 5 * MINUTE)

    state = state_of(RED)
    assert state is not None
    assert state.state != STATE_UNAVAILABLE
    assert not hass.config_entries.flow.async_progress()
    await next_poll(MINUTE)

    # From then on as if nothing had been: only two in a row ask.
    for fault in ("status-401", "status-503", "status-401"):
        simulator.fault(fault)
        await next_poll(MINUTE)
    assert not is_asked_to_sign_in(hass)


async def test_changed_password(
    hass: HomeAssistant, simulator: Simulator, setup: MockConfigEntry, next_poll: Wait
) -> None:
    """Once the person has signed in, all is as before."""
    simulator.set_password(EMAIL, "new password")
    await next_poll(MINUTE)
    await next_poll(MINUTE)
    assert is_asked_to_sign_in(hass)
    await next_poll(LONGEST)

    [flow] = hass.config_entries.flow.async_progress()
    await hass.config_entries.flow.async_configure(
        flow["flow_id"], {CONF_PASSWORD: "new password"}
    )
    await hass.async_block_till_done(wait_background_tasks=True)
    assert setup.state is ConfigEntryState.LOADED
    assert not hass.config_entries.flow.async_progress()
    await next_poll(MINUTE)
    await next_poll(MINUTE)


async def test_401_at_setup(
    hass: HomeAssistant, simulator: Simulator, entry: MockConfigEntry, asked_in: AskedIn
) -> None:
    """There the first one asks, and the server is asked less and less often."""
    simulator.fault("status-401")
    await async_setup(hass, entry)
    assert entry.state is ConfigEntryState.SETUP_ERROR
    assert is_asked_to_sign_in(hass)
    assert len(simulator.requests) == 1

    assert await asked_in(61, "devices") == [1, *range(6, 62, 5)]
    assert await asked_in(23 * 60, "devices", 5) == [*range(15, 23 * 60 + 1, 15)]
    assert await asked_in(24 * 60, "devices", 15) == [*range(60, 24 * 60 + 1, 60)]
    assert entry.state is ConfigEntryState.SETUP_ERROR
    assert is_asked_to_sign_in(hass)


@pytest.mark.parametrize("minutes", [1, 30])
async def test_401_at_setup_that_passes(
    hass: HomeAssistant,
    simulator: Simulator,
    entry: MockConfigEntry,
    poll: Poll,
    state_of: StateOf,
    minutes: int,
) -> None:
    """The account is set up with nobody there, and nobody is asked any more."""
    simulator.fault("status-401")
    await async_setup(hass, entry)
    for _ in range(minutes):
        await poll(MINUTE)
    simulator.fault(None)

    for _ in range(5):
        await poll(MINUTE)

    assert entry.state is ConfigEntryState.LOADED
    state = state_of(RED)
    assert state is not None
    assert state.state != STATE_UNAVAILABLE
    assert not hass.config_entries.flow.async_progress()


@pytest.mark.parametrize("hours", [1, 24])
async def test_failure_at_setup_that_passes(
    hass: HomeAssistant,
    simulator: Simulator,
    entry: MockConfigEntry,
    poll: Poll,
    hours: int,
) -> None:
    """The account is set up within five minutes, however long that took."""
    simulator.fault("status-503")
    await async_setup(hass, entry)
    for _ in range(12 * hours):
        await poll(5 * MINUTE)
    assert entry.state is ConfigEntryState.SETUP_RETRY
    simulator.fault(None)

    for _ in range(5):
        await poll(MINUTE)

    assert entry.state is ConfigEntryState.LOADED


@pytest.mark.parametrize("fault", ["status-401", "status-503"])
async def test_entry_that_is_removed_is_not_set_up_again(
    hass: HomeAssistant,
    simulator: Simulator,
    entry: MockConfigEntry,
    poll: Poll,
    fault: str,
) -> None:
    """Nothing is asked for any more."""
    simulator.fault(fault)
    await async_setup(hass, entry)
    await hass.config_entries.async_remove(entry.entry_id)
    requests = len(simulator.requests)

    await poll(HOUR)

    assert len(simulator.requests) == requests


async def test_retry_after_at_setup(
    hass: HomeAssistant, simulator: Simulator, entry: MockConfigEntry, asked_in: AskedIn
) -> None:
    """After a refused sign-in it is obeyed each time, between 5 minutes and an hour."""
    simulator.fault("status-401")
    await async_setup(hass, entry)
    simulator.fault("status-429", retry_after="1800")
    assert await asked_in(61, "devices") == [1, 31, 61]
    simulator.fault("status-429", retry_after="60")
    assert await asked_in(45, "devices") == [30, 35, 40, 45]
    simulator.fault("status-429", retry_after="86400")
    assert await asked_in(130, "devices", 5) == [5, 65, 125]


async def test_401_at_setup_counts_no_further(
    hass: HomeAssistant, simulator: Simulator, entry: MockConfigEntry, poll: Poll
) -> None:
    """After a sign-in that cures it, one more 401 is forgiven as any other."""
    simulator.fault("status-401")
    await async_setup(hass, entry)
    simulator.fault(None)
    [flow] = hass.config_entries.flow.async_progress()
    await hass.config_entries.flow.async_configure(
        flow["flow_id"], {CONF_PASSWORD: PASSWORD}
    )
    await hass.async_block_till_done(wait_background_tasks=True)
    simulator.fault("status-401-once")
    await poll()
    await poll()
    assert not is_asked_to_sign_in(hass)


# Positions


@pytest.mark.usefixtures("setup")
async def test_waits_for_positions_grow(
    simulator: Simulator, asked_in: AskedIn
) -> None:
    """While the list is polled every minute, positions wait as a failed poll does."""
    for _ in range(2):
        simulator.fault("status-500", path="positions")
        simulator.report(RED)
        assert await asked_in(24) == [1, 2, 4, 8, 13, 18, 23]
        simulator.fault(None)
        assert await asked_in(10) == [4]


@pytest.mark.parametrize(
    ("value", "minutes"), [("600", 10), ("0", 1), ("86400", 60), ("soon", 1)]
)
@pytest.mark.usefixtures("setup")
async def test_retry_after_of_positions(
    simulator: Simulator, asked_in: AskedIn, value: str, minutes: int
) -> None:
    """It is obeyed in the same way, and delays nothing but positions."""
    simulator.fault("status-503", path="positions", retry_after=value)
    simulator.report(RED)
    assert (await asked_in(1 + minutes))[:2] == [1, 1 + minutes]


@pytest.mark.usefixtures("setup")
async def test_positions_wait_for_themselves(
    simulator: Simulator, next_poll: Wait
) -> None:
    """Failures of the one call are none of the other."""
    simulator.fault("status-500", path="positions")
    simulator.report(RED)
    for _ in range(4):
        await next_poll(MINUTE)
    simulator.fault("status-500")
    await next_poll(MINUTE)
    await next_poll(MINUTE)
    await next_poll(2 * MINUTE)


async def test_never_offered_is_asked_for_less_and_less(
    hass: HomeAssistant, simulator: Simulator, entry: MockConfigEntry, asked_in: AskedIn
) -> None:
    """After 1, 2, 4 … 24 hours, and at once after a reload."""
    simulator.fault("status-404", path="positions")
    await async_setup(hass, entry)
    asked = [hours * 60 for hours in (1, 3, 7, 15, 31, 55, 79)]
    assert await asked_in(80 * 60, step=30) == asked

    simulator.fault(None)
    await hass.config_entries.async_reload(entry.entry_id)
    assert simulator.record.counts["/api/positions"] == 1 + len(asked) + 1


async def test_failures_say_nothing_of_what_is_offered(
    hass: HomeAssistant, simulator: Simulator, entry: MockConfigEntry, asked_in: AskedIn
) -> None:
    """As long as nothing else was answered, positions are asked for in minutes."""
    simulator.fault("status-503", path="positions")
    await async_setup(hass, entry)
    assert await asked_in(12) == [1, 3, 7, 12]
    simulator.fault("status-404", path="positions")
    assert await asked_in(70) == [5, 65]


# A clock that is put right


@pytest.mark.usefixtures("setup")
async def test_clock_that_is_put_right_is_no_outage(
    simulator: Simulator,
    poll: Poll,
    issue_registry: ir.IssueRegistry,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A machine that starts with its network may count two days between two polls."""
    simulator.fault("status-503")
    await poll()
    right = dt_util.now
    for name in ("now", "utcnow"):
        monkeypatch.setattr(dt_util, name, lambda *_: right() + timedelta(days=2))

    await poll(2 * MINUTE)

    assert not issue_registry.issues
