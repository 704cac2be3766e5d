"""Tests of the blueprint: battery low."""

from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, device_registry as dr

from tests.conftest import RED
from tests.tools.simulator.server import Simulator

from .house import House


async def test_tells_once(simulator: Simulator, house: House) -> None:
    """It tells once that a battery is low, and again only after it rose."""
    await house.async_automate("battery_low", RED)
    await house.async_minutes(5)
    for level in (21, 20, 19, 18, 90, 21, 12.4, 11):
        simulator.report(RED, battery_level=level)
        await house.async_minutes(1)
    simulator.fault("status-500")
    await house.async_minutes(5)
    simulator.fault(None)
    await house.async_restart()
    await house.async_minutes(10)
    assert house.fired == ["Battery low: 19 %", "Battery low: 12 %"]
    assert house.notifications[0]["title"] == "Red bike"


async def test_others_there(
    hass: HomeAssistant, simulator: Simulator, house: House, phones: list[str]
) -> None:
    """A phone in the same area is no bike; message and level are what was chosen."""
    area = ar.async_get(hass).async_create("Shed")
    for device_id in (phones[0], house.device(RED)):
        dr.async_get(hass).async_update_device(device_id, area_id=area.id)
    bikes = {"area_id": area.id}
    await house.async_automate("battery_low", bikes=bikes, threshold=50, message="Leer")
    battery = {"device_class": "battery", "unit_of_measurement": "%"}
    hass.states.async_set("sensor.phone_battery", "60", battery)
    await house.async_minutes(1)
    hass.states.async_set("sensor.phone_battery", "5", battery)
    simulator.report(RED, battery_level=49)
    await house.async_minutes(1)
    assert house.fired == ["Leer: 49 %"]
