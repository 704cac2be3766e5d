"""Notifications: after a change of a tracker, only the listeners of this tracker are notified, each one time."""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import Any

from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import EVENT_HOMEASSISTANT_STARTED, STATE_UNAVAILABLE
from homeassistant.core import CoreState, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.dispatcher import async_dispatcher_connect
import pytest

from custom_components.bike_tracker.coordinator import BikeTrackerCoordinator
from custom_components.bike_tracker.dispatch import (
    SIGNAL_OCCURRED,
    SIGNAL_UPDATED,
    Update,
)
from custom_components.bike_tracker.tracking.occurrences import Occurrence

from .conftest import BLUE, EMAIL, EVERYTHING, RED, Bikes, async_setup
from .riding import async_ride, told
from .settle import settle
from .tools.poll_files import Passed, watching
from .tools.simulator.server import Simulator

TRACKERS = [f"8610000000000{number:02}" for number in range(50)]


@dataclass
class Followers:
    """Records the notifications of an account and of each of its trackers."""

    bikes: Bikes
    updates: list[Collection[str]] = field(default_factory=list)
    signals: Counter[str] = field(default_factory=Counter)

    async def async_changed(self) -> set[str]:
        """Delete the records, and wait until all work is done. Return the trackers that changed in the meantime."""
        self.updates.clear()
        self.signals.clear()
        before = self.bikes.coordinator.data.trackers
        await settle(self.bikes.hass)
        now = self.bikes.coordinator.data.trackers
        keys = before.keys() | now.keys()
        return {it for it in keys if before.get(it) != now.get(it)}


@pytest.fixture
async def followers(bikes: Bikes) -> Followers:
    """Return a record of the notifications of an account with 52 trackers. The clock is frozen."""
    for unique_id in TRACKERS:
        bikes.simulator.add_device(unique_id, email=EMAIL)
    await async_setup(bikes.hass, bikes.entry)
    found = Followers(bikes)

    def noting(unique_id: str) -> Callable[[], None]:
        return callback(lambda: found.signals.update([unique_id]))

    for unique_id in bikes.coordinator.data.trackers:
        for signal in (unique_id, f"{unique_id}_contact"):
            bikes.coordinator.async_add_listener(noting(unique_id), signal)
    note = callback(lambda update: found.updates.append(update.changed))
    async_dispatcher_connect(bikes.hass, SIGNAL_UPDATED, note)
    return found


def change(simulator: Simulator, unique_id: str, rng: Random) -> None:
    """Change the status, the name, the place or the account of a tracker at random."""
    changes: list[Callable[[], object]] = [
        lambda: simulator.set_status(unique_id, rng.choice(["online", "offline"])),
        lambda: simulator.rename(unique_id, rng.choice(["Old bike", "New bike"])),
        lambda: simulator.report(unique_id, latitude=rng.uniform(48, 49)),
        lambda: simulator.unassign(EMAIL, unique_id),
        lambda: simulator.assign(EMAIL, unique_id),
    ]
    rng.choice(changes)()


@pytest.mark.parametrize("seed", range(2))
async def test_polls(bikes: Bikes, followers: Followers, seed: int) -> None:
    """Each poll is one update, and notifies the listeners of each changed tracker one time."""
    rng = Random(seed)  # noqa: S311
    for _ in range(15):
        for unique_id in rng.sample(TRACKERS, rng.choice([0, 1, 5, 30])):
            change(bikes.simulator, unique_id, rng)
        polling = bikes.hass.async_create_task(bikes.coordinator.async_refresh())
        changed = await followers.async_changed()
        assert polling.done()
        [updated] = followers.updates
        assert set(updated) == changed
        assert followers.signals == dict.fromkeys(changed, 1)


@pytest.mark.usefixtures("with_live")
async def test_messages(bikes: Bikes, followers: Followers) -> None:
    """Push messages notify the listeners of all trackers that changed, and no other listeners."""
    await bikes.async_wait(11)
    assert len(bikes.simulator.live.sockets) == 1
    rng = Random(0)  # noqa: S311
    for _ in range(20):
        for unique_id in rng.sample(TRACKERS, rng.choice([1, 3])):
            bikes.simulator.report(unique_id, latitude=rng.uniform(48, 49))
        changed, updates = await followers.async_changed(), followers.updates
        assert set().union(*updates) == changed == followers.signals.keys() != set()
        assert sum(map(len, updates)) == followers.signals.total()


async def test_one_after_the_other(bikes: Bikes, followers: Followers) -> None:
    """A short update waits for a long update, so that triggers are evaluated in the right order (defect 21)."""
    evaluated = list[tuple[object, object]]()
    note = callback(lambda update: evaluated.append((update.last, update.now)))
    async_dispatcher_connect(bikes.hass, SIGNAL_UPDATED, note)
    for changed in (TRACKERS, [RED]):
        bikes.coordinator.changed.update(changed)
        bikes.coordinator.async_update_listeners()
    await settle(bikes.hass)
    assert list(map(set, followers.updates)) == [set(TRACKERS), {RED}]
    (_, first), (last, _) = evaluated
    assert last == first


