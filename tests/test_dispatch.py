"""Notifications: after a change of a tracker, only the listeners of this tracker are notified, each one time."""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random

from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import EVENT_HOMEASSISTANT_STARTED, STATE_UNAVAILABLE
from homeassistant.core import CoreState, HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.dispatcher import async_dispatcher_connect
import pytest

from custom_components.bike_tracker.coordinator import BikeTrackerCoordinator
from custom_components.bike_tracker.dispatch import SIGNAL_OCCURRED, SIGNAL_UPDATED
from custom_components.bike_tracker.tracking.occurrences import Occurrence

from .conftest import BLUE, EMAIL, EVERYTHING, RED, Bikes, async_setup
from .riding import told
from .tools.poll_files import Passed, watching
from .tools.settle import settle

TRACKERS = [f"8610000000000{number:02}" for number in range(50)]


@dataclass
class Followers:
    """Records the updates of the account, and counts the notifications of the listeners of each tracker."""

    updates: list[tuple[Collection[str], object, object]] = field(default_factory=list)
    """For each update: its changed trackers, the previous evaluation of triggers, and the evaluation of this update."""
    signals: Counter[str] = field(default_factory=Counter)


@pytest.fixture
async def followers(bikes: Bikes) -> Followers:
    """Set up an account with 52 trackers, and return a record of its notifications. The clock is frozen."""
    for unique_id in TRACKERS:
        bikes.simulator.add_device(unique_id, email=EMAIL)
    await async_setup(bikes.hass, bikes.entry)
    found = Followers()

    def noting(unique_id: str) -> Callable[[], None]:
        return callback(lambda: found.signals.update([unique_id]))

    for unique_id in bikes.coordinator.data.trackers:
        for signal in (unique_id, f"{unique_id}_contact"):
            bikes.coordinator.async_add_listener(noting(unique_id), signal)
    note = callback(lambda it: found.updates.append((it.changed, it.last, it.now)))
    async_dispatcher_connect(bikes.hass, SIGNAL_UPDATED, note)
    return found


@pytest.mark.usefixtures("with_live")
async def test_messages(bikes: Bikes, followers: Followers) -> None:
    """Push messages notify the listeners of all trackers that changed, and no other listeners."""
    await bikes.async_wait(11)
    assert len(bikes.simulator.live.sockets) == 1
    rng, data, signals = Random(0), bikes.coordinator.data, followers.signals  # noqa: S311
    for _ in range(20):
        for unique_id in rng.sample(TRACKERS, rng.choice([1, 3])):
            bikes.simulator.report(unique_id, latitude=rng.uniform(48, 49))
        bikes.simulator.touch(rng.sample(TRACKERS, 2))
        before = data.trackers
        followers.updates.clear()
        signals.clear()
        await settle(bikes.hass)
        changed = {key for key, it in data.trackers.items() if it != before[key]}
        updates = [changed for changed, _, _ in followers.updates]
        assert set().union(*updates) == changed == signals.keys() != set()
        assert sum(map(len, updates)) == signals.total()


async def test_one_after_the_other(bikes: Bikes, followers: Followers) -> None:
    """A short update waits for a long update, so that triggers are evaluated in the order of the updates."""
    for changed in (TRACKERS, [RED]):
        bikes.coordinator.changed.update(changed)
        bikes.coordinator.async_update_listeners()
    await settle(bikes.hass)
    (long, _, evaluated), (short, since, _) = followers.updates
    assert [set(long), set(short)] == [set(TRACKERS), {RED}]
    assert since == evaluated


@pytest.mark.parametrize(("what", "at_once"), [("changed", 2), ("contacted", 40)])
async def test_loop_is_free(
    bikes: Bikes, followers: Followers, what: str, at_once: int
) -> None:
    """If many trackers changed, at most `at_once` are notified in one step. Other tasks run between the steps."""
    coordinator, turns = bikes.coordinator, list[int]()
    getattr(coordinator, what).update(TRACKERS)
    coordinator.async_update_listeners()
    while not followers.updates:
        turns.append(followers.signals.total())
        await asyncio.sleep(0)
    assert max(b - a for a, b in pairwise([*turns, len(TRACKERS)])) == at_once


