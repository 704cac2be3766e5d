"""The guard's entity: its states and attributes, and the errors of arming."""

from datetime import datetime, timedelta
from typing import Any

from homeassistant.auth.models import User
from homeassistant.core import Context, CoreState
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import entity_registry as er
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_mock_service,
)

from custom_components.bike_tracker.const import DOMAIN

from .conftest import EMAIL, RED, Bikes
from .test_actions import async_act, async_list
from .tools.simulator.world import DEFAULT_LATITUDE

GUARD = "alarm_control_panel.red_bike_guard"
AWAY = DEFAULT_LATITUDE + 0.01


async def report(bikes: Bikes, **values: Any) -> None:
    """Let the red bike report, and poll."""
    bikes.simulator.report(RED, **values)
    await bikes.poll()


@pytest.fixture
async def guarded(bikes: Bikes, setup: MockConfigEntry) -> None:
    """Set up the account, let the red bike report that it stands, and arm its guard."""
    await report(bikes, motion=False)
    await bikes.async_guard()
    await bikes.poll()


@pytest.mark.usefixtures("guarded")
async def test_triggered(bikes: Bikes, entity_registry: er.EntityRegistry) -> None:
    """A triggered guard shows the cause, the time and the distance until it is disarmed or armed again.

    The translation of its state is *Being moved*, *Was moved* once the bike has stood for
    five minutes, or *Alarm* after an alarm.
    """
    panels = entity_registry.entities
    reported_at = dt_util.utcnow()
    await report(bikes, latitude=AWAY, motion=True)
    assert bikes.state(GUARD).state == "triggered"
    attributes = bikes.state(GUARD).attributes
    assert (attributes["cause"], attributes["distance"]) == ("place", 1112)
    assert panels[GUARD].translation_key == "guard"
    since = datetime.fromisoformat(attributes["since"])
    assert abs(since - reported_at) < timedelta(milliseconds=1)
    for _ in range(7):
        await report(bikes, motion=False)
    assert bikes.state(GUARD).state == "triggered"
    assert panels[GUARD].translation_key == "guard_moved"
    await bikes.async_guard()
    assert bikes.state(GUARD).state == "armed_away"
    assert "cause" not in bikes.state(GUARD).attributes
    await bikes.poll()
    await report(bikes, attributes={"alarm": "tow"})
    assert bikes.state(GUARD).attributes["cause"] == "alarm"
    assert panels[GUARD].translation_key == "guard_alarm"
    await bikes.async_guard("disarm")
    assert bikes.state(GUARD).state == "disarmed"
    assert "cause" not in bikes.state(GUARD).attributes


@pytest.mark.usefixtures("guarded")
async def test_triggered_during_a_start(bikes: Bikes) -> None:
    """If the guard is triggered while Home Assistant starts, its state changes after the start, so that automations run."""
    bikes.hass.set_state(CoreState.starting)
    await report(bikes, latitude=AWAY, motion=True)
    assert bikes.state(GUARD).state == "armed_away"
    bikes.hass.set_state(CoreState.running)
    await bikes.poll()
    assert bikes.state(GUARD).state == "triggered"
    # During another start, a report does not change a guard that is already triggered.
    bikes.hass.set_state(CoreState.starting)
    await bikes.hass.config_entries.async_reload(bikes.entry.entry_id)
    await report(bikes, attributes={"alarm": "sos"})
    assert bikes.state(GUARD).state == "triggered"


@pytest.mark.usefixtures("guarded")
async def test_armed_while_it_moves(
    bikes: Bikes, entity_registry: er.EntityRegistry
) -> None:
    """A triggered guard cannot be armed again while the bike moves: it stays triggered, and its message is not removed.

    Its state and the action `where` tell that it will be guarded again. No error is raised.
    """
    panels = entity_registry.entities
    gone = async_mock_service(bikes.hass, "persistent_notification", "dismiss")
    for part in (1, 2, 3):
        await report(bikes, latitude=AWAY + 0.003 * part, motion=True)
    await bikes.async_guard()
    assert panels[GUARD].translation_key == "guard_again"
    await bikes.hass.async_block_till_done()
    assert bikes.state(GUARD).state == "triggered"
    assert gone == []
    [bike] = await async_list(bikes.hass, "where")
    assert bike["text"].endswith("once it has stood for five minutes.")
    await bikes.async_guard("disarm")
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
@pytest.mark.usefixtures("guarded")
async def test_switched_off(
    bikes: Bikes,
    entity_registry: er.EntityRegistry,
    disabled_by: er.RegistryEntryDisabler,
    state: str,
    *,
    is_set_up: bool,
) -> None:
    """If a user disables the guard's entity or its device, the guard is disarmed, because it could not show a theft."""
    entries, entry_id = bikes.hass.config_entries, bikes.entry.entry_id
    await report(bikes, latitude=AWAY, motion=True)
    gone = async_mock_service(bikes.hass, "persistent_notification", "dismiss")
    if not is_set_up:
        await entries.async_unload(entry_id)
    for now_disabled_by in (disabled_by, None):
        entity_registry.async_update_entity(GUARD, disabled_by=now_disabled_by)
        await bikes.hass.async_block_till_done()
        # Home Assistant does not reload the account after an entity was disabled.
        assert bool(gone) == (state == "disarmed") or not is_set_up
        await entries.async_reload(entry_id)
        await bikes.poll()
    assert bikes.state(GUARD).state == state
    tags = [it.data["notification_id"].rpartition("_")[0] for it in gone]
    assert tags == [f"{DOMAIN}_guard"] * (state == "disarmed")


@pytest.mark.usefixtures("setup")
async def test_place_of_an_unknown_time(bikes: Bikes) -> None:
    """If the time of a bike's place is unknown, its guard cannot be armed. The error has the reason."""
    bikes.simulator.add_device("new", name="New bike", email=EMAIL)
    bikes.simulator.override_position("new", "fixTime", None)
    await bikes.poll()
    with pytest.raises(ServiceValidationError) as refused:
        await bikes.async_guard(bike="new")
    assert refused.value.translation_key == "guard_without_place"
    assert "location is unknown" in str(refused.value)
    assert bikes.state("alarm_control_panel.new_bike_guard").state == "disarmed"


@pytest.mark.usefixtures("setup")
async def test_while_the_service_does_not_answer(
    bikes: Bikes, hass_admin_user: User
) -> None:
    """During an outage, the guard can be armed and disarmed. `changed_by` is the user of the newest arming or disarming."""
    await report(bikes, motion=False)
    bikes.simulator.fault("status-503")
    await bikes.poll()
    await bikes.async_guard(context=Context(user_id=hass_admin_user.id))
    assert bikes.state(GUARD).state == "armed_away"
    assert bikes.state(GUARD).attributes["changed_by"] == hass_admin_user.name
    bikes.simulator.fault(None)
    await bikes.poll(400)
    assert bikes.state(GUARD).state == "armed_away"
    await report(bikes, latitude=AWAY, motion=True)
    assert bikes.state(GUARD).state == "triggered"
    bikes.simulator.fault("status-503")
    await bikes.poll()
    await bikes.async_guard("disarm")
    assert bikes.state(GUARD).state == "disarmed"
    assert bikes.state(GUARD).attributes["changed_by"] is None
    [bike] = (await async_act(bikes.hass, "where"))["bikes"]
    assert bike["guard_changed_by"] is None