@pytest.mark.parametrize(("what", "at_once"), [("changed", 3), ("contacted", 40)])
async def test_loop_is_free(
    bikes: Bikes, followers: Followers, what: str, at_once: int
) -> None:
    """If many trackers changed, only a few are notified in one step, and other tasks run between the steps."""
    coordinator, turns = bikes.coordinator, list[int]()
    getattr(coordinator, what).update(TRACKERS)
    coordinator.async_update_listeners()
    while not followers.updates:
        turns.append(followers.signals.total())
        await asyncio.sleep(0)
    steps = [b - a for a, b in pairwise([*turns, len(TRACKERS)])]
    assert max(steps) == at_once


# Which functions an update runs


def entities_of(bikes: Bikes, *trackers: str) -> set[str]:
    """Return the enabled entities of these trackers."""
    return {
        entity.entity_id
        for entity in er.async_get(bikes.hass).entities.values()
        if entity.unique_id.startswith(trackers) and not entity.disabled
    }


async def watched_poll(bikes: Bikes, seconds: float = 61) -> Passed:
    """Poll, and return which functions ran, and how often each entity was read."""
    with watching() as passed:
        await bikes.poll(seconds)
    return passed


@pytest.mark.usefixtures("setup")
@pytest.mark.parametrize("alarm", [None, "sos", "vibration,tow,general"])
async def test_changed_poll(bikes: Bikes, alarm: str | None) -> None:
    """With or without alarms, a report causes one reading of each entity of the tracker. It adds no entity."""
    await bikes.async_guard("arm_away")
    for latitude in (49.1, 49.2, 49.3):
        bikes.simulator.report(RED, latitude=latitude, attributes=EVERYTHING)
        await bikes.poll()
    attributes = EVERYTHING | {"alarm": alarm}
    bikes.simulator.report(RED, latitude=49.5, attributes=attributes)
    passed = await watched_poll(bikes)
    assert passed.reads == dict.fromkeys(entities_of(bikes, RED), 1)
    assert "_device" not in passed.functions


@pytest.mark.usefixtures("setup")
async def test_idle_poll(bikes: Bikes) -> None:
    """An idle poll reads no entity. If only the time of the last contact changed, only *Last update* is read."""
    await bikes.poll()
    passed = await watched_poll(bikes)
    assert not passed.reads
    assert "_async_notify" not in passed.functions
    bikes.simulator.touch([RED])
    passed = await watched_poll(bikes)
    assert passed.reads == {"sensor.red_bike_last_update": 1}
    assert not {"_new_entities", "from_values", "by"} & set(passed.functions)


@pytest.mark.usefixtures("setup")
async def test_newly_reported(bikes: Bikes) -> None:
    """A value that is reported for the first time adds its entity. Each known entity is read one time."""
    bikes.simulator.report(RED, attributes={"lock": True})
    await bikes.poll()
    known = entities_of(bikes, RED)
    bikes.simulator.report(RED, attributes={"lock": True, "charge": True})
    passed = await watched_poll(bikes)
    assert entities_of(bikes, RED) - known == {"binary_sensor.red_bike_charging"}
    assert {key: passed.reads[key] for key in known} == dict.fromkeys(known, 1)
    assert passed.functions["_new_entities"] == 1


@pytest.mark.usefixtures("setup")
@pytest.mark.parametrize(
    ("action", "state"), [("disarm", "disarmed"), ("arm_away", "armed_away")]
)
async def test_arming(bikes: Bikes, writes: list[str], action: str, state: str) -> None:
    """Arming or disarming reads and writes only the guard. No entity is added, and no trigger is evaluated."""
    await bikes.async_guard("arm_away")
    guard = "alarm_control_panel.red_bike_guard"
    writes.clear()
    with watching() as passed:
        await bikes.async_guard(action)
    assert set(passed.reads) == {guard}
    assert writes in ([guard], [])
    assert not {"async_add", "_async_notify", "_async_look"} & set(passed.functions)
    assert bikes.state(guard).state == state


async def test_setup(bikes: Bikes) -> None:
    """The set-up reads each entity one time, and so does a reload."""
    with watching() as passed:
        await async_setup(bikes.hass, bikes.entry)
    entities = entities_of(bikes, RED, BLUE)
    assert passed.reads == dict.fromkeys(entities, 1)
    with watching() as passed:
        await bikes.hass.config_entries.async_reload(bikes.entry.entry_id)
        await settle(bikes.hass)
    assert passed.reads == dict.fromkeys(entities, 1)


@pytest.mark.usefixtures("setup")
async def test_outage(bikes: Bikes) -> None:
    """When an outage starts or ends, each entity is read one time. Further polls without a change read none."""
    await bikes.poll()
    entities = entities_of(bikes, RED, BLUE)
    for fault, read in (
        ("status-503", entities),
        ("status-503", ()),
        (None, entities),
        (None, ()),
    ):
        bikes.simulator.fault(fault)
        passed = await watched_poll(bikes, 300)
        assert passed.reads == dict.fromkeys(read, 1)
        assert (bikes.value_of(RED) == STATE_UNAVAILABLE) is bool(fault)


