"""Changes at the service appear in Home Assistant over the live connection, without waiting for a poll."""

import asyncio

from tests.tools.demo import EMAIL, PASSWORD, HomeAssistantProcess, SimulatedService
from tests.tools.demo.check import differences

BIKE = "860000000000001"


async def test_changes_appear(
    home_assistant: HomeAssistantProcess, simulator: SimulatedService
) -> None:
    """If a bike goes offline, only its connectivity changes. Its device tracker shows the place of each new report."""
    client = home_assistant.client
    await client.add_account(simulator.url, EMAIL, PASSWORD)
    assert await differences(client, simulator) == []
    async with asyncio.timeout(60):
        while not simulator.live.sockets:
            await asyncio.sleep(0.1)
    before, polls = await client.states(), simulator.polls
    connectivity = await client.entity_id("binary_sensor", f"{BIKE}_online")
    assert before[connectivity].state == "on"

    simulator.set_status(BIKE, "offline")
    async with asyncio.timeout(60):
        while (after := await client.states())[connectivity].state != "off":
            await asyncio.sleep(0.02)
    assert {
        entity_id for entity_id in after if after[entity_id] != before.get(entity_id)
    } == {connectivity}

    tracker = await client.entity_id("device_tracker", BIKE)
    for number in range(5):
        latitude = 48.0 + number
        simulator.report(BIKE, latitude=latitude)
        async with asyncio.timeout(60):
            while (await client.states())[tracker].attributes["latitude"] != latitude:
                await asyncio.sleep(0.02)
    assert simulator.polls <= polls + 1
    assert home_assistant.complaints() == []
