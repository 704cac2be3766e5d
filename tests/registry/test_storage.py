"""What outlives a restart: when it is written, and what is read of it."""

import asyncio
from datetime import UTC, datetime, timedelta
import json
from pathlib import Path
from typing import Any, override
from unittest.mock import patch

from homeassistant.components.alarm_control_panel import AlarmControlPanelState
from homeassistant.const import (
    CONF_URL,
    EVENT_HOMEASSISTANT_FINAL_WRITE,
    EVENT_STATE_CHANGED,
    STATE_UNAVAILABLE,
    STATE_UNKNOWN,
    Platform,
)
from homeassistant.core import CoreState, HomeAssistant
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.helpers.storage import Store
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_capture_events,
    async_fire_time_changed,
)

from custom_components.bike_tracker.api.models import Position
from custom_components.bike_tracker.const import DOMAIN
from custom_components.bike_tracker.coordinator import SIGNAL_OCCURRED
from custom_components.bike_tracker.registry.storage import Evaluation, TrackerStore
from custom_components.bike_tracker.tracking.announce import Announced
from custom_components.bike_tracker.tracking.distance import Fix
from custom_components.bike_tracker.tracking.guard import Clock, Guard, Triggered
from custom_components.bike_tracker.tracking.log import Core, Gap, Input, Log
from custom_components.bike_tracker.tracking.occurrences import Alarm, Occurrence
from custom_components.bike_tracker.tracking.ride_state import Drift, Ride, RideState
from custom_components.bike_tracker.tracking.state import Flag, Rearming, TrackerState

from ..conftest import BLUE, BOB, PASSWORD, RED, Bikes, MakeEntry, async_setup

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
LATER = NOON + timedelta(minutes=9, microseconds=1)
PLACE = Fix(NOON, 47.9, 7.8, 5.0, 9.5)
RIDE = Ride(NOON, LATER, 1.5, 20.0, PLACE, PLACE._replace(total=None))
POSITION = Position(7, 3, NOON, 47.9, 7.8, 5.0, motion=True, charge=True)._replace(
    address="ä" * 255
)
GUARD = Guard(
    *(LATER, PLACE, NOON),
    is_settled=True,
    moved=False,
    away=(NOON, LATER),
    triggered=Triggered("alarm", NOON, 12.5, PLACE, "tow"),
)
STORY = TrackerState(
    position=POSITION,
    online=Flag(True, NOON),
    moving=Flag(False, LATER, NOON),
    alarms=(Alarm("sos", 2, None), Alarm("tow", 3, NOON)),
    log=Log(
        Core(
            RideState(
                *(9.5, PLACE, PLACE, PLACE, PLACE, NOON, 12.5, (Drift(PLACE, NOON),)),
                *(NOON, NOON, True, RIDE, RIDE, (RIDE,)),
            ),
            GUARD,
            Clock(NOON, 12.5, 12.5),
        ),
        NOON,
        7,
        (Input(NOON, 7, 2, is_snapshot=True, core=Core(RideState(ride=RIDE))),),
        Gap(NOON, True, LATER, True),
        LATER,
    ),
    is_silent=True,
    announced=(Announced(NOON, LATER, True),),
    quiet_until=NOON,
    highest_total=9.5,
    rearming=Rearming(NOON, "Ada"),
    guard=GUARD,
    changed_by="Ada",
    occurrences=(
        Occurrence(2, "stopped_moving", LATER, LATER, NOON),
        Occurrence(3, "alarm_raised", LATER, NOON, attributes={"type": "tow"}),
    ),
)
FILE = MockConfigEntry(
    domain=DOMAIN, entry_id="file", data={CONF_URL: "https://bikes.example/api"}
)


def key_of(entry: MockConfigEntry) -> str:
    """Return the name of an account's file."""
    return f"{DOMAIN}.{entry.entry_id}"


async def async_read(hass: HomeAssistant) -> TrackerStore:
    """Return the file once it is read."""
    store = TrackerStore(hass, FILE)
    await store.async_read()
    return store


def all_of(store: TrackerStore) -> tuple[object, ...]:
    """Return what a file held."""
    return store.trackers, store.last_fired, store.evaluation


async def test_there_and_back(
    hass: HomeAssistant, hass_storage: dict[str, Any]
) -> None:
    """All of it is as it was, but for changes that were fired."""
    store = await async_read(hass)
    store.trackers[RED] = STORY
    store.trackers["nothing"] = TrackerState(online=Flag(False, NOON))
    # More than a service may count: nothing is dropped.
    store.trackers["far"] = TrackerState(highest_total=10_000_001)
    store.last_fired[RED] = 2
    store.evaluation = Evaluation(LATER, NOON)
    store.async_write_within(10)
    await store.async_close()
    stored = STORY._replace(occurrences=STORY.occurrences[1:]).stored()
    store.trackers[RED] = stored
    assert all_of(await async_read(hass)) == all_of(store)


