"""The demo as a person runs it."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
import os
from pathlib import Path
import re
import signal
import socket
import subprocess
import sys

from aiohttp import ClientSession
import pytest

from tests.tools.demo import HomeAssistantClient
from tests.tools.demo.ports import HOST, free_port, is_free


@contextmanager
def demo(folder: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    """Start the demo, with its temporary files in a folder; it does not outlive this."""
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "tests.tools.demo.demo", *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(folder)},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def address(process: subprocess.Popen[str]) -> str:
    """Wait for the demo to tell its address."""
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"Home Assistant is at (\S+)", line):
            return found[1]
    raise AssertionError("no address was printed")


@asynccontextmanager
async def signed_in(url: str) -> AsyncIterator[HomeAssistantClient]:
    """Return somebody who opened it in a browser."""
    async with ClientSession() as session:
        client = HomeAssistantClient(session, url)
        await client.sign_in()
        yield client


def test_check(tmp_path: Path) -> None:
    """Every entity of every tracker is there and right."""
    with demo(tmp_path, "--check", "--trackers", "2") as process:
        output, errors = process.communicate()
    assert process.returncode == 0, output + errors
    assert "2 of 2 trackers" in output
    assert "WRONG" not in output


async def test_runs_until_ctrl_c(tmp_path: Path) -> None:
    """It opens on a dashboard without a sign-in, and leaves nothing behind."""
    with demo(tmp_path, "--trackers", "1", "--port", str(free_port())) as process:
        url = address(process)
        async with signed_in(url) as client:
            core = await client.call("frontend/get_system_data", key="core")
            dashboard = await client.call(
                "lovelace/config", url_path=core["value"]["default_panel"]
            )
            assert "bike-tracker-bikes-card" in str(dashboard)
        assert list(tmp_path.iterdir()) != []
        process.send_signal(signal.SIGINT)
        # The output ends only when no process has it open any more.
        process.communicate()
    assert process.returncode == 0
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of a demo that runs."""
    folder = tmp_path_factory.mktemp("demo")
    with demo(folder, "--trackers", "2", "--port", str(free_port())) as process:
        yield address(process)


@pytest.fixture
async def client(running: str) -> AsyncIterator[HomeAssistantClient]:
    """Return the one who uses it, for three minutes at most."""
    async with signed_in(running) as client, asyncio.timeout(180):
        yield client


async def test_leaves_home_while_it_rides(client: HomeAssistantClient) -> None:
    """An automation is told, each time."""
    devices = (await client.devices()).values()
    [device] = [device for device in devices if device["name"] == "City bike"]
    trigger = {
        "trigger": "zone.left",
        "target": {"device_id": device["id"]},
        "options": {"zone": "zone.home"},
    }
    await client.save_automation(
        "left", {"alias": "Left", "triggers": [trigger], "actions": []}
    )
    async with client.events("automation_triggered") as runs:
        for number in (1, 2):
            await press(client, "leaves_home")
            while len(runs) < number or not await is_on_its_way(client):
                await asyncio.sleep(0.1)


async def test_guarded(client: HomeAssistantClient) -> None:
    """A bike that is guarded stays where it is until a button is pressed."""
    guard = "alarm_control_panel.gravel_bike_guard"
    await press(client, "rides")
    while not await is_moving(client, "gravel_bike"):
        await asyncio.sleep(0.1)
    await client.action("alarm_control_panel.alarm_arm_away", entity_id=guard)
    while await is_moving(client, "gravel_bike"):
        await asyncio.sleep(0.1)
    for _ in range(10):
        await asyncio.sleep(0.5)
        assert not await is_moving(client, "gravel_bike")
    await press(client, "rides")
    await client.wait_for_state(guard, "triggered")


async def test_nobody_home(client: HomeAssistantClient) -> None:
    """A button sends the one rider away, and another one back."""
    for name, people in (("nobody_home", "0"), ("at_home", "1")):
        await press(client, name)
        await client.wait_for_state("zone.home", people)


async def test_question(client: HomeAssistantClient) -> None:
    """Assist tells where a bike is."""
    answer = await client.post(
        "/api/conversation/process", {"text": "Where is the city bike?"}
    )
    said = answer["response"]["speech"]["plain"]["speech"]
    assert said.startswith("City bike")


async def test_what_there_is_to_try(client: HomeAssistantClient) -> None:
    """A button does what it says, and a new bike is on the dashboard; the blueprints are there."""
    blueprints = await client.call("blueprint/list", domain="automation")
    assert "bike_tracker/tracker_offline.yaml" in blueprints
    await press(client, "offline")
    while not await is_offline(client):
        await client.poll()
        await asyncio.sleep(0.5)
    await press(client, "new")
    while "device_tracker.new_bike" not in await client.states():
        await client.poll()
        await asyncio.sleep(0.5)


async def press(client: HomeAssistantClient, name: str) -> None:
    """Press a button of the page of what there is to try."""
    await client.action("script.turn_on", entity_id=f"script.try_{name}")


async def is_offline(client: HomeAssistantClient) -> bool:
    """Return whether Home Assistant knows that the bike is offline, of two the other one."""
    states = await client.states()
    return states["binary_sensor.gravel_bike_connectivity"].state == "off"


async def is_moving(client: HomeAssistantClient, bike: str) -> bool:
    """Return whether Home Assistant knows that a bike moves."""
    return (await client.states())[f"binary_sensor.{bike}_moving"].state == "on"


async def is_on_its_way(client: HomeAssistantClient) -> bool:
    """Return whether Home Assistant knows that the bike rides somewhere."""
    place = (await client.states())["device_tracker.city_bike"].state
    return place == "not_home" and await is_moving(client, "city_bike")


def test_interrupted_while_starting(tmp_path: Path) -> None:
    """It cleans up, and says that it did not get to its end."""
    with demo(tmp_path, "--check", "--port", str(free_port())) as process:
        assert process.stderr is not None
        process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        process.communicate()
    assert process.returncode == 130
    assert list(tmp_path.iterdir()) == []


async def test_killed(tmp_path: Path) -> None:
    """Home Assistant and the simulated service end with it, each as fast as it can."""
    with demo(tmp_path, "--trackers", "1", "--port", str(free_port())) as process:
        url = address(process)
        process.kill()
        process.communicate()
    async with asyncio.timeout(60):
        while not is_free(int(url.rpartition(":")[2])):
            await asyncio.sleep(0.1)


def test_port_in_use(tmp_path: Path) -> None:
    """A port that was asked for and is in use is an error."""
    with socket.create_server((HOST, 0)) as server:
        port = str(server.getsockname()[1])
        with demo(tmp_path, "--port", port) as process:
            _, errors = process.communicate()
    assert process.returncode == 2
    assert f"Port {port} is in use" in errors
