"""An account with more trackers than Home Assistant has room for."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from homeassistant.const import Platform
from homeassistant.core import HomeAssistant
from homeassistant.helpers import (
    entity_platform,
    entity_registry as er,
    issue_registry as ir,
)
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.bike_tracker.const import DOMAIN
from custom_components.bike_tracker.entities import entity_limit
from custom_components.bike_tracker.entities.entity_limit import OPTIONAL_KINDS

from .conftest import EMAIL, EVERYTHING, Poll, Shown, StateOf, async_setup
from .static.entities import DESCRIPTIONS
from .tools.simulator.server import Simulator

# A tracker that never reported has four enabled entities: room for five and a half.
LIMIT = 22
TRACKERS = [f"8600000000001{number:02}" for number in range(7)]

type Report = Callable[..., None]
type Kinds = Callable[[], dict[str, int]]
type Numbers = Callable[[], tuple[str, ...] | None]


@pytest.fixture(autouse=True)
def limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Home Assistant add few entities, so that few trackers are too many."""
    name = "MAX_ENABLED_ENTITIES_PER_CONFIG_ENTRY"
    assert getattr(entity_platform, name) == entity_limit.MOST_ENTITIES
    monkeypatch.setattr(entity_platform, name, LIMIT)
    monkeypatch.setattr(entity_limit, "MOST_ENTITIES", LIMIT)


@pytest.fixture
def simulator(simulator: Simulator) -> Simulator:
    """Return the service with one account of seven trackers that never reported."""
    for unique_id in list(simulator.devices):
        simulator.delete_device(unique_id)
    for unique_id in reversed(TRACKERS):
        simulator.add_device(unique_id, email=EMAIL, latitude=None)
    return simulator


@pytest.fixture
def kinds(
    hass: HomeAssistant, entry: MockConfigEntry, entity_registry: er.EntityRegistry
) -> Kinds:
    """Return a function for how many states there are of each kind that few have."""

    def _kinds() -> dict[str, int]:
        keys = Counter[str]()
        for entity in er.async_entries_for_config_entry(
            entity_registry, entry.entry_id
        ):
            key = entity.unique_id.partition("_")[2]
            if key in OPTIONAL_KINDS and not entity.disabled:
                assert hass.states.get(entity.entity_id)
                keys[key] += 1
        return dict(keys)

    return _kinds


@pytest.fixture
def numbers(entry: MockConfigEntry, issue_registry: ir.IssueRegistry) -> Numbers:
    """Return a function for what the repair issue says: left out, all, the limit."""

    def _numbers() -> tuple[str, ...] | None:
        issue = issue_registry.async_get_issue(
            DOMAIN, f"too_many_trackers_{entry.entry_id}"
        )
        if issue is None:
            return None
        said = issue.translation_placeholders
        assert said is not None
        assert said["account"] == entry.title
        return said["left_out"], said["total"], said["limit"]

    return _numbers


@pytest.mark.usefixtures("setup")
async def test_whole_trackers(
    shown: Shown, numbers: Numbers, caplog: pytest.LogCaptureFixture
) -> None:
    """As many are added as fit whole; the person is told, and Home Assistant never is."""
    assert shown() == dict.fromkeys(TRACKERS[:5], 4)
    assert numbers() == ("2", "7", "22")
    assert not caplog.records


@pytest.mark.usefixtures("setup")
async def test_polls_work(
    simulator: Simulator, poll: Poll, state_of: StateOf, shown: Shown, numbers: Numbers
) -> None:
    """Trackers that are shown are followed, and the others cost nothing but the issue."""
    for unique_id in TRACKERS:
        simulator.set_status(unique_id, "offline")

    await poll()

    for unique_id in TRACKERS[:5]:
        state = state_of(f"{unique_id}_online", Platform.BINARY_SENSOR)
        assert state is not None
        assert state.state == "off"
    assert shown() == dict.fromkeys(TRACKERS[:5], 4)
    assert numbers() == ("2", "7", "22")


async def test_always_the_same_ones(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    shown: Shown,
    numbers: Numbers,
) -> None:
    """Neither the order of the list nor a newcomer changes who is shown."""
    simulator.add_device("860000000000000", email=EMAIL, latitude=None)
    await poll()

    assert shown() == dict.fromkeys(TRACKERS[:5], 4)
    assert numbers() == ("3", "8", "22")

    for _ in range(3):
        await hass.config_entries.async_reload(setup.entry_id)
        await hass.async_block_till_done(wait_background_tasks=True)

        assert shown() == dict.fromkeys(TRACKERS[:5], 4)
        assert numbers() == ("3", "8", "22")


