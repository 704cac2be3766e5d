"""Devices of trackers: listed, renamed, gone, deleted, shared by accounts; and repair issues."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from unittest.mock import patch

from homeassistant.components.homeassistant import DOMAIN as HOMEASSISTANT
from homeassistant.const import STATE_OFF, STATE_UNAVAILABLE, Platform
from homeassistant.core import HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    issue_registry as ir,
)
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.typing import (
    MockHAClientWebSocket,
    WebSocketGenerator,
)

from custom_components.bike_tracker.const import DOMAIN
from custom_components.bike_tracker.devices import description_of
from custom_components.bike_tracker.tracking.state import Tracker

from .conftest import (
    BLUE,
    BOB,
    EMAIL,
    PASSWORD,
    RED,
    Bikes,
    MakeEntry,
    Poll,
    StateOf,
    ValueOf,
    async_setup,
)
from .tools.simulator.server import Simulator


@pytest.fixture
def device_of(device_registry: dr.DeviceRegistry) -> Any:
    """Return a function for the device of a tracker."""

    def _device_of(entry: MockConfigEntry, tracker: str) -> dr.DeviceEntry | None:
        return device_registry.async_get_device_by_identifier(
            (DOMAIN, tracker), entry.entry_id
        )

    return _device_of


GREEN = "860000000000033"


@pytest.mark.usefixtures("setup")
async def test_status_and_nothing_else(
    simulator: Simulator, poll: Poll, writes: list[str], value_of: ValueOf
) -> None:
    """A tracker that goes offline is off within one poll; no other state is written."""
    simulator.set_status(RED, "offline")
    writes.clear()

    await poll()

    assert writes == ["binary_sensor.red_bike_connectivity"]
    assert value_of(f"{RED}_online", Platform.BINARY_SENSOR) == "off"


@pytest.mark.usefixtures("setup")
async def test_idle_polls_write_nothing(poll: Poll, writes: list[str]) -> None:
    """Polls without news write no state, in whatever order the trackers come."""
    writes.clear()

    for _ in range(5):
        await poll()

    assert not writes


@pytest.mark.usefixtures("setup")
async def test_unknown_status(
    simulator: Simulator, poll: Poll, value_of: ValueOf
) -> None:
    """A status the interface does not name is unknown, not off."""
    simulator.set_status(RED, "sleeping")

    await poll()

    assert value_of(f"{RED}_online", Platform.BINARY_SENSOR) == "unknown"


@pytest.mark.usefixtures("setup")
async def test_new_tracker(simulator: Simulator, poll: Poll, value_of: ValueOf) -> None:
    """A tracker that is assigned appears at the next poll, with all its entities."""
    simulator.add_device(GREEN, name="Green bike", email=EMAIL)

    await poll()

    for unique_id, platform in (
        (GREEN, Platform.DEVICE_TRACKER),
        (f"{GREEN}_online", Platform.BINARY_SENSOR),
        (f"{GREEN}_disabled", Platform.BINARY_SENSOR),
        (f"{GREEN}_last_update", Platform.SENSOR),
        (f"{GREEN}_battery", Platform.SENSOR),
    ):
        assert value_of(unique_id, platform) not in (None, STATE_UNAVAILABLE)


@pytest.mark.usefixtures("setup")
async def test_other_internal_id(
    simulator: Simulator, poll: Poll, state_of: StateOf
) -> None:
    """The same `uniqueId` under another internal `id` is the same tracker."""
    simulator.move_internal_id(RED)
    simulator.report(RED, latitude=50.0)

    await poll()

    state = state_of(RED)
    assert state is not None
    assert state.entity_id == "device_tracker.red_bike"
    assert state.attributes["latitude"] == 50.0


@pytest.mark.usefixtures("setup")
async def test_entity_that_fails_does_not_hold_up_the_others(
    bikes: Bikes, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A bug in one platform leaves the other platforms' states right."""
    from custom_components.bike_tracker.sensor import BikeTrackerSensor  # noqa: PLC0415

    def _fail(_: BikeTrackerSensor) -> None:
        raise RuntimeError("a bug")

    bikes.simulator.set_status(RED, "offline")
    bikes.simulator.touch([RED], last_update=dt_util.utcnow() + timedelta(minutes=6))
    with monkeypatch.context() as patch:
        patch.setattr(BikeTrackerSensor, "async_write_ha_state", _fail)
        await bikes.poll()

    assert bikes.value_of(f"{RED}_online", Platform.BINARY_SENSOR) == "off"
    assert "a bug" in caplog.text
    caplog.clear()


