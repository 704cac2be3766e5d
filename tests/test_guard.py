"""The guard's entity: its states and attributes, and the errors of arming."""

from datetime import datetime, timedelta

from homeassistant.auth.models import User
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import Context, CoreState
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import entity_registry as er
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import async_mock_service

from custom_components.bike_tracker.const import DOMAIN

from .conftest import EMAIL, RED, Bikes, async_setup
from .test_actions import async_act, async_list
from .tools.simulator.world import DEFAULT_LATITUDE

GUARD = "alarm_control_panel.red_bike_guard"
AWAY = DEFAULT_LATITUDE + 0.01


@pytest.fixture
async def guarded(ready: Bikes) -> Bikes:
    """Return the account after the red bike reported that it stands, and its guard was armed."""
    await ready.async_report(motion=False)
    await ready.async_guard()
    await ready.poll()
    return ready


async def test_triggered(guarded: Bikes, entity_registry: er.EntityRegistry) -> None:
    """A triggered guard shows the cause, the time and the distance until it is disarmed or armed again.

    The translation of its state is *Being moved*, *Was moved* once the bike has stood for
    five minutes, or *Alarm* after an alarm.
    """
    panels = entity_registry.entities
    reported_at = dt_util.utcnow()
    await guarded.async_report(latitude=AWAY, motion=True)
    assert guarded.state(GUARD).state == "triggered"
    attributes = guarded.state(GUARD).attributes
    assert (attributes["cause"], attributes["distance"]) == ("place", 1112)
    assert panels[GUARD].translation_key == "guard"
    since = datetime.fromisoformat(attributes["since"])
    assert abs(since - reported_at) < timedelta(milliseconds=1)
    for _ in range(7):
        await guarded.async_report(motion=False)
    assert guarded.state(GUARD).state == "triggered"
    assert panels[GUARD].translation_key == "guard_moved"
    await guarded.async_guard()
    assert guarded.state(GUARD).state == "armed_away"
    assert "cause" not in guarded.state(GUARD).attributes
    await guarded.poll()
    await guarded.async_report(attributes={"alarm": "tow"})
    assert guarded.state(GUARD).attributes["cause"] == "alarm"
    assert panels[GUARD].translation_key == "guard_alarm"
    await guarded.async_guard("disarm")
    assert guarded.state(GUARD).state == "disarmed"
    assert "cause" not in guarded.state(GUARD).attributes


async def test_tracker_whose_clock_is_behind(bikes: Bikes) -> None:
    """A triggered guard shows the right time, even if the tracker's clock has always been behind."""
    now = dt_util.utcnow()
    for latitude in (DEFAULT_LATITUDE, DEFAULT_LATITUDE, AWAY):
        bikes.freezer.tick(30)
        now = dt_util.utcnow()
        old, moves = now - timedelta(hours=3), latitude == AWAY
        bikes.simulator.report(
            RED, latitude=latitude, motion=moves, fix_time=old, device_time=old
        )
        if bikes.entry.state is ConfigEntryState.NOT_LOADED:
            await async_setup(bikes.hass, bikes.entry)
        await bikes.poll()
        if not moves:
            await bikes.async_guard()
    since = datetime.fromisoformat(bikes.state(GUARD).attributes["since"])
    assert abs(since - now) < timedelta(milliseconds=1)


async def test_triggered_during_a_start(guarded: Bikes) -> None:
    """If the guard is triggered while Home Assistant starts, its state changes after the start, so that automations run."""
    guarded.hass.set_state(CoreState.starting)
    await guarded.async_report(attributes={"alarm": "tow"})
    assert guarded.state(GUARD).state == "armed_away"
    entity = er.async_get(guarded.hass).entities[GUARD]
    assert entity.translation_key == "guard"
    guarded.hass.set_state(CoreState.running)
    await guarded.poll()
    assert guarded.state(GUARD).state == "triggered"
    # During another start, a report does not change a guard that is already triggered.
    guarded.hass.set_state(CoreState.starting)
    await guarded.hass.config_entries.async_reload(guarded.entry.entry_id)
    await guarded.async_report(attributes={"alarm": "sos"})
    assert guarded.state(GUARD).state == "triggered"


