"""A home that any trouble can strike."""

from collections.abc import AsyncIterator

from freezegun.api import FrozenDateTimeFactory
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
import pytest

from tests.conftest import BLUE, EMAIL, PASSWORD, RED, MakeEntry, async_setup
from tests.simulator import Simulator, client_context

from .home import Home
from .trouble import NAME_NOT_FOUND, TROUBLES


@pytest.fixture
async def simulator() -> AsyncIterator[Simulator]:
    """Return the service, encrypted, with an account of two trackers."""
    async with Simulator(tls=True) as simulator:
        simulator.add_account(EMAIL, PASSWORD)
        simulator.add_device(RED, name="Red bike", email=EMAIL)
        simulator.add_device(BLUE, name="Blue bike", email=EMAIL)
        yield simulator


@pytest.fixture
async def home(
    hass: HomeAssistant,
    freezer: FrozenDateTimeFactory,
    simulator: Simulator,
    make_entry: MakeEntry,
    monkeypatch: pytest.MonkeyPatch,
    all_enabled: None,
) -> Home:
    """Return a home where all is well, and waits are as long as they can be."""
    monkeypatch.setattr("random.uniform", lambda _, most: most)
    monkeypatch.setattr(
        "homeassistant.util.ssl.client_context", lambda *_: client_context()
    )
    # Trackers of another kind are looked after every five seconds: most of all steps.
    monkeypatch.setattr(
        "homeassistant.components.device_tracker.legacy.async_track_utc_time_change",
        lambda *_, **__: lambda: None,
    )
    # A name, so that it can get lost, and one that the certificate is for.
    entry = make_entry(url=simulator.url.replace("127.0.0.1", "localhost"))
    home = Home(hass, freezer, simulator, entry, TROUBLES[NAME_NOT_FOUND])
    home.watch(monkeypatch)
    await async_setup(hass, entry)
    assert home.state is ConfigEntryState.LOADED
    return home
