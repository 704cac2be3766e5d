"""The answer to *Where is my bike?* in every situation, and the texts in it."""

from datetime import timedelta
import json
import re
from typing import Any

from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util
from homeassistant.util.unit_system import US_CUSTOMARY_SYSTEM
import pytest
from syrupy.assertion import SnapshotAssertion

from custom_components.bike_tracker.responses import bike_of, texts
from custom_components.bike_tracker.responses.where import where
from custom_components.bike_tracker.tracking.occurrences import Occurrence

from ..conftest import EMAIL, RED, Bikes
from ..riding import async_ride, go, riding
from ..static.project import INTEGRATION
from ..tools.simulator.world import DEFAULT_LATITUDE, DEFAULT_LONGITUDE
from .conftest import RIDES, WHERE, Ask, expose

pytestmark = pytest.mark.usefixtures("exposed")


async def test_at_work(ask: Ask) -> None:
    """In a zone, the answer has the zone's name, and the bike's distance and direction from home."""
    [bike] = await ask(name="Red bike")
    assert bike == {
        "name": "Red bike",
        "place": "Work",
        "latitude": round(DEFAULT_LATITUDE, 4),
        "longitude": round(DEFAULT_LONGITUDE, 4),
        "distance_from_home": "2.0 km",
        "direction_from_home": "north",
        "position_time": "2026-11-20T13:00:00+01:00",
        "position_age": "0 seconds",
        "moving": False,
        "battery": 80,
        "status": "online",
        "guard": "disarmed",
        "guard_text": "Red bike: Not guarded.",
        "last_report_age": "0 seconds",
        "text": "Red bike is at Work, 2.0 km north of home, position from 13:00, "
        "battery 80%.",
    }


@pytest.mark.parametrize(
    ("report", "stands", "end", "guard"),
    [
        ({"motion": True}, 0, ", being moved.", "Being moved"),
        ({"motion": True}, 6, ", was moved.", "Was moved"),
        ({"attributes": {"alarm": "tow"}}, 6, ", alarm.", "Alarm"),
    ],
)
async def test_guarded(
    bikes: Bikes, ask: Ask, report: dict[str, Any], stands: int, end: str, guard: str
) -> None:
    """The answer shows whether the guard is armed or triggered. The text about a triggered guard ends with the cause.

    Five minutes after the bike was moved, the text says so. If a moving bike is guarded
    again, the text says when.
    """
    await bikes.async_guard()
    [bike] = await ask()
    assert bike["guard"] == "armed"
    assert bike["guard_text"] == "Red bike: Guarded."
    assert bike["text"].endswith(", guarded.")
    await bikes.poll()
    for sent in (report, *[{"motion": False}] * stands):
        await bikes.async_report(**sent)
    [bike] = await ask()
    assert bike["guard"] == "triggered"
    assert bike["text"].endswith(end)
    assert bike["guard_text"] == f"Red bike: {guard}."
    red = bike_of(bikes.hass, bikes.device().id)
    assert red
    values = where(bikes.hass, red)
    assert values["guard_changed_by"] is None
    await bikes.async_guard()
    [bike] = await ask()
    again = "It will be guarded again once it has stood for five minutes."
    for said in (bike["text"], bike["guard_text"]):
        assert said.endswith(again) is (guard == "Being moved")


async def test_at_home(bikes: Bikes, ask: Ask) -> None:
    """A bike at home has no direction from home. Motion below 3 km/h is not shown: it may be noise."""
    home = bikes.hass.config.latitude
    await bikes.async_report(latitude=home, accuracy=5.0, motion=True, speed=1.0)
    assert bikes.value_of("binary_sensor.red_bike_moving") == "off"
    [bike] = await ask()
    assert (bike["place"], bike.get("direction_from_home")) == ("test home", None)
    assert bike["text"].startswith("Red bike is at home, position from")
    assert "moving" not in bike["text"]


