"""An account that could not be set up, and is tried again with nobody there."""

import asyncio
from typing import Any

from freezegun.api import FrozenDateTimeFactory
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir
from homeassistant.helpers.update_coordinator import UpdateFailed
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_fire_time_changed,
)

from custom_components.bike_tracker.api import Changes, Device, TrackingClient
from custom_components.bike_tracker.const import DOMAIN
from custom_components.bike_tracker.polling.clients import create_client
from custom_components.bike_tracker.polling.service import create_service
from custom_components.bike_tracker.tracking import Account, Remembered

from .conftest import Poll, async_setup
from .tools.simulator import Simulator


async def test_removal_while_it_is_tried(
    hass: HomeAssistant,
    freezer: FrozenDateTimeFactory,
    simulator: Simulator,
    entry: MockConfigEntry,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A good answer that comes after the removal sets nothing up."""
    asked, removed = asyncio.Event(), asyncio.Event()
    get = TrackingClient.async_get_devices

    async def _answer_late(client: TrackingClient) -> Any:
        asked.set()
        await removed.wait()
        return await get(client)

    simulator.fault("status-401")
    await async_setup(hass, entry)
    simulator.fault(None)
    monkeypatch.setattr(TrackingClient, "async_get_devices", _answer_late)
    freezer.tick(61)
    async_fire_time_changed(hass)
    await asked.wait()
    assert entry.state is ConfigEntryState.SETUP_ERROR

    await hass.config_entries.async_remove(entry.entry_id)
    removed.set()
    await hass.async_block_till_done(wait_background_tasks=True)

    assert not hass.config_entries.async_entries(DOMAIN)
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


@pytest.mark.parametrize("fault", ["status-401", "status-503"])
@pytest.mark.usefixtures("freezer")
async def test_lasting_outage_after_a_refusal(
    hass: HomeAssistant,
    simulator: Simulator,
    entry: MockConfigEntry,
    poll: Poll,
    issue_registry: ir.IssueRegistry,
    fault: str,
) -> None:
    """It is shown as any other, and goes away by itself."""

    def _is_shown() -> bool:
        issue_id = f"no_contact_{entry.entry_id}"
        return issue_registry.async_get_issue(DOMAIN, issue_id) is not None

    simulator.fault("status-401")
    await async_setup(hass, entry)
    simulator.fault(fault)
    for _ in range(29):
        await poll()
    assert not _is_shown()
    for _ in range(10):
        await poll()
    assert _is_shown()

    simulator.fault(None)
    for _ in range(5):
        await poll()
    assert entry.state is ConfigEntryState.LOADED
    assert not _is_shown()


@pytest.mark.parametrize("minutes", [1, 30])
@pytest.mark.usefixtures("freezer")
async def test_error_that_nobody_thought_of(
    hass: HomeAssistant,
    simulator: Simulator,
    entry: MockConfigEntry,
    poll: Poll,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    minutes: int,
) -> None:
    """It is told, and however long it lasts, the account is tried again."""

    async def _fail(_: TrackingClient) -> Any:
        raise RuntimeError("nobody thought of this")

    simulator.fault("status-401")
    await async_setup(hass, entry)
    simulator.fault(None)
    with monkeypatch.context() as patch:
        patch.setattr(TrackingClient, "async_get_devices", _fail)
        for _ in range(minutes):
            await poll()
    name = "127.0.0.1"
    assert f"{name}: Unexpected error trying to set up again" in caplog.messages

    for _ in range(5):
        await poll()

    assert entry.state is ConfigEntryState.LOADED
    assert not hass.config_entries.flow.async_progress()


@pytest.mark.parametrize(
    ("asked_for", "obeyed"), [(None, None), ("5", 60), ("600", 600), ("86400", 3600)]
)
async def test_first_waits(
    hass: HomeAssistant,
    simulator: Simulator,
    entry: MockConfigEntry,
    asked_for: str | None,
    obeyed: float | None,
) -> None:
    """They are Home Assistant's own, unless the server itself asks for another."""
    simulator.fault("status-503", retry_after=asked_for)
    entry.mock_state(hass, ConfigEntryState.SETUP_IN_PROGRESS)
    client = create_client(hass, entry.data)
    service = create_service(hass, entry, client, offers_positions=False)
    account = Account(Remembered())

    def own(listed: Changes[str, Device]) -> Changes[str, Device]:
        return listed

    with pytest.raises(UpdateFailed) as caught:
        await service.async_ask(account, own)

    # Which Home Assistant obeys from 2026.11 on.
    assert caught.value.retry_after == obeyed


@pytest.mark.parametrize(("asked_for", "at_most"), [(None, 22), ("3600", 13)])
@pytest.mark.usefixtures("freezer")
async def test_wait_that_the_server_asks_for(
    hass: HomeAssistant,
    simulator: Simulator,
    entry: MockConfigEntry,
    poll: Poll,
    asked_for: str | None,
    at_most: int,
) -> None:
    """Home Assistant tries when it does, and the integration no more often than asked for."""
    simulator.fault("status-503", retry_after=asked_for)
    await async_setup(hass, entry)
    for _ in range(60):
        await poll(60)
    assert at_most - 2 <= len(simulator.requests) <= at_most
