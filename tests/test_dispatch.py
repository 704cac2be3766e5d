"""Who is notified of what: those who follow what changed, once, and nobody else."""

import asyncio
from collections import Counter
from collections.abc import Collection
from functools import partial
from itertools import pairwise
from random import Random
from typing import Any

from freezegun.api import FrozenDateTimeFactory
from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import (
    EVENT_HOMEASSISTANT_STARTED,
    EVENT_STATE_CHANGED,
    STATE_UNAVAILABLE,
    Platform,
)
from homeassistant.core import CoreState, Event, HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.dispatcher import async_dispatcher_connect
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.bike_tracker.coordinator import BikeTrackerCoordinator
from custom_components.bike_tracker.dispatch import (
    SIGNAL_OCCURRED,
    SIGNAL_UPDATED,
    Update,
)
from custom_components.bike_tracker.tracking.occurrences import Occurrence

from .conftest import BLUE, EMAIL, EVERYTHING, RED, Bikes, async_setup
from .riding import async_ride
from .settle import settle
from .tools.poll_files import watching
from .tools.simulator.server import Simulator

TRACKERS = [f"8610000000000{number:02}" for number in range(50)]


class Followers:
    """What followers of an account and of each of its trackers were notified of."""

    def __init__(
        self, hass: HomeAssistant, coordinator: BikeTrackerCoordinator
    ) -> None:
        """Follow the account, and each tracker that it may list."""
        self._coordinator = coordinator
        self._known = coordinator.data.trackers
        self.updates: list[Collection[str]] = []
        self.signals = Counter[str]()
        async_dispatcher_connect(hass, SIGNAL_UPDATED, self._async_updated)
        for unique_id in self._known:
            note = partial(self._async_changed, unique_id)
            for signal in (unique_id, f"{unique_id}_contact"):
                coordinator.async_add_listener(note, signal)

    @callback
    def _async_changed(self, unique_id: str) -> None:
        self.signals[unique_id] += 1

    @callback
    def _async_updated(self, update: Update) -> None:
        self.updates.append(update.changed)

    def changed(self) -> set[str]:
        """Return the trackers that are others than when this was called last."""
        before, self._known = self._known, self._coordinator.data.trackers
        self.updates.clear()
        self.signals.clear()
        return {
            unique_id
            for unique_id in before.keys() | self._known.keys()
            if before.get(unique_id) != self._known.get(unique_id)
        }


@pytest.fixture
async def followers(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    simulator: Simulator,
    freezer: FrozenDateTimeFactory,
) -> Followers:
    """Return who follows an account of 52 trackers, for which no time passes."""
    for unique_id in TRACKERS:
        simulator.add_device(unique_id, email=EMAIL)
    await async_setup(hass, entry)
    return Followers(hass, entry.runtime_data.coordinator)


def change(simulator: Simulator, unique_id: str, rng: Random) -> None:
    """Let something happen to a tracker, or nothing at all."""
    match rng.randrange(5):
        case 0:
            simulator.set_status(unique_id, rng.choice(["online", "offline"]))
        case 1:
            simulator.rename(unique_id, rng.choice(["Old bike", "New bike"]))
        case 2:
            simulator.report(unique_id, latitude=rng.uniform(48, 49))
        case 3:
            simulator.unassign(EMAIL, unique_id)
        case _:
            simulator.assign(EMAIL, unique_id)


@pytest.mark.parametrize("seed", range(2))
async def test_polls(bikes: Bikes, followers: Followers, seed: int) -> None:
    """Each poll notifies once, of what is another now; one without news of nothing."""
    rng = Random(seed)  # noqa: S311
    for _ in range(15):
        followers.changed()
        for unique_id in rng.sample(TRACKERS, rng.choice([0, 1, 5, 30])):
            change(bikes.simulator, unique_id, rng)
        await bikes.coordinator.async_refresh()
        await settle(bikes.hass)

        [updated], signals = followers.updates, Counter(followers.signals)
        changed = followers.changed()
        assert set(updated) == changed
        assert signals == dict.fromkeys(changed, 1)


