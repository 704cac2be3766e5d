"""The entity *Alarm* shows the newest alarm of a tracker, and fires each alarm one time."""

from homeassistant.const import CONF_PASSWORD, STATE_UNAVAILABLE, STATE_UNKNOWN
from homeassistant.core import HomeAssistant, State
import pytest
from pytest_homeassistant_custom_component.common import (
    mock_restore_cache_with_extra_data,
)

from .conftest import EMAIL, RED, Bikes, async_setup
from .riding import async_ride, told

ENTITY = "event.red_bike_alarm"
OLDER = "2020-01-01T00:00:00.000+00:00"


@pytest.fixture
def fired(hass: HomeAssistant) -> list[State]:
    """Return a list that grows with each alarm that the red bike's entity *Alarm* fires."""
    return told(hass, ENTITY)


@pytest.mark.parametrize("restored", [None, STATE_UNKNOWN, OLDER])
async def test_kill(ready: Bikes, fired: list[State], restored: str | None) -> None:
    """After a restart in an outage, the entity shows the newest alarm, and does not fire it again.

    After a kill, Home Assistant's stored state may be older than the database.
    """
    await ready.async_report(attributes={"alarm": "sos"})
    before = ready.state(ENTITY)
    await async_ride(ready)
    await ready.hass.config_entries.async_unload(ready.entry.entry_id)
    older = {"last_event_type": "tow", "last_event_attributes": {"alarm": "tow"}}
    entity_id = before.entity_id if restored else "event.another"
    state = State(entity_id, restored or STATE_UNKNOWN)
    mock_restore_cache_with_extra_data(ready.hass, [(state, older)])
    ready.simulator.fault("status-503")
    await async_setup(ready.hass, ready.entry)
    ready.simulator.fault(None)
    await ready.poll(600)
    after = ready.state(ENTITY)
    assert (after.state, after.attributes) == (before.state, before.attributes)
    assert [it.attributes["alarm"] for it in fired] == ["sos"]


@pytest.mark.parametrize("fault", [None, "status-503"])
async def test_first_alarm(bikes: Bikes, fired: list[State], fault: str | None) -> None:
    """An alarm from before the account was added is never fired. A later alarm is fired."""
    bikes.simulator.report(RED, attributes={"alarm": "sos"})
    bikes.simulator.fault(fault, path="positions")
    await async_setup(bikes.hass, bikes.entry)
    bikes.simulator.fault(None)
    if fault:
        await bikes.hass.config_entries.async_reload(bikes.entry.entry_id)
    await bikes.poll(300)
    await bikes.poll()
    assert bikes.state(ENTITY).state == STATE_UNKNOWN
    assert not fired
    await bikes.async_report(attributes={"alarm": "tow"})
    assert [it.attributes["alarm"] for it in fired] == ["tow"]


async def test_signing_in_again(ready: Bikes, writes: list[str]) -> None:
    """While the service refuses the password, and after a new sign-in, no state of an event entity is written."""
    await ready.async_report(attributes={"alarm": "sos"})
    await async_ride(ready)
    writes.clear()
    ready.simulator.set_password(EMAIL, "another")
    await ready.poll(300, times=3)
    assert ready.value_of(RED) == STATE_UNAVAILABLE
    form = await ready.entry.start_reauth_flow(ready.hass)
    flow, typed = ready.hass.config_entries.flow, {CONF_PASSWORD: "another"}
    await flow.async_configure(form["flow_id"], typed)
    await ready.hass.async_block_till_done(wait_background_tasks=True)
    assert ready.value_of(RED) == "not_home"
    assert not [it for it in writes if it.startswith("event.")]
    ready.simulator.unassign(EMAIL, RED)
    await ready.poll()
    assert ready.state(ENTITY).state == STATE_UNAVAILABLE