# Which functions an update runs


def entities_of(bikes: Bikes, *trackers: str) -> set[str]:
    """Return the entity IDs of all enabled entities of these trackers."""
    return {
        entity.entity_id
        for entity in er.async_get(bikes.hass).entities.values()
        if entity.unique_id.startswith(trackers) and not entity.disabled
    }


async def watched_poll(bikes: Bikes, seconds: float = 61) -> Passed:
    """Poll, and return the calls of the integration's functions, with the number of reads of each entity."""
    with watching() as passed:
        await bikes.poll(seconds)
    return passed


async def test_log(ready: Bikes, caplog: pytest.LogCaptureFixture) -> None:
    """If listeners fail, the errors in the log contain no serial number."""

    @callback
    def fail(*_: object) -> None:
        raise ValueError

    ready.coordinator.async_add_listener(fail, RED)
    async_dispatcher_connect(ready.hass, SIGNAL_UPDATED, fail)
    await ready.async_report()
    assert caplog.text.count("Exception in fail when") == 2
    assert RED not in caplog.text


@pytest.mark.parametrize("alarm", [None, "sos", "vibration,tow,general"])
async def test_changed_poll(ready: Bikes, alarm: str | None) -> None:
    """After a report, with or without alarms, each entity of the tracker is read one time. No entity is added."""
    await ready.async_guard("arm_away")
    for latitude in (49.1, 49.2, 49.3):
        await ready.async_report(latitude=latitude, attributes=EVERYTHING)
    attributes = EVERYTHING | {"alarm": alarm}
    ready.simulator.report(RED, latitude=49.5, attributes=attributes)
    passed = await watched_poll(ready)
    assert passed.reads == dict.fromkeys(entities_of(ready, RED), 1)
    assert "_device" not in passed.functions


async def test_idle_poll(ready: Bikes) -> None:
    """A poll without changes reads no entity. If only the time of a contact changed, only *Last update* is read."""
    await ready.poll()
    passed = await watched_poll(ready)
    assert not passed.reads
    assert "_async_notify" not in passed.functions
    ready.simulator.touch([RED])
    passed = await watched_poll(ready)
    assert passed.reads == {"sensor.red_bike_last_update": 1}
    assert not {"_new_entities", "from_values", "by"} & set(passed.functions)


async def test_newly_reported(ready: Bikes) -> None:
    """A value that is reported for the first time adds its entity. Each known entity is read one time."""
    await ready.async_report(attributes={"lock": True})
    known = entities_of(ready, RED)
    ready.simulator.report(RED, attributes={"lock": True, "charge": True})
    passed = await watched_poll(ready)
    assert entities_of(ready, RED) - known == {"binary_sensor.red_bike_charging"}
    assert {key: passed.reads[key] for key in known} == dict.fromkeys(known, 1)
    assert passed.functions["_new_entities"] == 1


@pytest.mark.parametrize(
    ("action", "state"), [("disarm", "disarmed"), ("arm_away", "armed_away")]
)
async def test_arming(ready: Bikes, writes: list[str], action: str, state: str) -> None:
    """Arming or disarming reads the guard twice, the bike's other entities once, and writes only the guard. No other bike is read."""
    await ready.async_guard("arm_away")
    guard = "alarm_control_panel.red_bike_guard"
    writes.clear()
    with watching() as passed:
        await ready.async_guard(action)
    assert passed.reads == dict.fromkeys(entities_of(ready, RED), 1) | {guard: 2}
    assert writes in ([guard], [])
    assert ready.state(guard).state == state


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


