"""Devices of trackers that are new, renamed, deleted or shared by accounts, and repair issues."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, cast
from unittest.mock import patch

from homeassistant.config_entries import ConfigEntryDisabler
from homeassistant.const import (
    EVENT_STATE_CHANGED,
    STATE_OFF,
    STATE_UNAVAILABLE,
    Platform,
)
from homeassistant.core import async_get_hass
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    issue_registry as ir,
)
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_capture_events,
)
from pytest_homeassistant_custom_component.typing import WebSocketGenerator

from custom_components.bike_tracker import devices
from custom_components.bike_tracker.const import DOMAIN

from .conftest import BLUE, BOB, EMAIL, RED, Bikes, MakeEntry, async_setup

pytestmark = pytest.mark.usefixtures("ready")

GREEN = "860000000000033"

type Delete = Callable[[dr.DeviceEntry], Awaitable[bool]]


def trackers_of(entry: MockConfigEntry) -> set[str]:
    """Return the trackers of an account that have a device in the registry."""
    return devices.trackers_of(async_get_hass(), entry.entry_id)


def issues(bikes: Bikes) -> dict[str, dict[str, str]]:
    """Return the placeholders of each repair issue, by its key. Check that each is a warning without a fix button."""
    all_issues = ir.async_get(bikes.hass).issues.values()
    issues = [issue for issue in all_issues if issue.domain == DOMAIN]
    for issue in issues:
        assert (issue.severity, issue.is_fixable) == (ir.IssueSeverity.WARNING, False)
    return {
        issue.translation_key or "": dict(issue.translation_placeholders or {})
        for issue in issues
    }


@pytest.fixture
async def delete(bikes: Bikes, hass_ws_client: WebSocketGenerator) -> Delete:
    """Return a function that presses the delete button on the page of a device."""
    assert await async_setup_component(bikes.hass, "config", {})

    async def _delete(device: dr.DeviceEntry) -> bool:
        client = await hass_ws_client(bikes.hass)
        # Use this command, because all supported releases of Home Assistant have it.
        command = "config/device_registry/remove_config_entry"
        ids = {"config_entry_id": bikes.entry.entry_id, "device_id": device.id}
        await client.send_json_auto_id({"type": command, **ids})
        return bool((await client.receive_json())["success"])

    return _delete


async def test_delete_button(bikes: Bikes, delete: Delete) -> None:
    """While an account is loaded, a user can delete unlisted trackers. If a deleted tracker is listed again, it is new."""
    thing = dr.async_get(bikes.hass).async_get_or_create(
        config_entry_id=bikes.entry.entry_id, identifiers={("other", "thing")}
    )
    assert await delete(thing)
    device = bikes.device(RED)
    assert not await delete(device)
    assert trackers_of(bikes.entry) == {RED, BLUE}
    bikes.simulator.unassign(EMAIL, RED)
    await bikes.poll()
    assert await delete(device)
    assert trackers_of(bikes.entry) == {BLUE}
    assert bikes.coordinator.database.content.backfill.keys() == {BLUE}
    bikes.simulator.report(RED, latitude=50.0)
    bikes.simulator.assign(EMAIL, RED)
    await bikes.poll()
    assert bikes.state(RED).state == "not_home"
    assert bikes.state(RED).attributes["latitude"] == 50.0
    await bikes.hass.config_entries.async_unload(bikes.entry.entry_id)
    assert not await delete(bikes.device(RED))


async def test_tracker_returns(
    bikes: Bikes, entity_registry: er.EntityRegistry, area_registry: ar.AreaRegistry
) -> None:
    """A tracker that is listed again after 30 days has its old entity ID, area and name, even after a reload."""
    garage = area_registry.async_create("Garage")
    dr.async_get(bikes.hass).async_update_device(
        bikes.device(RED).id, area_id=garage.id, name_by_user="My red one"
    )
    mine = "device_tracker.mine"
    entity_registry.async_update_entity("device_tracker.red_bike", new_entity_id=mine)
    await bikes.hass.async_block_till_done()
    await bikes.hass.config_entries.async_unload(bikes.entry.entry_id)
    bikes.simulator.unassign(EMAIL, RED)
    await async_setup(bikes.hass, bikes.entry)
    for _ in range(30):
        await bikes.poll(86_400)
        assert bikes.state(mine).state == STATE_UNAVAILABLE
        assert RED in trackers_of(bikes.entry)
    assert bikes.state(BLUE).state != STATE_UNAVAILABLE
    bikes.simulator.assign(EMAIL, RED)
    await bikes.poll()
    shown = bikes.state(mine)
    assert (shown.state, shown.name) == ("not_home", "My red one")
    assert bikes.device(RED).area_id == garage.id


async def test_empty_account(bikes: Bikes) -> None:
    """An empty list removes no tracker, but creates a repair issue until a tracker is listed, even after a reload."""
    assert issues(bikes) == {}
    bikes.simulator.unassign(EMAIL, RED)
    bikes.simulator.unassign(EMAIL, BLUE)
    await bikes.poll()
    assert trackers_of(bikes.entry) == {RED, BLUE}
    assert bikes.value_of(RED) == STATE_UNAVAILABLE
    assert issues(bikes) == {"no_trackers": {"account": bikes.entry.title}}
    # A night guard disarms a bike even if it is not listed. The device keeps its name.
    changes = bikes.coordinator.data.disarm(RED, dt_util.utcnow())
    bikes.coordinator.async_set_changes(changes)
    assert bikes.device(RED).name == "Red bike"
    await bikes.hass.config_entries.async_unload(bikes.entry.entry_id)
    assert issues(bikes)
    bikes.simulator.assign(EMAIL, RED)
    await bikes.hass.config_entries.async_setup(bikes.entry.entry_id)
    assert issues(bikes) == {}
    assert bikes.value_of(RED) == "not_home"
    bikes.simulator.unassign(EMAIL, RED)
    await bikes.poll()
    assert issues(bikes)
    bikes.simulator.assign(EMAIL, RED)
    await bikes.poll()
    assert issues(bikes) == {}


async def test_disabled_account(bikes: Bikes, bobs: MockConfigEntry) -> None:
    """If an account is disabled, its repair issues are deleted, and no others."""
    hass, registry = bikes.hass, ir.async_get(bikes.hass)
    for entry in (bikes.entry, bobs):
        devices.async_create_issue(hass, entry, "no_trackers")
    other, warning = ("other", f"it_{bikes.entry.entry_id}"), ir.IssueSeverity.WARNING
    ir.async_create_issue(
        hass, *other, is_fixable=False, severity=warning, translation_key="it"
    )
    disabled = ConfigEntryDisabler.USER
    await hass.config_entries.async_set_disabled_by(bikes.entry.entry_id, disabled)
    assert {*registry.issues} == {(DOMAIN, f"no_trackers_{bobs.entry_id}"), other}


@pytest.mark.parametrize(("own", "shown"), [(None, "Fast bike"), ("Mine", "Mine")])
async def test_rename(bikes: Bikes, own: str | None, shown: str) -> None:
    """A device shows the new name from the service, unless the user renamed the device. Entity IDs stay."""
    dr.async_get(bikes.hass).async_update_device(bikes.device(RED).id, name_by_user=own)
    bikes.simulator.rename(RED, "Fast bike")
    await bikes.poll()
    assert bikes.device(RED).name == "Fast bike"
    assert devices.name_of(bikes.device(RED)) == shown
    assert devices.name_of(None) == ""
    assert bikes.state("device_tracker.red_bike").name == shown
    online = bikes.state("binary_sensor.red_bike_connectivity")
    assert online.name == f"{shown} Connectivity"


async def test_renamed_ids(bikes: Bikes, entity_registry: er.EntityRegistry) -> None:
    """Entities that get the old entity IDs of another tracker never show that tracker's place or alarm."""
    bikes.simulator.report(BLUE, latitude=50.0, attributes={"alarm": "sos"})
    await bikes.poll()
    bikes.simulator.report(RED, attributes={"alarm": "tow"})
    bikes.simulator.add_device("new", name="New bike", email=EMAIL, latitude=None)
    await bikes.poll()
    changes = async_capture_events(bikes.hass, EVENT_STATE_CHANGED)
    for old, new in (("red", "replaced"), ("blue", "red")):
        for entity_id in ("device_tracker.{}_bike", "event.{}_bike_alarm"):
            entity_registry.async_update_entity(
                entity_id.format(old), new_entity_id=entity_id.format(new)
            )
        await bikes.hass.async_block_till_done()
    new, blue = "device_tracker.new_bike", "device_tracker.blue_bike"
    entity_registry.async_update_entity(new, new_entity_id=blue)
    await bikes.async_wait(10)
    found = [change.data["new_state"] for change in changes]
    assert {it.state for it in found if it and it.entity_id == blue} == {"unknown"}
    shown = [state.attributes for state in found if state and "red" in state.entity_id]
    assert {it["latitude"] for it in shown if "latitude" in it} == {50.0}
    assert {it["alarm"] for it in shown if "alarm" in it} == {"sos"}
    # The same is true in an outage.
    bikes.simulator.fault("status-503")
    await bikes.poll()
    changes.clear()
    for old, new in (("replaced", "other"), ("red", "replaced")):
        entity_registry.async_update_entity(
            f"device_tracker.{old}_bike", new_entity_id=f"device_tracker.{new}_bike"
        )
        await bikes.hass.async_block_till_done()
    bikes.simulator.fault(None)
    await bikes.async_wait(120)
    found = [change.data["new_state"] for change in changes]
    shown = [it.attributes for it in found if it and "replaced" in it.entity_id]
    assert {it["latitude"] for it in shown if "latitude" in it} == {50.0}


