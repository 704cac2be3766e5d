"""The blueprints in a running Home Assistant."""

import asyncio
from datetime import timedelta
from pathlib import Path
import re

import gpxpy
from homeassistant.components.conversation import async_converse
from homeassistant.core import Context, HomeAssistant, ServiceCall, SupportsResponse
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import area_registry as ar, device_registry as dr
from homeassistant.helpers.dispatcher import async_dispatcher_send
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import async_mock_service

from custom_components.bike_tracker.dispatch import SIGNAL_OCCURRED
from custom_components.bike_tracker.tracking.occurrences import ALARM_TYPES, Occurrence
from tests.conftest import BLUE, EMAIL, RED

from .conftest import BLUEPRINTS
from .house import House, stories

NAMES = {path.stem for path in BLUEPRINTS.rglob("*.yaml")}
TOLD = """
Each ride of each bike is told once, with its way and time. A bike that was only touched did not ride.
use a_ride_has_ended red blue, wait 2, go 0, go 0.01, go 0.02 blue, restart, wait 10
12:21 ride: Red bike / Red bike ended a ride: 1.1 km in 3 min
12:32 ride: Blue bike / Blue bike ended a ride: 2.2 km in 2 min

Service is due with the ride that reaches the kilometers, for each bike.
use service_due red blue every=5 message=Oil!, wait 2
go 0.025 = 0, go 0 = 1, go 0.025 = 1, go 0 = 2, go 0.025 blue = 2
12:21 service: Red bike / Oil!
12:43 service: Red bike / Oil!

Each alarm of each bike is told once, and on a phone that sleeps.
use alarm red blue phone, wait 2, alarm vibration,fallDown, wait, fail, wait, alarm sos blue, work, wait 3
restart, wait 3
12:03 alarm_vibration: Red bike: Vibration / Red bike is at home, position from 12:02, battery 80%.
12:03 alarm_fall_down: Red bike: Bike fell over / Red bike is at home, position from 12:02, battery 80%.
12:05 alarm_sos: Blue bike: SOS / Blue bike is at home, position from 12:04, battery 80%.
12:03 time-sensitive: Red bike: Vibration / Red bike is at home, position from 12:02, battery 80%.
12:03 time-sensitive: Red bike: Bike fell over / Red bike is at home, position from 12:02, battery 80%.
12:05 time-sensitive: Blue bike: SOS / Blue bike is at home, position from 12:04, battery 80%.

Only the chosen alarms are told, an unknown alarm in the words of the service.
use alarm red alarms=low_battery+other, alarm sos, wait, alarm lowBattery, wait, alarm *general*, wait
alarm vibration, wait
12:02 alarm_low_battery: Red bike: Battery low / Red bike is at home, position from 12:01, battery 80%.
12:03 alarm_other: Red bike: *general* / Red bike is at home, position from 12:02, battery 80%.

A low battery is told at a chosen level.
use battery_low red threshold=50 message=Leer, wait, report battery_level=51, report battery_level=49
12:03 battery: Red bike / Leer: 49 %

Without riders, each ride is told at once, of the chosen bike, also on a muted phone.
use bike_moved red phone critical=yes, wait 2, report north=0.003 motion=yes = 1
go 0.01, go 0.01 blue, go 0.02
12:03 moved: Red bike started a ride / Red bike is 0.3 km north of home, position from 12:02, moving, battery 80%.
12:27 moved: Red bike started a ride / Red bike is 1.7 km north of home, position from 12:26, moving, battery 80%.
12:03 critical: Red bike started a ride / Red bike is 0.3 km north of home, position from 12:02, moving, battery 80%.
12:27 critical: Red bike started a ride / Red bike is 1.7 km north of home, position from 12:26, moving, battery 80%.

A ride is told after some minutes while all riders are at home.
person ann home, person ben home, use bike_moved red riders=person.ann+person.ben
wait 2, report north=0.003 motion=yes, wait = 0, wait 10
12:08 moved: Red bike started a ride / Red bike is 0.3 km north of home, position from 12:02, moving, battery 80%.

A ride is not told if the tracker is faster than the rider's phone.
person ann home, person ben home, use bike_moved red riders=person.ann+person.ben
wait 2, report north=0.003 motion=yes, wait, person ben not_home, wait 10 = 0

A ride is not told while a rider is away.
person ann home, person ben not_home, use bike_moved red riders=person.ann+person.ben
wait 2, report north=0.003 motion=yes, wait 11 = 0

A ride is told if the place of a rider is unknown.
person ann home, person ben unknown, use bike_moved red riders=person.ann+person.ben
wait 2, report north=0.003 motion=yes, wait 11
12:08 moved: Red bike started a ride / Red bike is 0.3 km north of home, position from 12:02, moving, battery 80%.

An offline tracker is told once, and that it is back: then Home Assistant shows nothing.
use tracker_offline red phone, wait 5, offline red, wait 20, online red, wait, offline red, wait 20, online red, wait = 0
offline red, offline blue, wait 20, fail, wait 5, work, restart, wait 30
online red, wait 2
13:18 offline: Red bike has been offline since 12:48 / Red bike is at home, position from 12:00, battery 80%, its tracker is offline.
13:44 offline removed
13:18 quiet: Red bike has been offline since 12:48 / Red bike is at home, position from 12:00, battery 80%, its tracker is offline.
13:44 quiet: Red bike came online / Red bike is at home, position from 12:00, battery 80%.

A tracker that is online and does not report is told once.
use tracker_offline red hours=2, wait 2, until 14, wait 10
14:01 offline: Red bike has not reported since 12:00 / Red bike is at home, position from 12:00, battery 80%.
"""