@pytest.mark.parametrize(
    ("north", "east", "direction"),
    [
        (0.1, 0, "north"),
        (0.1, 0.15, "north_east"),
        (0.001, 0.1, "east"),
        (-0.1, 0.15, "south_east"),
        (-0.1, 0.001, "south"),
        (-0.1, -0.15, "south_west"),
        (-0.001, -0.1, "west"),
        (0.1, -0.15, "north_west"),
    ],
)
async def test_in_no_zone(
    bikes: Bikes, ask: Ask, north: float, east: float, direction: str
) -> None:
    """Outside of zones, the answer has the address and the direction from home."""
    home, address = bikes.hass.config, "Salzstraße 2, Freiburg"
    latitude, longitude = home.latitude + north, home.longitude + east
    await bikes.async_report(latitude=latitude, longitude=longitude, address=address)
    [bike] = await ask()
    assert "place" not in bike
    assert (bike["address"], bike["direction_from_home"]) == (address, direction)
    way = f"{bike['distance_from_home']} {direction.replace('_', '')} of home"
    assert f"is at {address}, {way}" in bike["text"]


async def test_no_position(bikes: Bikes, ask: Ask) -> None:
    """If a tracker has no position, the answer is that its location is unknown."""
    bikes.simulator.add_device("7", name="Green bike", email=EMAIL, latitude=None)
    bikes.simulator.override_field("7", "lastUpdate", None)
    await bikes.poll()
    expose(bikes.hass, "device_tracker.green_bike")
    [bike] = await ask(name="Green bike")
    assert bike == {
        "name": "Green bike",
        "text": "The location of Green bike is unknown.",
        "status": "online",
        "guard_text": "Green bike: Not guarded, its place is not known.",
    }


async def test_age(bikes: Bikes, ask: Ask) -> None:
    """The age of a report is given in words. The age of a report from the future is 0 seconds."""
    await bikes.poll(25 * 3_600 + 60)
    [bike] = await ask()
    assert bike["position_age"] == bike["last_report_age"] == "1 day 1 hour"
    await bikes.async_report(fix_time=dt_util.utcnow() + timedelta(minutes=4))
    [bike] = await ask()
    assert bike["position_age"] == "0 seconds"


async def test_on_a_ride(bikes: Bikes, ask: Ask) -> None:
    """The answers of both tools contain a ride under way, but the sums do not include it.

    Answers contain no serial number, and no place that is more exact than ten meters.
    """
    await async_ride(bikes)
    go(bikes.simulator, 500, **riding(103))
    await bikes.poll()
    [bike] = await ask()
    assert bike["moving"] is True and ", moving, battery" in bike["text"]
    assert bike["on_ride"].keys() == {
        *("started_at", "distance", "duration", "maximum_speed", "start")
    }
    [answer] = await ask(RIDES, name="red bike", days=1)
    [ride] = answer["rides"]
    assert ride["distance"] == answer["total_distance"]
    assert answer["not_over_yet"] == bike["on_ride"]
    assert answer["count"] == 1
    told = json.dumps([bike, answer])
    assert RED not in told
    assert not re.search(r"\d\.\d{5}", told)


async def test_notes(bikes: Bikes, ask: Ask) -> None:
    """If values are old or missing, a note in the answer gives the reason."""

    async def answers() -> list[dict[str, Any]]:
        return [(await ask(tool))[0] for tool in (WHERE, RIDES)]

    bikes.simulator.fault("status-503")
    await bikes.poll()
    where, rides = await answers()
    assert where["place"] == "Work"
    assert where["text"].endswith("the service does not answer at the moment.")
    assert all("does not answer" in answer["note"] for answer in (where, rides))

    bikes.simulator.fault(None)
    bikes.simulator.unassign(EMAIL, RED)
    await bikes.poll(times=2)
    notes = [answer["note"] for answer in await answers()]
    await bikes.hass.config_entries.async_unload(bikes.entry.entry_id)
    for answer in await answers():
        # A sum of zero would claim that the bike was not ridden, so sums are left out.
        assert answer.keys() - {"text", "guard_text"} == {"name", "note"}
        notes.append(answer["note"])
    assert {note.partition(":")[0] for note in notes} == {"No values are available"}


