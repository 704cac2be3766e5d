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
from homeassistant.helpers.translation import async_load_integrations
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import async_mock_service

from custom_components.bike_tracker.dispatch import SIGNAL_OCCURRED
from custom_components.bike_tracker.tracking.occurrences import ALARM_TYPES, Occurrence
from tests.conftest import BLUE, EMAIL, RED
from tests.tools.simulator.server import Simulator
from tests.tools.simulator.world import DEFAULT_LATITUDE

from .conftest import BLUEPRINTS
from .house import House, async_ride

NAMES = {path.stem for path in BLUEPRINTS.rglob("*.yaml")}
OFFLINE = "Red bike has been offline since "
MOVED = ["Red bike started a ride"]


@pytest.fixture
def ben(hass: HomeAssistant, phones: list[str]) -> list[ServiceCall]:
    """Return a list that grows with the messages to a phone."""
    return async_mock_service(hass, "notify", "mobile_app_ben_s_phone")


@pytest.mark.parametrize("name", sorted(NAMES - {"where_is_my_bike"}))
async def test_nothing_chosen(
    house: House, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    """An automation without bikes logs it; one that answers says it then."""
    with pytest.raises(AssertionError):
        await house.async_automate(name)
    assert "choose at least one bike" in caplog.text


# A ride has ended; service due


async def test_tells_each_ride(simulator: Simulator, house: House) -> None:
    """With the way and the time, once, each bike's; one that was only touched did not ride."""
    await house.async_automate("a_ride_has_ended", RED, BLUE)
    await house.async_minutes(2)
    await async_ride(simulator, house, by=0)
    await async_ride(simulator, house, by=0.01)
    await async_ride(simulator, house, by=0.02, tracker=BLUE)
    await house.async_restart()
    await house.async_minutes(10)
    red, blue = house.notifications
    assert house.titles == ["Red bike", "Blue bike"]
    assert red["message"].startswith("Red bike ended a ride: 1.1 km in ")
    assert blue["message"].startswith("Blue bike ended a ride: 2.2 km in ")
    assert red["notification_id"] == f"bike_tracker_ride_{house.device(RED)}"


async def test_each_so_many_kilometers(simulator: Simulator, house: House) -> None:
    """It tells with the ride that reaches them, each bike for itself."""
    await house.async_automate("service_due", RED, BLUE, every=5, message="Oil it")
    await house.async_minutes(2)
    fired = []
    for by in (0.025, 0.0, 0.025, 0.0):
        await async_ride(simulator, house, by=by)
        fired.append(len(house.fired))
    await async_ride(simulator, house, by=0.025, tracker=BLUE)
    assert fired == [0, 1, 1, 2]
    assert house.titles == ["Red bike"] * 2
    assert house.fired == ["Oil it"] * 2


# Alarm


async def test_alarms(
    simulator: Simulator, house: House, phones: list[str], ben: list[ServiceCall]
) -> None:
    """Each alarm of each bike is told, and each once, also where a phone sleeps."""
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
    assert len({push.data["data"]["tag"] for push in ben}) == 3


async def test_sos_without_a_place(
    hass: HomeAssistant, simulator: Simulator, house: House
) -> None:
    """It is told although nobody can say where the bike is; its name turns no message round."""

    async def fail(_: ServiceCall) -> None:
        raise HomeAssistantError("no place")

    hass.config.language = "he"
    await async_load_integrations(hass, {"bike_tracker"})
    await house.async_automate("alarm", RED)
    await house.async_minutes(1)
    only = SupportsResponse.ONLY
    hass.services.async_register("bike_tracker", "where", fail, supports_response=only)
    simulator.report(RED, attributes={"alarm": "sos"})
    await house.async_minutes(1)
    assert house.fired == house.titles == ["\u200f\u2068Red bike\u2069: SOS"]


async def test_alarms_that_were_chosen(simulator: Simulator, house: House) -> None:
    """Nothing else is told; what only the service has a word for is called so."""
    await house.async_automate("alarm", RED, alarms=["low_battery", "other"])
    for alarm in ("sos", "lowBattery", "*general*", "vibration"):
        simulator.report(RED, attributes={"alarm": alarm})
        await house.async_minutes(1)
    assert house.titles == ["Red bike: Battery low", "Red bike: *general*"]


def test_every_type_can_be_chosen() -> None:
    """In the order of the integration."""
    [path] = BLUEPRINTS.rglob("alarm.yaml")
    options = [it for it in path.read_text().splitlines() if "- {value" in it]
    values = [line.split("value: ")[1].split(",")[0] for line in options]
    assert values == [*ALARM_TYPES]


# Battery low


@pytest.mark.parametrize(
    ("chosen", "levels", "fired"),
    [
        (
            *({}, (21, 20, 19, 18, 90, 21, 12.4, 11)),
            ["Battery low: 19 %", "Battery low: 12 %"],
        ),
        ({"threshold": 50, "message": "Leer"}, (49,), ["Leer: 49 %"]),
    ],
)
async def test_battery(
    hass: HomeAssistant,
    simulator: Simulator,
    house: House,
    phones: list[str],
    chosen: dict[str, object],
    levels: tuple[float, ...],
    fired: list[str],
) -> None:
    """It tells once, and again only after the battery rose. A phone in the same area is no bike."""
    area = ar.async_get(hass).async_create("Shed")
    for device_id in (phones[0], house.device(RED)):
        dr.async_get(hass).async_update_device(device_id, area_id=area.id)
    await house.async_automate("battery_low", bikes={"area_id": area.id}, **chosen)
    battery = {"device_class": "battery", "unit_of_measurement": "%"}
    hass.states.async_set("sensor.phone_battery", "60", battery)
    await house.async_minutes(5)
    hass.states.async_set("sensor.phone_battery", "5", battery)
    for level in levels:
        simulator.report(RED, battery_level=level)
        await house.async_minutes(1)
    simulator.fault("status-500")
    await house.async_minutes(5)
    simulator.fault(None)
    await house.async_restart()
    await house.async_minutes(10)
    assert house.fired == fired
    assert house.titles == ["Red bike"] * len(fired)


# Bike moved


async def test_once_per_ride(
    simulator: Simulator, house: House, phones: list[str], ben: list[ServiceCall]
) -> None:
    """Without riders it tells of each ride at once, and of no other bike."""
    await house.async_automate("bike_moved", RED, phones=phones, critical=True)
    await house.async_minutes(2)
    simulator.report(RED, latitude=DEFAULT_LATITUDE + 0.003, motion=True)
    await house.async_minutes(1)
    assert house.titles == MOVED
    assert house.fired[0].startswith("Red bike is 0.3 km north of home, position from")
    await async_ride(simulator, house, by=0.01)
    await async_ride(simulator, house, by=0.01, tracker=BLUE)
    await async_ride(simulator, house, by=0.02)
    assert house.titles == 2 * MOVED
    assert ben[0].data["data"]["channel"] == "alarm_stream"


@pytest.mark.parametrize(
    ("before", "after", "fired"),
    [
        ("home", "home", MOVED),
        ("home", "not_home", []),
        ("not_home", "not_home", []),
        ("unknown", "unknown", MOVED),
    ],
)
async def test_riders(
    hass: HomeAssistant,
    simulator: Simulator,
    house: House,
    before: str,
    after: str,
    fired: list[str],
) -> None:
    """It says nothing while one of them is away, also if that is noticed later."""
    riders = ["person.ann", "person.ben"]
    for rider, state in zip(riders, ("home", before), strict=True):
        hass.states.async_set(rider, state)
    await house.async_automate("bike_moved", RED, riders=riders)
    await house.async_minutes(2)
    simulator.report(RED, latitude=DEFAULT_LATITUDE + 0.003, motion=True)
    await house.async_minutes(2)
    assert house.fired == []
    hass.states.async_set(riders[1], after)
    await house.async_minutes(10)
    assert house.titles == fired


# Keep each ride


async def test_as_files(
    hass: HomeAssistant, simulator: Simulator, house: House, tmp_path: Path
) -> None:
    """Each is in the media folder, under the name of the bike and its time."""
    hass.config.media_dirs = {"local": str(tmp_path)}
    hass.config.allowlist_external_dirs = {str(tmp_path)}
    await house.async_automate("keep_each_ride", RED, folder="my rides")
    await house.async_minutes(2)
    await async_ride(simulator, house, by=0.01)
    folder = tmp_path / "my rides"
    while not folder.exists() or not list(folder.iterdir()):
        await asyncio.sleep(0)
    await house.async_minutes(1)
    [path] = folder.iterdir()
    assert path.name.startswith("red_bike-2026-11-20-12")
    assert gpxpy.parse(path.read_text()).get_points_no() > 1


async def test_after_an_outage(hass: HomeAssistant, house: House) -> None:
    """Each of many rides that end at once has its file."""
    count, asked = 11, async_mock_service(hass, "bike_tracker", "get_track")
    await house.async_automate("keep_each_ride", RED)
    [entry] = hass.config_entries.async_entries("bike_tracker")
    coordinator, now = entry.runtime_data.coordinator, dt_util.utcnow()
    for number in range(count):
        started = now - timedelta(hours=number + 1)
        ride = {"distance": 1.0, "duration": 60, "maximum_speed": 20}
        times = dict.fromkeys(("started_at", "ended_at"), started.isoformat())
        ended = Occurrence(number, "ride_ended", now, started, None, {**ride, **times})
        async_dispatcher_send(hass, SIGNAL_OCCURRED, coordinator, RED, ended)
    await house.async_minutes(1)
    assert len(asked) <= 10
    await house.async_minutes(10)
    assert len({str(call.data) for call in asked}) == count


# Tracker offline


async def test_offline_and_back(
    simulator: Simulator, house: House, phones: list[str], ben: list[ServiceCall]
) -> None:
    """It tells once, also that it is back: what Home Assistant showed is gone then."""
    await house.async_automate("tracker_offline", RED, phones=phones)
    await house.async_minutes(5)
    for _ in range(2):
        simulator.set_status(RED, "offline")
        await house.async_minutes(20)
        simulator.set_status(RED, "online")
        await house.async_minutes(1)
    assert house.fired == []
    simulator.set_status(RED, "offline")
    simulator.set_status(BLUE, "offline")
    await house.async_minutes(20)
    simulator.fault("status-503")
    await house.async_minutes(5)
    simulator.fault(None)
    await house.async_restart()
    await house.async_minutes(30)
    [title] = house.titles
    assert title.startswith(OFFLINE)
    assert house.fired[0].startswith("Red bike is at home, position from ")
    assert house.gone == []
    simulator.set_status(RED, "online")
    await house.async_minutes(2)
    assert house.titles == [title]
    assert house.gone == [house.notifications[0]["notification_id"]]
    assert [push.data["title"] for push in ben] == [title, "Red bike came online"]


async def test_silent(simulator: Simulator, house: House) -> None:
    """It tells once of a tracker that does not report, though it is online."""
    await house.async_automate("tracker_offline", RED, hours=2)
    await house.async_minutes(2)
    simulator.set_last_update(RED, dt_util.utcnow() - timedelta(hours=1))
    await house.async_minutes(70)
    assert house.titles == ["Red bike has not reported since 11:02"]


# Where is my bike?


async def async_ask(hass: HomeAssistant, text: str, language: str = "en") -> str:
    """Return what Home Assistant's own agent says."""
    for component in ("homeassistant", "conversation"):
        assert await async_setup_component(hass, component, {})
    result = await async_converse(hass, text, None, Context(), language)
    said: str = result.response.speech["plain"]["speech"]
    return said


ANSWERS = """
Where are my bikes? -> Blue bike is at home; N4-ride is at home
where is the bike -> Blue bike is at home; N4-ride is at home
Where is the n4 ride? -> N4-ride is at home
where is n4ride -> N4-ride is at home
where is the BLUE BIKE -> Blue bike is at home
find my bike -> Blue bike is at home; N4-ride is at home
where's my bike -> Blue bike is at home; N4-ride is at home
where's the blue bike -> Blue bike is at home
find the blue bike -> Blue bike is at home
is the blue bike at home -> Blue bike is at home
is my bike guarded? -> Blue bike: Not guarded.; N4-ride: Not guarded.
is the blue bike guarded -> Blue bike: Not guarded.
guard my bike -> Blue bike: Guarded.; N4-ride: Guarded.
guard the blue bike -> Blue bike: Guarded.
guard the green bike -> No bike is named green bike. Your bikes: Blue bike, N4-ride.
where is the citi bike -> No bike is named citi bike. Your bikes: Blue bike, N4-ride.
"""


@pytest.mark.parametrize(
    ("asked", "answer"),
    [line.split(" -> ") for line in ANSWERS.strip().splitlines()],
)
async def test_answers(
    hass: HomeAssistant, simulator: Simulator, house: House, asked: str, answer: str
) -> None:
    """The bike that is named is told of, or guarded, or all; letters alone count."""
    for bike in (RED, BLUE):
        simulator.report(bike, motion=False)
    simulator.rename(RED, "N4-ride")
    await house.async_minutes(1)
    await house.async_automate("where_is_my_bike", RED, BLUE)
    said = await async_ask(hass, asked)
    assert [part for part in answer.split("; ") if part not in said] == []
    named = [name for name in ("Blue bike", "N4-ride") if name in said]
    assert named == [name for name in ("Blue bike", "N4-ride") if name in answer]


async def test_five_bikes(
    hass: HomeAssistant, simulator: Simulator, house: House
) -> None:
    """Of many bikes the answer says only where each is."""
    more = [f"{number}" for number in range(3)]
    for number in more:
        simulator.add_device(number, name=f"Bike {number}", email=EMAIL)
    await house.async_minutes(2)
    await house.async_automate("where_is_my_bike", RED, BLUE, *more)
    names = ["Bike 0", "Bike 1", "Bike 2", "Blue bike", "Red bike"]
    for asked, answer in (
        ("where's my bike", "{} is at home."),
        ("find my bike", "{} is at home."),
        ("is my bike guarded", "{}: Not guarded."),
        ("guard my bike", "{}: Guarded."),
        ("are my bikes guarded", "{}: Guarded."),
    ):
        answers = " ".join(answer.format(name) for name in names)
        assert await async_ask(hass, asked) == answers


LANGUAGES = """
Czech | cs | Kde je moje kolo? | kde jsou naše kola | kde je moje {}
Danish | da | Hvor er cyklen? | hvor er vores cykler | hvor er {}
English | en | Where is my bike? | where are our bikes | where is my {}
Dutch | nl | Waar is mijn fiets? | waar zijn de fietsen | waar is de {}
French | fr | Où est mon vélo ? | où sont nos vélos | où est {}
German | de | Wo ist mein Fahrrad? | wo sind unsere fahrräder | wo ist {}
Italian | it | Dove si trova la bici? | dove si trovano le mie bici | dove si trova la mia {}
Polish | pl | Gdzie jest mój rower? | gdzie są rowery | gdzie jest {}
Portuguese | pt | Onde está a minha bicicleta? | onde estão as bicicletas | onde está a {}
Spanish | es | ¿Dónde está mi bici? | dónde están las bicis | dónde está {}
Swedish | sv | Var är min cykel? | var är våra cyklar | var är {}
"""


@pytest.mark.parametrize(
    ("name", "language", "one", "all_bikes", "by_name"),
    [line.split(" | ") for line in LANGUAGES.strip().splitlines()],
)
async def test_languages(
    hass: HomeAssistant,
    house: House,
    name: str,
    language: str,
    one: str,
    all_bikes: str,
    by_name: str,
) -> None:
    """The questions that the documents have are understood."""
    text = (BLUEPRINTS.parent / "docs" / "automations.md").read_text()
    [line] = re.findall(rf"^- {name}: (.+)$", text, re.MULTILINE)
    sentences = re.findall("`(.+?)`", line)
    await house.async_automate("where_is_my_bike", RED, BLUE, sentences=sentences)
    for question in (one, all_bikes, by_name.format("Blue Bike")):
        said = await async_ask(hass, question, language)
        assert "Blue bike" in said, question
        assert ("Red bike" in said) is ("Blue Bike" not in question), question


async def test_in_outage(
    hass: HomeAssistant, simulator: Simulator, house: House
) -> None:
    """What was known last is told, and that the service does not answer."""
    await house.async_automate("where_is_my_bike", RED)
    simulator.fault("status-503")
    await house.async_minutes(2)
    assert "does not answer" in await async_ask(hass, "where is my bike")


async def test_no_bike(hass: HomeAssistant, house: House) -> None:
    """Where no bike was chosen, it is told that."""
    await house.async_automate("where_is_my_bike", nothing="Choose one")
    assert await async_ask(hass, "where is my bike") == "Choose one"