@pytest.mark.parametrize("name", sorted(NAMES - {"where_is_my_bike"}))
async def test_nothing_chosen(
    house: House, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    """If no bike is chosen, Home Assistant does not start the automation, and logs the error."""
    with pytest.raises(AssertionError):
        await house.async_automate(name)
    assert "choose at least one bike" in caplog.text


@pytest.mark.parametrize(("script", "told"), stories(TOLD))
async def test_told(house: House, script: str, told: list[str]) -> None:
    """Home Assistant shows the expected messages, and the phone gets its messages with their levels."""
    await house.async_tell(script)
    assert [*house.shown, *house.told] == told


async def test_sos_without_a_place(hass: HomeAssistant, house: House) -> None:
    """If the action `where` fails, the message about an SOS is still sent, but without a place."""

    async def fail(_: ServiceCall) -> None:
        raise HomeAssistantError("no place")

    only = SupportsResponse.ONLY
    hass.services.async_register("bike_tracker", "where", fail, supports_response=only)
    await house.async_tell("use alarm red phone, wait, alarm sos, wait")
    assert house.told == ["12:02 time-sensitive: Red bike: SOS / Red bike: SOS"]


def test_every_type_can_be_chosen() -> None:
    """The alarm blueprint offers all types of alarms, in the same order as the integration."""
    [path] = BLUEPRINTS.rglob("alarm.yaml")
    values = re.findall(r"- {value: (\w+)", path.read_text())
    assert values == [*ALARM_TYPES]


async def test_battery(hass: HomeAssistant, house: House, phones: list[str]) -> None:
    """Each discharge of a battery leads to one message. A phone in the same area does not count as a bike."""
    area = ar.async_get(hass).async_create("Shed")
    for device_id in (phones[0], house.bikes.device().id):
        dr.async_get(hass).async_update_device(device_id, area_id=area.id)
    await house.async_automate("battery_low", bikes={"area_id": area.id})
    battery = {"device_class": "battery", "unit_of_measurement": "%"}
    hass.states.async_set("sensor.phone_battery", "60", battery)
    await house.async_minutes(5)
    hass.states.async_set("sensor.phone_battery", "5", battery)
    levels = (21, 20, 19, 18, 90, 21, 12.4, 11)
    reports = ", ".join(f"report battery_level={level}" for level in levels)
    await house.async_tell(f"{reports}, fail, wait 5, work, restart, wait 10")
    assert [line.partition(": ")[2] for line in house.shown] == [
        "Red bike / Battery low: 19 %",
        "Red bike / Battery low: 12 %",
    ]


async def test_as_files(hass: HomeAssistant, house: House, tmp_path: Path) -> None:
    """The blueprint writes a file in the media folder for each ride. The file name contains the bike and the time."""
    hass.config.media_dirs = {"local": str(tmp_path)}
    hass.config.allowlist_external_dirs = {str(tmp_path)}
    await house.async_automate("keep_each_ride", RED, folder="my rides")
    await house.async_tell("wait 2, go 0.01")
    folder = tmp_path / "my rides"
    while not any(path.stat().st_size for path in folder.glob("*")):
        await asyncio.sleep(0)
    await house.async_minutes(1)
    [path] = folder.iterdir()
    assert path.name.startswith("red_bike-2026-11-20-12")
    assert gpxpy.parse(path.read_text()).get_points_no() > 1


async def test_after_an_outage(hass: HomeAssistant, house: House) -> None:
    """If eleven *ride ended* triggers fire together, all tracks are requested, but at most ten in the first minute."""
    count, asked = 11, async_mock_service(hass, "bike_tracker", "get_track")
    await house.async_automate("keep_each_ride", RED)
    coordinator, now = house.entry.runtime_data.coordinator, dt_util.utcnow()
    for number in range(count):
        started = now - timedelta(hours=number + 1)
        times = dict.fromkeys(("started_at", "ended_at"), started.isoformat())
        ride = {"distance": 1.0, "duration": 60, "maximum_speed": 20, **times}
        ended = Occurrence(number, "ride_ended", now, started, None, ride)
        async_dispatcher_send(hass, SIGNAL_OCCURRED, coordinator, RED, ended)
    await house.async_minutes(1)
    assert len(asked) <= 10
    await house.async_minutes(10)
    assert len({str(call.data) for call in asked}) == count


# Where is my bike?


async def async_ask(hass: HomeAssistant, text: str, language: str = "en") -> str:
    """Return the answer of Home Assistant's own assistant to a sentence."""
    for component in ("homeassistant", "conversation"):
        assert await async_setup_component(hass, component, {})
    result = await async_converse(hass, text, None, Context(), language)
    return str(result.response.speech["plain"]["speech"])


ANSWERS = """
Where are my bikes? -> Blue bike is at home, position from 12:01, battery 80%. N4-ride is at home, position from 12:00, battery 80%.
where is the bike -> Blue bike is at home, position from 12:01, battery 80%. N4-ride is at home, position from 12:00, battery 80%.
Where is the n4 ride? -> N4-ride is at home, position from 12:00, battery 80%.
where is my n4ride -> N4-ride is at home, position from 12:00, battery 80%.
where is the BLUE BIKE -> Blue bike is at home, position from 12:01, battery 80%.
where's the blue bike -> Blue bike is at home, position from 12:01, battery 80%.
find the blue bike -> Blue bike is at home, position from 12:01, battery 80%.
is the blue bike at home -> Blue bike is at home, position from 12:01, battery 80%.
is the blue bike guarded -> Blue bike: Not guarded.
guard the blue bike -> Blue bike: Guarded.
guard the green bike -> No bike is named green bike. Your bikes: Blue bike, N4-ride.
where is the citi bike -> No bike is named citi bike. Your bikes: Blue bike, N4-ride.
"""


@pytest.mark.parametrize("row", ANSWERS.strip().splitlines())
async def test_answers(hass: HomeAssistant, house: House, row: str) -> None:
    """The answer is about the bike in the question or, without a name, about all bikes.

    In names, only letters and digits are compared. Case does not matter.
    """
    asked, answer = row.split(" -> ")
    house.simulator.rename(RED, "N4-ride")
    use = "use where_is_my_bike red blue"
    await house.async_tell(f"report motion=no, report blue motion=no, {use}")
    assert await async_ask(hass, asked) == answer


async def test_five_bikes(hass: HomeAssistant, house: House) -> None:
    """An answer about five bikes has a sentence for each bike: its place and condition, or its guard."""
    more = [f"{number}" for number in range(3)]
    for number in more:
        house.simulator.add_device(number, name=f"Bike {number}", email=EMAIL)
    await house.async_minutes(2)
    await house.async_automate("where_is_my_bike", RED, BLUE, *more)
    names = ["Bike 0", "Bike 1", "Bike 2", "Blue bike", "Red bike"]
    for asked, answer in (
        ("where's my bike", "{} is at home, position from 12:00, battery 80%."),
        ("find my bike", "{} is at home, position from 12:00, battery 80%."),
        ("is my bike guarded", "{}: Not guarded."),
        ("guard my bike", "{}: Guarded."),
        ("are my bikes guarded", "{}: Guarded."),
    ):
        answers = " ".join(answer.format(name) for name in names)
        assert await async_ask(hass, asked) == answers


async def test_no_place(hass: HomeAssistant, house: House) -> None:
    """Each answer about a guard names each bike, and says why a bike is not guarded where it stands."""
    house.simulator.add_device("7", name="Green bike", email=EMAIL, latitude=None)
    await house.async_minutes(2)
    await house.async_automate("where_is_my_bike", RED, "7")
    no = "Green bike: Not guarded, its place is not known."
    assert await async_ask(hass, "guard the green bike") == no
    assert await async_ask(hass, "is green bike guarded") == no
    assert await async_ask(hass, "guard my bikes") == f"{no} Red bike: Guarded."
    await house.async_tell("wait 2, report north=0.003 motion=yes")
    moved = "Red bike: Being moved."
    assert await async_ask(hass, "is my bike guarded") == f"{no} {moved}"
    again = "It will be guarded again once it has stood for five minutes."
    asked = "arm the guard of Red bike"
    assert await async_ask(hass, asked) == f"{moved} {again}"
    house.simulator.unassign(EMAIL, "7")
    await house.async_minutes(2)
    gone = "Green bike is not available at the moment."
    assert (await async_ask(hass, "are my bikes guarded")).startswith(gone)


LANGUAGES = """
Czech | cs | Kde je moje kolo? | kde jsou naše kola | kde je moje {}
Danish | da | Hvor er cyklen? | hvor er vores cykler | hvor er min {}
English | en | Where is my bike? | where are our bikes | where is my {}
Dutch | nl | Waar is mijn fiets? | waar zijn de fietsen | waar is de {}
French | fr | Où est mon vélo ? | où sont nos vélos | où est la {}
German | de | Wo ist mein Fahrrad? | wo sind unsere fahrräder | wo ist das {}
Italian | it | Dove si trova la bici? | dove si trovano le mie bici | dove si trova la mia {}
Polish | pl | Gdzie jest mój rower? | gdzie są rowery | gdzie jest mój {}
Portuguese | pt | Onde está a minha bicicleta? | onde estão as bicicletas | onde está a minha {}
Spanish | es | ¿Dónde está mi bici? | dónde están las bicis | dónde está la {}
Swedish | sv | Var är min cykel? | var är våra cyklar | var är min {}
"""


@pytest.mark.parametrize("row", LANGUAGES.strip().splitlines())
async def test_languages(hass: HomeAssistant, house: House, row: str) -> None:
    """With the sentences from the documentation, the assistant understands questions in each language."""
    name, language, one, all_bikes, by_name = row.split(" | ")
    text = (BLUEPRINTS.parent / "docs" / "automations.md").read_text()
    [line] = re.findall(rf"^- {name}: (.+)$", text, re.MULTILINE)
    sentences = re.findall("`(.+?)`", line)
    await house.async_automate("where_is_my_bike", RED, BLUE, sentences=sentences)
    for question in (one, all_bikes, by_name.format("Blue Bike")):
        said = await async_ask(hass, question, language)
        assert "Blue bike" in said, question
        assert ("Red bike" in said) is ("Blue Bike" not in question), question


async def test_no_bike(hass: HomeAssistant, house: House) -> None:
    """If no bike is chosen, the answer is the text from the field *Without bikes*."""
    await house.async_automate("where_is_my_bike", nothing="Choose one")
    assert await async_ask(hass, "where is my bike") == "Choose one"
