"""An outage that lasts is shown to the person, and goes away by itself."""

from collections.abc import Callable
from datetime import timedelta

from homeassistant.components.homeassistant import DOMAIN as HOMEASSISTANT
from homeassistant.helpers import issue_registry as ir
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.bike_tracker.const import DOMAIN

from ..conftest import Bikes, Poll
from ..tools.simulator import Simulator

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


@pytest.mark.usefixtures("setup")
@pytest.mark.freeze_time("2026-10-24 23:50:00+00:00")
@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("status-503", "status 503"),
        ("connection-refused", "connection refused"),
        ("status-401", "status 401"),
        ("html", "invalid JSON"),
    ],
)
async def test_lasting_outage(
    bikes: Bikes, issue: Issue, fault: str, reason: str
) -> None:
    """After half an hour it names account, time and newest reason; a success ends it."""
    await bikes.hass.config.async_update(time_zone="Europe/Berlin")
    bikes.simulator.fault("status-500")
    await async_let_pass(bikes.poll, 1)
    bikes.simulator.fault(fault)
    await async_let_pass(bikes.poll, 29)
    assert issue(bikes.entry) is None

    # Clocks are set back meanwhile: the time is what they showed when it began.
    await async_let_pass(bikes.poll, 60)
    shown = issue(bikes.entry)
    assert shown is not None
    assert shown.translation_key == "no_contact"
    assert shown.severity is ir.IssueSeverity.WARNING
    placeholders = shown.translation_placeholders or {}
    assert placeholders["account"] == bikes.entry.title
    assert placeholders["since"] == "2026-10-25 01:51"
    assert reason in placeholders["error"]

    bikes.simulator.fault(None)
    await async_let_pass(bikes.poll, 60)
    assert issue(bikes.entry) is None


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


@pytest.mark.usefixtures("setup")
async def test_clock_that_is_put_right(
    bikes: Bikes, issue: Issue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that starts with its network may count two days between two polls."""
    bikes.simulator.fault("status-503")
    await bikes.poll()
    right = dt_util.now
    for name in ("now", "utcnow"):
        monkeypatch.setattr(dt_util, name, lambda *_: right() + timedelta(days=2))
    await async_let_pass(bikes.poll, 2)
    assert issue(bikes.entry) is None


@pytest.mark.usefixtures("setup")
async def test_account_that_is_removed(
    bikes: Bikes, issue_registry: ir.IssueRegistry
) -> None:
    """Nothing is left of it."""
    bikes.simulator.fault("status-503")
    await async_let_pass(bikes.poll, 40)

    await bikes.hass.config_entries.async_remove(bikes.entry.entry_id)
    await async_let_pass(bikes.poll, 10)

    assert {domain for domain, _ in issue_registry.issues} <= {HOMEASSISTANT}
