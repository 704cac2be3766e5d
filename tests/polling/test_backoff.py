"""The time of the next poll after a failure, and the conditions for a new sign-in."""

from collections.abc import Mapping
from unittest.mock import Mock

from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import CONF_PASSWORD
from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir
from homeassistant.helpers.update_coordinator import UpdateFailed
import pytest

from custom_components.bike_tracker import polling
from custom_components.bike_tracker.api import TrackingClient
from custom_components.bike_tracker.api.errors import AuthenticationError
from custom_components.bike_tracker.api.models import Device
from custom_components.bike_tracker.const import DOMAIN
from custom_components.bike_tracker.polling.backoff import (
    DAY,
    HOUR,
    LIVE_BACKOFF,
    MINUTE,
    MISSING_POSITION_BACKOFF,
    NORMAL_BACKOFF,
    SIGN_IN_BACKOFF,
    UNSUPPORTED_BACKOFF,
    Backoff,
    Failures,
)

from ..conftest import EMAIL, Bikes, async_setup


def is_asked_to_sign_in(hass: HomeAssistant) -> bool:
    """Return whether Home Assistant requests a new password from the user, and no other flow is open."""
    flows = hass.config_entries.flow.async_progress()
    return [flow["context"]["source"] for flow in flows] == ["reauth"]


async def polls_in(bikes: Bikes, minutes: int) -> int:
    """Let a number of minutes pass, and return how often the device list is requested in this time."""
    before = bikes.simulator.record.counts["/api/devices"]
    await bikes.poll(times=minutes)
    return bikes.simulator.record.counts["/api/devices"] - before


# Tables of waits


@pytest.mark.parametrize(
    ("backoff", "waits"),
    [
        (NORMAL_BACKOFF, [60, 120, 240, 290, 290]),
        (SIGN_IN_BACKOFF, [60, *([290] * 13), HOUR, HOUR]),
        (MISSING_POSITION_BACKOFF, [60, 120, 240, *([290] * 11), HOUR, HOUR]),
        (UNSUPPORTED_BACKOFF, [HOUR, DAY, DAY]),
        (LIVE_BACKOFF, [5, 60, 120, 240, 300, 900, 900]),
    ],
)
def test_tables(backoff: Backoff, waits: list[float]) -> None:
    """Waits in a row follow the table. A wait that a server requests becomes at least a minute and at most an hour."""
    failures = Failures()
    for wait in waits:
        failures = failures.another(backoff)
        assert failures.wait == wait
    asked_for = [-5, 0, 59, 600, 3600, 10**12]
    requested = [failures.another(backoff, seconds).wait for seconds in asked_for]
    assert requested == [60, 60, 60, 600, 3600, 3600]


@pytest.mark.parametrize("jitter", [min], indirect=True)
async def test_jitter(bikes: Bikes) -> None:
    """Randomness shortens waits by at most 10 %, but not below a minute. A poll after almost a minute is too early only for a server that asked for a minute."""
    assert (failures := Failures().another(NORMAL_BACKOFF)).wait == MINUTE
    assert failures.another(NORMAL_BACKOFF).wait == pytest.approx(0.9 * 2 * MINUTE)
    assert Failures().another(LIVE_BACKOFF).wait == 5
    asked = Failures().another(NORMAL_BACKOFF, MINUTE)
    bikes.freezer.tick(MINUTE - 1)
    assert failures.is_due and not asked.is_due


# Polls


async def test_a_person_who_polls_by_hand(bikes: Bikes) -> None:
    """If the user disabled polling, no poll follows the set-up."""
    bikes.hass.config_entries.async_update_entry(bikes.entry, pref_disable_polling=True)
    await async_setup(bikes.hass, bikes.entry)
    assert await polls_in(bikes, 60) == 0


# Refused sign-ins: status 401