@pytest.mark.usefixtures("setup")
async def test_room_is_made(
    simulator: Simulator,
    poll: Poll,
    entity_registry: er.EntityRegistry,
    shown: Shown,
    numbers: Numbers,
) -> None:
    """The next tracker moves up once enough entities are disabled for all of it."""
    for unique_id in TRACKERS[:2]:
        entity_id = entity_registry.async_get_entity_id(
            Platform.BINARY_SENSOR, DOMAIN, f"{unique_id}_disabled"
        )
        assert entity_id is not None
        assert len(shown()) == 5
        entity_registry.async_update_entity(
            entity_id, disabled_by=er.RegistryEntryDisabler.USER
        )
        simulator.touch([TRACKERS[0]])
        await poll()

    assert shown() == {
        **dict.fromkeys(TRACKERS[:2], 3),
        **dict.fromkeys(TRACKERS[2:6], 4),
    }
    assert numbers() == ("1", "7", "22")


async def test_more_than_there_is_room_for(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    entity_registry: er.EntityRegistry,
    shown: Shown,
) -> None:
    """What a person enabled again is no reason to leave out what was there."""
    disabled = [
        entity_registry.async_get_entity_id(
            Platform.BINARY_SENSOR, DOMAIN, f"{unique_id}_disabled"
        )
        for unique_id in TRACKERS[:2]
    ]
    await poll()
    for disabled_by in (er.RegistryEntryDisabler.USER, None):
        for entity_id in disabled:
            assert entity_id
            entity_registry.async_update_entity(entity_id, disabled_by=disabled_by)
        simulator.touch([TRACKERS[0]])
        await poll()

    await hass.config_entries.async_reload(setup.entry_id)
    await hass.async_block_till_done(wait_background_tasks=True)

    assert shown().keys() == set(TRACKERS[:6])
    assert min(shown().values()) >= 3


@pytest.mark.usefixtures("setup")
async def test_account_shrinks(
    simulator: Simulator, poll: Poll, shown: Shown, numbers: Numbers
) -> None:
    """The issue goes with the last tracker that is left out."""
    simulator.unassign(EMAIL, TRACKERS[5])
    await poll()
    assert numbers() == ("1", "6", "22")

    simulator.unassign(EMAIL, TRACKERS[6])
    await poll()
    assert numbers() is None
    assert shown() == dict.fromkeys(TRACKERS[:5], 4)


@pytest.mark.usefixtures("setup")
async def test_account_grows(
    simulator: Simulator, poll: Poll, shown: Shown, numbers: Numbers
) -> None:
    """More trackers are more that are left out."""
    for number in range(3):
        simulator.add_device(f"new{number}", email=EMAIL, latitude=None)
    await poll()

    assert shown() == dict.fromkeys(TRACKERS[:5], 4)
    assert numbers() == ("5", "10", "22")


@pytest.fixture
def report(simulator: Simulator) -> Report:
    """Return a function that has a tracker report these attributes, and a place alone."""

    def _report(unique_id: str, **attributes: Any) -> None:
        for field in ("altitude", "speed", "course", "fixTime"):
            simulator.override_position(unique_id, field)
        simulator.report(unique_id, latitude=48.0, longitude=7.8, attributes=attributes)

    return _report


@pytest.mark.usefixtures("setup")
async def test_required_kinds_come_first(
    simulator: Simulator, poll: Poll, report: Report, shown: Shown
) -> None:
    """Nobody has more than every tracker has while some are left out."""
    report(TRACKERS[0], motion=True)
    await poll()

    assert shown() == dict.fromkeys(TRACKERS[:5], 4)


async def test_optional_kinds_give_way(
    hass: HomeAssistant,
    simulator: Simulator,
    entry: MockConfigEntry,
    report: Report,
    shown: Shown,
    kinds: Kinds,
    numbers: Numbers,
) -> None:
    """The least useful first and for all alike, however they came to be there."""
    for unique_id in TRACKERS[3:]:
        simulator.delete_device(unique_id)
    for unique_id in TRACKERS[:3]:
        report(unique_id, motion=True, batteryLevel=50, charge=True, lock=True)

    await async_setup(hass, entry)

    assert shown() == dict.fromkeys(TRACKERS[:3], 7)
    assert kinds() == {"motion": 3, "battery": 3, "lock": 3}
    assert numbers() is None