async def test_guard_again(guarded: Bikes, entity_registry: er.EntityRegistry) -> None:
    """A triggered guard cannot be armed again while the bike moves: it stays triggered, and its message is not removed.

    Its state and the action `where` tell that it will be guarded again. No error is raised.
    """
    panels = entity_registry.entities
    gone = async_mock_service(guarded.hass, "persistent_notification", "dismiss")
    for part in (1, 2, 3):
        await guarded.async_report(latitude=AWAY + 0.003 * part, motion=True)
    await guarded.async_guard()
    assert panels[GUARD].translation_key == "guard_again"
    await guarded.hass.async_block_till_done()
    assert guarded.state(GUARD).state == "triggered"
    assert gone == []
    [bike] = await async_list(guarded.hass, "where")
    assert bike["text"].endswith("once it has stood for five minutes.")
    await guarded.async_guard("disarm")
    assert panels[GUARD].translation_key == "guard"


@pytest.mark.parametrize("is_set_up", [True, False])
@pytest.mark.parametrize(
    ("disabled_by", "state"),
    [
        (er.RegistryEntryDisabler.USER, "disarmed"),
        (er.RegistryEntryDisabler.DEVICE, "disarmed"),
        # If the account is disabled for a while, the guard stays as it was.
        (er.RegistryEntryDisabler.CONFIG_ENTRY, "triggered"),
    ],
)
async def test_switched_off(
    guarded: Bikes,
    entity_registry: er.EntityRegistry,
    disabled_by: er.RegistryEntryDisabler,
    state: str,
    is_set_up: bool,
) -> None:
    """If a user disables the guard's entity or its device, the guard is disarmed, because it could not show a theft."""
    entries, entry_id = guarded.hass.config_entries, guarded.entry.entry_id
    await guarded.async_report(latitude=AWAY, motion=True)
    gone = async_mock_service(guarded.hass, "persistent_notification", "dismiss")
    if not is_set_up:
        await entries.async_unload(entry_id)
    for now_disabled_by in (disabled_by, None):
        entity_registry.async_update_entity(GUARD, disabled_by=now_disabled_by)
        await guarded.hass.async_block_till_done()
        # Home Assistant does not reload the account after an entity was disabled.
        assert bool(gone) == (state == "disarmed") or not is_set_up
        await entries.async_reload(entry_id)
        await guarded.poll()
    assert guarded.state(GUARD).state == state
    tags = [it.data["notification_id"].rpartition("_")[0] for it in gone]
    assert tags == [f"{DOMAIN}_guard"] * (state == "disarmed")


async def test_place_of_an_unknown_time(ready: Bikes) -> None:
    """If the time of a bike's place is unknown, its guard cannot be armed. The error has the reason."""
    ready.simulator.add_device("new", name="New bike", email=EMAIL)
    ready.simulator.override_position("new", "fixTime", None)
    await ready.poll()
    with pytest.raises(ServiceValidationError) as refused:
        await ready.async_guard(bike="new")
    assert refused.value.translation_key == "guard_without_place"
    assert "location is unknown" in str(refused.value)
    assert ready.state("alarm_control_panel.new_bike_guard").state == "disarmed"


async def test_during_an_outage(ready: Bikes, hass_admin_user: User) -> None:
    """During an outage, the guard can be armed and disarmed. `changed_by` is the user of the newest arming or disarming."""
    await ready.async_report(motion=False)
    ready.simulator.fault("status-503")
    await ready.poll()
    gone = async_mock_service(ready.hass, "persistent_notification", "dismiss")
    await ready.async_guard()
    await ready.async_guard(context=Context(user_id=hass_admin_user.id))
    assert ready.state(GUARD).state == "armed_away"
    assert ready.state(GUARD).attributes["changed_by"] == hass_admin_user.name
    ready.simulator.fault(None)
    await ready.poll(400)
    # Only the second arming had an earlier message to remove.
    assert len(gone) == 1
    assert ready.state(GUARD).state == "armed_away"
    await ready.async_report(latitude=AWAY, motion=True)
    assert ready.state(GUARD).state == "triggered"
    ready.simulator.fault("status-503")
    await ready.poll()
    await ready.async_guard("disarm")
    assert ready.state(GUARD).state == "disarmed"
    assert ready.state(GUARD).attributes["changed_by"] is None
    [bike] = (await async_act(ready.hass, "where"))["bikes"]
    assert bike["guard_changed_by"] is None
