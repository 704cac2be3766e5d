"""What the service says by itself shows without a poll."""

import asyncio

from tests.tools.demo import EMAIL, PASSWORD, HomeAssistantProcess, SimulatorProcess
from tests.tools.demo.check import check, table

BIKE = "860000000000001"


async def test_a_bike_moves(
    home_assistant: HomeAssistantProcess, simulator: SimulatorProcess
) -> None:
    """It is on the map each time, though there was one poll meanwhile at most."""
    client, control = home_assistant.client, simulator.control
    await client.add_account(simulator.url, EMAIL, PASSWORD)
    rows = await check(client, simulator)
    assert all(row.right for row in rows), table(rows)
    tracker = await client.entity_id("device_tracker", BIKE)
    async with asyncio.timeout(30):
        while not (await control.state())["live"]:
            await asyncio.sleep(0.1)
    # The first message is all positions; then there is a quiet second.
    await asyncio.sleep(2)

    polls = await _polls(simulator)
    for number in range(5):
        latitude = 48.0 + number
        await control.do("report", unique_id=BIKE, latitude=latitude)
        async with asyncio.timeout(20):
            while (await client.states())[tracker].attributes["latitude"] != latitude:
                await asyncio.sleep(0.02)
    assert await _polls(simulator) <= polls + 1
    assert home_assistant.complaints() == []


async def _polls(simulator: SimulatorProcess) -> int:
    """Return how often the list of trackers was asked for."""
    count: int = (await simulator.control.state())["requests"]["/api/devices"]
    return count