@pytest.mark.parametrize(
    ("answers", "asks"),
    [
        (["status-401", "status-401"], True),
        (["status-401", None, "status-401"], False),
        (["status-401", "status-500", "status-401"], False),
        (["status-401", "connection-refused", "status-401"], False),
        (["status-401", "status-403", "status-401"], False),
        (["status-500", "status-401", "status-401"], True),
        (["status-401", "status-401", "status-503"], True),
        # If a poll succeeds again, the request for the password disappears. A single
        # refusal after this success does not bring it back.
        *(([*(["status-401"] * polls), None], False) for polls in (2, 26)),
        (["status-401", "status-401", None, "status-401"], False),
        (["status-403"] * 4, False),
        (["redirect-302-same"] * 4, False),
    ],
)
async def test_two_refused(ready: Bikes, answers: list[str | None], asks: bool) -> None:
    """Home Assistant requests the password after two polls in a row with the status 401, until a poll succeeds."""
    for answer in answers:
        ready.simulator.fault(answer)
        await ready.poll(HOUR)
    assert is_asked_to_sign_in(ready.hass) is asks


async def test_refused_sign_in_is_tried_rarely(ready: Bikes) -> None:
    """With a wrong password, polls become rare, and stay rare after an outage: the server could lock the account.

    If the account is unloaded, the repair issue about the failing polls disappears.
    """
    ready.simulator.fault("status-401")
    assert await polls_in(ready, 2) == 2
    assert await polls_in(ready, 60) in range(11, 14)
    assert await polls_in(ready, 300) in range(4, 7)
    ready.simulator.fault("status-503")
    await polls_in(ready, 60)
    ready.simulator.fault("status-401")
    assert await polls_in(ready, 300) in range(4, 7)
    assert is_asked_to_sign_in(ready.hass)
    issue = DOMAIN, f"no_contact_{ready.entry.entry_id}"
    assert issue in ir.async_get(ready.hass).issues
    await ready.hass.config_entries.async_unload(ready.entry.entry_id)
    assert issue not in ir.async_get(ready.hass).issues


async def test_late_refusal(ready: Bikes, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the user enters a new password before the old one is refused, the poll succeeds with the new password."""
    ready.simulator.set_password(EMAIL, "new password")
    await polls_in(ready, 2)
    get, flows = TrackingClient.async_get_devices, ready.hass.config_entries.flow

    async def _get_late(client: TrackingClient) -> Mapping[str, Device]:
        """Let the user sign in before the answer to the old password arrives."""
        try:
            return await get(client)
        except AuthenticationError:
            [flow] = flows.async_progress()
            changed = {CONF_PASSWORD: "new password"}
            await flows.async_configure(flow["flow_id"], changed)
            raise

    monkeypatch.setattr(TrackingClient, "async_get_devices", _get_late)
    start, results, coordinator = Mock(), list[bool](), ready.coordinator
    monkeypatch.setattr(ready.entry, "async_start_reauth", start)
    coordinator.async_add_listener(
        lambda: results.append(coordinator.last_update_success)
    )
    await coordinator.async_refresh()
    await ready.hass.async_block_till_done(wait_background_tasks=True)
    assert results == [True, True]
    assert not start.called
    assert not flows.async_progress()


# Set-up


@pytest.mark.parametrize(
    ("fault", "asked_for", "retry_after"),
    [
        ("status-401", None, None),
        ("status-503", None, None),
        ("status-503", "5", 60),
        ("status-503", "600", 600),
    ],
)
async def test_set_up_that_fails(
    bikes: Bikes,
    monkeypatch: pytest.MonkeyPatch,
    fault: str,
    asked_for: str | None,
    retry_after: float | None,
) -> None:
    """A failed set-up is retried. If the server requests a wait, it lasts at least a minute. A 401 starts a sign-in."""
    failed = Mock(wraps=UpdateFailed)
    monkeypatch.setattr(polling, "UpdateFailed", failed)
    bikes.simulator.fault(fault, retry_after=asked_for)
    await async_setup(bikes.hass, bikes.entry)
    assert bikes.entry.state is ConfigEntryState.SETUP_RETRY
    # Home Assistant uses `retry_after` from release 2026.11 on.
    assert failed.call_args.kwargs["retry_after"] == retry_after
    assert is_asked_to_sign_in(bikes.hass) is (fault == "status-401")
