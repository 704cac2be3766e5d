"""Who is notified of what: those who follow what changed, and nobody else."""

from collections import Counter
from collections.abc import Collection
from functools import partial
from random import Random

from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_connect
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_fire_time_changed,
)

from custom_components.bike_tracker.coordinator import BikeTrackerCoordinator
from custom_components.bike_tracker.dispatch import SIGNAL_UPDATED, Update

from ..conftest import EMAIL, RED, Bikes, async_setup
from ..settle import settle
from ..tools.simulator.server import Simulator

TRACKERS = [f"8610000000000{number:02}" for number in range(100)]


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
            note = partial(self.signals.update, [unique_id])
            coordinator.async_add_listener(note, unique_id)

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
    """Return who follows an account of 102 trackers, for which no time passes."""
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


async def test_one_of_many(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    simulator: Simulator,
    followers: Followers,
) -> None:
    """Of 102 trackers one reports: its followers are notified, once, with its key."""
    simulator.report(RED, latitude=48.5)
    await entry.runtime_data.coordinator.async_refresh()
    await settle(hass)

    assert list(map(set, followers.updates)) == [{RED}]
    assert followers.signals == {RED: 1}


@pytest.mark.parametrize("seed", range(2))
async def test_polls(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    simulator: Simulator,
    followers: Followers,
    seed: int,
) -> None:
    """Each poll notifies once, of what is another now; one without news of nothing."""
    rng = Random(seed)  # noqa: S311
    for _ in range(15):
        followers.changed()
        for unique_id in rng.sample(TRACKERS, rng.choice([0, 1, 5, 30])):
            change(simulator, unique_id, rng)
        await entry.runtime_data.coordinator.async_refresh()
        await settle(hass)

        [updated], signals = followers.updates, Counter(followers.signals)
        changed = followers.changed()
        assert set(updated) == changed
        assert signals == dict.fromkeys(changed, 1)


@pytest.mark.usefixtures("with_live")
async def test_messages(bikes: Bikes, followers: Followers) -> None:
    """Each message notifies of what it changed."""
    bikes.freezer.tick(11)
    async_fire_time_changed(bikes.hass)
    await settle(bikes.hass)
    assert len(bikes.simulator.live.sockets) == 1
    rng = Random(0)  # noqa: S311
    for _ in range(20):
        followers.changed()
        for unique_id in rng.sample(TRACKERS, rng.choice([1, 3])):
            bikes.simulator.report(unique_id, latitude=rng.uniform(48, 49))
        await settle(bikes.hass)

        updated, signals = followers.updates.copy(), Counter(followers.signals)
        changed = followers.changed()
        assert changed
        assert set().union(*updated) == changed == signals.keys()
        assert sum(map(len, updated)) == signals.total()
