"""The guard as a person sees it: one tap arms it, another one disarms it."""

from collections.abc import Callable
from datetime import timedelta

from homeassistant.auth.models import User
from homeassistant.core import Context, CoreState, State
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import entity_registry as er
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_mock_service,
)

from custom_components.bike_tracker.const import DOMAIN

from .conftest import EMAIL, RED, Bikes, Poll
from .tools.simulator.server import Simulator
from .tools.simulator.world import DEFAULT_LATITUDE

GUARD = "alarm_control_panel.red_bike_guard"
AWAY = DEFAULT_LATITUDE + 0.01

type Guard = Callable[[], State]


@pytest.fixture
async def standing(simulator: Simulator, setup: MockConfigEntry, poll: Poll) -> None:
    """Have a bike that stands, and says so."""
    simulator.report(RED, motion=False)
    await poll()


@pytest.fixture
def guard(bikes: Bikes) -> Guard:
    """Return a function for the state of the red bike's guard."""
    return lambda: bikes.state(GUARD)


@pytest.mark.usefixtures("standing")
async def test_one_tap(bikes: Bikes, guard: Guard) -> None:
    """It needs no code, knows one mode, and shows at once what it is."""
    assert guard().state == "disarmed"
    assert guard().attributes["code_format"] is None
    assert guard().attributes["code_arm_required"] is False
    await bikes.async_guard()
    assert guard().state == "armed_away"
    await bikes.poll()
    assert guard().state == "armed_away"
    await bikes.async_guard("disarm")
    assert guard().state == "disarmed"
    bikes.simulator.report(RED, latitude=AWAY, motion=True)
    await bikes.poll()
    assert guard().state == "disarmed"


@pytest.mark.usefixtures("standing")
async def test_triggered(
    bikes: Bikes, guard: Guard, entity_registry: er.EntityRegistry
) -> None:
    """It says why, since when and how far away, until it is disarmed or armed anew."""

    def texts() -> str | None:
        """Return the key of the texts of its states: *Being moved* or *Alarm*."""
        entry = entity_registry.async_get(GUARD)
        return entry.translation_key if entry else None

    await bikes.async_guard()
    await bikes.poll()
    position = bikes.simulator.report(RED, latitude=AWAY, motion=True)
    await bikes.poll()
    assert guard().state == "triggered"
    attributes = guard().attributes
    assert (attributes["cause"], attributes["distance"]) == ("place", 1112)
    assert texts() == "guard"
    since = dt_util.parse_datetime(attributes["since"])
    assert since is not None
    assert abs(since - position.fix_time) < timedelta(milliseconds=1)
    for _ in range(7):
        bikes.simulator.report(RED, motion=False)
        await bikes.poll()
    assert guard().state == "triggered"

    await bikes.async_guard()
    assert guard().state == "armed_away"
    assert "cause" not in guard().attributes
    await bikes.poll()
    bikes.simulator.report(RED, attributes={"alarm": "tow"})
    await bikes.poll()
    assert guard().attributes["cause"] == "alarm"
    assert texts() == "guard_alarm"
    await bikes.async_guard("disarm")
    assert guard().state == "disarmed"
    assert "cause" not in guard().attributes


@pytest.mark.usefixtures("standing")
async def test_triggered_during_a_start(bikes: Bikes, guard: Guard) -> None:
    """It is shown as triggered once automations can notice it."""
    await bikes.async_guard()
    await bikes.poll()
    bikes.hass.set_state(CoreState.starting)
    bikes.simulator.report(RED, latitude=AWAY, motion=True)
    await bikes.poll()
    assert guard().state == "armed_away"
    bikes.hass.set_state(CoreState.running)
    await bikes.poll()
    assert guard().state == "triggered"


@pytest.mark.usefixtures("standing")
async def test_armed_while_it_moves(bikes: Bikes, guard: Guard) -> None:
    """A moving bike is not guarded again; the alarm stays, and its message too."""
    gone = async_mock_service(bikes.hass, "persistent_notification", "dismiss")
    await bikes.async_guard()
    await bikes.poll()
    for part in (1, 2, 3):
        bikes.simulator.report(RED, latitude=AWAY + 0.003 * part, motion=True)
        await bikes.poll()
    with pytest.raises(ServiceValidationError, match="Still moving"):
        await bikes.async_guard()
    await bikes.hass.async_block_till_done()
    assert guard().state == "triggered"
    assert gone == []


@pytest.mark.parametrize("is_set_up", [True, False])
@pytest.mark.parametrize(
    ("disabled_by", "state"),
    [
        (er.RegistryEntryDisabler.USER, "disarmed"),
        (er.RegistryEntryDisabler.DEVICE, "disarmed"),
        # That of an account that is not there for a while is armed once it is.
        (er.RegistryEntryDisabler.CONFIG_ENTRY, "triggered"),
    ],
)
@pytest.mark.usefixtures("setup", "standing")
async def test_switched_off(
    bikes: Bikes,
    entity_registry: er.EntityRegistry,
    guard: Guard,
    disabled_by: er.RegistryEntryDisabler,
    state: str,
    *,
    is_set_up: bool,
) -> None:
    """A guard that nobody could disarm any more is disarmed, and no theft is shown."""
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
    assert guard().state == state
    tags = [it.data["notification_id"].rpartition("_")[0] for it in gone]
    assert tags == [f"{DOMAIN}_guard"] * (state == "disarmed")


@pytest.mark.usefixtures("standing")
async def test_place_of_an_unknown_time(bikes: Bikes) -> None:
    """It is refused with a reason."""
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
    bikes: Bikes, hass_admin_user: User, guard: Guard
) -> None:
    """It is armed and disarmed all the same, and says who did that."""
    bikes.simulator.fault("status-503")
    await bikes.poll()
    await bikes.async_guard(context=Context(user_id=hass_admin_user.id))
    assert guard().state == "armed_away"
    assert guard().attributes["changed_by"] == hass_admin_user.name
    bikes.simulator.fault(None)
    await bikes.poll(400)
    assert guard().state == "armed_away"
    bikes.simulator.report(RED, latitude=AWAY, motion=True)
    await bikes.poll()
    assert guard().state == "triggered"
    bikes.simulator.fault("status-503")
    await bikes.poll()
    await bikes.async_guard("disarm")
    assert guard().state == "disarmed"
    assert guard().attributes["changed_by"] is None
