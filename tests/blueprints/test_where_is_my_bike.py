"""Tests of the blueprint: where is my bike?"""

from collections.abc import Awaitable, Callable
from datetime import timedelta
import logging
from typing import Any

from homeassistant.components.conversation import async_converse
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
)
from homeassistant.helpers.translation import async_load_integrations
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from homeassistant.util.unit_system import US_CUSTOMARY_SYSTEM
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from tests.conftest import BLUE, EMAIL, RED
from tests.tools.simulator.server import Simulator
from tests.tools.simulator.world import DEFAULT_LATITUDE

from .conftest import WORK_LATITUDE
from .house import House

type Ask = Callable[[str], Awaitable[str]]


@pytest.fixture
async def ask(hass: HomeAssistant, house: House) -> Ask:
    """Return a function that asks Home Assistant's own agent, and returns what it says."""
    for component in ("homeassistant", "conversation"):
        assert await async_setup_component(hass, component, {})

    async def _ask(text: str) -> str:
        result = await async_converse(hass, text, None, Context(), "en")
        said: str = result.response.speech["plain"]["speech"]
        return said

    return _ask


async def test_all_of_them(house: House, ask: Ask) -> None:
    """Without a name, all that are chosen are told of."""
    await house.async_automate("where_is_my_bike", RED, BLUE)
    said = "Red bike: Home, Not moving, 0 min. Blue bike: Home, Not moving, 0 min."
    assert await ask("Where are my bikes?") == said
    assert await ask("where is the bike") == said


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("Where is the red bike?", ["Red bike"]),
        ("where is the BLUE BIKE", ["Blue bike"]),
        ("where is the red bike and the blue bike", ["Red bike", "Blue bike"]),
        ("where is the green bike", ["Red bike", "Blue bike"]),
    ],
)
async def test_by_name(house: House, ask: Ask, asked: str, told: list[str]) -> None:
    """Those that the question names are told of alone."""
    await house.async_automate(
        "where_is_my_bike",
        *(RED, BLUE),
        sentences=["where is the {name}"],
        answer="{{ name }}.",
    )
    assert await ask(asked) == " ".join(f"{name}." for name in told)


async def test_in_an_area(hass: HomeAssistant, house: House, ask: Ask) -> None:
    """All bikes of an area are told of, and nothing else that is there."""
    area = ar.async_get(hass).async_create("Shed")
    dr.async_get(hass).async_update_device(house.device(BLUE), area_id=area.id)
    await house.async_automate("where_is_my_bike", areas=[area.id], answer="{{ name }}")
    assert await ask("where is my bike") == "Blue bike"


async def test_only_what_was_chosen(house: House, ask: Ask) -> None:
    """A bike that was not chosen is not told of, whatever is asked."""
    await house.async_automate(
        "where_is_my_bike", RED, sentences=["where is {name}"], answer="{{ name }}"
    )
    assert await ask("where is the blue bike") == "Red bike"


async def test_places(simulator: Simulator, house: House, ask: Ask) -> None:
    """A zone has a name, elsewhere there is an address, or else a distance."""
    await house.async_automate("where_is_my_bike", RED, answer="{{ place }}")

    async def _at(latitude: float, **report: Any) -> str:
        simulator.report(RED, latitude=latitude, **report)
        await house.async_minutes(1)
        return await ask("where is my bike")

    assert await _at(WORK_LATITUDE, address="Salzstraße 2") == "Work"
    assert await _at(WORK_LATITUDE + 0.1, address="Salzstraße 2") == "Salzstraße 2"
    assert await _at(WORK_LATITUDE + 0.2) == "Away, 27.8 km"
    # Elsewhere now, and the address is that of before no more.
    assert await _at(WORK_LATITUDE, address="Salzstraße 2") == "Work"


async def test_sensor_of_another_integration(
    hass: HomeAssistant, simulator: Simulator, house: House, ask: Ask
) -> None:
    """What others say of the device is no address and no report."""
    await house.async_automate("where_is_my_bike", RED, answer="{{ place }}, {{ age }}")
    simulator.report(RED, latitude=WORK_LATITUDE + 0.2)
    await house.async_minutes(3)
    now = dt_util.utcnow().isoformat()
    for state, said in (("CR2032", {}), (now, {"device_class": "timestamp"})):
        entity = er.async_get(hass).async_get_or_create(
            "sensor", "battery_notes", state, device_id=house.device(RED)
        )
        hass.states.async_set(entity.entity_id, state, said)
    assert await ask("where is my bike") == "Away, 27.8 km, 3 min"


async def test_miles(
    hass: HomeAssistant, simulator: Simulator, house: House, ask: Ask
) -> None:
    """Where people count miles they hear miles."""
    hass.config.units = US_CUSTOMARY_SYSTEM
    await house.async_automate("where_is_my_bike", RED, answer="{{ place }}")
    simulator.report(RED, latitude=WORK_LATITUDE + 0.2)
    await house.async_minutes(2)
    assert await ask("where is my bike") == "Away, 17.3 mi"


async def test_moving(simulator: Simulator, house: House, ask: Ask) -> None:
    """Whether it moves is told."""
    await house.async_automate("where_is_my_bike", RED, answer="{{ moving }}")
    simulator.report(RED, motion=True)
    await house.async_minutes(1)
    assert await ask("where is my bike") == "Moving"