async def async_delete(
    client: MockHAClientWebSocket, entry: MockConfigEntry, device: dr.DeviceEntry
) -> dict[str, Any]:
    """Press the delete button of a device, by the command that all releases know."""
    await client.send_json_auto_id(
        {
            "type": "config/device_registry/remove_config_entry",
            "config_entry_id": entry.entry_id,
            "device_id": device.id,
        }
    )
    response: dict[str, Any] = await client.receive_json()
    return response


@pytest.mark.usefixtures("setup")
async def test_delete_button(
    bikes: Bikes, device_of: Any, hass_ws_client: WebSocketGenerator
) -> None:
    """A person may delete a tracker that is gone, not one that is listed."""
    assert await async_setup_component(bikes.hass, "config", {})
    client = await hass_ws_client(bikes.hass)
    device = device_of(bikes.entry, RED)

    response = await async_delete(client, bikes.entry, device)
    assert not response["success"]
    assert device_of(bikes.entry, RED)

    bikes.simulator.unassign(EMAIL, RED)
    await bikes.poll()
    response = await async_delete(client, bikes.entry, device)
    assert response["success"]
    assert device_of(bikes.entry, RED) is None

    bikes.simulator.assign(EMAIL, RED)
    await bikes.poll()
    assert bikes.value_of(RED) == "not_home"


@pytest.mark.usefixtures("setup")
async def test_deleted_tracker_that_comes_back(
    bikes: Bikes, device_of: Any, hass_ws_client: WebSocketGenerator
) -> None:
    """It is a new tracker, and not first where it was."""
    assert await async_setup_component(bikes.hass, "config", {})
    client = await hass_ws_client(bikes.hass)
    bikes.simulator.unassign(EMAIL, RED)
    await bikes.poll()
    await async_delete(client, bikes.entry, device_of(bikes.entry, RED))
    bikes.simulator.report(RED, latitude=50.0)
    bikes.simulator.assign(EMAIL, RED)

    await bikes.poll()

    state = bikes.state_of(RED)
    assert state is not None
    assert state.attributes["latitude"] == 50.0


async def test_delete_button_of_an_account_that_is_not_loaded(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    device_of: Any,
    hass_ws_client: WebSocketGenerator,
) -> None:
    """Nobody knows whether the tracker is gone, so it stays."""
    assert await async_setup_component(hass, "config", {})
    client = await hass_ws_client(hass)
    await hass.config_entries.async_unload(setup.entry_id)

    response = await async_delete(client, setup, device_of(setup, RED))

    assert not response["success"]


async def test_delete_button_of_a_device_of_another_make(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    device_registry: dr.DeviceRegistry,
    hass_ws_client: WebSocketGenerator,
) -> None:
    """A device that is no tracker of ours can always go."""
    assert await async_setup_component(hass, "config", {})
    client = await hass_ws_client(hass)
    device = device_registry.async_get_or_create(
        config_entry_id=setup.entry_id, identifiers={("other", "thing")}
    )

    response = await async_delete(client, setup, device)

    assert response["success"]


# In hours.
WEEKS = 3 * 7 * 24


@pytest.mark.usefixtures("setup")
async def test_tracker_returns(
    bikes: Bikes,
    device_of: Any,
    device_registry: dr.DeviceRegistry,
    entity_registry: er.EntityRegistry,
    area_registry: ar.AreaRegistry,
) -> None:
    """A tracker that is gone, for however long, keeps entity id, area and names."""
    garage = area_registry.async_create("Garage")
    device_registry.async_update_device(
        device_of(bikes.entry, RED).id, area_id=garage.id, name_by_user="My red one"
    )
    entity_registry.async_update_entity(
        "device_tracker.red_bike", new_entity_id="device_tracker.mine"
    )
    await bikes.hass.async_block_till_done()

    bikes.simulator.unassign(EMAIL, RED)
    await bikes.poll()
    tracker = bikes.hass.states.get("device_tracker.mine")
    other = bikes.hass.states.get("device_tracker.blue_bike")
    assert tracker is not None
    assert other is not None
    assert tracker.state == STATE_UNAVAILABLE
    assert other.state != STATE_UNAVAILABLE

    for _ in range(WEEKS):
        await bikes.poll(3600)
    bikes.simulator.assign(EMAIL, RED)
    await bikes.poll()
    tracker = bikes.hass.states.get("device_tracker.mine")
    assert tracker is not None
    assert tracker.state == "not_home"
    assert tracker.name == "My red one"
    device = device_of(bikes.entry, RED)
    assert device.area_id == garage.id
    assert device.name_by_user == "My red one"