LANGUAGES = [path.stem for path in (INTEGRATION / "translations").iterdir()]
NOWHERE = {
    **dict.fromkeys(("alarm", "distance", "address")),
    **dict.fromkeys(("seen_latitude", "seen_longitude"), 0),
}
WORK = {"seen_latitude": DEFAULT_LATITUDE, "seen_longitude": DEFAULT_LONGITUDE}
FAR = {"cause": "place", "distance": 5_000}
RUE_1 = {**WORK, "seen_latitude": 10.0, "address": "Rue 1"}


def occurrence(kind: Any, minutes: float = 0, /, **attributes: Any) -> Occurrence:
    """Return an occurrence that happened `minutes` ago."""
    now = dt_util.utcnow()
    since = now - timedelta(minutes=minutes)
    return Occurrence(1, kind, now, since, None, attributes)


@pytest.mark.parametrize(
    ("language", "more", "said", "place"),
    [
        ("en", {"cause": "motion"}, "The bike moves", None),
        ("en", {"cause": "alarm", "alarm": "tow"}, "Towed", None),
        ("en", {"cause": "place", "distance": 204}, "670 ft from where it stood", None),
        ("en", FAR, "3.1 mi from where it stood", None),
        ("en", {"cause": "motion", **WORK}, "The bike moves, Work", "Work"),
        ("en", {"cause": "motion", **RUE_1}, "The bike moves, Rue 1", "Rue 1"),
    ],
)
async def test_triggered_guard(
    hass: HomeAssistant, language: str, more: Any, said: str, place: str | None
) -> None:
    """The sentence names the bike and leaves out an unknown place. With imperial units, short distances are in feet."""
    hass.config.units, hass.config.language = US_CUSTOMARY_SYSTEM, language
    triggered = occurrence("guard_triggered", **NOWHERE | more)
    sentence = texts.sentence(hass, "Red bike", triggered)
    now = dt_util.as_local(triggered.since)
    assert sentence == f"Red bike: {said}, {now:%H:%M}"
    assert texts.place_of(hass, triggered) == place


async def test_sentences(hass: HomeAssistant, snapshot: SnapshotAssertion) -> None:
    """The sentence about an occurrence contains its time if the occurrence is at least an hour old.

    A minute is enough for *offline*, which is a lasting state.
    """
    ride = {"distance": 4.25, "duration": 3_900}
    told = [
        *(occurrence("ride_ended", minutes, **ride) for minutes in (59, 60)),
        *(occurrence("ride_started", minutes) for minutes in (59, 60, 1_440)),
        *(occurrence("came_online", minutes) for minutes in (59, 60)),
        *(occurrence("went_offline", minutes) for minutes in (0.9, 1)),
        occurrence("alarm_raised", type="tow", alarm="tow"),
        occurrence("alarm_raised", type="other", alarm="{odd}"),
    ]
    assert [texts.sentence(hass, "Red bike", it) for it in told] == snapshot


async def test_languages(hass: HomeAssistant, snapshot: SnapshotAssertion) -> None:
    """Each language has its decimal sign, comma and full stop. Short distances are rounded to ten meters."""
    said = {}
    fallbacks = ("bn", "cy", "gsw", "hi", "ml", "ta", "te", "th", "ur", "hr")
    for language in sorted([*LANGUAGES, *fallbacks]):
        hass.config.language = language
        await texts.async_load_texts(hass)
        parts = texts.distance(hass, 4.2), texts.speed(hass, 27.4)
        said[language] = texts.as_sentence(hass, parts)
    assert said == snapshot
    meters = {way: texts.short_distance(hass, way) for way in (4, 6, 204, 994, 996)}
    assert list(meters.values()) == ["0 m", "10 m", "200 m", "990 m", "1.0 km"]