async def test_device_page(bikes: Bikes) -> None:
    """The device page shows the newest model and firmware. A report without firmware keeps the known firmware."""
    steps: list[tuple[str | None, dict[str, Any], str]] = [
        ("TK905", {"versionFw": "1.2"}, "1.2"),
        ("TK905", {"versionFw": "1.3"}, "1.3"),
        ("TK906", {}, "1.3"),
        (None, {}, "1.3"),
    ]
    for model, attributes, firmware in steps:
        bikes.simulator.override_field(RED, "model", model)
        await bikes.async_report(attributes=attributes)
        device = bikes.device(RED)
        assert (device.model, device.sw_version) == (model, firmware)


async def test_broken_name(bikes: Bikes, caplog: pytest.LogCaptureFixture) -> None:
    """If a device cannot be renamed, the next change of its tracker renames it. Other devices are renamed at once."""
    update = dr.DeviceRegistry.async_update_device

    def broken(self: dr.DeviceRegistry, device_id: str, **changes: Any) -> Any:
        if device_id == bikes.device(RED).id:
            raise ValueError
        return update(self, device_id, **changes)

    with patch.object(dr.DeviceRegistry, "async_update_device", broken):
        for tracker in (RED, BLUE):
            bikes.simulator.rename(tracker, "Fast bike")
        bikes.simulator.set_status(RED, "offline")
        await bikes.poll()
    assert bikes.device(RED).name == "Red bike"
    assert bikes.device(BLUE).name == "Fast bike"
    online = bikes.state(f"{RED}_online", Platform.BINARY_SENSOR)
    assert online.state == STATE_OFF
    assert f"{bikes.entry.title}: Unexpected error storing a tracker" in caplog.text
    bikes.simulator.set_status(RED, "online")
    await bikes.poll()
    assert bikes.device(RED).name == "Fast bike"


