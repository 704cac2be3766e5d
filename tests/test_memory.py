"""What outlives a restart, whoever wrote it and however it looks."""

from datetime import UTC, datetime, timedelta
from typing import Any

from freezegun.api import FrozenDateTimeFactory
from homeassistant.const import CONF_URL
from homeassistant.core import HomeAssistant
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_fire_time_changed,
)

from custom_components.bike_tracker.api import Hardware, Position
from custom_components.bike_tracker.const import DOMAIN
from custom_components.bike_tracker.registry.memory import Memory
from custom_components.bike_tracker.tracking import (
    Alarm,
    Fix,
    Guard,
    Remembered,
    Ride,
    RideEvent,
    RideLog,
    Said,
    Since,
    Story,
    Track,
    Triggered,
)
from custom_components.bike_tracker.tracking.checkpoint import Checkpoint

from .conftest import RED, Poll
from .tools.simulator.server import Simulator

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
LATER = NOON + timedelta(minutes=9, microseconds=1)
PLACE = Fix(NOON, 47.9, 7.8, 5.0, 9.5)
RIDE = Ride(NOON, LATER, 1.5, 20.0, PLACE, PLACE._replace(total=None))
POSITION = Position(
    7, 3, NOON, 47.9, 7.8, 5.0, motion=True, hardware=Hardware(True)
)._replace(address="ä" * 255)
GUARD = Guard(
    *(LATER, PLACE, NOON, NOON),
    is_settled=True,
    moved=False,
    away=(PLACE, PLACE._replace(time=LATER)),
    triggered=Triggered("alarm", NOON, 12.5, LATER, PLACE, "tow"),
)
STORY = Story(
    position=POSITION,
    since=Since(Said(True, NOON), Said(False, LATER, NOON, 4)),
    alarms=(
        Alarm("sos", NOON, None, 2),
        Alarm("tow", None, LATER, 3, NOON),
    ),
    rides=RideLog(
        (RideEvent("started", RIDE, NOON), RideEvent("ended", RIDE, LATER)),
        (RIDE,),
        NOON,
        Checkpoint(Track(total=9.5, seen=PLACE), NOON, True, LATER, RIDE, (RIDE,)),
    ),
    track=Track(total=9.5, place=PLACE, seen=PLACE, heard_at=NOON, ride=RIDE),
    guard=GUARD,
    changed_by="Ada",
)
TIME = "2026-11-20T12:00:00+00:00"
FIX = {
    "time": TIME,
    "latitude": 47.9,
    "longitude": 7.8,
    "accuracy": 5.0,
    "total": 1e305,
}
RODE = {"started_at": TIME, "moved_at": TIME, "distance": 1.5, "maximum_speed": None}
OF_1_1 = {
    "positions": {RED: {"device_id": 7, "id": 3, "latitude": 47.9, "longitude": 7.8}},
    "missing": {},
    "since": {RED: {"online": {"is_so": True, "since": TIME}, "moving": None}},
    "tracks": {RED: {"total": 9.5}},
    "alarms": {RED: {"position_id": 3, "words": ["sos", "tow"], "time": TIME}},
    "hardware": {},
}


FILE = MockConfigEntry(
    domain=DOMAIN, entry_id="file", data={CONF_URL: "https://bikes.example/api"}
)


async def async_load(hass: HomeAssistant, data: Any, storage: dict[str, Any]) -> Any:
    """Return what is read of a file with this in it."""
    storage[f"{DOMAIN}.file"] = {"version": 1, "key": f"{DOMAIN}.file", "data": data}
    return await Memory(hass, FILE).async_recall()


async def test_there_and_back(
    hass: HomeAssistant, hass_storage: dict[str, Any]
) -> None:
    """All of it is as it was."""
    memory = Memory(hass, FILE)
    remembered = await memory.async_recall()
    remembered.stories[RED] = STORY
    remembered.stories["nothing"] = Story(since=Since(Said(False, NOON)))
    remembered.told[RED] = {"alarm": LATER}
    memory.async_save_later()
    await memory.async_close()
    assert await Memory(hass, FILE).async_recall() == remembered


async def test_what_1_1_wrote(
    hass: HomeAssistant, hass_storage: dict[str, Any]
) -> None:
    """Its alarms were told, and what it said last may have been a change."""
    remembered = await async_load(hass, OF_1_1, hass_storage)
    story = remembered.stories[RED]
    assert story.alarms == (Alarm("sos", NOON, None, 3), Alarm("tow", NOON, None, 3))
    assert story.since == Since(Said(True, NOON, None, 1))
    assert story.ride_events == ()
    assert story.position is not None
    assert story.track == Track(total=9.5)
    assert remembered.told == {}


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (
            {"total": 9.5, "place": FIX, "seen": FIX, "heard_at": TIME, "last": RODE},
            Track(
                total=9.5,
                place=Fix(NOON, 47.9, 7.8, 5.0),
                seen=Fix(NOON, 47.9, 7.8, 5.0),
                heard_at=NOON,
                last=Ride(NOON, NOON, 1.5),
            ),
        ),
        ({"total": 9.5, "reported_at": TIME}, Track(total=9.5)),
        ({"total": 1e305, "place": FIX, "seen": FIX, "heard_at": TIME}, None),
        ({"total": None, "reported_at": TIME}, None),
    ],
)
async def test_how_far_it_came_in_1_1(
    hass: HomeAssistant,
    hass_storage: dict[str, Any],
    written: dict[str, Any],
    read: Track | None,
) -> None:
    """It goes on from there, without kilometres that cannot be."""
    data = {**OF_1_1, "tracks": {RED: written}}
    remembered = await async_load(hass, data, hass_storage)
    assert remembered.stories[RED].track == read