async def test_outage(ready: Bikes) -> None:
    """When an outage starts or ends, each entity is read one time. Further polls without a change read none."""
    await ready.poll()
    entities = entities_of(ready, RED, BLUE)
    outage = ("status-503", entities), ("status-503", ())
    for fault, read in (*outage, (None, entities), (None, ())):
        ready.simulator.fault(fault)
        passed = await watched_poll(ready, 300)
        assert passed.reads == dict.fromkeys(read, 1)
        assert (ready.value_of(RED) == STATE_UNAVAILABLE) is bool(fault)


# When occurrences are fired

type Fired = list[tuple[object, ConfigEntryState, list[object]]]
SOS = [("sos", ConfigEntryState.LOADED, ["sos"])]


@pytest.fixture
def fired(hass: HomeAssistant) -> Fired:
    """Return a list to which each fired alarm is added.

    An item is the alarm, the state of the account's entry, and the alarms that the event entity had shown before.
    """
    alarms: Fired = []
    written = told(hass, "event.red_bike_alarm")

    @callback
    def _occurred(
        coordinator: BikeTrackerCoordinator, _key: str, occurrence: Occurrence
    ) -> None:
        if alarm := occurrence.attributes.get("alarm"):
            shown = [it.attributes["alarm"] for it in written]
            alarms.append((alarm, coordinator.config_entry.state, shown))

    async_dispatcher_connect(hass, SIGNAL_OCCURRED, _occurred)
    return alarms


async def test_events_before_triggers(ready: Bikes, fired: Fired) -> None:
    """All alarms of a report are written to the event entity before the first trigger fires, in the reported order."""
    await ready.async_report(attributes={"alarm": "tow,vibration"})
    alarms = ["tow", "vibration"]
    assert fired == [(alarm, ConfigEntryState.LOADED, alarms) for alarm in alarms]


@pytest.mark.parametrize("is_reloaded", [False, True])
async def test_start(bikes: Bikes, fired: Fired, is_reloaded: bool) -> None:
    """Alarms are fired five seconds after the start of Home Assistant, when automations listen.

    If the account is reloaded in these five seconds, alarms are fired once, after the load.
    """
    hass = bikes.hass
    hass.set_state(CoreState.starting)
    await async_setup(hass, bikes.entry)
    await bikes.async_report(attributes={"alarm": "sos"})
    hass.set_state(CoreState.running)
    hass.bus.async_fire(EVENT_HOMEASSISTANT_STARTED)
    await settle(hass)
    if is_reloaded:
        await hass.config_entries.async_reload(bikes.entry.entry_id)
    else:
        await bikes.coordinator.async_refresh()
        await bikes.poll(4)
        content = bikes.coordinator.database.content
        assert (fired, content.evaluation) == ([], None)
    passed = await watched_poll(bikes, 5 if is_reloaded else 1)
    assert fired == SOS
    # No tracker has changed since the last poll, so no tracker can need new entities.
    assert passed.functions["_new_entities"] == 0


@pytest.mark.usefixtures("with_live")
async def test_alarm_in_an_outage(ready: Bikes, fired: Fired) -> None:
    """An alarm in a push message during an outage is fired with the next poll that succeeds."""
    await ready.async_wait(11)
    updates = list[object]()
    note = callback(lambda it: updates.append(it.now))
    async_dispatcher_connect(ready.hass, SIGNAL_UPDATED, note)
    ready.simulator.fault("status-503")
    await ready.async_wait(61)
    content = ready.coordinator.database.content
    evaluated = content.evaluation
    ready.simulator.report(RED, attributes={"alarm": "sos"})
    await settle(ready.hass)
    assert not ready.coordinator.last_update_success
    assert ready.coordinator.data.states[RED].occurrences
    assert (fired, content.evaluation) == ([], evaluated)
    # No trigger is evaluated.
    assert not updates
    ready.simulator.fault(None)
    await ready.async_wait(61)
    assert fired == SOS
    assert content.evaluation != evaluated