async def test_shared_tracker(
    bikes: Bikes, bobs: MockConfigEntry, make_entry: MakeEntry
) -> None:
    """If two accounts list a tracker, the account that was set up first has it. The second gets it if the first is removed."""
    bikes.simulator.add_device(GREEN, email=BOB)
    await async_setup(bikes.hass, bobs)
    await bikes.poll()
    assert trackers_of(bikes.entry) == {RED, BLUE}
    assert trackers_of(bobs) == {GREEN}
    shared = bikes.device(RED).id
    await bikes.hass.config_entries.async_remove(bikes.entry.entry_id)
    await bikes.poll()
    assert trackers_of(bobs) == {RED, GREEN}
    assert dr.async_get(bikes.hass).async_get(shared)
    assert bikes.value_of(RED) == "not_home"
    await async_setup(bikes.hass, again := make_entry())
    assert (trackers_of(again), trackers_of(bobs)) == ({BLUE}, {RED, GREEN})


async def test_shared_after_a_restart(bikes: Bikes, bobs: MockConfigEntry) -> None:
    """After a restart, the account that had a shared tracker keeps it, even if the other account is set up first."""
    await bikes.hass.config_entries.async_unload(bikes.entry.entry_id)
    # Delete the cached owners of trackers, as a restart would.
    cast(Any, devices.owners_in).cache_clear()
    del bikes.hass.data[f"{DOMAIN}_owners"]
    await async_setup(bikes.hass, bobs)
    await async_setup(bikes.hass, bikes.entry)
    assert trackers_of(bikes.entry) == {RED, BLUE}
    assert trackers_of(bobs) == set()
    assert issues(bikes) == {}