@pytest.mark.parametrize(
    ("minutes", "age"),
    [
        (-5, "0 min"),
        (2, "2 min"),
        (59, "59 min"),
        (60, "1 h"),
        (1_439, "23 h"),
        (2_880, "2 d"),
    ],
)
async def test_age(
    simulator: Simulator, house: House, ask: Ask, minutes: int, age: str
) -> None:
    """How old it is, in units of every language."""
    await house.async_automate("where_is_my_bike", RED, answer="{{ age }}")
    await house.async_minutes(5)
    simulator.set_last_update(RED, dt_util.utcnow() - timedelta(minutes=minutes - 1))
    await house.async_minutes(1)
    assert await ask("where is my bike") == age


async def test_in_german(hass: HomeAssistant, house: House, ask: Ask) -> None:
    """A person writes question and answer, Home Assistant knows the rest."""
    hass.config.language = "de"
    await async_load_integrations(hass, {"binary_sensor", "device_tracker"})
    await house.async_automate(
        "where_is_my_bike",
        RED,
        sentences=["wo ist (mein|das) Fahrrad"],
        answer="{{ name }}: {{ place }}. {{ moving }}, gemeldet vor {{ age }}.",
    )
    said = "Red bike: Zuhause. Bewegt sich nicht, gemeldet vor 0 min."
    assert await ask("Wo ist mein Fahrrad?") == said


async def test_nothing_known(simulator: Simulator, house: House, ask: Ask) -> None:
    """Neither a tracker without a place nor an outage is an error."""
    await house.async_automate("where_is_my_bike", RED)
    simulator.fault("status-503")
    await house.async_minutes(1)
    assert await ask("where is my bike") == "Red bike: ?, ?, ?."


async def test_tracker_without_a_place(
    hass: HomeAssistant, simulator: Simulator, house: House, ask: Ask
) -> None:
    """It is told that nobody knows."""
    simulator.add_device("7", name="Green bike", email=EMAIL, latitude=None)
    await house.async_minutes(1)
    await house.async_automate("where_is_my_bike", "7")
    assert await ask("where is my bike") == "Green bike: ?, ?, 1 min."


async def test_removed_tracker(hass: HomeAssistant, house: House, ask: Ask) -> None:
    """What is chosen still and there no more is passed over."""
    chosen = [house.device(RED), "0" * 32]
    await house.async_automate("where_is_my_bike", trackers=chosen)
    assert await ask("where is my bike") == "Red bike: Home, Not moving, 0 min."


async def test_account_that_is_not_set_up(
    hass: HomeAssistant,
    simulator: Simulator,
    setup: MockConfigEntry,
    house: House,
    ask: Ask,
) -> None:
    """Nobody knows either after a restart during an outage."""
    await house.async_automate("where_is_my_bike", RED)
    simulator.fault("status-503")
    await hass.config_entries.async_reload(setup.entry_id)
    assert await ask("where is my bike") == "Red bike: ?, ?, ?."

    # Nor which bikes are in an area.
    area = ar.async_get(hass).async_create("Shed")
    dr.async_get(hass).async_update_device(house.device(RED), area_id=area.id)
    await house.async_automate("where_is_my_bike", areas=[area.id])
    assert await ask("where is my bike") == "?"


@pytest.mark.parametrize(
    ("entity_id", "said"),
    [
        ("device_tracker.red_bike", "?, Not moving, 0 min."),
        ("binary_sensor.red_bike_moving", "Home, ?, 0 min."),
        ("sensor.red_bike_last_update", "Home, Not moving, ?."),
    ],
)
async def test_entity_that_is_switched_off(
    hass: HomeAssistant, house: House, ask: Ask, entity_id: str, said: str
) -> None:
    """What it would tell is not known, all else is."""
    er.async_get(hass).async_update_entity(
        entity_id, disabled_by=er.RegistryEntryDisabler.USER
    )
    await house.async_automate("where_is_my_bike", RED)
    assert await ask("where is my bike") == f"Red bike: {said}"


async def test_no_line_in_the_log(
    house: House, ask: Ask, caplog: pytest.LogCaptureFixture
) -> None:
    """A service without addresses is no reason for a warning with each question."""
    await house.async_automate("where_is_my_bike", RED)
    caplog.clear()
    assert await ask("where is my bike")
    assert not [line for line in caplog.records if line.levelno > logging.INFO]


async def test_address_of_a_ride(simulator: Simulator, house: House, ask: Ask) -> None:
    """One of minutes ago is not told: how far away the bike is now is."""
    await house.async_automate("where_is_my_bike", RED, answer="{{ place }}")
    told = []
    for minute in range(1, 6):
        simulator.report(
            RED,
            latitude=DEFAULT_LATITUDE - 0.01 * minute,
            motion=minute < 5,
            address=f"Main Street {minute}",
        )
        await house.async_minutes(1)
        told.append(await ask("where is my bike"))
    assert told == [
        "Main Street 1",
        *("Away, 2.2 km", "Away, 3.3 km", "Away, 4.4 km", "Away, 5.6 km"),
    ]

    await house.async_minutes(7)
    assert await ask("where is my bike") == "Main Street 5"
