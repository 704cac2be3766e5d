"""Fixtures that all tests of the integration share."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta

from freezegun.api import FrozenDateTimeFactory
from homeassistant.const import CONF_EMAIL, CONF_PASSWORD, CONF_URL
from homeassistant.core import HomeAssistant
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_fire_time_changed,
)

# Without this import Home Assistant does not find the integration.
from custom_components import bike_tracker  # noqa: F401
from custom_components.bike_tracker.const import DOMAIN

from .simulator.server import Simulator

EMAIL = "ann@example.com"
PASSWORD = "correct horse"

type Poll = Callable[..., Awaitable[None]]


@pytest.fixture(autouse=True)
def integration(enable_custom_integrations: None, socket_enabled: None) -> None:
    """Let Home Assistant load the integration, and reach the simulator."""


@pytest.fixture
async def simulator() -> AsyncIterator[Simulator]:
    """Return the service with one account and no trackers."""
    async with Simulator() as simulator:
        simulator.add_account(EMAIL, PASSWORD)
        yield simulator


@pytest.fixture
def entry(hass: HomeAssistant, simulator: Simulator) -> MockConfigEntry:
    """Return the entry of the account, not set up yet."""
    entry = MockConfigEntry(
        domain=DOMAIN,
        title="127.0.0.1",
        unique_id=f"{EMAIL}@127.0.0.1",
        data={CONF_URL: simulator.url, CONF_EMAIL: EMAIL, CONF_PASSWORD: PASSWORD},
    )
    entry.add_to_hass(hass)
    return entry


@pytest.fixture
def poll(hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> Poll:
    """Return a function that lets time pass, a minute unless told, and polls happen."""

    async def _poll(seconds: float = 61) -> None:
        freezer.tick(timedelta(seconds=seconds))
        async_fire_time_changed(hass)
        await hass.async_block_till_done(wait_background_tasks=True)

    return _poll


@pytest.fixture
async def setup(hass: HomeAssistant, entry: MockConfigEntry) -> MockConfigEntry:
    """Set the entry up."""
    await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done(wait_background_tasks=True)
    return entry
