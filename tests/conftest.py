"""Fixtures and functions that all tests of the integration share."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import timedelta
from shutil import copytree
from typing import Any, cast

from aiohttp import ThreadedResolver
from freezegun.api import FrozenDateTimeFactory
from homeassistant.const import (
    CONF_EMAIL,
    CONF_PASSWORD,
    CONF_URL,
    EVENT_STATE_CHANGED,
    EVENT_STATE_REPORTED,
    Platform,
)
from homeassistant.core import Context, Event, HomeAssistant, State, callback
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.helpers.aiohttp_client import DATA_RESOLVER
from homeassistant.helpers.entity import Entity
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_fire_time_changed,
    get_test_config_dir,
)
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.amber import AmberSnapshotExtension

# Without this import Home Assistant does not find the integration.
from custom_components import bike_tracker  # noqa: F401
from custom_components.bike_tracker import config_flow
from custom_components.bike_tracker.const import DOMAIN
from custom_components.bike_tracker.coordinator import BikeTrackerCoordinator
from custom_components.bike_tracker.polling.history import History
from custom_components.bike_tracker.polling.live import Live

from .tools.settle import settle
from .tools.simulator.server import Simulator

EMAIL = "ann@example.com"
BOB = "bob@example.com"
PASSWORD = "correct horse"
RED = "860000000000011"
BLUE = "860000000000022"
EVERYTHING: dict[str, Any] = {
    "batteryLevel": 80,
    "motion": True,
    "charge": True,
    "lock": True,
    "battery": 3.9,
    "power": 12.3,
    "versionFw": "1.2",
    "alarm": "sos",
}
"""Attributes of a position: all keys that the integration reads, except `totalDistance`."""

type MakeEntry = Callable[..., MockConfigEntry]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start the tests with the longest timeouts first, so that all parallel workers end at about the same time."""

    def timeout(item: pytest.Item) -> float:
        marker = item.get_closest_marker("timeout")
        return marker.args[0] if marker else 0.0

    items.sort(key=timeout, reverse=True)


@pytest.fixture(autouse=True)
def enable_event_loop_debug() -> None:
    """Do nothing: this replaces a fixture of Home Assistant's test package that would double the duration of tests."""


@pytest.fixture(autouse=True)
def integration(enable_custom_integrations: None, socket_enabled: None) -> None:
    """Let Home Assistant load custom integrations, and allow sockets, which the simulator needs."""


def resolve_names(hass: HomeAssistant) -> None:
    """Let Home Assistant resolve host names such as localhost, to reach the simulator by name.

    Home Assistant's test package has one resolver for all tests, which works only in the
    event loop of the first test.
    """
    hass.data[DATA_RESOLVER] = cast(Any, ThreadedResolver())


