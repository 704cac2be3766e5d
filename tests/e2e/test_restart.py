"""After a stop or a kill, Home Assistant starts with everything that the user has set up."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
import shutil

import pytest

from tests.tools.demo import (
    EMAIL,
    PASSWORD,
    HomeAssistantClient,
    HomeAssistantProcess,
    SimulatedService,
)
from tests.tools.demo.home_assistant import free_port

BIKE = "860000000000001"
ENTITIES_OF_A_TRACKER = 12
AUTOMATION = "ride_away"

type Built = dict[str, object]
"""The set-up that a user would have to repeat if Home Assistant lost it."""


async def look(client: HomeAssistantClient) -> Built:
    """Return the current set-up, and the IDs of the available entities."""
    entries = await client.call("config_entries/get", domain="bike_tracker")
    areas = await client.call("config/area_registry/list")
    states, devices = await client.states(), await client.devices()
    keys = ("entity_id", "unique_id", "name", "area_id", "device_id", "disabled_by")
    entities = [[it[key] for key in keys] for it in await client.entities()]
    return {
        "entries": [entry["entry_id"] for entry in entries],
        "entities": sorted(entities),
        "devices": {
            unique_id: (device["id"], device["name_by_user"], device["area_id"])
            for unique_id, device in devices.items()
        },
        "areas": [area["name"] for area in areas],
        "automation": await client.get(f"/api/config/automation/config/{AUTOMATION}"),
        "available": {
            entity_id
            for entity_id, *_ in entities
            if entity_id in states and states[entity_id].state != "unavailable"
        },
    }


async def build(
    home_assistant: HomeAssistantProcess, simulator: SimulatedService
) -> Built:
    """Add a user, an account, an area and an automation, rename a bike and an entity, and return the set-up."""
    client = home_assistant.client
    await client.call("config/auth/create", name="Ann", group_ids=["system-users"])
    await client.add_account(simulator.url, EMAIL, PASSWORD)
    await client.wait_for_entities(3 * ENTITIES_OF_A_TRACKER)
    device_id = (await client.devices())[BIKE]["id"]
    area = await client.call("config/area_registry/create", name="Shed")
    await client.call(
        "config/device_registry/update",
        device_id=device_id,
        name_by_user="Ann's bike",
        area_id=area["area_id"],
    )
    await client.call(
        "config/entity_registry/update",
        entity_id=await client.entity_id("binary_sensor", f"{BIKE}_online"),
        new_entity_id="binary_sensor.anns_bike_reachable",
        name="Reachable",
    )
    await client.save_automation(
        AUTOMATION,
        {
            "alias": "Ride away",
            "triggers": [
                {
                    "trigger": "zone.left",
                    "target": {"device_id": device_id},
                    "options": {"zone": "zone.home"},
                }
            ],
            "actions": [{"event": "ride_away"}],
        },
    )
    return await look(client)


@dataclass(frozen=True)
class LivedIn:
    """The folder and set-up of a stopped Home Assistant, with the ports of Home Assistant and its service."""

    folder: Path
    port: int
    simulator_port: int
    built: Built


async def live_in(folder: Path) -> LivedIn:
    """Start Home Assistant in a new folder, make the set-up of `build`, and stop Home Assistant."""
    port, simulator_port = free_port(), free_port()
    async with (
        SimulatedService(port=simulator_port) as simulator,
        HomeAssistantProcess(folder, port=port) as home_assistant,
    ):
        built = await build(home_assistant, simulator)
    return LivedIn(folder, port, simulator_port, built)


@pytest.fixture(scope="module")
def lived_in(tmp_path_factory: pytest.TempPathFactory) -> LivedIn:
    """Return a folder with a complete set-up. Each test works on a copy of the folder."""
    return asyncio.run(live_in(tmp_path_factory.mktemp("lived_in")))


@pytest.fixture
async def simulator(lived_in: LivedIn) -> AsyncIterator[SimulatedService]:
    """Yield a new service with the account, at the port that the set-up uses."""
    async with SimulatedService(port=lived_in.simulator_port) as simulator:
        yield simulator


@pytest.fixture
async def home_assistant(
    lived_in: LivedIn, tmp_path: Path
) -> AsyncIterator[HomeAssistantProcess]:
    """Yield a stopped Home Assistant with the set-up. At the end, the log must have no errors of the integration."""
    folder = shutil.copytree(lived_in.folder, tmp_path / "home_assistant")
    home_assistant = HomeAssistantProcess(folder, port=lived_in.port)
    yield home_assistant
    await home_assistant.stop()
    print(home_assistant.log)  # noqa: T201
    assert home_assistant.complaints() == []


async def wait_for_request(simulator: SimulatedService, after: int) -> None:
    """Wait until the list of trackers was requested more than `after` times."""
    async with asyncio.timeout(60):
        while simulator.polls <= after:
            await asyncio.sleep(0.02)


async def test_killed_while_starting(
    home_assistant: HomeAssistantProcess,
    simulator: SimulatedService,
    lived_in: LivedIn,
) -> None:
    """If Home Assistant is killed 0.2 to 3 seconds after each of four starts, the fifth start has the whole set-up."""
    for seconds in (0.2, 1, 2, 3):
        await home_assistant.spawn()
        await asyncio.sleep(seconds)
        await home_assistant.kill()
    await home_assistant.start()
    assert await look(home_assistant.client) == lived_in.built


async def test_killed_during_a_poll(
    home_assistant: HomeAssistantProcess,
    simulator: SimulatedService,
    lived_in: LivedIn,
) -> None:
    """If Home Assistant is killed during its first or a later poll, the next start has the whole set-up."""
    simulator.fault("no-answer")
    await home_assistant.spawn()
    await wait_for_request(simulator, 0)
    await home_assistant.kill()
    simulator.fault(None)
    await home_assistant.start()
    assert await look(home_assistant.client) == lived_in.built

    before = simulator.polls
    simulator.fault("no-answer")
    polling = asyncio.create_task(home_assistant.client.poll())
    await wait_for_request(simulator, before)
    polling.cancel()
    await home_assistant.kill()
    simulator.fault(None)
    await home_assistant.start()
    assert await look(home_assistant.client) == lived_in.built