@pytest.mark.usefixtures("setup")
async def test_gone_while_not_loaded(bikes: Bikes, device_of: Any) -> None:
    """A tracker that left while the account was not loaded is unavailable too."""
    await bikes.hass.config_entries.async_unload(bikes.entry.entry_id)
    bikes.simulator.unassign(EMAIL, RED)
    await async_setup(bikes.hass, bikes.entry)
    await bikes.poll()
    assert bikes.value_of(RED) == STATE_UNAVAILABLE
    assert device_of(bikes.entry, RED)


@pytest.mark.usefixtures("setup")
async def test_empty_account(
    bikes: Bikes, device_of: Any, issue_registry: ir.IssueRegistry
) -> None:
    """An empty list removes nothing, says what to do, and stops saying so by itself."""
    issue_id = f"no_trackers_{bikes.entry.entry_id}"
    assert issue_registry.async_get_issue(DOMAIN, issue_id) is None
    bikes.simulator.unassign(EMAIL, RED)
    bikes.simulator.unassign(EMAIL, BLUE)

    await bikes.poll()
    assert device_of(bikes.entry, RED)
    assert bikes.value_of(RED) == STATE_UNAVAILABLE
    issue = issue_registry.async_get_issue(DOMAIN, issue_id)
    assert issue is not None
    assert issue.translation_key == "no_trackers"
    assert issue.translation_placeholders == {"account": bikes.entry.title}

    bikes.simulator.assign(EMAIL, RED)
    await bikes.poll()
    assert issue_registry.async_get_issue(DOMAIN, issue_id) is None
    assert bikes.value_of(RED) == "not_home"


@pytest.mark.usefixtures("setup")
async def test_rename(bikes: Bikes, device_of: Any) -> None:
    """A rename is followed; entity ids stay."""
    bikes.simulator.rename(RED, "Fast bike")

    await bikes.poll()

    assert device_of(bikes.entry, RED).name == "Fast bike"
    tracker = bikes.hass.states.get("device_tracker.red_bike")
    online = bikes.hass.states.get("binary_sensor.red_bike_connectivity")
    assert tracker is not None
    assert online is not None
    assert tracker.name == "Fast bike"
    assert online.name == "Fast bike Connectivity"


@pytest.mark.usefixtures("setup")
async def test_rename_of_a_device_that_a_person_named(
    bikes: Bikes, device_of: Any, device_registry: dr.DeviceRegistry
) -> None:
    """The name a person gave wins."""
    device_registry.async_update_device(
        device_of(bikes.entry, RED).id, name_by_user="Mine"
    )
    bikes.simulator.rename(RED, "Fast bike")

    await bikes.poll()

    tracker = bikes.hass.states.get("device_tracker.red_bike")
    assert tracker is not None
    assert tracker.name == "Mine"