ALARM = "event.red_bike_alarm"


@pytest.mark.usefixtures("setup")
async def test_events_before_triggers(bikes: Bikes) -> None:
    """All alarms of a report are written to the event entity before the first trigger fires. Both keep the order."""
    bikes.simulator.report(RED, attributes={"alarm": "sos"})
    await bikes.poll()
    written, fired = told(bikes.hass, ALARM), list[tuple[object, list[str]]]()

    @callback
    def _occurred(_: BikeTrackerCoordinator, _key: str, occurrence: Occurrence) -> None:
        if alarm := occurrence.attributes.get("alarm"):
            fired.append((alarm, [it.attributes["alarm"] for it in written]))

    async_dispatcher_connect(bikes.hass, SIGNAL_OCCURRED, _occurred)
    bikes.simulator.report(RED, attributes={"alarm": "tow,vibration"})
    await bikes.poll()
    alarms = ["tow", "vibration"]
    assert fired == [(alarm, alarms) for alarm in alarms]


@pytest.mark.usefixtures("setup")
async def test_start_and_end_at_once(bikes: Bikes) -> None:
    """If a whole ride falls into an outage, its start and its end are fired by the same poll."""
    await async_ride(bikes.simulator, bikes.poll)
    events = told(bikes.hass, "event.red_bike_ride")
    bikes.simulator.fault("status-503")
    await async_ride(bikes.simulator, bikes.poll)
    bikes.simulator.fault(None)
    for _ in range(10):
        if not events:
            await bikes.poll()
    assert [it.attributes["event_type"] for it in events] == ["started", "ended"]


# When occurrences are fired


class Fired:
    """The alarms that were fired, each with the state of the account at that time."""

    SOS = ("sos", ConfigEntryState.LOADED)

    def __init__(self, bikes: Bikes) -> None:
        """Listen to all accounts."""
        self.alarms = list[tuple[Any, ConfigEntryState]]()
        self.evaluated = False
        """Whether the last update has evaluated triggers."""
        async_dispatcher_connect(bikes.hass, SIGNAL_UPDATED, self._async_updated)
        async_dispatcher_connect(bikes.hass, SIGNAL_OCCURRED, self._async_occurred)

    @callback
    def _async_occurred(
        self, coordinator: BikeTrackerCoordinator, _key: str, occurrence: Occurrence
    ) -> None:
        if alarm := occurrence.attributes.get("alarm"):
            self.alarms.append((alarm, coordinator.config_entry.state))

    @callback
    def _async_updated(self, update: Update) -> None:
        self.evaluated = update.now is not None


async def test_start(bikes: Bikes) -> None:
    """Alarms are fired five seconds after the start of Home Assistant, when automations listen."""
    hass, fired = bikes.hass, Fired(bikes)
    hass.set_state(CoreState.starting)
    await async_setup(hass, bikes.entry)
    bikes.simulator.report(RED, attributes={"alarm": "sos"})
    await bikes.poll()
    hass.set_state(CoreState.running)
    hass.bus.async_fire(EVENT_HOMEASSISTANT_STARTED)
    await settle(hass)
    await bikes.coordinator.async_refresh()
    await bikes.poll(4)
    assert (fired.alarms, fired.evaluated) == ([], False)
    passed = await watched_poll(bikes, 2)
    assert fired.alarms == [Fired.SOS]
    # No tracker has changed since the last poll, so no tracker can need new entities.
    assert passed.functions["_new_entities"] == 0
    assert bikes.state(ALARM).attributes.get("alarm") == "sos"


async def test_loading(bikes: Bikes) -> None:
    """If an alarm is raised between the unload and the set-up of a reload, it is fired after the account is loaded."""
    await async_setup(bikes.hass, bikes.entry)
    await bikes.poll()
    fired = Fired(bikes)
    await bikes.hass.config_entries.async_unload(bikes.entry.entry_id)
    bikes.simulator.report(RED, attributes={"alarm": "sos"})
    await async_setup(bikes.hass, bikes.entry)
    assert fired.alarms == [Fired.SOS]
    assert bikes.state(ALARM).attributes["alarm"] == "sos"


@pytest.mark.usefixtures("with_live", "setup")
async def test_alarm_in_an_outage(bikes: Bikes) -> None:
    """An alarm from a message during an outage is fired after the next poll that succeeds."""
    await bikes.async_wait(11)
    fired = Fired(bikes)
    bikes.simulator.fault("status-503")
    await bikes.async_wait(61)
    bikes.simulator.report(RED, attributes={"alarm": "sos"})
    await settle(bikes.hass)
    assert not bikes.coordinator.last_update_success
    assert bikes.coordinator.data.states[RED].occurrences
    assert (fired.alarms, fired.evaluated) == ([], False)
    bikes.simulator.fault(None)
    await bikes.async_wait(61)
    assert (fired.alarms, fired.evaluated) == ([Fired.SOS], True)
