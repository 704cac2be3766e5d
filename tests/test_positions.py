"""Where the trackers are, as far as the service says."""

from collections.abc import AsyncIterator
import copy
from datetime import datetime, timedelta
from itertools import pairwise
import json
from typing import Any, TypedDict

from freezegun.api import FrozenDateTimeFactory
from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import (
    EVENT_HOMEASSISTANT_STARTED,
    STATE_UNAVAILABLE,
    STATE_UNKNOWN,
    Platform,
)
from homeassistant.core import CoreState, HomeAssistant, State
from homeassistant.helpers import device_registry as dr
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from homeassistant.util.unit_system import US_CUSTOMARY_SYSTEM
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_mock_service,
)

from custom_components.bike_tracker.api import TrackingClient
from custom_components.bike_tracker.const import DOMAIN

from .conftest import BLUE, EMAIL, PASSWORD, RED, MakeEntry, Poll, StateOf, async_setup
from .simulator.server import Simulator
from .simulator.world import DEFAULT_LATITUDE, DEFAULT_LONGITUDE


class Where(TypedDict):
    """A place on the map."""

    latitude: float
    longitude: float


AT_HOME = (DEFAULT_LATITUDE, DEFAULT_LONGITUDE)
HOME = Where(latitude=DEFAULT_LATITUDE, longitude=DEFAULT_LONGITUDE)
AWAY = Where(latitude=48.1, longitude=7.9)
NOT_OFFERED = [
    "status-400",
    "status-401",
    "status-403",
    "status-404",
    "status-204",
    "html",
    "json-object",
    "redirect-302-same",
]
PASSING = ["status-500", "status-503", "status-429", "status-408", "reset-mid-body"]
POSITION_ENTITIES = [
    (Platform.SENSOR, "position_time"),
    (Platform.SENSOR, "battery"),
    (Platform.SENSOR, "speed"),
    (Platform.SENSOR, "altitude"),
    (Platform.SENSOR, "course"),
    (Platform.BINARY_SENSOR, "motion"),
]


@pytest.fixture(autouse=True)
async def home(hass: HomeAssistant, all_enabled: None) -> None:
    """Put Home Assistant's home where the trackers begin, and show all there is."""
    await hass.config.async_update(**HOME)
    assert await async_setup_component(hass, "zone", {})


def asked(simulator: Simulator) -> dict[str, int]:
    """Return how often each call was asked for."""
    return {
        call: simulator.record.counts[f"/api/{call}"]
        for call in ("devices", "positions")
    }


def place(state: State | None) -> tuple[float | None, float | None]:
    """Return the coordinates in a state."""
    assert state is not None
    return state.attributes.get("latitude"), state.attributes.get("longitude")


@pytest.mark.usefixtures("setup")
async def test_idle_polls_ask_for_no_positions(
    simulator: Simulator, poll: Poll
) -> None:
    """100 idle polls are 100 requests; after one tracker reported, positions are asked once."""
    simulator.record.clear()

    for _ in range(100):
        await poll()
    assert asked(simulator) == {"devices": 100, "positions": 0}

    simulator.report(RED, **AWAY)
    for _ in range(10):
        await poll()
    assert asked(simulator) == {"devices": 110, "positions": 1}


@pytest.mark.usefixtures("setup")
async def test_tracker_moves(
    simulator: Simulator, poll: Poll, state_of: StateOf
) -> None:
    """A tracker enters and leaves zones."""
    state = state_of(RED)
    assert state is not None
    assert state.state == "home"

    simulator.report(RED, **AWAY, accuracy=12.5)
    await poll()

    state = state_of(RED)
    assert state is not None
    assert state.state == "not_home"
    assert place(state) == (48.1, 7.9)
    assert state.attributes["gps_accuracy"] == 12.5
    assert state.attributes["source_type"] == "gps"


@pytest.mark.usefixtures("setup")
async def test_only_what_changed_is_written(
    simulator: Simulator, poll: Poll, writes: list[str]
) -> None:
    """A report that changes the battery alone writes the battery, times and ID alone."""
    await poll()
    simulator.report(RED, battery_level=79)
    writes.clear()

    await poll()

    assert sorted(writes) == [
        "sensor.red_bike_battery",
        "sensor.red_bike_last_update",
        "sensor.red_bike_position_id",
        "sensor.red_bike_position_time",
    ]


