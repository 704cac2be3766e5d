"""What real servers answer goes through the integration, and none of it is news to it."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
import logging

from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import (
    ATTR_LATITUDE,
    CONF_EMAIL,
    CONF_PASSWORD,
    CONF_URL,
    STATE_OFF,
    STATE_ON,
    STATE_UNAVAILABLE,
    STATE_UNKNOWN,
    Platform,
)
from homeassistant.core import HomeAssistant
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.bike_tracker.const import DOMAIN

from .conftest import EMAIL, PASSWORD, RED, Poll, StateOf, async_setup
from .tools.simulator import Simulator

KINDS = ["4.11", "5.12", "6.14.5"]


@pytest.fixture(autouse=True)
def no_warnings(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Hold that nothing is logged that a person would read."""
    yield
    assert [
        record.getMessage()
        for record in caplog.get_records("call")
        if DOMAIN in record.name and record.levelno >= logging.WARNING
    ] == []


# Servers of these versions as the simulator plays them


@pytest.fixture
def entry_at(hass: HomeAssistant) -> Callable[[Simulator], MockConfigEntry]:
    """Return a function for the entry of an account at a server."""

    def _entry_at(server: Simulator) -> MockConfigEntry:
        entry = MockConfigEntry(
            domain=DOMAIN,
            title="127.0.0.1",
            unique_id=f"{EMAIL}@127.0.0.1",
            data={
                CONF_URL: server.url,
                CONF_EMAIL: EMAIL,
                CONF_PASSWORD: PASSWORD,
            },
        )
        entry.add_to_hass(hass)
        return entry

    return _entry_at


type EntryAt = Callable[[Simulator], MockConfigEntry]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("freezer")
async def test_bike_in_the_cellar(
    hass: HomeAssistant, kind: str, entry_at: EntryAt, poll: Poll, state_of: StateOf
) -> None:
    """Its last fix is 100 days old; where it is and its battery are known."""
    async with Simulator(kind=kind) as server:
        server.add_account(EMAIL, PASSWORD)
        server.add_device(RED, email=EMAIL)
        old = datetime.now(UTC) - timedelta(days=100)
        server.report(
            RED, latitude=52.0, longitude=13.0, battery_level=21, fix_time=old
        )
        await async_setup(hass, entry_at(server))
        await poll()
        tracker = state_of(RED)
        battery = state_of(f"{RED}_battery", Platform.SENSOR)
        assert tracker is not None
        assert tracker.attributes.get(ATTR_LATITUDE) == 52.0
        assert battery is not None
        assert float(battery.state) == 21


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("freezer")
async def test_disabled_tracker(
    hass: HomeAssistant, kind: str, entry_at: EntryAt, poll: Poll, state_of: StateOf
) -> None:
    """It is disabled, or unavailable where the server no longer lists it, until it is back."""
    async with Simulator(kind=kind) as server:
        server.add_account(EMAIL, PASSWORD)
        server.add_device(RED, email=EMAIL)
        server.add_device("other", email=EMAIL)
        await async_setup(hass, entry_at(server))
        server.set_disabled(RED, True)
        await poll()
        disabled = state_of(f"{RED}_disabled", Platform.BINARY_SENSOR)
        assert disabled is not None
        assert disabled.state == (STATE_UNAVAILABLE if kind == "4.11" else STATE_ON)
        server.set_disabled(RED, False)
        await poll()
        disabled = state_of(f"{RED}_disabled", Platform.BINARY_SENSOR)
        assert disabled is not None
        assert disabled.state == STATE_OFF


@pytest.mark.parametrize("kind", KINDS)
async def test_wrong_password_at_setup(
    hass: HomeAssistant, kind: str, entry_at: EntryAt
) -> None:
    """Whatever the server calls it, the person is asked to sign in again."""
    async with Simulator(kind=kind) as server:
        server.add_account(EMAIL, "another")
        entry = entry_at(server)
        await async_setup(hass, entry)
        assert list(entry.async_get_active_flows(hass, {"reauth"}))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("freezer")
async def test_wrong_password_while_running(
    hass: HomeAssistant,
    kind: str,
    entry_at: EntryAt,
    poll: Poll,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The same, at the second time."""
    async with Simulator(kind=kind) as server:
        server.add_account(EMAIL, PASSWORD)
        server.add_device(RED, email=EMAIL)
        entry = entry_at(server)
        await async_setup(hass, entry)
        assert entry.state is ConfigEntryState.LOADED
        server.set_password(EMAIL, "another")
        await poll()
        await poll()
        assert list(entry.async_get_active_flows(hass, {"reauth"}))
        # That it failed is said, as it has to be.
        caplog.clear()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("freezer")
async def test_life_of_a_tracker(
    hass: HomeAssistant, kind: str, entry_at: EntryAt, poll: Poll, state_of: StateOf
) -> None:
    """Never heard of, online, silent: each is an ordinary thing to say."""
    async with Simulator(kind=kind) as server:
        server.add_account(EMAIL, PASSWORD)
        server.add_device(RED, email=EMAIL, latitude=None)
        await async_setup(hass, entry_at(server))
        shown = []
        for status in ("online", "unknown", "offline"):
            shown.append(state_of(f"{RED}_online", Platform.BINARY_SENSOR))
            server.set_status(RED, status)
            server.report(RED)
            await poll()
        shown.append(state_of(f"{RED}_online", Platform.BINARY_SENSOR))
        assert [state and state.state for state in shown] == [
            STATE_OFF,
            STATE_ON,
            STATE_UNKNOWN,
            STATE_OFF,
        ]
