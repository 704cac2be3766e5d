"""An account with more trackers than Home Assistant has room for."""

from collections.abc import Callable

from homeassistant.helpers import (
    entity_platform,
    entity_registry as er,
    issue_registry as ir,
)
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.bike_tracker import entity
from custom_components.bike_tracker.const import DOMAIN

from .conftest import EMAIL, Bikes, Poll, Shown
from .tools.simulator.server import Simulator

# A tracker that never reported has four enabled entities: room for five and a half.
LIMIT = 22
TRACKERS = [f"8600000000001{number:02}" for number in range(7)]

type Numbers = Callable[[], tuple[str, ...] | None]


@pytest.fixture(autouse=True)
def limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Home Assistant add few entities, so that few trackers are too many."""
    name = "MAX_ENABLED_ENTITIES_PER_CONFIG_ENTRY"
    assert getattr(entity_platform, name) == entity.MAX_ENTITIES
    monkeypatch.setattr(entity_platform, name, LIMIT)
    monkeypatch.setattr(entity, "MAX_ENTITIES", LIMIT)


@pytest.fixture
def simulator(simulator: Simulator) -> Simulator:
    """Return the service with one account of seven trackers that never reported."""
    for unique_id in list(simulator.devices):
        simulator.delete_device(unique_id)
    for unique_id in reversed(TRACKERS):
        simulator.add_device(unique_id, email=EMAIL, latitude=None)
    return simulator


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
async def test_always_the_same_ones(
    bikes: Bikes, shown: Shown, numbers: Numbers
) -> None:
    """Neither the order of the list nor a newcomer changes who is shown."""
    bikes.simulator.add_device("860000000000000", email=EMAIL, latitude=None)
    await bikes.poll()

    assert shown() == dict.fromkeys(TRACKERS[:5], 4)
    assert numbers() == ("3", "8", "22")

    for _ in range(3):
        await bikes.hass.config_entries.async_reload(bikes.entry.entry_id)
        await bikes.hass.async_block_till_done(wait_background_tasks=True)

        assert shown() == dict.fromkeys(TRACKERS[:5], 4)
        assert numbers() == ("3", "8", "22")


@pytest.mark.usefixtures("setup")
async def test_account_shrinks(
    bikes: Bikes, shown: Shown, numbers: Numbers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The issue goes with the last tracker left out, whatever a person enables then."""
    bikes.simulator.unassign(EMAIL, TRACKERS[5])
    await bikes.poll()
    assert numbers() == ("1", "6", "22")

    bikes.simulator.unassign(EMAIL, TRACKERS[6])
    await bikes.poll()
    monkeypatch.setattr(entity, "MAX_ENTITIES", 19)
    bikes.simulator.touch(TRACKERS[:5])
    await bikes.poll()
    assert numbers() is None
    assert shown() == dict.fromkeys(TRACKERS[:5], 4)


@pytest.mark.usefixtures("setup")
async def test_what_is_newly_reported(
    simulator: Simulator,
    poll: Poll,
    shown: Shown,
    numbers: Numbers,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A tracker without room for what it newly reports keeps what it has."""
    simulator.report(TRACKERS[0], latitude=48.0, attributes={"motion": True})
    await poll()

    assert shown() == dict.fromkeys(TRACKERS[:5], 4)
    assert numbers() == ("3", "7", "22")
    assert "WARNING" not in caplog.text


@pytest.mark.usefixtures("setup")
async def test_kinds_that_every_tracker_has(
    entry: MockConfigEntry, entity_registry: er.EntityRegistry
) -> None:
    """A tracker that never reported has these, and nothing else before it reports it."""
    keys = {
        each.unique_id.removeprefix(TRACKERS[0]).removeprefix("_")
        for each in er.async_entries_for_config_entry(entity_registry, entry.entry_id)
        if each.unique_id.startswith(TRACKERS[0])
    }
    assert keys == {
        *("", "online", "disabled", "last_update", "position_id", "group_id")
    }