@pytest.mark.usefixtures("freezer")
async def test_what_was_there_gives_way(
    hass: HomeAssistant,
    simulator: Simulator,
    entry: MockConfigEntry,
    poll: Poll,
    report: Report,
    shown: Shown,
    kinds: Kinds,
    numbers: Numbers,
) -> None:
    """To a tracker that comes, and to what is more useful."""
    for unique_id in TRACKERS[4:]:
        simulator.delete_device(unique_id)
    await async_setup(hass, entry)

    report(TRACKERS[0], batteryLevel=50, charge=True)
    report(TRACKERS[1], batteryLevel=50, charge=True)
    await poll()
    assert kinds() == {"battery": 2, "charging": 2, "guard": 2}

    report(TRACKERS[2], motion=True, charge=True)
    await poll()
    assert kinds() == {"motion": 1, "battery": 2, "charging": 3}

    report(TRACKERS[3], motion=True)
    await poll()
    assert kinds() == {"motion": 2, "battery": 2}

    simulator.add_device("new", email=EMAIL, latitude=None)
    await poll()
    assert kinds() == {"motion": 2}
    assert numbers() is None

    await hass.config_entries.async_reload(entry.entry_id)
    await hass.async_block_till_done(wait_background_tasks=True)
    assert kinds() == {"motion": 2}
    assert shown() == {
        **dict.fromkeys(TRACKERS[:2], 4),
        **dict.fromkeys(TRACKERS[2:4], 5),
        "new": 4,
    }


async def test_issue_goes_with_the_account(
    hass: HomeAssistant, setup: MockConfigEntry, numbers: Numbers
) -> None:
    """There is nothing to repair about an account that is not set up."""
    await hass.config_entries.async_unload(setup.entry_id)

    assert numbers() is None


async def test_large_fleet_that_reports_everything(
    hass: HomeAssistant,
    monkeypatch: pytest.MonkeyPatch,
    simulator: Simulator,
    entry: MockConfigEntry,
    poll: Poll,
    shown: Shown,
    kinds: Kinds,
    numbers: Numbers,
    freezer: Any,
) -> None:
    """A hundredth of 1,500 trackers, in a hundredth of the room: all are shown."""
    name = "MAX_ENABLED_ENTITIES_PER_CONFIG_ENTRY"
    monkeypatch.setattr(entity_platform, name, 100)
    monkeypatch.setattr(entity_limit, "MOST_ENTITIES", 100)
    trackers = [f"870000000000{number:03}" for number in range(15)]
    for unique_id in TRACKERS:
        simulator.delete_device(unique_id)
    for unique_id in trackers:
        simulator.add_device(unique_id, email=EMAIL)
        simulator.report(unique_id, attributes=EVERYTHING)

    await async_setup(hass, entry)

    for _ in range(2):
        assert shown() == dict.fromkeys(trackers, 6)
        assert kinds() == {"motion": 15, "battery": 15}
        assert numbers() is None
        for unique_id in trackers:
            simulator.report(unique_id, latitude=48.0)
        await poll()


async def test_full_account_starts_as_quickly(
    hass: HomeAssistant,
    monkeypatch: pytest.MonkeyPatch,
    simulator: Simulator,
    entry: MockConfigEntry,
) -> None:
    """What gives way is looked for once, and not with every few trackers."""
    looked_for = Counter[str]()
    look_for = er.EntityRegistry.async_get_entity_id

    def count(registry: er.EntityRegistry, *entity: str) -> str | None:
        looked_for[entity[2]] += 1
        return look_for(registry, *entity)

    for number in range(80):
        simulator.add_device(f"8800000000000{number:02}", email=EMAIL, latitude=None)
    monkeypatch.setattr(er.EntityRegistry, "async_get_entity_id", count)

    await async_setup(hass, entry)

    # To see what is needed and whether it fits, and by Home Assistant itself.
    assert 0 < max(looked_for.values()) <= 6


def test_every_optional_kind_is_one() -> None:
    """There is nothing in that order that is no entity, and nothing twice."""
    keys = {each.key for platform in DESCRIPTIONS.values() for each in platform}
    assert keys.issuperset(OPTIONAL_KINDS)
    assert len(set(OPTIONAL_KINDS)) == len(OPTIONAL_KINDS)


def test_guard_gives_way_before_rides() -> None:
    """What happened is told for longer than what a person has to think of."""
    others = [f"other_{number}" for number in range(LIMIT - 2)]
    kinds = dict.fromkeys((*others, "guard", "ride", "rides"))
    assert entity_limit.fitting({TRACKERS[0]: kinds})[0] == {"guard"}