@pytest.mark.usefixtures("with_live")
async def test_messages(bikes: Bikes, followers: Followers) -> None:
    """Each message notifies of what it changed."""
    await bikes.async_wait(11)
    assert len(bikes.simulator.live.sockets) == 1
    rng = Random(0)  # noqa: S311
    for _ in range(20):
        followers.changed()
        for unique_id in rng.sample(TRACKERS, rng.choice([1, 3])):
            bikes.simulator.report(unique_id, latitude=rng.uniform(48, 49))
        await settle(bikes.hass)

        updated, signals = followers.updates.copy(), Counter(followers.signals)
        changed = followers.changed()
        assert set().union(*updated) == changed == signals.keys() != set()
        assert sum(map(len, updated)) == signals.total()


async def test_one_after_the_other(
    hass: HomeAssistant, entry: MockConfigEntry, followers: Followers
) -> None:
    """A short update waits for a long one, so that none is evaluated before its time (defect 21)."""
    evaluated = list[tuple[object, object]]()
    async_dispatcher_connect(
        hass, SIGNAL_UPDATED, lambda update: evaluated.append((update.last, update.now))
    )
    coordinator = entry.runtime_data.coordinator
    coordinator.changed.update(TRACKERS)
    coordinator.async_update_listeners()
    coordinator.changed.add(RED)
    coordinator.async_update_listeners()
    await settle(hass)
    assert list(map(set, followers.updates)) == [set(TRACKERS), {RED}]
    (_, first), (last, _) = evaluated
    assert last == first


@pytest.mark.parametrize(("what", "at_once"), [("changed", 3), ("contacted", 40)])
async def test_loop_is_free(
    bikes: Bikes, followers: Followers, what: str, at_once: int
) -> None:
    """Of many trackers a few are notified at a time, and others have their turn."""
    coordinator, turns = bikes.coordinator, list[int]()
    getattr(coordinator, what).update(TRACKERS)
    coordinator.async_update_listeners()
    while not followers.updates:
        turns.append(followers.signals.total())
        await asyncio.sleep(0)
    steps = [b - a for a, b in pairwise([*turns, len(TRACKERS)])]
    assert max(steps) == at_once


# What an update runs


def entities_of(bikes: Bikes, tracker: str) -> set[str]:
    """Return the enabled entities of a tracker."""
    return {
        entity.entity_id
        for entity in er.async_get(bikes.hass).entities.values()
        if entity.unique_id.startswith(tracker) and not entity.disabled
    }


@pytest.mark.usefixtures("setup")
@pytest.mark.parametrize("alarm", [None, "sos", "vibration,tow,general"])
async def test_changed_poll(bikes: Bikes, alarm: str | None) -> None:
    """It reads each entity of the tracker once, whatever occurred, and adds none."""
    await bikes.async_guard("arm_away")
    for latitude in (49.1, 49.2, 49.3):
        bikes.simulator.report(RED, latitude=latitude, attributes=EVERYTHING)
        await bikes.poll()
    attributes = EVERYTHING | {"alarm": alarm}
    bikes.simulator.report(RED, latitude=49.5, attributes=attributes)

    with watching() as passed:
        await bikes.poll()

    assert passed.reads == dict.fromkeys(entities_of(bikes, RED), 1)
    assert "_device" not in passed.functions


@pytest.mark.usefixtures("setup")
async def test_idle_poll(bikes: Bikes) -> None:
    """It reads no entity."""
    await bikes.poll()

    with watching() as passed:
        await bikes.poll()

    assert not passed.reads
    assert "_async_notify" not in passed.functions


@pytest.mark.usefixtures("setup")
async def test_contact(bikes: Bikes) -> None:
    """If only the time of the last contact changed, it reads only this time."""
    await bikes.poll()
    bikes.simulator.touch([RED])

    with watching() as passed:
        await bikes.poll()

    assert passed.reads == {"sensor.red_bike_last_update": 1}
    assert not {"_new_entities", "from_values", "by"} & set(passed.functions)