@pytest.mark.usefixtures("setup")
async def test_broken_name(
    bikes: Bikes,
    device_of: Any,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """An error with one device costs its name until the next report, and no other's."""
    update = dr.DeviceRegistry.async_update_device

    def broken(self: dr.DeviceRegistry, device_id: str, **changes: Any) -> Any:
        if device_id == device_of(bikes.entry, RED).id:
            raise ValueError
        return update(self, device_id, **changes)

    with monkeypatch.context() as patches:
        patches.setattr(dr.DeviceRegistry, "async_update_device", broken)
        for tracker in (RED, BLUE):
            bikes.simulator.rename(tracker, "Fast bike")
        bikes.simulator.set_status(RED, "offline")
        await bikes.poll()
    assert device_of(bikes.entry, RED).name == "Red bike"
    assert device_of(bikes.entry, BLUE).name == "Fast bike"
    online = bikes.state_of(f"{RED}_online", Platform.BINARY_SENSOR)
    assert online is not None
    assert online.state == STATE_OFF
    assert f"{bikes.entry.title}: Unexpected error storing a tracker" in caplog.text

    bikes.simulator.touch([RED])
    await bikes.poll()
    assert device_of(bikes.entry, RED).name == "Fast bike"


YELLOW = "860000000000044"


@pytest.mark.usefixtures("setup")
async def test_shared_tracker(
    bikes: Bikes,
    make_entry: MakeEntry,
    device_of: Any,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A tracker of two accounts is set up once, by the one that had it first."""
    bikes.simulator.add_account(BOB, PASSWORD)
    bikes.simulator.assign(BOB, RED)
    bikes.simulator.add_device(GREEN, email=BOB)
    other = make_entry(BOB)
    await async_setup(bikes.hass, other)
    await bikes.poll()
    assert device_of(bikes.entry, RED)
    assert device_of(other, RED) is None
    assert device_of(other, GREEN)
    assert "already exists" not in caplog.text

    shared = device_of(bikes.entry, RED).id
    await bikes.hass.config_entries.async_remove(bikes.entry.entry_id)
    await bikes.poll()
    assert device_of(other, RED).id == shared
    assert bikes.value_of(RED) == "not_home"


@pytest.mark.usefixtures("setup")
async def test_shared_tracker_after_a_restart(
    bikes: Bikes, make_entry: MakeEntry, device_of: Any
) -> None:
    """Who had it first is known after a restart, whoever starts first."""
    bikes.simulator.add_account(BOB, PASSWORD)
    bikes.simulator.assign(BOB, RED)
    other = make_entry(BOB)
    await bikes.hass.config_entries.async_unload(bikes.entry.entry_id)

    await async_setup(bikes.hass, other)
    await async_setup(bikes.hass, bikes.entry)

    assert device_of(bikes.entry, RED)
    assert device_of(other, RED) is None


async def test_two_accounts_at_once(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    simulator: Simulator,
    make_entry: MakeEntry,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Two accounts that start together never both take a shared tracker."""
    simulator.add_account(BOB, PASSWORD)
    simulator.assign(BOB, RED)
    make_entry(BOB)

    assert await async_setup_component(hass, DOMAIN, {})
    await hass.async_block_till_done(wait_background_tasks=True)

    assert len(hass.states.async_entity_ids("device_tracker")) == 2
    assert "already exists" not in caplog.text


@pytest.mark.usefixtures("setup")
async def test_shared_tracker_that_the_first_account_loses(
    bikes: Bikes,
    make_entry: MakeEntry,
    device_of: Any,
    device_registry: dr.DeviceRegistry,
    entity_registry: er.EntityRegistry,
    hass_ws_client: WebSocketGenerator,
) -> None:
    """Once its device is deleted there the other account has it, with names and IDs."""
    assert await async_setup_component(bikes.hass, "config", {})
    before = device_of(bikes.entry, RED)
    device_registry.async_update_device(before.id, name_by_user="Mine")
    entity_registry.async_update_entity(
        "device_tracker.red_bike", new_entity_id="device_tracker.mine"
    )
    bikes.simulator.add_account(BOB, PASSWORD)
    bikes.simulator.assign(BOB, RED)
    other = make_entry(BOB)
    await async_setup(bikes.hass, other)
    bikes.simulator.unassign(EMAIL, RED)
    await bikes.poll()
    await bikes.poll()
    assert device_of(bikes.entry, RED)
    assert device_of(other, RED) is None

    await async_delete(await hass_ws_client(bikes.hass), bikes.entry, before)
    await bikes.poll()
    assert device_of(bikes.entry, RED) is None
    assert device_of(other, RED)
    state = bikes.state_of(RED)
    assert state is not None
    assert (state.entity_id, state.state) == ("device_tracker.mine", "not_home")

    # It stays there, even if the first account lists it again.
    bikes.simulator.assign(EMAIL, RED)
    await bikes.poll()
    await bikes.poll()
    assert device_of(bikes.entry, RED) is None
    assert device_of(other, RED)


@pytest.mark.usefixtures("setup")
async def test_broken_tracker(bikes: Bikes, caplog: pytest.LogCaptureFixture) -> None:
    """One that cannot be added costs no other, and is there with its next report."""
    bikes.simulator.add_device(GREEN, email=EMAIL)
    bikes.simulator.add_device(YELLOW, email=EMAIL)

    def broken(tracker: Tracker) -> dict[str, Any]:
        if tracker.device.unique_id == GREEN:
            raise ValueError
        return description_of(tracker)

    with patch("custom_components.bike_tracker.entity.description_of", broken):
        await bikes.poll()
    assert bikes.state_of(YELLOW)
    assert bikes.state_of(GREEN) is None
    assert f"{bikes.entry.title}: Unexpected error" in caplog.text
    bikes.simulator.touch([GREEN])
    await bikes.poll()
    assert bikes.state_of(GREEN)


type Issue = Callable[[MockConfigEntry], ir.IssueEntry | None]


@pytest.fixture
def issue(issue_registry: ir.IssueRegistry) -> Issue:
    """Return a function for the issue of an account."""

    def _issue(entry: MockConfigEntry) -> ir.IssueEntry | None:
        return issue_registry.async_get_issue(DOMAIN, f"no_contact_{entry.entry_id}")

    return _issue


async def async_let_pass(poll: Poll, minutes: int) -> None:
    """Let minutes pass."""
    for _ in range(minutes):
        await poll(60)


@pytest.mark.usefixtures("setup")
@pytest.mark.freeze_time("2026-10-24 23:50:00+00:00")
@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("status-503", "status 503"),
        ("connection-refused", "connection refused"),
        ("status-401", "status 401"),
        ("html", "invalid JSON"),
    ],
)
async def test_lasting_outage(
    bikes: Bikes, issue: Issue, fault: str, reason: str
) -> None:
    """After half an hour it names account, time and newest reason; a success ends it."""
    await bikes.hass.config.async_update(time_zone="Europe/Berlin")
    bikes.simulator.fault("status-500")
    await async_let_pass(bikes.poll, 1)
    bikes.simulator.fault(fault)
    await async_let_pass(bikes.poll, 29)
    assert issue(bikes.entry) is None

    # Clocks are set back meanwhile: the time is what they showed when it began.
    await async_let_pass(bikes.poll, 60)
    shown = issue(bikes.entry)
    assert shown is not None
    assert shown.translation_key == "no_contact"
    assert shown.severity is ir.IssueSeverity.WARNING
    placeholders = shown.translation_placeholders or {}
    assert placeholders["account"] == bikes.entry.title
    assert placeholders["since"] == "2026-10-25 01:51"
    assert reason in placeholders["error"]

    bikes.simulator.fault(None)
    await async_let_pass(bikes.poll, 60)
    assert issue(bikes.entry) is None