async def test_file_of_1_2(
    bikes: Bikes,
    hass_storage: dict[str, Any],
    make_entry: MakeEntry,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Places, totals, guards, alarms and the book are as they were, and rides go on."""
    bikes.freezer.move_to("2026-11-25T12:00:00+00:00")
    entry = make_entry()
    text = (Path(__file__).parent / "of_1_2.json").read_text()
    hass_storage.update(json.loads(text.replace(f"{DOMAIN}.file", key_of(entry))))
    guards = hass_storage[key_of(entry)]["data"]["guard"]
    triggered = {"cause": "place", "since": "2026-11-23T13:00:00Z", "distance": 300.0}
    guards[RED] = guards[BLUE] | {"triggered": triggered | {"heard_at": "2026"}}
    fired: list[str] = []
    async_dispatcher_connect(
        bikes.hass, SIGNAL_OCCURRED, lambda *occurred: fired.append(occurred[-1].type)
    )
    bikes.simulator.fault("status-404", path="positions")
    await async_setup(bikes.hass, entry)
    place = bikes.state_of(RED)
    total = bikes.state_of(f"{RED}_total_distance", Platform.SENSOR)
    assert place and total and bikes.state_of(f"{RED}_alarm", Platform.EVENT)
    assert place.attributes["latitude"] == pytest.approx(49.4325854)
    assert float(total.state) == pytest.approx(103.25, abs=0.05)
    assert bikes.value_of(f"{RED}_battery", Platform.SENSOR) == "80"
    assert bikes.value_of(f"{RED}_ride_distance", Platform.SENSOR) == "1.6"
    rides = entry.runtime_data.coordinator.registry.rides.rides
    assert [round(each.ride.distance, 3) for each in rides] == [1.667, 1.583]
    assert not [line for line in caplog.messages if "readable" in line]
    guarded = bikes.state_of(f"{BLUE}_guard", Platform.ALARM_CONTROL_PANEL)
    stolen = bikes.state_of(f"{RED}_guard", Platform.ALARM_CONTROL_PANEL)
    assert guarded and guarded.state == AlarmControlPanelState.ARMED_AWAY
    assert stolen and stolen.state == AlarmControlPanelState.TRIGGERED

    bikes.simulator.fault(None)
    bikes.simulator.report(RED, latitude=49.45, motion=True)
    for _ in range(3):
        await bikes.poll()
    assert not {"alarm_raised", "guard_triggered"} & {*fired}
    assert "ride_started" in fired


@pytest.mark.parametrize(
    ("version", "data"),
    [
        (9, {}),
        (2, {"last_fired": {}}),
        (2, ["junk"]),
        (
            2,
            {"trackers": {RED: {"position": {}}}, "last_fired": {}, "evaluation": None},
        ),
        (2, {"trackers": {RED: {"online": 7}}, "last_fired": {}, "evaluation": None}),
        (2, {"trackers": {}, "last_fired": {}, "evaluation": 7}),
        (1, {"told": {}, "positions": {RED: {"latitude": 1}}}),
        # Of 1.1.
        (1, {"positions": {RED: {"device_id": 1, "id": 3}}, "tracks": {}, "since": {}}),
    ],
)
async def test_file_that_is_not_readable(
    hass: HomeAssistant,
    hass_storage: dict[str, Any],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    version: int,
    data: Any,
) -> None:
    """It is set aside with one warning, a new one begins, and goes with the account."""
    hass.config.config_dir = str(tmp_path)
    file = tmp_path / ".storage" / f"{DOMAIN}.file"
    file.parent.mkdir()
    file.write_text("the state")
    hass_storage[file.name] = {"version": version, "key": file.name, "data": data}
    store = await async_read(hass)
    assert not any(all_of(store))
    aside = file.with_name(f"{file.name}.unreadable")
    assert aside.read_text() == "the state"
    [warning] = [line for line in caplog.messages if str(aside) in line]
    assert warning.startswith(FILE.title)
    await store.async_remove()
    assert not aside.exists()


async def test_broken_tracker(
    hass: HomeAssistant, hass_storage: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    """One that cannot be written costs no other."""

    class Broken(TrackerState):
        @property
        @override
        def _field_defaults(self) -> dict[str, Any]:  # type: ignore[override]
            raise ValueError

    store = await async_read(hass)
    store.trackers.update({BLUE: Broken(), RED: STORY})
    store.async_write_within(10)
    await store.async_close()
    assert hass_storage[store.key]["data"]["trackers"].keys() == {RED}
    assert f"{FILE.title}: Unexpected error storing a tracker" in caplog.text


@pytest.mark.usefixtures("setup")
async def test_how_often_it_is_written(
    bikes: Bikes, hass_storage: dict[str, Any]
) -> None:
    """Soon after an occurrence, in minutes on a ride, seldom while a bike stands."""
    key = key_of(bikes.entry)

    async def async_pass(seconds: float) -> None:
        bikes.freezer.tick(timedelta(seconds=seconds))
        async_fire_time_changed(bikes.hass)
        await bikes.hass.async_block_till_done(wait_background_tasks=True)

    await async_pass(400)
    hass_storage.clear()
    for number in range(20):
        bikes.simulator.report(RED, attributes={"batteryLevel": number})
        await bikes.poll(120)
    assert key not in hass_storage
    await bikes.poll(1_500)
    assert key in hass_storage

    hass_storage.clear()
    bikes.simulator.report(RED, attributes={"batteryLevel": 1, "alarm": "sos"})
    await bikes.entry.runtime_data.coordinator.async_refresh()
    # What may wait longer does not put it off.
    bikes.simulator.report(RED, attributes={"batteryLevel": 2})
    await bikes.entry.runtime_data.coordinator.async_refresh()
    assert key not in hass_storage
    await async_pass(11)
    assert key in hass_storage

    hass_storage.clear()
    bikes.simulator.set_status(RED, "offline")
    await bikes.entry.runtime_data.coordinator.async_refresh()
    await async_pass(11)
    assert key not in hass_storage
    await async_pass(300)
    assert key in hass_storage


@pytest.mark.usefixtures("setup")
async def test_slow_disk(bikes: Bikes, hass_storage: dict[str, Any]) -> None:
    """A reload waits for the write in progress: what was fired is not fired again."""
    await bikes.poll(4_000)
    disk, write = asyncio.Event(), Store._async_write_data  # noqa: SLF001

    async def slow(store: Store[Any], data: dict[str, Any]) -> None:
        if store.key == key_of(bikes.entry):
            if "data_func" in data:
                data["data"] = data.pop("data_func")()
            await disk.wait()
        await write(store, data)

    with patch.object(Store, "_async_write_data", slow):
        alarms = async_capture_events(bikes.hass, EVENT_STATE_CHANGED)
        bikes.simulator.report(RED, attributes={"alarm": "sos"})
        await bikes.entry.runtime_data.coordinator.async_refresh()
        bikes.freezer.tick(11)
        async_fire_time_changed(bikes.hass)
        reload = bikes.hass.async_create_task(
            bikes.hass.config_entries.async_reload(bikes.entry.entry_id),
            eager_start=True,
        )
        for _ in range(100):
            await asyncio.sleep(0)
        disk.set()
        await reload
        for _ in range(3):
            await bikes.poll()
    states = [event.data["new_state"] for event in alarms]
    fired = {
        state.state
        for state in states
        if state and state.entity_id == "event.red_bike_alarm"
    } - {STATE_UNKNOWN, STATE_UNAVAILABLE}
    assert len(fired) == 1


@pytest.mark.usefixtures("setup")
async def test_unloaded_at_stop(bikes: Bikes, hass_storage: dict[str, Any]) -> None:
    """What is not written then is written at the end."""
    bikes.simulator.report(RED, attributes={"alarm": "sos"})
    await bikes.poll()
    bikes.hass.set_state(CoreState.stopping)
    await bikes.hass.config_entries.async_unload(bikes.entry.entry_id)
    bikes.hass.bus.async_fire(EVENT_HOMEASSISTANT_FINAL_WRITE)
    await bikes.hass.async_block_till_done()
    bikes.hass.set_state(CoreState.running)
    assert "sos" in str(hass_storage[key_of(bikes.entry)])


@pytest.mark.usefixtures("setup")
async def test_two_accounts_removed_at_once(
    bikes: Bikes,
    hass_storage: dict[str, Any],
    make_entry: MakeEntry,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Nothing is left of either."""
    bikes.simulator.add_account(BOB, PASSWORD)
    bikes.simulator.assign(BOB, RED)
    other = make_entry(BOB)
    await async_setup(bikes.hass, other)
    await bikes.poll(400)
    assert [key for key in hass_storage if key.startswith(DOMAIN)]
    remove = bikes.hass.config_entries.async_remove
    await asyncio.gather(remove(bikes.entry.entry_id), remove(other.entry_id))
    await bikes.poll(400)
    assert not [key for key in hass_storage if key.startswith(DOMAIN)]
    assert "Error" not in caplog.text


async def test_nothing_is_written_without_need(
    hass: HomeAssistant, hass_storage: dict[str, Any]
) -> None:
    """Nor after it was closed."""
    store = await async_read(hass)
    await store.async_close()
    store.async_write_within(10)
    await hass.async_block_till_done()
    assert not hass_storage
