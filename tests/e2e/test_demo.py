"""Tests of the demo, which runs in its own process as a user starts it."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
import os
from pathlib import Path
import re
import signal
import socket
import subprocess
import sys

from aiohttp import ClientSession
from playwright.async_api import expect
import pytest

from tests.e2e import RESULTS
from tests.e2e.browser import DESKTOP, PHONE, Look, chromium, new_context
from tests.tools.demo import HomeAssistantClient
from tests.tools.demo.home_assistant import HOST, free_port, is_free


@contextmanager
def demo(folder: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    """Start the demo, with all its temporary files in this folder. Kill it at the end of the context."""
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


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of a running demo. At the end, press Ctrl-C, and check that no file is left."""
    folder = tmp_path_factory.mktemp("demo")
    with demo(folder, "--port", str(free_port())) as process:
        assert process.stdout is not None
        output = iter(process.stdout)
        while not (found := re.search(r"Home Assistant is at (\S+)", next(output))):
            pass
        yield found[1]
        assert list(folder.iterdir()) != []
        process.send_signal(signal.SIGINT)
        # Wait until all processes of the demo have ended, which closes their output.
        process.communicate()
    assert process.returncode == 0
    assert list(folder.iterdir()) == []


@pytest.fixture
async def client(running: str) -> AsyncIterator[HomeAssistantClient]:
    """Yield a client that is signed in as the demo's user. The test must end within three minutes."""
    async with ClientSession() as session, asyncio.timeout(180):
        client = HomeAssistantClient(session, running)
        await client.sign_in()
        yield client


@pytest.mark.parametrize("look", [DESKTOP, PHONE], ids=lambda look: look.name)
async def test_story(running: str, client: HomeAssistantClient, look: Look) -> None:
    """The dashboard opens without a sign-in. If a thief moves a guarded bike, the phone offers a theft report."""
    guard = "alarm_control_panel.long_tail_bike_guard"
    async with chromium() as browser, await new_context(browser, look) as context:
        page = await context.new_page()
        tiles = page.locator("hui-tile-card")
        await page.goto(running)
        await tiles.filter(has_text="1 Park and guard").click()
        await client.wait_for_state(guard, "armed_away")
        await asyncio.sleep(2)
        states = await client.states()
        assert states["binary_sensor.long_tail_bike_moving"].state == "off"
        await tiles.filter(has_text="2 A thief comes").click()
        await client.wait_for_state(guard, "triggered")
        message = page.locator("hui-markdown-card", has_text="Open")
        await expect(message).to_contain_text("Long-tail bike is being moved")
        await page.screenshot(path=RESULTS / "looks" / f"story-{look.name}.png")
        await tiles.filter(has_text="Theft report").click()
        await expect(message).to_contain_text("Long-tail bike: Theft report")
        await page.get_by_role("button", name="It's me", exact=True).first.click()
        await client.wait_for_state(guard, "disarmed")
        await page.goto(f"{running}/bike-tracker/try")
        await tiles.filter(has_text="Long-tail bike is parked").click()
        await expect(page.get_by_text("Done at")).to_have_count(2)
        await page.screenshot(path=RESULTS / "looks" / f"try-{look.name}.png")


async def test_leaves_home_during_a_ride(client: HomeAssistantClient) -> None:
    """Each tap on the button *City bike leaves home* fires the trigger *Zone left*, even if the bike is on a ride."""
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
    async with client.listen("automation_triggered") as runs:
        for _ in range(2):
            await press(client, "leaves_home")
            await anext(runs)
            while not await is_on_its_way(client):
                await asyncio.sleep(0.1)


async def test_try_it(client: HomeAssistantClient) -> None:
    """Two buttons of *Try it* work: a bike goes offline, and a new bike appears. Blueprints are installed."""
    blueprints = await client.call("blueprint/list", domain="automation")
    assert "bike_tracker/tracker_offline.yaml" in blueprints
    await press(client, "offline")
    await client.wait_for_state("binary_sensor.tandem_connectivity", "off")
    assert (await client.states())["binary_sensor.tandem_moving"].state == "off"
    await press(client, "new")
    while "device_tracker.new_bike_1" not in await client.states():
        await client.poll()
        await asyncio.sleep(0.5)


async def press(client: HomeAssistantClient, name: str) -> None:
    """Call the same action as a button on the page *Try it*. `name` is the name of the button's `Trick`."""
    await client.action("mobile_app.try", {"try": name})


async def is_on_its_way(client: HomeAssistantClient) -> bool:
    """Return whether Home Assistant shows *City bike* as moving and outside of every zone."""
    states = await client.states()
    moving = states["binary_sensor.city_bike_moving"].state
    return (states["device_tracker.city_bike"].state, moving) == ("not_home", "on")


def test_interrupted_while_starting(tmp_path: Path) -> None:
    """If the demo is interrupted while it starts, it leaves no files, and its exit code is 130."""
    with demo(tmp_path, "--check", "--port", str(free_port())) as process:
        assert process.stderr is not None
        process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        process.communicate()
    assert process.returncode == 130
    assert list(tmp_path.iterdir()) == []


async def test_killed(tmp_path: Path) -> None:
    """If the demo is killed, its Home Assistant ends within a minute, and its port is free again."""
    port = free_port()
    with demo(tmp_path, "--port", str(port)) as process:
        assert process.stderr is not None
        while "Adding the account" not in process.stderr.readline():
            pass
        process.kill()
        process.communicate()
    async with asyncio.timeout(60):
        while not is_free(port):
            await asyncio.sleep(0.1)


def test_port_in_use(tmp_path: Path) -> None:
    """If the requested port is in use, the demo ends with an error that contains the port."""
    with socket.create_server((HOST, 0)) as server:
        port = str(server.getsockname()[1])
        with demo(tmp_path, "--port", port) as process:
            _, errors = process.communicate()
    assert process.returncode == 2
    assert f"Port {port} is in use" in errors
