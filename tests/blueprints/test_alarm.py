"""Tests of the blueprint: alarm."""

from homeassistant.core import HomeAssistant, ServiceCall, SupportsResponse
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.translation import async_load_integrations
from pytest_homeassistant_custom_component.common import async_mock_service

from custom_components.bike_tracker.tracking.occurrences import ALARM_TYPES
from tests.conftest import BLUE, RED
from tests.static.project import ROOT
from tests.tools.simulator.server import Simulator

from .house import House


async def test_tells_what_was_raised(
    hass: HomeAssistant, simulator: Simulator, house: House, phones: list[str]
) -> None:
    """Each alarm of each bike is told, and each once, also where a phone sleeps."""
    ben = async_mock_service(hass, "notify", "mobile_app_ben_s_phone")
    await house.async_automate("alarm", RED, BLUE, phones=phones)
    await house.async_minutes(2)
    simulator.report(RED, attributes={"alarm": "vibration,fallDown"})
    await house.async_minutes(1)
    simulator.fault("status-503")
    await house.async_minutes(1)
    simulator.report(BLUE, attributes={"alarm": "sos"})
    simulator.fault(None)
    await house.async_minutes(3)
    await house.async_restart()
    await house.async_minutes(3)
    titles = ["Red bike: Vibration", "Red bike: Bike fell over", "Blue bike: SOS"]
    assert house.titles == [push.data["title"] for push in ben] == titles
    assert house.fired[2].startswith("Blue bike is at home, position from ")
    assert [push.data["message"] for push in ben] == house.fired
    assert ben[0].data["data"]["ttl"] == 0
    tags = {push.data["data"]["tag"] for push in ben}
    assert len(tags) == 3


async def test_sos_without_a_place(
    hass: HomeAssistant, simulator: Simulator, house: House
) -> None:
    """It is told although nobody can say where the bike is."""

    async def fail(_: ServiceCall) -> None:
        raise HomeAssistantError("no place")

    await house.async_automate("alarm", RED)
    await house.async_minutes(1)
    only = SupportsResponse.ONLY
    hass.services.async_register("bike_tracker", "where", fail, supports_response=only)
    simulator.report(RED, attributes={"alarm": "sos"})
    await house.async_minutes(1)
    assert house.fired == house.titles == ["Red bike: SOS"]


async def test_only_what_was_chosen(simulator: Simulator, house: House) -> None:
    """Nothing else is told; what only the service has a word for is called so."""
    await house.async_automate("alarm", RED, alarms=["low_battery", "other"])
    for alarm in ("sos", "lowBattery", "*general*", "vibration"):
        simulator.report(RED, attributes={"alarm": alarm})
        await house.async_minutes(1)
    assert house.titles == ["Red bike: Battery low", "Red bike: *general*"]


def test_every_type_can_be_chosen() -> None:
    """In the order of the integration."""
    path = ROOT / "blueprints" / "automation" / "bike_tracker" / "alarm.yaml"
    lines = path.read_text().splitlines()
    options = [
        line.split("value: ")[1].split(",")[0] for line in lines if "- {value" in line
    ]
    assert tuple(options) == tuple(ALARM_TYPES)


async def test_from_right_to_left(
    hass: HomeAssistant, simulator: Simulator, house: House
) -> None:
    """A name in Latin letters does not turn the message round."""
    hass.config.language = "he"
    await async_load_integrations(hass, {"bike_tracker"})
    await house.async_automate("alarm", RED)
    simulator.report(RED, attributes={"alarm": "sos"})
    await house.async_minutes(2)
    assert house.titles == ["\u200f\u2068Red bike\u2069: SOS"]
