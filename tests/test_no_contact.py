"""An outage that lasts is shown to the person, and goes away by itself."""

from collections.abc import Callable

from freezegun.api import FrozenDateTimeFactory
from homeassistant.components.homeassistant import DOMAIN as HOMEASSISTANT
from homeassistant.config_entries import ConfigEntryDisabler, ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.bike_tracker.const import DOMAIN

from .conftest import BOB, EMAIL, PASSWORD, MakeEntry, Poll, async_setup
from .tools.simulator import Simulator

type Issue = Callable[[MockConfigEntry], ir.IssueEntry | None]


@pytest.fixture
def issue(issue_registry: ir.IssueRegistry) -> Issue:
    """Return a function for the issue of an account."""

    def _issue(entry: MockConfigEntry) -> ir.IssueEntry | None:
        return issue_registry.async_get_issue(DOMAIN, f"no_contact_{entry.entry_id}")

    return _issue


async def async_let_pass(poll: Poll, minutes: int) -> None:
    """Let minutes pass."""
    for _ in range(minutes):
        await poll(60)


@pytest.mark.freeze_time("2026-11-20 12:00:00+00:00")
@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("status-503", "status 503"),
        ("connection-refused", "connection refused"),
        ("status-401", "status 401"),
        ("html", "no JSON"),
    ],
)
async def test_while_running(
    hass: HomeAssistant,
    simulator: Simulator,
    setup: MockConfigEntry,
    poll: Poll,
    issue: Issue,
    fault: str,
    reason: str,
) -> None:
    """After half an hour it names account, time and reason; the first success ends it."""
    await hass.config.async_update(time_zone="Europe/Berlin")
    simulator.fault(fault)
    await async_let_pass(poll, 29)
    assert issue(setup) is None

    await async_let_pass(poll, 1)
    told = issue(setup)
    assert told is not None
    assert told.translation_key == "no_contact"
    assert told.severity is ir.IssueSeverity.WARNING
    placeholders = told.translation_placeholders or {}
    assert placeholders["account"] == setup.title
    assert placeholders["since"] == "2026-11-20 13:00"
    assert reason in placeholders["error"]

    simulator.fault(None)
    await async_let_pass(poll, 5)
    assert issue(setup) is None


@pytest.mark.freeze_time("2026-10-24 23:50:00+00:00")
async def test_while_clocks_are_set_back(
    hass: HomeAssistant,
    simulator: Simulator,
    setup: MockConfigEntry,
    poll: Poll,
    issue: Issue,
) -> None:
    """The time is what they showed when it began."""
    await hass.config.async_update(time_zone="Europe/Berlin")
    simulator.fault("status-503")
    await async_let_pass(poll, 90)
    told = issue(setup)
    assert told is not None
    assert (told.translation_placeholders or {})["since"] == "2026-10-25 01:50"


async def test_it_comes_when_it_is_time(
    simulator: Simulator, setup: MockConfigEntry, poll: Poll, issue: Issue
) -> None:
    """Half an hour after the last success, also if the next poll is an hour away."""
    simulator.fault("status-503", retry_after="3600")
    await async_let_pass(poll, 29)
    assert issue(setup) is None
    requests = len(simulator.requests)
    await async_let_pass(poll, 1)
    told = issue(setup)
    assert told is not None
    assert (told.translation_placeholders or {})["error"] == "status 503"
    assert len(simulator.requests) == requests

    simulator.fault(None)
    await async_let_pass(poll, 32)
    assert issue(setup) is None


async def test_polls_that_somebody_asks_for(
    hass: HomeAssistant,
    simulator: Simulator,
    setup: MockConfigEntry,
    poll: Poll,
    issue: Issue,
) -> None:
    """Where polling is disabled the last one says nothing of how long it lasts."""
    hass.config_entries.async_update_entry(setup, pref_disable_polling=True)
    await hass.config_entries.async_reload(setup.entry_id)
    await async_let_pass(poll, 60)
    simulator.fault("status-503")
    await setup.runtime_data.coordinator.async_refresh()
    await async_let_pass(poll, 29)
    assert issue(setup) is None
    await async_let_pass(poll, 1)
    assert issue(setup)


async def test_reason_that_changes(
    simulator: Simulator, setup: MockConfigEntry, poll: Poll, issue: Issue
) -> None:
    """It tells the newest."""
    simulator.fault("status-503")
    await async_let_pass(poll, 40)
    simulator.fault("connection-refused")
    await async_let_pass(poll, 5)

    told = issue(setup)
    assert told is not None
    assert (told.translation_placeholders or {})["error"] == "connection refused"