@pytest.mark.usefixtures("setup")
async def test_newly_reported(bikes: Bikes) -> None:
    """A value that comes for the first time adds its entity, and is no other one's."""
    bikes.simulator.report(RED, attributes={"lock": True})
    await bikes.poll()
    known = entities_of(bikes, RED)
    bikes.simulator.report(RED, attributes={"lock": True, "charge": True})

    with watching() as passed:
        await bikes.poll()

    assert entities_of(bikes, RED) - known == {"binary_sensor.red_bike_charging"}
    assert {key: passed.reads[key] for key in known} == dict.fromkeys(known, 1)
    assert passed.functions["_new_entities"] == 1


@pytest.mark.usefixtures("setup")
@pytest.mark.parametrize("actions", [("arm_away", "disarm"), ("arm_away", "arm_away")])
async def test_arming(
    bikes: Bikes, writes: list[str], actions: tuple[str, str]
) -> None:
    """It reads and writes the guard alone, adds nothing, and evaluates nothing."""
    before, action = actions
    await bikes.async_guard(before)
    guard = "alarm_control_panel.red_bike_guard"
    writes.clear()

    with watching() as passed:
        await bikes.async_guard(action)

    assert set(passed.reads) == {guard}
    assert writes in ([guard], [])
    assert not {"async_add", "_async_notify", "_async_look"} & set(passed.functions)
    state = bikes.state(f"{RED}_guard", Platform.ALARM_CONTROL_PANEL)
    assert state.state == ("disarmed" if action == "disarm" else "armed_away")


async def test_setup(bikes: Bikes) -> None:
    """It reads each entity once, as it is added; a reload as well."""
    with watching() as passed:
        await async_setup(bikes.hass, bikes.entry)
    entities = entities_of(bikes, RED) | entities_of(bikes, BLUE)
    assert passed.reads == dict.fromkeys(entities, 1)

    with watching() as passed:
        await bikes.hass.config_entries.async_reload(bikes.entry.entry_id)
        await settle(bikes.hass)
    assert passed.reads == dict.fromkeys(entities, 1)


@pytest.mark.usefixtures("setup")
async def test_outage(bikes: Bikes) -> None:
    """Its begin and its end read each entity once, its further failures none."""
    await bikes.poll()
    entities = entities_of(bikes, RED) | entities_of(bikes, BLUE)
    for fault in ("status-503", "status-503", None, None):
        bikes.simulator.fault(fault)
        before = bikes.coordinator.last_update_success
        with watching() as passed:
            await bikes.poll(300)
        is_change = before is not (fault is None)
        assert passed.reads == dict.fromkeys(entities if is_change else (), 1)
        assert (bikes.value_of(RED) == STATE_UNAVAILABLE) is bool(fault)


@pytest.fixture
def events(hass: HomeAssistant) -> list[tuple[str, str | None]]:
    """Return a list that grows with the events of the red bike: entity, alarm or type."""
    seen = list[tuple[str, str | None]]()

    @callback
    def _changed(event: Event[Any]) -> None:
        entity_id, new = event.data["entity_id"], event.data["new_state"]
        if entity_id.startswith("event.red_bike") and new:
            key = "alarm" if entity_id.endswith("alarm") else "event_type"
            seen.append((entity_id, new.attributes.get(key)))

    hass.bus.async_listen(EVENT_STATE_CHANGED, _changed)
    return seen


