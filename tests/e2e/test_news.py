"""What happens at the service shows in Home Assistant."""

import asyncio

from tests.tools.demo import EMAIL, PASSWORD, HomeAssistantProcess, SimulatorProcess
from tests.tools.demo.check import check, table

BIKE = "860000000000001"


async def test_a_tracker_goes_offline(
    home_assistant: HomeAssistantProcess, simulator: SimulatorProcess
) -> None:
    """One poll later it is off, and nothing else has changed."""
    client = home_assistant.client
    await client.add_account(simulator.url, EMAIL, PASSWORD)
    rows = await check(client, simulator)
    assert all(row.right for row in rows), table(rows)
    before = await client.states()
    connectivity = await client.entity_id("binary_sensor", f"{BIKE}_online")
    assert before[connectivity].state == "on"

    await simulator.control.do("set_status", unique_id=BIKE, status="offline")
    await client.poll()
    async with asyncio.timeout(30):
        while (after := await client.states())[connectivity].state != "off":
            await asyncio.sleep(0.1)
    assert {
        entity_id for entity_id in after if after[entity_id] != before.get(entity_id)
    } == {connectivity}
    assert home_assistant.complaints() == []