async def test_outages_that_end(
    simulator: Simulator, setup: MockConfigEntry, poll: Poll, issue: Issue
) -> None:
    """Half hours do not add up."""
    for _ in range(4):
        simulator.fault("status-503")
        await async_let_pass(poll, 25)
        simulator.fault(None)
        await async_let_pass(poll, 5)
        assert issue(setup) is None


@pytest.mark.parametrize("fault", ["status-503", "connection-refused"])
async def test_at_set_up(
    hass: HomeAssistant,
    freezer: FrozenDateTimeFactory,
    simulator: Simulator,
    entry: MockConfigEntry,
    poll: Poll,
    issue: Issue,
    fault: str,
) -> None:
    """An account that cannot be set up counts as well, attempts and restarts of it too."""
    simulator.fault(fault)
    await async_setup(hass, entry)
    await async_let_pass(poll, 20)
    await hass.config_entries.async_reload(entry.entry_id)
    await async_let_pass(poll, 25)
    assert issue(entry)

    simulator.fault(None)
    await async_let_pass(poll, 6)
    assert issue(entry) is None


async def test_other_accounts(
    hass: HomeAssistant,
    simulator: Simulator,
    setup: MockConfigEntry,
    make_entry: MakeEntry,
    poll: Poll,
    issue: Issue,
) -> None:
    """An issue is one account's."""
    simulator.add_account(BOB, PASSWORD)
    other = make_entry(BOB)
    await async_setup(hass, other)
    simulator.set_password(EMAIL, "another")
    await async_let_pass(poll, 45)

    assert issue(setup)
    assert issue(other) is None


async def test_account_that_is_switched_off(
    hass: HomeAssistant,
    simulator: Simulator,
    setup: MockConfigEntry,
    poll: Poll,
    issue: Issue,
) -> None:
    """It needs no contact, and nobody tried meanwhile: switched on again, it waits anew."""
    simulator.fault("status-503")
    await async_let_pass(poll, 40)
    assert issue(setup)

    by_user = ConfigEntryDisabler.USER
    await hass.config_entries.async_set_disabled_by(setup.entry_id, by_user)
    assert issue(setup) is None
    await hass.config_entries.async_set_disabled_by(setup.entry_id, None)
    await hass.async_block_till_done(wait_background_tasks=True)
    assert issue(setup) is None
    await async_let_pass(poll, 40)
    assert issue(setup)


async def test_others_who_watch_the_account(
    hass: HomeAssistant, simulator: Simulator, setup: MockConfigEntry, poll: Poll
) -> None:
    """They hear of it when it is switched off in the middle of an outage."""
    seen: list[tuple[str, ConfigEntryState]] = []
    setup.async_on_state_change(lambda: seen.append(("one", setup.state)))
    simulator.fault("status-503")
    await poll()
    setup.async_on_state_change(lambda: seen.append(("other", setup.state)))

    by_user = ConfigEntryDisabler.USER
    await hass.config_entries.async_set_disabled_by(setup.entry_id, by_user)

    off = ConfigEntryState.NOT_LOADED
    assert seen[-2:] == [("one", off), ("other", off)]


async def test_half_an_hour_that_ends_while_it_is_unloaded(
    hass: HomeAssistant,
    simulator: Simulator,
    setup: MockConfigEntry,
    poll: Poll,
    issue: Issue,
) -> None:
    """Nobody is told, until it is set up again in vain."""
    simulator.fault("status-503")
    await async_let_pass(poll, 10)
    await hass.config_entries.async_unload(setup.entry_id)
    await async_let_pass(poll, 60)
    assert issue(setup) is None
    await async_setup(hass, setup)
    assert issue(setup)


async def test_account_that_is_unloaded(
    hass: HomeAssistant,
    simulator: Simulator,
    setup: MockConfigEntry,
    poll: Poll,
    issue: Issue,
) -> None:
    """It needs no contact for that long; set up again, it has had none all the time."""
    simulator.fault("status-503")
    await async_let_pass(poll, 40)
    assert issue(setup)

    await hass.config_entries.async_unload(setup.entry_id)
    assert issue(setup) is None
    await async_setup(hass, setup)
    assert issue(setup)


async def test_account_that_is_removed(
    hass: HomeAssistant,
    simulator: Simulator,
    setup: MockConfigEntry,
    poll: Poll,
    issue_registry: ir.IssueRegistry,
) -> None:
    """Nothing is left of it."""
    simulator.fault("status-503")
    await async_let_pass(poll, 40)

    await hass.config_entries.async_remove(setup.entry_id)
    await async_let_pass(poll, 10)

    assert {domain for domain, _ in issue_registry.issues} <= {HOMEASSISTANT}
