"""Polls for hours, or as long as `scripts/soak` is told to, leave nothing behind."""

from collections.abc import AsyncIterator, Iterator
import logging
from operator import attrgetter
from typing import override

from homeassistant.config_entries import ConfigEntryState
from homeassistant.helpers.storage import Store
from homeassistant.setup import async_setup_component
import pytest

from custom_components.bike_tracker import PLATFORMS

from .conftest import BLUE, EMAIL, PASSWORD, RED, Bikes, MakeEntry, async_setup
from .long import IS_LONG
from .tools.faults.home import Home
from .tools.faults.trouble import NAME_NOT_FOUND, TROUBLES
from .tools.simulator import Simulator, client_context
from .tools.soak.options import POLLS_A_DAY, Options
from .tools.soak.reading import read
from .tools.soak.soak import Soak
from .tools.story.listener import TRIGGERS, automation, label_bikes


@pytest.fixture
def options(pytestconfig: pytest.Config) -> Options:
    """Return how long, as `scripts/soak` was told."""
    plugins = pytestconfig.pluginmanager.get_plugins()
    chosen = (plugin for plugin in plugins if isinstance(plugin, Options))
    return next(chosen, Options(polls=POLLS_A_DAY // (1 if IS_LONG else 4)))


@pytest.fixture
async def simulator() -> AsyncIterator[Simulator]:
    """Return the service, encrypted, with an account of two trackers."""
    async with Simulator(tls=True) as simulator:
        simulator.add_account(EMAIL, PASSWORD)
        simulator.add_device(RED, name="Red bike", email=EMAIL)
        simulator.add_device(BLUE, name="Blue bike", email=EMAIL)
        yield simulator


class Counter(logging.Handler):
    """Counts lines and tracebacks, as records of them would add up."""

    lines = 0
    tracebacks = 0

    @override
    def emit(self, record: logging.LogRecord) -> None:
        self.lines += 1
        self.tracebacks += record.exc_info is not None


@pytest.fixture
def log() -> Iterator[Counter]:
    """Return how much the integration writes; pytest keeps nothing of it."""
    counter = Counter(logging.INFO)
    own = logging.getLogger("custom_components.bike_tracker")
    others = logging.getLogger("homeassistant")
    levels = own.level, others.level
    own.addHandler(counter)
    own.propagate = False
    own.setLevel(logging.INFO)
    others.setLevel(logging.WARNING)
    yield counter
    own.removeHandler(counter)
    own.propagate = True
    own.setLevel(levels[0])
    others.setLevel(levels[1])


def forget_writes() -> None:
    """Free what stands in for Home Assistant's storage from what it was called with."""
    for method in ("_async_load", "_async_write_data"):
        getattr(Store, method).reset_mock()


@pytest.mark.usefixtures("with_live")
async def test_soak(
    bikes: Bikes,
    make_entry: MakeEntry,
    monkeypatch: pytest.MonkeyPatch,
    log: Counter,
    options: Options,
) -> None:
    """Memory, tasks, timers, listeners and connections are as many as at the beginning."""
    monkeypatch.setattr(
        "homeassistant.util.ssl.client_context", lambda *_: client_context()
    )
    entry = make_entry(url=bikes.simulator.url.replace("127.0.0.1", "localhost"))
    house = bikes.hass, bikes.freezer, bikes.simulator
    home = Home(*house, entry, TROUBLES[NAME_NOT_FOUND], is_live=True)
    home.watch(monkeypatch)
    # What of Home Assistant stays when an account goes.
    for platform in PLATFORMS:
        assert await async_setup_component(bikes.hass, platform, {})
    automations = [automation(trigger) for trigger in TRIGGERS]
    assert await async_setup_component(
        bikes.hass, "automation", {"automation": automations}
    )
    await home.wait(60)
    before = read(bikes.hass, 0)
    await async_setup(bikes.hass, entry)
    label_bikes(bikes.hass)
    soak = Soak(home, EMAIL, PASSWORD, options, forget_writes)

    # Until the third one what is known of trackers fills, with the last ten of each kind.
    _, _, warm, *_, last = await soak.run()

    for what, number in sorted(soak.counts.items()):
        options.say(f"{number:>9,} {what}")
    options.say(f"{log.lines:>9,} lines in the log")
    assert soak.counts["alarms"] > 0
    assert last.polls >= options.polls
    assert last.growth_since(warm) == {}
    assert home.state is ConfigEntryState.LOADED
    assert not home.asks_to_sign_in
    assert log.lines > 0
    # One a minute at most, and none while nothing lacks.
    assert 0 < soak.counts["requests for history"] < last.polls
    beyond = soak.counts["requests for /api/session"]
    beyond += soak.counts["requests for /api/socket"]
    assert 0 < beyond < last.polls / 5
    assert log.tracebacks == 0

    await bikes.hass.config_entries.async_remove(entry.entry_id)
    await home.wait(3600)
    after = read(bikes.hass, last.polls)
    left = attrgetter("tasks", "timers", "files")
    assert left(after) == left(before)