async def test_outages_that_end(
    simulator: Simulator, setup: MockConfigEntry, poll: Poll, issue: Issue
) -> None:
    """Half hours do not add up."""
    for _ in range(4):
        simulator.fault("status-503")
        await async_let_pass(poll, 25)
        simulator.fault(None)
        await async_let_pass(poll, 5)
        assert issue(setup) is None


@pytest.mark.usefixtures("setup")
async def test_clock_that_is_put_right(
    bikes: Bikes, issue: Issue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that starts with its network may count two days between two polls."""
    bikes.simulator.fault("status-503")
    await bikes.poll()
    right = dt_util.now
    for name in ("now", "utcnow"):
        monkeypatch.setattr(dt_util, name, lambda *_: right() + timedelta(days=2))
    await async_let_pass(bikes.poll, 2)
    assert issue(bikes.entry) is None


@pytest.mark.usefixtures("setup")
async def test_account_that_is_removed(
    bikes: Bikes, issue_registry: ir.IssueRegistry
) -> None:
    """Nothing is left of it."""
    bikes.simulator.fault("status-503")
    await async_let_pass(bikes.poll, 40)

    await bikes.hass.config_entries.async_remove(bikes.entry.entry_id)
    await async_let_pass(bikes.poll, 10)

    assert {domain for domain, _ in issue_registry.issues} <= {HOMEASSISTANT}