JUNK: list[Any] = [
    None,
    7,
    "junk",
    [],
    {},
    [7],
    {"word": 1},
    {"is_so": 1},
    [{"word": 1}],
]


@pytest.mark.parametrize("junk", JUNK)
@pytest.mark.parametrize(
    "part",
    [
        *("positions", "since", "tracks", "alarms"),
        *("rides", "guard", "told"),
    ],
)
async def test_junk(
    hass: HomeAssistant, hass_storage: dict[str, Any], part: str, junk: Any
) -> None:
    """One part that is not readable costs that part."""
    remembered = await async_load(hass, {part: junk}, hass_storage)
    assert remembered.told == {}
    for data in ({part: {RED: junk}}, {**OF_1_1, part: {RED: junk}}):
        remembered = await async_load(hass, data, hass_storage)
        assert remembered.stories.get(RED, Story()).ride_events == ()
        assert not any(remembered.told.values())


async def test_items_that_are_not_readable(
    hass: HomeAssistant, hass_storage: dict[str, Any]
) -> None:
    """One of several costs that one."""
    ride = {"started_at": TIME, "moved_at": TIME, "distance": 1}
    data = {
        **OF_1_1,
        "alarms": {
            RED: [
                {"word": "sos", "report": 1},
                {"word": "sos", "report": "1"},
                {"report": 1},
                "sos",
            ]
        },
        "rides": {
            RED: {
                "events": [
                    {"type": "started", "ride": ride},
                    {"type": "stopped", "ride": ride},
                    {"type": "ended", "ride": {}},
                    None,
                ],
                "checkpoint": {"start": TIME},
            }
        },
        "told": {RED: {"alarm": "now", "ride": TIME}},
    }
    remembered = await async_load(hass, data, hass_storage)
    story = remembered.stories[RED]
    assert [alarm.word for alarm in story.alarms] == ["sos"]
    assert [event.type for event in story.ride_events] == ["started"]
    assert remembered.told == {RED: {"ride": NOON}}


async def test_how_often_it_is_written(
    hass: HomeAssistant,
    hass_storage: dict[str, Any],
    freezer: FrozenDateTimeFactory,
    simulator: Simulator,
    setup: MockConfigEntry,
    poll: Poll,
) -> None:
    """Within ten seconds of a change, and not before, however much changes."""
    key = f"{DOMAIN}.{setup.entry_id}"

    async def async_pass(seconds: float) -> None:
        freezer.tick(timedelta(seconds=seconds))
        async_fire_time_changed(hass)
        await hass.async_block_till_done(wait_background_tasks=True)

    await async_pass(11)
    hass_storage.clear()
    await poll()
    assert key not in hass_storage
    for latitude in (50.0, 51.0):
        simulator.report(RED, latitude=latitude)
        await setup.runtime_data.coordinator.async_refresh()
        await hass.async_block_till_done()
        assert key not in hass_storage
        await async_pass(4)
    await async_pass(4)
    assert hass_storage[key]["data"]["positions"][RED]["latitude"] == 51.0


async def test_nothing_is_written_without_need(
    hass: HomeAssistant, hass_storage: dict[str, Any]
) -> None:
    """Nor after it was closed."""
    memory = Memory(hass, FILE)
    assert await memory.async_recall() == Remembered()
    await memory.async_close()
    memory.async_save_later()
    await hass.async_block_till_done()
    assert not hass_storage


async def test_what_changes_while_it_is_written_now(
    hass: HomeAssistant,
    hass_storage: dict[str, Any],
    freezer: FrozenDateTimeFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is written as well, and so is what changes after that."""
    memory = Memory(hass, FILE)
    content = memory.content

    def change() -> None:
        memory.remembered.told[RED] = {"alarm": NOON}
        memory.async_save_later()

    def change_meanwhile() -> dict[str, Any]:
        written = content()
        hass.loop.call_soon_threadsafe(change)
        return written

    with monkeypatch.context() as patch:
        patch.setattr(memory, "content", change_meanwhile)
        await memory.async_save_now()
    assert hass_storage[memory.key]["data"]["told"] == {}

    freezer.tick(timedelta(seconds=11))
    async_fire_time_changed(hass)
    await hass.async_block_till_done()
    assert hass_storage[memory.key]["data"]["told"].keys() == {RED}


@pytest.mark.parametrize(
    ("lost", "left"),
    [
        ("place", None),
        ("after", None),
        ("armed_at", None),
        ("triggered", GUARD._replace(triggered=None)),
        ("away", GUARD._replace(away=())),
    ],
)
async def test_guard_that_is_not_readable(
    hass: HomeAssistant, hass_storage: dict[str, Any], lost: str, left: Guard | None
) -> None:
    """Without what it needs there is none, and else it costs what is lost."""
    memory = Memory(hass, FILE)
    (await memory.async_recall()).stories[RED] = STORY
    await memory.async_save_now()
    data = hass_storage[f"{DOMAIN}.file"]["data"]
    for junk in (None, "junk", {"cause": "junk"}):
        data["guard"][RED][lost] = junk
        remembered = await async_load(hass, data, hass_storage)
        assert remembered.stories[RED].guard == left
