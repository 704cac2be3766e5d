"""The guard as users see it."""

from datetime import datetime, timedelta

from homeassistant.auth.models import User
from homeassistant.core import Context, CoreState, State
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import entity_registry as er
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_mock_service,
)

from custom_components.bike_tracker.const import DOMAIN

from .conftest import EMAIL, RED, Bikes
from .test_actions import async_list
from .tools.simulator.world import DEFAULT_LATITUDE

GUARD = "alarm_control_panel.red_bike_guard"
AWAY = DEFAULT_LATITUDE + 0.01


@pytest.fixture
async def standing(bikes: Bikes, setup: MockConfigEntry) -> None:
    """Set up the account, and let the red bike report that it stands."""
    bikes.simulator.report(RED, motion=False)
    await bikes.poll()


def guard(bikes: Bikes) -> State:
    """Return the state of the red bike's guard."""
    return bikes.state(GUARD)


@pytest.mark.usefixtures("standing")
async def test_triggered(bikes: Bikes, entity_registry: er.EntityRegistry) -> None:
    """A triggered guard shows why, when, and how far away, until it is disarmed or armed again.

    The translation of its state depends on the cause: *Being moved*, or *Alarm* after an
    alarm.
    """
    panels = entity_registry.entities
    await bikes.async_guard()
    await bikes.poll()
    position = bikes.simulator.report(RED, latitude=AWAY, motion=True)
    await bikes.poll()
    assert guard(bikes).state == "triggered"
    attributes = guard(bikes).attributes
    assert (attributes["cause"], attributes["distance"]) == ("place", 1112)
    assert panels[GUARD].translation_key == "guard"
    since = datetime.fromisoformat(attributes["since"])
    assert abs(since - position.fix_time) < timedelta(milliseconds=1)
    for _ in range(7):
        bikes.simulator.report(RED, motion=False)
        await bikes.poll()
    assert guard(bikes).state == "triggered"

    await bikes.async_guard()
    assert guard(bikes).state == "armed_away"
    assert "cause" not in guard(bikes).attributes
    await bikes.poll()
    bikes.simulator.report(RED, attributes={"alarm": "tow"})
    await bikes.poll()
    assert guard(bikes).attributes["cause"] == "alarm"
    assert panels[GUARD].translation_key == "guard_alarm"
    await bikes.async_guard("disarm")
    assert guard(bikes).state == "disarmed"
    assert "cause" not in guard(bikes).attributes


@pytest.mark.usefixtures("standing")
async def test_triggered_during_a_start(bikes: Bikes) -> None:
    """If the guard is triggered during the start of Home Assistant, its state changes when automations can notice this."""
    await bikes.async_guard()
    await bikes.poll()
    bikes.hass.set_state(CoreState.starting)
    bikes.simulator.report(RED, latitude=AWAY, motion=True)
    await bikes.poll()
    assert guard(bikes).state == "armed_away"
    bikes.hass.set_state(CoreState.running)
    await bikes.poll()
    assert guard(bikes).state == "triggered"

    # During another start, a report does not change a guard that is already triggered.
    bikes.hass.set_state(CoreState.starting)
    await bikes.hass.config_entries.async_reload(bikes.entry.entry_id)
    bikes.simulator.report(RED, attributes={"alarm": "sos"})
    await bikes.poll()
    assert guard(bikes).state == "triggered"


@pytest.mark.usefixtures("standing")
async def test_armed_while_it_moves(bikes: Bikes) -> None:
    """A triggered guard cannot be armed again while the bike moves. The alarm and its message stay.

    The answer of *Where is my bike* mentions that the bike will be guarded again.
    """
    gone = async_mock_service(bikes.hass, "persistent_notification", "dismiss")
    await bikes.async_guard()
    await bikes.poll()
    for part in (1, 2, 3):
        bikes.simulator.report(RED, latitude=AWAY + 0.003 * part, motion=True)
        await bikes.poll()
    with pytest.raises(ServiceValidationError, match="Still moving"):
        await bikes.async_guard()
    await bikes.hass.async_block_till_done()
    assert guard(bikes).state == "triggered"
    assert gone == []
    [bike] = await async_list(bikes.hass, "where")
    assert bike["text"].endswith("It will be guarded again where it stops.")


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
@pytest.mark.usefixtures("setup", "standing")
async def test_switched_off(
    bikes: Bikes,
    entity_registry: er.EntityRegistry,
    disabled_by: er.RegistryEntryDisabler,
    state: str,
    *,
    is_set_up: bool,
) -> None:
    """If a user disables the guard's entity, the guard is disarmed, because a disabled entity would show no theft."""
    entries, entry_id = bikes.hass.config_entries, bikes.entry.entry_id
    await bikes.async_guard()
    await bikes.poll()
    bikes.simulator.report(RED, latitude=AWAY, motion=True)
    await bikes.poll()
    gone = async_mock_service(bikes.hass, "persistent_notification", "dismiss")
    if not is_set_up:
        await entries.async_unload(entry_id)
    for now_disabled_by in (disabled_by, None):
        entity_registry.async_update_entity(GUARD, disabled_by=now_disabled_by)
        await bikes.hass.async_block_till_done()
        await entries.async_reload(entry_id)
        await bikes.poll()
    assert guard(bikes).state == state
    tags = [it.data["notification_id"].rpartition("_")[0] for it in gone]
    assert tags == [f"{DOMAIN}_guard"] * (state == "disarmed")


@pytest.mark.usefixtures("standing")
async def test_place_of_an_unknown_time(bikes: Bikes) -> None:
    """If the time of a bike's place is unknown, its guard cannot be armed. The error has the reason."""
    new = "alarm_control_panel.new_bike_guard"
    bikes.simulator.add_device("new", name="New bike", email=EMAIL)
    bikes.simulator.override_position("new", "fixTime", None)
    await bikes.poll()
    with pytest.raises(ServiceValidationError) as refused:
        await bikes.hass.services.async_call(
            "alarm_control_panel", "alarm_arm_away", {"entity_id": new}, blocking=True
        )
    assert refused.value.translation_key == "guard_without_place"
    assert "location is unknown" in str(refused.value)
    assert bikes.state(new).state == "disarmed"


@pytest.mark.usefixtures("standing")
async def test_while_the_service_does_not_answer(
    bikes: Bikes, hass_admin_user: User
) -> None:
    """During an outage, the guard can be armed and disarmed. `changed_by` is the user of the last action."""
    bikes.simulator.fault("status-503")
    await bikes.poll()
    await bikes.async_guard(context=Context(user_id=hass_admin_user.id))
    assert guard(bikes).state == "armed_away"
    assert guard(bikes).attributes["changed_by"] == hass_admin_user.name
    bikes.simulator.fault(None)
    await bikes.poll(400)
    assert guard(bikes).state == "armed_away"
    bikes.simulator.report(RED, latitude=AWAY, motion=True)
    await bikes.poll()
    assert guard(bikes).state == "triggered"
    bikes.simulator.fault("status-503")
    await bikes.poll()
    await bikes.async_guard("disarm")
    assert guard(bikes).state == "disarmed"
    assert guard(bikes).attributes["changed_by"] is None
