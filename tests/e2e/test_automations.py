"""A saved automation with a trigger and a condition runs once per event, also across restarts."""

import asyncio

from tests.tools.demo import (
    EMAIL,
    PASSWORD,
    HomeAssistantClient,
    HomeAssistantProcess,
    SimulatedService,
)

BIKE = "860000000000001"
AUTOMATION = "offline"


async def runs(client: HomeAssistantClient) -> int:
    """Return how many runs of the automation have finished. Runs with a false condition do not count."""
    traces = await client.call("trace/list", domain="automation", item_id=AUTOMATION)
    return sum(trace["script_execution"] == "finished" for trace in traces)


async def wait_for_runs(client: HomeAssistantClient, number: int) -> None:
    """Wait until the automation has run at least this number of times."""
    async with asyncio.timeout(60):
        while await runs(client) < number:
            await asyncio.sleep(0.1)


async def test_fires_once(
    home_assistant: HomeAssistantProcess, simulator: SimulatedService
) -> None:
    """If a bike goes offline, an automation runs once, even if Home Assistant was stopped at that moment."""
    client = home_assistant.client
    await client.add_account(simulator.url, EMAIL, PASSWORD)
    await client.wait_for_entities(3)
    device_id = (await client.devices())[BIKE]["id"]
    area = await client.call("config/area_registry/create", name="Shed")
    await client.call(
        "config/device_registry/update", device_id=device_id, area_id=area["area_id"]
    )
    target = {"area_id": area["area_id"]}
    await client.save_automation(
        AUTOMATION,
        {
            "alias": "Offline",
            "triggers": [{"trigger": "bike_tracker.went_offline", "target": target}],
            "conditions": [
                {
                    "condition": "bike_tracker.is_offline",
                    "target": target,
                    "options": {"behavior": "all", "for": "00:00:00"},
                }
            ],
            "actions": [{"event": "offline"}],
        },
    )

    simulator.set_status(BIKE, "offline")
    await client.poll()
    await wait_for_runs(client, 1)
    await home_assistant.stop()
    await home_assistant.start()
    client = home_assistant.client
    simulator.set_status(BIKE, "online")
    await client.poll()
    online = await client.entity_id("binary_sensor", f"{BIKE}_online")
    await client.wait_for_state(online, "on")
    assert await runs(client) == 1

    await home_assistant.stop()
    simulator.set_status(BIKE, "offline")
    await home_assistant.start()
    await wait_for_runs(home_assistant.client, 2)
    await home_assistant.client.poll()
    assert await runs(home_assistant.client) == 2
    assert home_assistant.complaints() == []