@pytest.fixture
def hass_config_dir(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Give each test its own configuration folder, because databases are real files."""
    folder = tmp_path_factory.mktemp("config")
    template = get_test_config_dir()  # type: ignore[no-untyped-call]
    copytree(template, folder, symlinks=True, dirs_exist_ok=True)
    return str(folder)


@pytest.fixture
async def hass(hass: HomeAssistant) -> HomeAssistant:
    """Return a Home Assistant that can resolve host names."""
    resolve_names(hass)
    return hass


@pytest.fixture
def with_live() -> None:
    """Mark a test that needs the live connection: `only_polls` does not disable it in this test."""


@pytest.fixture
def with_rides_from_before() -> None:
    """Mark a test that needs the requests for rides from before the set-up: `only_polls` does not disable them."""


@pytest.fixture(autouse=True)
def only_polls(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Disable the live connection and the loading of earlier rides, except in tests that a fixture above marks."""
    if "with_live" not in request.fixturenames:
        monkeypatch.setattr(Live, "async_start", lambda *_, **__: None)
    if "with_rides_from_before" not in request.fixturenames:
        monkeypatch.setattr(History, "next_backfill", lambda *_: None)


@pytest.fixture(autouse=True)
def no_legacy_trackers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disable the timer of legacy device trackers, which would run every five seconds."""
    monkeypatch.setattr(
        "homeassistant.components.device_tracker.legacy.async_track_utc_time_change",
        lambda *_, **__: lambda: None,
    )


@pytest.fixture
def snapshot(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """Return the snapshots in a format that all releases of Home Assistant's test package share."""
    return snapshot.use_extension(AmberSnapshotExtension)


@pytest.fixture
async def simulator(request: pytest.FixtureRequest) -> AsyncIterator[Simulator]:
    """Return a simulated service with one account of two trackers. An indirect parameter sets another kind of server."""
    async with Simulator(kind=getattr(request, "param", "service")) as simulator:
        simulator.add_account(EMAIL, PASSWORD)
        simulator.add_device(RED, name="Red bike", email=EMAIL, group_id=3)
        simulator.add_device(BLUE, name="Blue bike", email=EMAIL)
        yield simulator


@pytest.fixture
def make_entry(hass: HomeAssistant, simulator: Simulator) -> MakeEntry:
    """Return a function that adds a config entry to Home Assistant, by default for the account, without setting it up."""

    def _make_entry(
        email: str = EMAIL, password: str = PASSWORD, url: str | None = None
    ) -> MockConfigEntry:
        url = url or simulator.url
        data = {CONF_URL: url, CONF_EMAIL: email, CONF_PASSWORD: password}
        entry = MockConfigEntry(
            domain=DOMAIN,
            title="127.0.0.1",
            minor_version=config_flow.BikeTrackerConfigFlow.MINOR_VERSION,
            unique_id=config_flow.unique_id_of(data),
            data=data,
        )
        entry.add_to_hass(hass)
        return entry

    return _make_entry


@pytest.fixture
def entry(make_entry: MakeEntry) -> MockConfigEntry:
    """Return the config entry of the account, which is not set up yet."""
    return make_entry()


@pytest.fixture
def bobs(simulator: Simulator, make_entry: MakeEntry) -> MockConfigEntry:
    """Return the config entry, not set up yet, of Bob's account. The red bike is in both accounts."""
    simulator.add_account(BOB, PASSWORD)
    simulator.assign(BOB, RED)
    return make_entry(BOB)


@pytest.fixture
def all_enabled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enable entities that are disabled by default."""
    monkeypatch.setattr(Entity, "entity_registry_enabled_default", True)


@pytest.fixture
def writes(hass: HomeAssistant) -> list[str]:
    """Return a list to which each write of a state adds the entity ID, even if the state did not change."""
    written: list[str] = []

    @callback
    def _write(event: Event[Any]) -> None:
        written.append(event.data["entity_id"])

    hass.bus.async_listen(EVENT_STATE_CHANGED, _write)
    hass.bus.async_listen(
        EVENT_STATE_REPORTED, _write, event_filter=callback(lambda _: True)
    )
    return written


@dataclass(frozen=True)
class Bikes:
    """The account with the red and the blue bike, with helper methods for tests. The clock is frozen."""

    hass: HomeAssistant
    freezer: FrozenDateTimeFactory
    simulator: Simulator
    _request: pytest.FixtureRequest

    @property
    def entry(self) -> MockConfigEntry:
        """The config entry of the account. The test or its fixture `ready` sets it up."""
        entry: MockConfigEntry = self._request.getfixturevalue("entry")
        return entry

    @property
    def coordinator(self) -> BikeTrackerCoordinator:
        """The coordinator of the account, while the account is loaded."""
        coordinator: BikeTrackerCoordinator = self.entry.runtime_data.coordinator
        return coordinator

    def state_of(
        self, entity: str, platform: Platform = Platform.DEVICE_TRACKER
    ) -> State | None:
        """Return the state of an entity, or None if it has none. `entity` is an entity ID, or a unique ID of the platform."""
        if "." in entity:
            return self.hass.states.get(entity)
        registry = er.async_get(self.hass)
        entity_id = registry.async_get_entity_id(platform, DOMAIN, entity)
        return self.hass.states.get(entity_id) if entity_id else None

    def state(self, entity: str, platform: Platform = Platform.DEVICE_TRACKER) -> State:
        """Return the state of an entity as `state_of` does. The state must exist."""
        state = self.state_of(entity, platform)
        assert state is not None
        return state

    def value_of(
        self, entity: str, platform: Platform = Platform.DEVICE_TRACKER
    ) -> str | None:
        """Return the value of the state that `state_of` returns, or None without a state."""
        state = self.state_of(entity, platform)
        return state.state if state else None

    def device(self, tracker: str = RED) -> dr.DeviceEntry:
        """Return the device of a tracker. The device must exist."""
        device = dr.async_get(self.hass).async_get_device_by_identifier(
            (DOMAIN, tracker), self.entry.entry_id
        )
        assert device is not None
        return device

    async def poll(self, seconds: float = 61, *, times: int = 1) -> None:
        """Move the clock forward, by default past the next poll, and wait until all tasks that are due have ended."""
        for _ in range(times):
            self.freezer.tick(timedelta(seconds=seconds))
            async_fire_time_changed(self.hass)
            await self.hass.async_block_till_done(wait_background_tasks=True)

    async def async_report(self, **values: Any) -> None:
        """Let the red bike report, and poll."""
        self.simulator.report(RED, **values)
        await self.poll()

    async def async_wait(self, seconds: float) -> None:
        """Move the clock forward, and wait until all tasks that are due have ended, except the live connection."""
        self.freezer.tick(seconds)
        async_fire_time_changed(self.hass)
        await settle(self.hass)

    async def async_guard(
        self,
        action: str = "arm_away",
        context: Context | None = None,
        bike: str = "red",
    ) -> None:
        """Arm or disarm the guard of a bike, by default of the red bike."""
        await self.hass.services.async_call(
            Platform.ALARM_CONTROL_PANEL,
            f"alarm_{action}",
            {"entity_id": f"alarm_control_panel.{bike}_bike_guard"},
            blocking=True,
            context=context,
        )


@pytest.fixture
def bikes(
    hass: HomeAssistant,
    freezer: FrozenDateTimeFactory,
    simulator: Simulator,
    request: pytest.FixtureRequest,
) -> Bikes:
    """Return the account with its bikes. The account is not set up yet: `ready` sets it up."""
    return Bikes(hass, freezer, simulator, request)


@pytest.fixture
async def ready(bikes: Bikes) -> Bikes:
    """Return the account with its bikes after its set-up. The clock is frozen."""
    await async_setup(bikes.hass, bikes.entry)
    return bikes


def logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the integration's messages in the log, except debug messages."""
    ours = (it for it in caplog.records if DOMAIN in it.name)
    return [it.getMessage() for it in ours if it.levelname != "DEBUG"]


async def async_setup(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Set up an entry, and wait until its first polls have ended."""
    await hass.config_entries.async_setup(entry.entry_id)
    await settle(hass)


@pytest.fixture
def phones(hass: HomeAssistant) -> list[str]:
    """Return the device IDs of two phones with Home Assistant's app. The user has renamed the first phone."""
    entry = MockConfigEntry(domain="mobile_app")
    entry.add_to_hass(hass)
    devices = dr.async_get(hass)
    ids = [
        devices.async_get_or_create(
            config_entry_id=entry.entry_id,
            identifiers={("mobile_app", name)},
            name=name,
        ).id
        for name in ("Ann's phone", "Ben's phone")
    ]
    devices.async_update_device(ids[0], name_by_user="The old phone")
    return ids