async def test_shared_lost(bikes: Bikes, bobs: MockConfigEntry, delete: Delete) -> None:
    """If a user deletes the device in the first account, the second account gets the tracker and its entity ID."""
    before, mine = bikes.device(RED), "device_tracker.mine"
    registry = er.async_get(bikes.hass)
    registry.async_update_entity("device_tracker.red_bike", new_entity_id=mine)
    await async_setup(bikes.hass, bobs)
    bikes.simulator.unassign(EMAIL, RED)
    for _ in range(2):
        await bikes.poll()
        assert trackers_of(bobs) == set()
    await delete(before)
    await bikes.poll()
    assert (trackers_of(bikes.entry), trackers_of(bobs)) == ({BLUE}, {RED})
    assert (bikes.state(RED).entity_id, bikes.state(RED).state) == (mine, "not_home")
    # The tracker stays in the second account, even if the first one lists it again.
    bikes.simulator.assign(EMAIL, RED)
    for _ in range(2):
        await bikes.poll()
        assert (trackers_of(bikes.entry), trackers_of(bobs)) == ({BLUE}, {RED})


@pytest.mark.freeze_time("2026-10-24 23:20:00+00:00")
@pytest.mark.parametrize(
    ("fault", "reason"),
    [("connection-refused", "connection refused"), ("status-401", "status 401")],
)
async def test_lasting_outage(bikes: Bikes, fault: str, reason: str) -> None:
    """After an outage of half an hour, a repair issue exists until a poll succeeds. Shorter outages are not added up."""
    await bikes.hass.config.async_update(time_zone="Europe/Berlin")
    outages = ("status-503", 25), (None, 5), ("status-500", 1), (fault, 29)
    for cause, minutes in outages:
        bikes.simulator.fault(cause)
        await bikes.poll(60, times=minutes)
        assert issues(bikes) == {}
    await bikes.poll(60, times=10)
    assert issues(bikes).keys() == {"no_contact"}
    # Summer time ends during the outage, and the local clock is set back. The issue
    # still shows the start of the outage in summer time.
    await bikes.poll(60, times=50)
    placeholders = issues(bikes)["no_contact"]
    assert reason in placeholders.pop("error")
    assert placeholders == {"account": bikes.entry.title, "since": "2026-10-25 01:51"}
    bikes.simulator.fault(None)
    await bikes.poll(60, times=60)
    assert issues(bikes) == {}


async def test_corrected_clock(bikes: Bikes, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the wall clock is set forward by two days during a short outage, no repair issue is created."""
    bikes.simulator.fault("status-503")
    await bikes.poll()
    right = dt_util.now
    for name in ("now", "utcnow"):
        monkeypatch.setattr(dt_util, name, lambda *_: right() + timedelta(days=2))
    await bikes.poll(60, times=2)
    assert issues(bikes) == {}