@pytest.mark.usefixtures("setup")
async def test_events_before_triggers(
    bikes: Bikes, events: list[tuple[str, str | None]]
) -> None:
    """Each event is written before its occurrence is fired, oldest first."""

    @callback
    def _occurred(_: BikeTrackerCoordinator, key: str, occurrence: Occurrence) -> None:
        if occurrence.type == "alarm_raised":
            shown = bikes.state(f"{key}_alarm", Platform.EVENT).attributes["alarm"]
            events.append((str(occurrence.attributes["alarm"]), shown))

    bikes.simulator.report(RED, attributes={"alarm": "sos"})
    await bikes.poll()
    events.clear()
    async_dispatcher_connect(bikes.hass, SIGNAL_OCCURRED, _occurred)
    bikes.simulator.report(RED, attributes={"alarm": "tow,vibration"})
    await bikes.poll()

    name = "event.red_bike_alarm"
    assert events == [
        *((name, "tow"), (name, "vibration")),
        *(("tow", "vibration"), ("vibration", "vibration")),
    ]


@pytest.mark.usefixtures("setup")
async def test_start_and_end_at_once(
    bikes: Bikes, events: list[tuple[str, str | None]]
) -> None:
    """A ride of an outage is two events, of which each is fired."""
    await async_ride(bikes.simulator, bikes.poll)
    events.clear()
    await async_ride(bikes.simulator, bikes.poll)
    kinds = [kind for name, kind in events if name == "event.red_bike_ride"]
    assert [kind for kind in kinds if kind] == ["started", "ended"]


# When occurrences are fired


class Fired:
    """The alarms that were fired, and the state of the account then."""

    def __init__(self, bikes: Bikes) -> None:
        """Listen to all accounts."""
        self.words = list[str]()
        self.is_loaded = True
        self.evaluated = False
        """Whether triggers were evaluated with the last update."""
        self._entry = bikes.entry
        async_dispatcher_connect(bikes.hass, SIGNAL_UPDATED, self._async_updated)
        async_dispatcher_connect(bikes.hass, SIGNAL_OCCURRED, self._async_occurred)

    @callback
    def _async_occurred(
        self, _: BikeTrackerCoordinator, _key: str, occurrence: Occurrence
    ) -> None:
        if occurrence.type == "alarm_raised":
            self.words.append(str(occurrence.attributes["alarm"]))
            self.is_loaded &= self._entry.state is ConfigEntryState.LOADED

    @callback
    def _async_updated(self, update: Update) -> None:
        self.evaluated = update.now is not None


async def test_start(bikes: Bikes) -> None:
    """Alarms wait until automations listen: seconds after Home Assistant started."""
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
    assert fired.words == []
    assert not fired.evaluated
    with watching() as passed:
        await bikes.poll(2)
    assert fired.words == ["sos"]
    # The blue bike reported nothing new.
    assert passed.functions["_new_entities"] == 0
    state = bikes.state(f"{RED}_alarm", Platform.EVENT)
    assert state.attributes.get("alarm") == "sos"


async def test_loading(bikes: Bikes) -> None:
    """Alarms of the time before a reload are fired once the account is loaded."""
    await async_setup(bikes.hass, bikes.entry)
    await bikes.poll()
    fired = Fired(bikes)
    await bikes.hass.config_entries.async_unload(bikes.entry.entry_id)
    bikes.simulator.report(RED, attributes={"alarm": "sos"})
    await async_setup(bikes.hass, bikes.entry)
    assert fired.words == ["sos"]
    assert fired.is_loaded
    state = bikes.state(f"{RED}_alarm", Platform.EVENT)
    assert state.attributes["alarm"] == "sos"


@pytest.mark.usefixtures("with_live", "setup")
async def test_alarm_in_an_outage(bikes: Bikes) -> None:
    """A message in an outage is fired with the first poll that succeeds."""
    await bikes.async_wait(11)
    fired = Fired(bikes)
    bikes.simulator.fault("status-503")
    await bikes.async_wait(61)
    bikes.simulator.report(RED, attributes={"alarm": "sos"})
    await settle(bikes.hass)
    assert not bikes.coordinator.last_update_success
    assert bikes.coordinator.data.states[RED].occurrences
    assert (fired.words, fired.evaluated) == ([], False)
    bikes.simulator.fault(None)
    await bikes.async_wait(61)
    assert (fired.words, fired.evaluated) == (["sos"], True)
