"""A home for one case of trouble."""

from collections.abc import AsyncIterator

from freezegun.api import FrozenDateTimeFactory
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
import pytest

from custom_components.bike_tracker.polling.live import Live
from tests.conftest import BLUE, EMAIL, PASSWORD, RED, MakeEntry
from tests.tools.simulator import Simulator, client_context

from .cases import Case
from .home import Home
from .trouble import NAME_NOT_FOUND, TROUBLES


@pytest.fixture(autouse=True)
def polling_alone(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Have a live connection only where that is in trouble."""
    callspec = getattr(request.node, "callspec", None)
    case = callspec and callspec.params.get("case")
    if case is None or case.path != "live":
        monkeypatch.setattr(Live, "async_start", lambda *_, **__: None)


@pytest.fixture
async def simulator(case: Case) -> AsyncIterator[Simulator]:
    """Return the service, with an account of two trackers, and with TLS if that will fail."""
    trouble = TROUBLES.get(case.trouble)
    async with Simulator(tls=trouble is not None and trouble.tls) as simulator:
        simulator.add_account(EMAIL, PASSWORD)
        simulator.add_device(RED, name="Red bike", email=EMAIL)
        simulator.add_device(BLUE, name="Blue bike", email=EMAIL)
        yield simulator


@pytest.fixture
async def home(
    hass: HomeAssistant,
    freezer: FrozenDateTimeFactory,
    simulator: Simulator,
    case: Case,
    make_entry: MakeEntry,
    monkeypatch: pytest.MonkeyPatch,
    all_enabled: None,
) -> Home:
    """Return a home where all is well, and waits are as long as they can be."""
    monkeypatch.setattr("random.uniform", lambda _, most: most)
    monkeypatch.setattr(
        "homeassistant.util.ssl.client_context", lambda *_: client_context()
    )
    # A name, so that it can get lost, and one that the certificate is for.
    entry = make_entry(url=simulator.url.replace("127.0.0.1", "localhost"))
    home = Home(hass, freezer, simulator, entry, TROUBLES[NAME_NOT_FOUND])
    home.watch(monkeypatch)
    home.is_live = case.path == "live"
    await home.set_up()
    assert home.state is ConfigEntryState.LOADED
    if home.is_live:
        # Until it has begun, and then for a quiet second.
        for seconds in (11, 1.1):
            await home.wait(seconds)
    return home
