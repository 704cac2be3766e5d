"""An account whose set-up fails, on the newest Home Assistant, which obeys waits at set-up."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.tools.demo import EMAIL, PASSWORD, HomeAssistantProcess, SimulatedService
from tests.tools.demo.town import settle

ENTITIES_OF_A_TRACKER = 12
FIRST_WAIT = 5
"""Seconds until Home Assistant tries for the second time."""


@pytest.fixture
async def entry_id(
    home_assistant: HomeAssistantProcess, simulator: SimulatedService
) -> AsyncIterator[str]:
    """Return the account, set up while Home Assistant runs."""
    client = home_assistant.client
    await settle(client)
    entry_id = await client.add_account(simulator.url, EMAIL, PASSWORD)
    await client.wait_for_entities(3 * ENTITIES_OF_A_TRACKER)
    yield entry_id
    assert home_assistant.complaints() == []


async def state(home_assistant: HomeAssistantProcess) -> str:
    """Return the state of the account."""
    client = home_assistant.client
    [entry] = await client.call("config_entries/get", domain="bike_tracker")
    found: str = entry["state"]
    return found


async def reload(home_assistant: HomeAssistantProcess, entry_id: str) -> None:
    """Set the account up anew."""
    path = f"/api/config/config_entries/entry/{entry_id}/reload"
    await home_assistant.client.post(path)


async def test_outage_of_a_moment(
    home_assistant: HomeAssistantProcess, simulator: SimulatedService, entry_id: str
) -> None:
    """The account is there again after seconds, and not after a minute."""
    simulator.fault("status-503")
    await reload(home_assistant, entry_id)
    assert await state(home_assistant) == "setup_retry"
    simulator.fault(None)
    async with asyncio.timeout(8 * FIRST_WAIT):
        while await state(home_assistant) != "loaded":
            await asyncio.sleep(0.1)


async def test_wait_that_the_server_asks_for(
    home_assistant: HomeAssistantProcess, simulator: SimulatedService, entry_id: str
) -> None:
    """It is obeyed from the first time on."""
    simulator.fault("status-503", retry_after="600")
    await reload(home_assistant, entry_id)
    before = simulator.polls
    await asyncio.sleep(2 * FIRST_WAIT)
    assert simulator.polls == before
    assert await state(home_assistant) == "setup_retry"
