"""What the service says by itself shows within a second."""

import asyncio
from datetime import datetime, timedelta
from time import monotonic

from tests.live import EMAIL, PASSWORD, HomeAssistantProcess, SimulatorProcess
from tests.live.check import check, table

BIKE = "860000000000001"


async def test_a_bike_moves(
    home_assistant: HomeAssistantProcess, simulator: SimulatorProcess
) -> None:
    """It is on the map within a second, and the poll comes when it always does."""
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

    for number in range(5):
        latitude = 48.0 + number
        await control.do("report", unique_id=BIKE, latitude=latitude)
        began = monotonic()
        while (await client.states())[tracker].attributes["latitude"] != latitude:
            assert monotonic() - began < 1
            await asyncio.sleep(0.02)
        await asyncio.sleep(1)

    polls = await _polls(simulator)
    async with asyncio.timeout(70):
        while len(again := await _polls(simulator)) == len(polls):
            await asyncio.sleep(0.5)
    between = again[-1] - polls[-1]
    assert timedelta(seconds=59) < between < timedelta(seconds=61)
    assert home_assistant.complaints() == []


async def _polls(simulator: SimulatorProcess) -> list[datetime]:
    """Return when the list of trackers was asked for."""
    return [
        request.time
        for request in await simulator.control.requests()
        if request.path == "/api/devices"
    ]
