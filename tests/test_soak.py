"""After hours of polls, or with `scripts/soak` after many days, no resource has leaked."""

from collections.abc import AsyncIterator
import logging
from typing import override

from homeassistant.setup import async_setup_component
import pytest

from custom_components.bike_tracker import PLATFORMS

from .conftest import BLUE, EMAIL, PASSWORD, RED, Bikes, MakeEntry, async_setup
from .long import DAYS, IS_LONG
from .tools.faults.decided import NAME_NOT_FOUND, TROUBLES
from .tools.faults.home import Home
from .tools.simulator import Simulator, client_context
from .tools.soak import Soak, growth, read
from .tools.story.listener import automations, label_bikes

_POLLS_A_DAY = 24 * 60
_A_FEW = _POLLS_A_DAY // (1 if IS_LONG else 4)


@pytest.fixture
async def simulator() -> AsyncIterator[Simulator]:
    """Run the simulated service with TLS and an account that has two trackers."""
    async with Simulator(tls=True) as simulator:
        simulator.add_account(EMAIL, PASSWORD)
        simulator.add_device(RED, name="Red bike", email=EMAIL)
        simulator.add_device(BLUE, name="Blue bike", email=EMAIL)
        yield simulator


class Counter(logging.Handler):
    """Counts log lines and tracebacks. Keeping all of them would need much memory."""

    lines = tracebacks = 0

    @override
    def emit(self, record: logging.LogRecord) -> None:
        self.lines += 1
        self.tracebacks += record.exc_info is not None


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> Counter:
    """Return a counter of the integration's log lines. Pytest does not keep these lines."""
    counter, own = Counter(), logging.getLogger("custom_components.bike_tracker")
    monkeypatch.setattr(own, "handlers", [counter])
    monkeypatch.setattr(own, "propagate", False)
    caplog.set_level(logging.INFO, own.name)
    caplog.set_level(logging.WARNING, "homeassistant")
    return counter


@pytest.mark.usefixtures("with_live")
async def test_soak(
    bikes: Bikes, make_entry: MakeEntry, monkeypatch: pytest.MonkeyPatch, log: Counter
) -> None:
    """Memory, tasks, timers, listeners and connections do not grow. A removed account leaves no tasks, timers or files."""
    monkeypatch.setattr(
        "homeassistant.util.ssl.client_context", lambda *_: client_context()
    )
    entry = make_entry(url=bikes.simulator.url.replace("127.0.0.1", "localhost"))
    house = bikes.hass, bikes.freezer, bikes.simulator
    home = Home(*house, entry, TROUBLES[NAME_NOT_FOUND], is_live=True)
    home.watch(monkeypatch)
    # Load the parts of Home Assistant that stay loaded after an account is removed, so
    # that the readings before and after the account include them.
    config = {"automation": automations()}
    for component in (*PLATFORMS, "automation"):
        assert await async_setup_component(bikes.hass, component, config)
    await home.wait(60)
    before = read(bikes.hass)
    await async_setup(bikes.hass, entry)
    label_bikes(bikes.hass)
    soak = Soak(home, _POLLS_A_DAY * DAYS or _A_FEW)
    # Until the third reading, the data of the trackers still grows to its limit. So
    # compare the last reading with the third.
    _, _, warm, *_, last = await soak.run()
    assert growth(warm, last) == {}
    assert log.lines > 0
    requests, polls = bikes.simulator.record.counts, last["polls"]
    # Requests for the history have this path, too, so allow two requests for each poll.
    assert requests["/api/positions"] < 2 * polls
    assert 0 < requests["/api/session"] + requests["/api/socket"] < polls / 5
    assert log.tracebacks == 0
    await bikes.hass.config_entries.async_remove(entry.entry_id)
    await home.wait(3600)
    after = read(bikes.hass)
    for what in ("tasks", "timers", "files"):
        assert after[what] == before[what], what