async def test_documented_service_alone(
    hass: HomeAssistant,
    simulator: Simulator,
    entry: MockConfigEntry,
    poll: Poll,
    state_of: StateOf,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Without positions all else works, trackers are unknown, and the log is quiet."""
    simulator.fault("status-404", path="positions")
    await async_setup(hass, entry)
    simulator.set_status(RED, "offline")
    await poll()

    tracker = state_of(RED)
    online = state_of(f"{RED}_online", Platform.BINARY_SENSOR)
    assert tracker is not None
    assert online is not None
    assert tracker.state == STATE_UNKNOWN
    assert online.state == "off"
    for platform, key in POSITION_ENTITIES:
        assert state_of(f"{RED}_{key}", platform) is None
    assert not [
        record.message
        for record in caplog.records
        if record.levelname in ("WARNING", "ERROR") and DOMAIN in record.name
    ]


@pytest.mark.parametrize("fault", NOT_OFFERED)
async def test_not_offered(
    hass: HomeAssistant,
    simulator: Simulator,
    entry: MockConfigEntry,
    poll: Poll,
    state_of: StateOf,
    fault: str,
) -> None:
    """Such an answer is taken for an hour; it fails no poll and starts no sign-in."""
    simulator.fault(fault, path="positions")
    await async_setup(hass, entry)
    for _ in range(50):
        simulator.report(RED, **AWAY)
        await poll()
    assert entry.state is ConfigEntryState.LOADED
    assert asked(simulator)["positions"] == 1
    assert not hass.config_entries.flow.async_progress()

    simulator.fault(None)
    for _ in range(10):
        await poll()
    assert asked(simulator)["positions"] == 2
    assert place(state_of(RED)) == (48.1, 7.9)


@pytest.mark.parametrize("fault", NOT_OFFERED + PASSING)
@pytest.mark.parametrize("steps", [1, 60, 24 * 12])
@pytest.mark.usefixtures("setup")
async def test_offered(
    simulator: Simulator, poll: Poll, state_of: StateOf, fault: str, steps: int
) -> None:
    """A service that answered once is asked again within minutes, whatever it said since."""
    simulator.fault(fault, path="positions")
    simulator.report(RED, **AWAY)
    for _ in range(steps):
        await poll(300 if steps > 60 else 60)
    state = state_of(RED)
    assert state is not None
    assert state.state == "home"

    simulator.fault(None)
    for _ in range(5):
        await poll()

    assert place(state_of(RED)) == (48.1, 7.9)


@pytest.mark.parametrize("fault", NOT_OFFERED + PASSING)
async def test_offered_before_a_restart(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    state_of: StateOf,
    fault: str,
) -> None:
    """What a service answered then counts as well."""
    await hass.config_entries.async_unload(setup.entry_id)
    simulator.fault(fault, path="positions")
    simulator.report(RED, **AWAY)
    await async_setup(hass, setup)
    for _ in range(30):
        await poll()
    state = state_of(RED)
    assert state is not None
    assert state.state == "home"

    simulator.fault(None)
    for _ in range(5):
        await poll()

    assert place(state_of(RED)) == (48.1, 7.9)


@pytest.mark.parametrize("fault", ["status-404", "status-500"])
@pytest.mark.usefixtures("setup")
async def test_log_of_positions_that_fail(
    simulator: Simulator, poll: Poll, caplog: pytest.LogCaptureFixture, fault: str
) -> None:
    """One line when it begins, one when it ends."""
    name = f"127.0.0.1 (port {simulator.port})"
    for _ in range(2):
        caplog.clear()
        simulator.fault(fault, path="positions")
        simulator.report(RED)
        for _ in range(30):
            await poll()
        simulator.fault(None)
        for _ in range(5):
            await poll()
        assert [
            (record.levelname, record.getMessage())
            for record in caplog.records
            if "ositions" in record.getMessage() and record.levelname != "DEBUG"
        ] == [
            (
                "WARNING",
                f"{name}: Positions cannot be fetched ({fault.replace('-', ' ')}); "
                "trackers stay where they were",
            ),
            ("INFO", f"{name}: Positions are fetched again"),
        ]


@pytest.mark.usefixtures("setup")
async def test_every_other_request_fails(
    simulator: Simulator, poll: Poll, state_of: StateOf
) -> None:
    """Trackers move although the list gets all good answers: positions get a second try."""
    simulator.record.clear()
    for step in range(20):
        simulator.report(RED, latitude=48.1 + step / 100)
        for _ in range(2):
            simulator.fault("status-503", path="positions", times=1)
            await poll()
        assert place(state_of(RED))[0] == pytest.approx(48.1 + step / 100)
    assert asked(simulator)["devices"] == 40
    assert asked(simulator)["positions"] <= 60


async def test_not_offered_until_reload(
    hass: HomeAssistant,
    simulator: Simulator,
    entry: MockConfigEntry,
    state_of: StateOf,
) -> None:
    """A reload asks again."""
    simulator.fault("status-404", path="positions")
    await async_setup(hass, entry)
    simulator.fault(None)

    await hass.config_entries.async_reload(entry.entry_id)
    await hass.async_block_till_done(wait_background_tasks=True)

    assert place(state_of(RED)) == AT_HOME


@pytest.mark.parametrize("fault", NOT_OFFERED + PASSING)
@pytest.mark.usefixtures("setup")
async def test_known_position_is_kept(
    simulator: Simulator, poll: Poll, state_of: StateOf, fault: str
) -> None:
    """A tracker at home whose position lookup fails for an hour does not leave home."""
    simulator.fault(fault, path="positions")

    for _ in range(12):
        simulator.report(RED, **AWAY)
        await poll(300)
        state = state_of(RED)
        assert state is not None
        assert state.state == "home"


@pytest.mark.parametrize("fault", PASSING)
@pytest.mark.usefixtures("setup")
async def test_passing_failure(
    simulator: Simulator, poll: Poll, state_of: StateOf, fault: str
) -> None:
    """After a passing failure the lookup is tried again, at last every five minutes."""
    simulator.record.clear()
    simulator.fault(fault, path="positions")
    simulator.report(RED, **AWAY)
    for _ in range(60):
        await poll()
    assert asked(simulator)["devices"] == 60
    # Each time with a second try, and once more by aiohttp where a connection broke.
    assert 20 <= asked(simulator)["positions"] <= 56

    simulator.fault(None)
    for _ in range(5):
        await poll()
    assert place(state_of(RED)) == (48.1, 7.9)


@pytest.mark.usefixtures("setup")
async def test_passing_failure_after_a_success(
    simulator: Simulator, poll: Poll
) -> None:
    """Once the lookup went well, the wait after a failure is the shortest again."""
    simulator.fault("status-503", path="positions")
    simulator.report(RED, **AWAY)
    for _ in range(8):
        await poll()
    simulator.fault(None)
    for _ in range(5):
        await poll()

    simulator.fault("status-503", path="positions")
    simulator.report(RED, **HOME)
    asked_in = []
    for minute in range(1, 8):
        before = asked(simulator)["positions"]
        await poll()
        if asked(simulator)["positions"] > before:
            asked_in.append(minute)

    assert asked_in == [1, 2, 4]


@pytest.mark.usefixtures("setup")
async def test_retry_after_of_positions(simulator: Simulator, poll: Poll) -> None:
    """A server that asks to wait is asked after that time."""
    simulator.fault("status-429-seconds", path="positions", retry_after="600")
    simulator.report(RED, **AWAY)
    simulator.record.clear()

    for _ in range(9):
        await poll()
    assert asked(simulator)["positions"] == 1
    for _ in range(3):
        await poll()
    assert asked(simulator)["positions"] == 2


@pytest.mark.usefixtures("setup")
async def test_vanished_position(
    simulator: Simulator, poll: Poll, state_of: StateOf
) -> None:
    """A position that a server drops as too old is still the last known one."""
    simulator.forget_position(RED)
    simulator.report(BLUE, **AWAY)

    await poll()

    assert place(state_of(RED)) == AT_HOME
    assert place(state_of(BLUE)) == (48.1, 7.9)


def asked_by_id(simulator: Simulator) -> list[str]:
    """Return the queries by which positions were asked for."""
    return [request.query for request in simulator.requests if request.query]


@pytest.fixture
async def traccar() -> AsyncIterator[Simulator]:
    """Return a server that leaves positions of more than 90 days ago out of the list."""
    async with Simulator(kind="6.14.5") as traccar:
        traccar.add_account(EMAIL, PASSWORD)
        for tracker in (RED, BLUE):
            traccar.add_device(tracker, email=EMAIL)
        yield traccar


@pytest.fixture
def traccar_entry(traccar: Simulator, make_entry: MakeEntry) -> MockConfigEntry:
    """Return the entry of the account there, not set up yet."""
    return make_entry(url=traccar.url)


def long_ago() -> datetime:
    """Return a moment that is more than 90 days ago."""
    return dt_util.utcnow() - timedelta(days=100)


async def test_old_position_that_is_not_in_the_list(
    hass: HomeAssistant,
    traccar: Simulator,
    traccar_entry: MockConfigEntry,
    poll: Poll,
    state_of: StateOf,
) -> None:
    """A bike in the cellar has its place and its battery: they are asked for by ID."""
    position = traccar.report(RED, **AWAY, battery_level=7, fix_time=long_ago())
    await async_setup(hass, traccar_entry)
    for _ in range(60):
        await poll()

    battery = state_of(f"{RED}_battery", Platform.SENSOR)
    assert battery is not None
    assert battery.state == "7"
    assert place(state_of(RED)) == (48.1, 7.9)
    assert asked_by_id(traccar) == [f"id={position.id}"]


@pytest.mark.usefixtures("setup")
async def test_announced_position_that_comes_late(
    simulator: Simulator, poll: Poll, state_of: StateOf
) -> None:
    """A position that the list announces before it is there shows within minutes."""
    for minutes in (1, 30, 50):
        position = simulator.report(RED, **(AWAY if minutes != 30 else HOME))
        simulator.devices[RED].position = None
        simulator.touch([RED])
        for _ in range(minutes):
            await poll()
        simulator.devices[RED].position = position
        simulator.touch([RED])

        for _ in range(5):
            await poll()

        assert place(state_of(RED)) == (position.latitude, position.longitude)


@pytest.mark.parametrize("vanished", [True, False])
@pytest.mark.usefixtures("setup")
async def test_new_position_that_is_not_there(
    simulator: Simulator, poll: Poll, state_of: StateOf, vanished: bool
) -> None:
    """What the server never tells is asked for in growing waits, at last hourly."""
    if vanished:
        simulator.forget_position(RED)
    simulator.override_field(RED, "positionId", 4711)
    simulator.record.clear()
    for _ in range(61):
        await poll()
    # After 1, 2, 4, 5, 5 … minutes, by ID never twice in ten minutes.
    assert 13 <= asked(simulator)["positions"] - len(asked_by_id(simulator)) <= 17
    assert len(asked_by_id(simulator)) <= 6
    assert asked_by_id(simulator)[0] == "id=4711"
    assert place(state_of(RED)) == AT_HOME

    simulator.record.clear()
    for _ in range(24 * 12):
        await poll(300)
    assert 23 <= asked(simulator)["positions"] - len(asked_by_id(simulator)) <= 27

    # Another one that is announced is asked for at once.
    simulator.clear_overrides(RED)
    simulator.report(RED, **AWAY)
    await poll()
    assert place(state_of(RED)) == (48.1, 7.9)


@pytest.mark.usefixtures("setup")
async def test_others_while_a_position_is_lacking(
    simulator: Simulator, poll: Poll, state_of: StateOf
) -> None:
    """Each of their reports is seen with the next poll, as ever."""
    simulator.override_field(RED, "positionId", 4711)
    for minute in range(70):
        simulator.report(BLUE, latitude=48.1 + minute / 1000)
        await poll()
        assert place(state_of(BLUE))[0] == pytest.approx(48.1 + minute / 1000)
    by_id = [r.time for r in simulator.requests if r.query]
    assert by_id[0] < simulator.requests[0].time + timedelta(minutes=2)
    assert 5 <= len(by_id) <= 7
    assert min(b - a for a, b in pairwise(by_id)) > timedelta(minutes=10)


@pytest.mark.usefixtures("setup")
async def test_all_that_are_lacking_are_asked_for_together(
    simulator: Simulator, poll: Poll
) -> None:
    """At once, and then not again for ten minutes."""
    simulator.override_field(RED, "positionId", 4711)
    simulator.override_field(BLUE, "positionId", 4712)
    for _ in range(9):
        await poll()
    [query] = asked_by_id(simulator)
    assert sorted(query.split("&")) == ["id=4711", "id=4712"]


async def test_two_that_the_server_does_not_have(
    hass: HomeAssistant,
    traccar: Simulator,
    traccar_entry: MockConfigEntry,
    poll: Poll,
    state_of: StateOf,
) -> None:
    """One whose history was deleted hides none that is merely old."""
    traccar.report(RED, **AWAY, fix_time=long_ago())
    traccar.forget_position(BLUE)
    await async_setup(hass, traccar_entry)

    for _ in range(30):
        await poll()

    assert place(state_of(RED)) == (48.1, 7.9)


async def test_many_old_positions(
    hass: HomeAssistant,
    traccar: Simulator,
    traccar_entry: MockConfigEntry,
    state_of: StateOf,
) -> None:
    """They are asked for two hundred at a time: an address has its limits."""
    trackers = [f"35{number:013}" for number in range(250)]
    for tracker in trackers:
        traccar.add_device(tracker, email=EMAIL)
        traccar.report(tracker, fix_time=long_ago())

    await async_setup(hass, traccar_entry)

    assert [query.count("id=") for query in asked_by_id(traccar)] == [200, 50]
    for tracker in trackers:
        assert place(state_of(tracker)) == AT_HOME


async def test_one_among_many_that_the_server_does_not_have(
    hass: HomeAssistant,
    traccar: Simulator,
    traccar_entry: MockConfigEntry,
    poll: Poll,
    state_of: StateOf,
) -> None:
    """It is asked for in ever smaller company, in which all the others are found."""
    trackers = [f"35{number:013}" for number in range(12)]
    for tracker in trackers:
        traccar.add_device(tracker, email=EMAIL)
        traccar.report(tracker, fix_time=long_ago())
    lost, *others = trackers
    traccar.forget_position(lost)
    await async_setup(hass, traccar_entry)

    for _ in range(60):
        await poll()

    assert place(state_of(lost)) == (None, None)
    for tracker in others:
        assert place(state_of(tracker)) == AT_HOME


async def test_more_than_are_asked_for_at_once(
    hass: HomeAssistant,
    traccar: Simulator,
    traccar_entry: MockConfigEntry,
    poll: Poll,
    state_of: StateOf,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All have their turn, though none of the first ones is ever told."""
    gaps = "custom_components.bike_tracker.asking.position_gaps"
    monkeypatch.setattr(f"{gaps}._IDS_AT_A_TIME", 1)
    trackers = [f"35{number:013}" for number in range(6)]
    for tracker in trackers:
        traccar.add_device(tracker, email=EMAIL)
        traccar.report(tracker, fix_time=long_ago())
    for tracker in trackers[:4]:
        traccar.forget_position(tracker)
    await async_setup(hass, traccar_entry)

    for _ in range(30):
        await poll()

    for tracker in trackers[4:]:
        assert place(state_of(tracker)) == AT_HOME


@pytest.mark.parametrize(
    ("fault", "lasts", "right_after"),
    [
        ("status-400", 0, 13),
        ("status-503", 0, 6),
        ("status-503", 100, 6),
        ("reset-mid-body", 5, 6),
    ],
)
async def test_by_id_fails(
    hass: HomeAssistant,
    traccar: Simulator,
    traccar_entry: MockConfigEntry,
    poll: Poll,
    state_of: StateOf,
    monkeypatch: pytest.MonkeyPatch,
    fault: str,
    lasts: int,
    right_after: int,
) -> None:
    """It costs nobody else a thing, and is tried again: soon, unless it was refused."""
    get = TrackingClient.async_get_positions_by_id

    async def _fail(client: TrackingClient, ids: list[int]) -> Any:
        traccar.fault(fault, path="positions")
        try:
            return await get(client, ids)
        finally:
            traccar.fault(None)

    traccar.report(RED, fix_time=long_ago())
    with monkeypatch.context() as patch:
        patch.setattr(TrackingClient, "async_get_positions_by_id", _fail)
        await async_setup(hass, traccar_entry)
        assert place(state_of(RED)) == (None, None)
        assert place(state_of(BLUE)) == AT_HOME
        for _ in range(lasts):
            await poll()

    for _ in range(right_after):
        await poll()
    assert place(state_of(RED)) == AT_HOME


@pytest.mark.usefixtures("setup")
async def test_other_positions_than_those_that_were_asked_for(
    simulator: Simulator,
    poll: Poll,
    state_of: StateOf,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A server that answers by ID with what it likes leads nobody back in time."""
    old = json.dumps(simulator.listed("positions", EMAIL)).encode()
    monkeypatch.setattr(
        "tests.simulator.render.Renderer.positions_by_id", lambda *_: old
    )
    simulator.report(RED, **AWAY)
    simulator.override_field(RED, "positionId", 4711)

    for _ in range(8):
        await poll()
        assert place(state_of(RED)) == (48.1, 7.9)


@pytest.mark.parametrize("year", [1970, 1980])
async def test_never_had_a_fix(
    hass: HomeAssistant,
    simulator: Simulator,
    entry: MockConfigEntry,
    poll: Poll,
    state_of: StateOf,
    year: int,
) -> None:
    """0/0 in 1970 or 1980 is no place; the battery of such a message counts."""
    simulator.report_no_fix(RED, year=year)
    await async_setup(hass, entry)

    state = state_of(RED)
    battery = state_of(f"{RED}_battery", Platform.SENSOR)
    assert state is not None
    assert battery is not None
    assert state.state == STATE_UNKNOWN
    assert battery.state == "80"
    assert state_of(f"{RED}_position_time", Platform.SENSOR) is None

    simulator.report(RED, **HOME)
    await poll()
    state = state_of(RED)
    assert state is not None
    assert state.state == "home"
    assert state_of(f"{RED}_position_time", Platform.SENSOR)


@pytest.mark.parametrize("year", [1970, 1980])
@pytest.mark.usefixtures("setup")
async def test_loses_its_fix(
    simulator: Simulator, poll: Poll, state_of: StateOf, year: int
) -> None:
    """A message without a fix leaves the tracker where it was, and updates the battery."""
    before = state_of(f"{RED}_position_time", Platform.SENSOR)
    simulator.report_no_fix(RED, year=year)
    simulator.report(
        RED,
        latitude=0.0,
        longitude=0.0,
        valid=False,
        battery_level=12,
        fix_time=dt_util.utc_from_timestamp(0),
    )

    await poll()

    state = state_of(RED)
    battery = state_of(f"{RED}_battery", Platform.SENSOR)
    assert state is not None
    assert battery is not None
    assert before is not None
    assert state.state == "home"
    assert battery.state == "12"
    assert state_of(f"{RED}_position_time", Platform.SENSOR) == before


@pytest.mark.usefixtures("setup")
async def test_message_that_repeats_a_fix(
    simulator: Simulator, poll: Poll, state_of: StateOf
) -> None:
    """It leaves the place, and says nothing any more of how the tracker moves."""
    fix = simulator.report(RED, **AWAY, speed=10.0, altitude=100.0)
    await poll()
    simulator.report(RED, valid=False, fix_time=fix.fix_time, battery_level=12)
    await poll()

    assert place(state_of(RED)) == (48.1, 7.9)
    for key, value in (
        ("speed", STATE_UNKNOWN),
        ("altitude", STATE_UNKNOWN),
        ("battery", "12"),
    ):
        state = state_of(f"{RED}_{key}", Platform.SENSOR)
        assert state is not None
        assert state.state == value


@pytest.mark.parametrize("accuracy", [5_001.0, 50_000.0])
@pytest.mark.usefixtures("setup")
async def test_place_by_cell_towers(
    simulator: Simulator, poll: Poll, state_of: StateOf, accuracy: float
) -> None:
    """A place that may be a county away is none: the last known one stays."""
    simulator.report(RED, **AWAY, accuracy=10.0)
    await poll()
    simulator.report(RED, latitude=48.2, accuracy=accuracy, battery_level=12)
    await poll()

    state = state_of(RED)
    battery = state_of(f"{RED}_battery", Platform.SENSOR)
    assert state is not None
    assert battery is not None
    assert state.state == "not_home"
    assert place(state) == (48.1, 7.9)
    assert state.attributes["gps_accuracy"] == 10.0
    assert battery.state == "12"


@pytest.mark.usefixtures("setup")
async def test_message_without_battery(
    simulator: Simulator, poll: Poll, state_of: StateOf
) -> None:
    """A message that does not speak of the battery does not empty it."""
    simulator.report(RED, **AWAY, attributes={})

    await poll()

    battery = state_of(f"{RED}_battery", Platform.SENSOR)
    motion = state_of(f"{RED}_motion", Platform.BINARY_SENSOR)
    assert battery is not None
    assert motion is not None
    assert battery.state == "80"
    assert motion.state == STATE_UNKNOWN
    assert place(state_of(RED)) == (48.1, 7.9)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("latitude", 91.0),
        ("latitude", None),
        ("latitude", "47.9"),
        ("longitude", -180.5),
        ("longitude", True),
    ],
)
async def test_impossible_coordinates(
    hass: HomeAssistant,
    simulator: Simulator,
    entry: MockConfigEntry,
    state_of: StateOf,
    field: str,
    value: Any,
) -> None:
    """Coordinates that are no place on earth are no place."""
    simulator.override_position(RED, field, value)

    await async_setup(hass, entry)

    state = state_of(RED)
    assert state is not None
    assert state.state == STATE_UNKNOWN
    assert place(state_of(BLUE)) == AT_HOME


@pytest.mark.parametrize("offset", ["+0000", "+00:00", "Z"])
async def test_dates(
    hass: HomeAssistant,
    simulator: Simulator,
    entry: MockConfigEntry,
    state_of: StateOf,
    offset: str,
) -> None:
    """Timestamps are read in every way such servers write them."""
    simulator.set_offset(RED, offset)
    moment = dt_util.parse_datetime("2026-11-19T20:15:00.250+00:00")
    simulator.report(RED, fix_time=moment, last_update=moment)

    await async_setup(hass, entry)

    for key in ("last_update", "position_time"):
        state = state_of(f"{RED}_{key}", Platform.SENSOR)
        assert state is not None
        assert state.state == "2026-11-19T20:15:00+00:00"


async def test_no_attributes_at_all(
    hass: HomeAssistant,
    simulator: Simulator,
    entry: MockConfigEntry,
    state_of: StateOf,
) -> None:
    """A tracker that reports neither battery nor motion has no entities for them."""
    simulator.override_position(RED, "attributes", None)

    await async_setup(hass, entry)

    assert state_of(f"{RED}_battery", Platform.SENSOR) is None
    assert state_of(f"{RED}_motion", Platform.BINARY_SENSOR) is None
    assert state_of(f"{BLUE}_battery", Platform.SENSOR)


async def test_entities_of_what_is_reported_later(
    hass: HomeAssistant,
    simulator: Simulator,
    entry: MockConfigEntry,
    poll: Poll,
    state_of: StateOf,
) -> None:
    """A tracker that begins to report its battery gets the entity without a reload."""
    simulator.report(RED, attributes={})
    await async_setup(hass, entry)
    assert state_of(f"{RED}_battery", Platform.SENSOR) is None

    simulator.report(RED, battery_level=50)
    await poll()

    state = state_of(f"{RED}_battery", Platform.SENSOR)
    assert state is not None
    assert state.state == "50"


async def test_position_of_nobody(
    hass: HomeAssistant,
    simulator: Simulator,
    entry: MockConfigEntry,
    state_of: StateOf,
) -> None:
    """A position of a device that is not listed belongs to nobody."""
    simulator.add_stray_position(99, 10.0, 10.0)

    await async_setup(hass, entry)

    assert len(hass.states.async_entity_ids("device_tracker")) == 2
    assert place(state_of(RED)) == AT_HOME


@pytest.mark.parametrize("position_id", [0, None])
async def test_no_position_id(
    hass: HomeAssistant,
    simulator: Simulator,
    entry: MockConfigEntry,
    state_of: StateOf,
    position_id: int | None,
) -> None:
    """A `positionId` of 0 or null is none, and nothing to ask for."""
    for tracker in (RED, BLUE):
        simulator.override_field(tracker, "positionId", position_id)

    await async_setup(hass, entry)

    assert asked(simulator)["positions"] == 0
    state = state_of(RED)
    assert state is not None
    assert state.state == STATE_UNKNOWN


async def test_no_internal_id(
    hass: HomeAssistant,
    simulator: Simulator,
    entry: MockConfigEntry,
    state_of: StateOf,
) -> None:
    """Without its internal `id` a tracker has no position, and all else."""
    simulator.override_field(RED, "id")

    await async_setup(hass, entry)

    tracker = state_of(RED)
    online = state_of(f"{RED}_online", Platform.BINARY_SENSOR)
    assert tracker is not None
    assert online is not None
    assert tracker.state == STATE_UNKNOWN
    assert online.state == "on"
    assert place(state_of(BLUE)) == AT_HOME


@pytest.mark.usefixtures("setup")
@pytest.mark.parametrize("internal_id", [None, "shared"])
async def test_internal_id_that_leads_nowhere(
    simulator: Simulator, poll: Poll, state_of: StateOf, internal_id: str | None
) -> None:
    """Without an `id` of its own a tracker stays where it was, and then is found again."""
    shared = simulator.devices[BLUE].id if internal_id else None
    simulator.override_field(RED, "id", shared)
    simulator.report(RED, **AWAY)
    simulator.add_device("860000000000033", name="Green bike", email=EMAIL)
    await poll()
    assert asked(simulator)["positions"] == 2
    assert place(state_of(RED)) == AT_HOME
    assert place(state_of(BLUE)) == AT_HOME

    simulator.clear_overrides(RED)
    await poll()
    assert place(state_of(RED)) == (AWAY["latitude"], AWAY["longitude"])
    assert place(state_of(BLUE)) == AT_HOME


async def test_units(
    hass: HomeAssistant,
    simulator: Simulator,
    entry: MockConfigEntry,
    state_of: StateOf,
) -> None:
    """Knots become km/h; people with miles and feet get those."""
    hass.config.units = US_CUSTOMARY_SYSTEM
    simulator.report(RED, speed=10.0, altitude=100.0)

    await async_setup(hass, entry)

    speed = state_of(f"{RED}_speed", Platform.SENSOR)
    altitude = state_of(f"{RED}_altitude", Platform.SENSOR)
    assert speed is not None
    assert altitude is not None
    assert speed.attributes["unit_of_measurement"] == "mph"
    assert float(speed.state) == pytest.approx(11.508, abs=0.01)
    assert altitude.attributes["unit_of_measurement"] == "ft"
    assert float(altitude.state) == pytest.approx(328.08, abs=0.01)


async def async_watch_for_leaving(
    hass: HomeAssistant, entry: MockConfigEntry
) -> list[Any]:
    """Set up an automation on the red bike's device; return what it does."""
    device = dr.async_get(hass).async_get_device_by_identifier(
        (DOMAIN, RED), entry.entry_id
    )
    assert device is not None
    calls = async_mock_service(hass, "notify", "theft")
    assert await async_setup_component(
        hass,
        "automation",
        {
            "automation": {
                "triggers": {
                    "trigger": "zone.left",
                    "target": {"device_id": device.id},
                    "options": {"zone": "zone.home"},
                },
                "actions": {"action": "notify.theft"},
            }
        },
    )
    await hass.async_block_till_done()
    return calls


async def test_ride_away(
    hass: HomeAssistant, setup: MockConfigEntry, simulator: Simulator, poll: Poll
) -> None:
    """A ride away fires an automation on the device exactly once."""
    calls = await async_watch_for_leaving(hass, setup)

    for step in range(5):
        simulator.report(RED, latitude=48.1 + step / 100, longitude=7.9)
        await poll()

    assert len(calls) == 1


async def test_ride_away_during_an_outage(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    state_of: StateOf,
) -> None:
    """A ride that begins while the server is down is noticed seconds after it is back."""
    calls = await async_watch_for_leaving(hass, setup)
    simulator.fault("status-503")
    await poll()
    simulator.report(RED, **AWAY)
    simulator.fault(None)
    await poll()
    assert place(state_of(RED)) == AT_HOME
    requests = len(simulator.requests)

    await poll(5)

    assert len(calls) == 1
    assert place(state_of(RED)) == (48.1, 7.9)
    assert len(simulator.requests) == requests


async def test_outage_in_the_seconds_after_an_outage(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    state_of: StateOf,
) -> None:
    """A tracker that had no time to move comes back where it was once more."""
    calls = await async_watch_for_leaving(hass, setup)
    simulator.fault("status-503")
    await poll()
    simulator.report(RED, **AWAY)
    simulator.fault(None)
    await poll()
    simulator.fault("status-503")
    await setup.runtime_data.coordinator.async_refresh()
    await poll(5)
    state = state_of(RED)
    assert state is not None
    assert state.state == STATE_UNAVAILABLE

    simulator.fault(None)
    await poll()
    assert place(state_of(RED)) == AT_HOME
    await poll(5)

    assert len(calls) == 1
    assert place(state_of(RED)) == (48.1, 7.9)


@pytest.mark.parametrize("reloads", [1, 2])
async def test_ride_away_during_a_reload(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    state_of: StateOf,
    reloads: int,
) -> None:
    """After reloads the tracker is first where it was; seconds later it has left."""
    calls = await async_watch_for_leaving(hass, setup)
    for _ in range(reloads):
        await hass.config_entries.async_unload(setup.entry_id)
        simulator.report(RED, **AWAY)
        await async_setup(hass, setup)
        assert place(state_of(RED)) == AT_HOME
        await poll(1)

    await poll(5)

    assert len(calls) == 1
    state = state_of(RED)
    assert state is not None
    assert state.state == "not_home"


async def test_ride_away_while_home_assistant_starts(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    state_of: StateOf,
) -> None:
    """Until automations run, trackers stay where they were."""
    await hass.config_entries.async_unload(setup.entry_id)
    hass.set_state(CoreState.starting)
    simulator.report(RED, **AWAY)
    simulator.add_device("new", latitude=1.0, longitude=1.0, email=EMAIL)
    await async_setup(hass, setup)
    await poll()
    await poll()
    assert place(state_of(RED)) == AT_HOME
    assert place(state_of("new")) == (1.0, 1.0)

    hass.set_state(CoreState.running)
    hass.bus.async_fire(EVENT_HOMEASSISTANT_STARTED)
    await hass.async_block_till_done()
    assert place(state_of(RED)) == AT_HOME
    requests = len(simulator.requests)
    await poll(5)

    assert place(state_of(RED)) == (48.1, 7.9)
    assert len(simulator.requests) == requests


async def test_ride_away_while_not_listed(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    state_of: StateOf,
) -> None:
    """A tracker that comes back to the account is first where it was."""
    calls = await async_watch_for_leaving(hass, setup)
    simulator.unassign(EMAIL, RED)
    await poll()
    simulator.report(RED, **AWAY)
    simulator.assign(EMAIL, RED)

    await poll()
    assert place(state_of(RED)) == AT_HOME
    await poll(5)

    assert len(calls) == 1


async def test_tracker_that_goes_before_it_moved(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    writes: list[str],
    state_of: StateOf,
) -> None:
    """Nothing is told of one that is not listed any more; it comes back as any other."""
    simulator.fault("status-503")
    await poll()
    simulator.report(RED, **AWAY)
    simulator.fault(None)
    await poll()
    simulator.unassign(EMAIL, RED)
    await setup.runtime_data.coordinator.async_refresh()
    await hass.async_block_till_done(wait_background_tasks=True)
    writes.clear()
    await poll(5)
    assert writes == []

    simulator.assign(EMAIL, RED)
    await poll()
    await poll(5)
    assert place(state_of(RED)) == (48.1, 7.9)


async def test_report_while_a_tracker_is_shown_where_it_was(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    state_of: StateOf,
) -> None:
    """It moves to where it is by then; one that was not away moves at once."""
    simulator.fault("status-503")
    await poll()
    simulator.report(RED, **AWAY)
    simulator.fault(None)
    await poll()
    for tracker in (RED, BLUE):
        simulator.report(tracker, latitude=48.2)
    await setup.runtime_data.coordinator.async_refresh()
    await hass.async_block_till_done(wait_background_tasks=True)
    assert place(state_of(RED)) == AT_HOME
    assert place(state_of(BLUE)) == (48.2, DEFAULT_LONGITUDE)

    await poll(5)

    assert place(state_of(RED)) == (48.2, 7.9)


async def test_restart_with_positions_failing(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    state_of: StateOf,
) -> None:
    """What was known before a restart is known after it, whatever the lookup says."""
    await poll(301)
    await hass.config_entries.async_unload(setup.entry_id)
    simulator.fault("status-404", path="positions")

    await async_setup(hass, setup)

    state = state_of(RED)
    battery = state_of(f"{RED}_battery", Platform.SENSOR)
    time = state_of(f"{RED}_position_time", Platform.SENSOR)
    assert state is not None
    assert battery is not None
    assert time is not None
    assert state.state == "home"
    assert battery.state == "80"
    assert time.state not in (STATE_UNKNOWN, STATE_UNAVAILABLE)


async def test_restart_with_a_time_that_was_not_readable(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    state_of: StateOf,
) -> None:
    """The position is asked for again, also after a restart."""
    simulator.override_position(RED, "fixTime", "soon")
    simulator.report(RED, **AWAY)
    await poll()
    await hass.config_entries.async_unload(setup.entry_id)
    simulator.clear_overrides(RED)

    await async_setup(hass, setup)
    await poll(6)

    time = state_of(f"{RED}_position_time", Platform.SENSOR)
    assert time is not None
    assert time.state not in (STATE_UNKNOWN, STATE_UNAVAILABLE)


async def test_memory_is_written_by_and_by(
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    hass_storage: dict[str, Any],
    freezer: FrozenDateTimeFactory,
) -> None:
    """A position that changed is on disk within minutes, for the case of a power cut."""
    key = f"{DOMAIN}.{setup.entry_id}"
    for step in range(8):
        simulator.report(RED, latitude=48.0 + step)
        freezer.tick(timedelta(seconds=1))
        await poll()

    assert hass_storage[key]["data"]["positions"][RED]["latitude"] >= 51.0


async def test_memory_is_written_again_and_again(
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    hass_storage: dict[str, Any],
) -> None:
    """A position that changed after the first was written is written too."""
    for latitude in (50.0, 51.0, 52.0):
        simulator.report(RED, latitude=latitude)
        for _ in range(10):
            await poll()
        stored = hass_storage[f"{DOMAIN}.{setup.entry_id}"]["data"]
        assert stored["positions"][RED]["latitude"] == latitude


async def test_unloading_without_news(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    poll: Poll,
    hass_storage: dict[str, Any],
) -> None:
    """What is on disk already is not written once more."""
    for _ in range(10):
        await poll()
    del hass_storage[f"{DOMAIN}.{setup.entry_id}"]

    await hass.config_entries.async_unload(setup.entry_id)
    await poll(301)

    assert f"{DOMAIN}.{setup.entry_id}" not in hass_storage


async def test_unloading_with_news(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    hass_storage: dict[str, Any],
) -> None:
    """What is not on disk yet is written at once."""
    for _ in range(10):
        await poll()
    simulator.report(RED, latitude=50.0)
    await poll()

    await hass.config_entries.async_unload(setup.entry_id)

    stored = hass_storage[f"{DOMAIN}.{setup.entry_id}"]["data"]
    assert stored["positions"][RED]["latitude"] == 50.0


async def test_nothing_is_written_after_unloading(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    poll: Poll,
    hass_storage: dict[str, Any],
) -> None:
    """Whoever loads the account next has the file for itself."""
    coordinator = setup.runtime_data.coordinator
    await hass.config_entries.async_unload(setup.entry_id)
    before = copy.deepcopy(hass_storage.get(f"{DOMAIN}.{setup.entry_id}"))

    coordinator.async_forget(RED)
    await poll(301)

    assert hass_storage.get(f"{DOMAIN}.{setup.entry_id}") == before


@pytest.mark.parametrize(
    "stored",
    [
        {},
        [],
        None,
        "x",
        {"positions": [], "missing": {}},
        {"positions": {}, "missing": []},
        {"positions": {RED: {}}, "missing": {}},
        {"positions": {RED: None}, "missing": {}},
        {"positions": {}, "missing": {RED: "long"}},
        {"positions": {}, "missing": {RED: None}},
        {"positions": {RED: {"latitude": 1}}, "missing": {}},
        {"positions": {RED: {"device_id": "1", "id": 1}}},
        {"positions": {RED: {"device_id": 1, "id": None}}},
        {"alarms": []},
        {"alarms": {RED: None}},
        {"hardware": {RED: {"lock": True, "power_voltage": "high", "firmware": 1}}},
        {"alarms": {RED: {"position_id": "1", "words": ["sos"]}}},
        {"alarms": {RED: {"position_id": 1, "words": "sos"}}},
        {"alarms": {RED: {"position_id": 1, "words": [1], "time": "soon"}}},
    ],
)
@pytest.mark.parametrize("version", [1, 2, 99])
async def test_memory_that_cannot_be_read(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    state_of: StateOf,
    hass_storage: dict[str, Any],
    stored: Any,
    version: int,
) -> None:
    """Whatever stands in the file, of whatever version, the trackers are there."""
    remember(hass_storage, entry, stored, version)

    await async_setup(hass, entry)

    assert place(state_of(RED)) == AT_HOME


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("fix_time", "yesterday"),
        ("fix_time", 5),
        ("latitude", "48"),
        ("longitude", None),
        ("latitude", 1e999),
        ("accuracy", "far"),
        ("accuracy", -1),
        ("altitude", []),
        ("speed", "fast"),
        ("course", {}),
        ("battery_level", "full"),
        ("battery_level", 101),
        ("motion", "yes"),
        ("hardware", "yes"),
        ("hardware", {"charge": "yes", "power_voltage": "high", "firmware": 1}),
        ("future", 1),
    ],
)
@pytest.mark.usefixtures("all_enabled")
async def test_memory_with_a_value_of_the_wrong_type(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    simulator: Simulator,
    state_of: StateOf,
    hass_storage: dict[str, Any],
    caplog: pytest.LogCaptureFixture,
    field: str,
    value: Any,
) -> None:
    """It costs that value: no entity and no other tracker, and nothing else of it."""
    good = {
        "device_id": simulator.devices[RED].id,
        "id": simulator.devices[RED].position_id,
        "fix_time": "2026-11-20T06:30:15+00:00",
        "latitude": 48.5,
        "longitude": 7.5,
        "accuracy": 5.0,
        "altitude": 200.0,
        "speed": 10.0,
        "course": 90.0,
        "battery_level": 50,
        "motion": True,
    }
    remember(
        hass_storage,
        entry,
        {"positions": {RED: {**good, field: value}}, field: {RED: value}},
    )

    await async_setup(hass, entry)

    assert not [record for record in caplog.records if record.levelname == "ERROR"]
    has_place = field not in ("latitude", "longitude")
    state = state_of(RED)
    assert place(state) == ((48.5, 7.5) if has_place else (None, None))
    assert state is not None
    assert state_of(f"{RED}_online", Platform.BINARY_SENSOR)
    expected = {
        "battery": "50",
        "speed": "10.0",
        "altitude": "200.0",
        "course": "90.0",
        "position_time": "2026-11-20T06:30:15+00:00",
    }
    for key, shown in expected.items():
        sensor = state_of(f"{RED}_{key}", Platform.SENSOR)
        is_lost = key in field or field == {"position_time": "fix_time"}.get(key)
        if is_lost or (key == "position_time" and not has_place):
            assert sensor is None
        else:
            assert sensor is not None
            assert sensor.state == shown


def remember(
    hass_storage: dict[str, Any], entry: MockConfigEntry, stored: Any, version: int = 1
) -> None:
    """Put a file into the storage of Home Assistant."""
    key = f"{DOMAIN}.{entry.entry_id}"
    hass_storage[key] = {
        "version": version,
        "minor_version": 1,
        "key": key,
        "data": stored,
    }
