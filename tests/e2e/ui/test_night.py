"""A night: from the README's button to a message on the phone about a bike that is moved, and what becomes of its guard."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
import re
from zoneinfo import ZoneInfo

from playwright.async_api import expect
import pytest
import pytest_asyncio

from tests.e2e.browser import DESKTOP, Look
from tests.e2e.frontend import Frontend
from tests.e2e.internet.hosting import Repository
from tests.tools.demo import HomeAssistantClient, HomeAssistantProcess
from tests.tools.demo.phone.config_flow import NAME as PHONE
from tests.tools.simulator.streets import HOME

from .blueprints import import_blueprint
from .clicks import Clicks
from .fleet import Fleet
from .phone import phone_on_dashboard
from .readme import button
from .test_looks import check
from .words import ENGLISH, GERMAN, HEBREW, Words

pytestmark = pytest.mark.asyncio(loop_scope="session")

_BIKE = "City bike"
_AWAY = HOME[0] + 0.005, HOME[1]
_STREET = "Roonstraße"
_MOST_CLICKS = 12
_MIDNIGHT = 1
_SECONDS = 4
_SMALL = Look("phone", 390, 844)


@pytest_asyncio.fixture(loop_scope="session")
async def time_zone(home_assistant: HomeAssistantProcess) -> AsyncIterator[ZoneInfo]:
    """Return a time zone in which it is night, in which the house is."""
    ahead = (_MIDNIGHT - datetime.now(UTC).hour + 12) % 24 - 12
    # They are named the other way round.
    zone = f"Etc/GMT{-ahead:+d}"
    await home_assistant.client.call("config/core/update", time_zone=zone)
    yield ZoneInfo(zone)
    await home_assistant.client.call("config/core/update", time_zone="Europe/Berlin")


@pytest_asyncio.fixture(loop_scope="session")
async def guard(account: Fleet, home_assistant: HomeAssistantProcess) -> str:
    """Return the guard of a bike that stands."""
    client = home_assistant.client
    await client.wait_for_entities(len(account.places))
    number = account.serial_numbers[_BIKE]
    return await client.entity_id("alarm_control_panel", f"{number}_guard")


async def test_a_night(
    frontend: Frontend,
    account: Fleet,
    home_assistant: HomeAssistantProcess,
    time_zone: ZoneInfo,
    guard: str,
) -> None:
    """Few clicks until a message says why, where and when; what a person does stays so until the next night begins."""
    client, clicks = home_assistant.client, Clicks(frontend.page)
    modes = {"type": "alarm-modes", "modes": ["armed_away", "disarmed"]}
    tile = {"type": "tile", "entity": guard, "features": [modes]}
    async with phone_on_dashboard(client, tile) as path:
        await frontend.open(button("guard_bikes.yaml"))
        await frontend.import_blueprint()
        await clicks.begin()
        await make(frontend)
        await client.wait_for_state(guard, "armed_away")
        await account.ride(_BIKE, _AWAY, 20, _STREET)
        await client.poll()
        await frontend.open(path)
        message = frontend.page.locator("hui-markdown-card")
        await expect(message).to_contain_text(
            re.compile(
                rf"City bike\s+5\d\d m from where it stood, {_STREET}, \d\d:\d\d"
            )
        )
        assert await clicks.count() <= _MOST_CLICKS

        tiles = frontend.page.locator("hui-tile-card")
        await tiles.filter(has_text="Guard again").click()
        await expect(message).to_contain_text("No message")
        await expect(tiles.filter(has_text="Guarded")).to_be_visible()

        # Five minutes later it stands: clocks that are ahead by that are taken for right.
        await asyncio.sleep(_SECONDS)
        later = datetime.now(UTC) + timedelta(minutes=4, seconds=58)
        stands = {"motion": False, "speed": 0, "fix_time": later.isoformat()}
        await account.change(_BIKE, "report", **stands)
        await client.poll()

        await frontend.page.get_by_label("Disarm").click()
        await expect(frontend.saying("Not guarded")).to_be_visible()
        async with triggered(client):
            await client.action("automation.reload")
        assert await state(client, guard) == "disarmed"
        await begin_or_end(client, time_zone, "night_begins")
        await client.wait_for_state(guard, "armed_away")

        await account.service.control.fault("status-503")
        await client.poll()
        connectivity = guard.replace("_guard", "_connectivity").partition(".")[2]
        await client.wait_for_state(f"binary_sensor.{connectivity}", "unavailable")
        await begin_or_end(client, time_zone, "night_ends")
        await client.wait_for_state(guard, "disarmed")
        await begin_or_end(client, time_zone, "night_begins")
        await client.wait_for_state(guard, "armed_away")


@pytest.mark.parametrize(
    "words", [ENGLISH, GERMAN, HEBREW], ids=lambda words: words.language, indirect=True
)
async def test_in_other_languages(
    frontend: Frontend,
    words: Words,
    account: Fleet,
    home_assistant: HomeAssistantProcess,
    repository: Repository,
    time_zone: ZoneInfo,
    guard: str,
) -> None:
    """The message, the guard and the form of the blueprint can be read, on a desk and on a phone."""
    client = home_assistant.client
    path = await import_blueprint(client, repository, "guard_bikes")
    device = (await client.devices())[account.serial_numbers[_BIKE]]
    modes = {"type": "alarm-modes", "modes": ["armed_away", "disarmed"]}
    tile = {
        "type": "tile",
        "entity": guard,
        "state_content": ["state", "cause"],
        "features": [modes],
        "grid_options": {"columns": "full"},
    }
    async with phone_on_dashboard(client, tile) as dashboard:
        devices = await client.call("config/device_registry/list")
        [phone] = [each["id"] for each in devices if each["name"] == PHONE]
        inputs = {"bikes": {"device_id": device["id"]}, "phones": [phone]}
        await client.save_automation(
            "night",
            {"alias": "Bikes", "use_blueprint": {"path": path, "input": inputs}},
        )
        await client.wait_for_state(guard, "armed_away")
        await account.ride(_BIKE, _AWAY, 20, _STREET)
        await client.poll()
        await client.wait_for_state(guard, "triggered")
        for name, (page, text) in {
            "message": (dashboard, _STREET),
            "device": (f"/config/devices/device/{device['id']}", words.device_info),
            "blueprint": ("/config/automation/edit/night", _BIKE),
        }.items():
            await frontend.open(page)
            await expect(frontend.saying(text).first).to_be_visible()
            for look in (DESKTOP, _SMALL):
                await frontend.page.set_viewport_size(
                    {"width": look.width, "height": look.height}
                )
                await check(frontend, look, f"night-{name}-{words.language}")


async def make(frontend: Frontend) -> None:
    """Make an automation of the blueprint that was imported."""
    await frontend.button("Bike Tracker: guard bikes").click()
    await frontend.choose_bike(_BIKE)
    await frontend.button("Select a device").first.click()
    await frontend.option(PHONE).click()
    await frontend.save_automation()


async def begin_or_end(
    client: HomeAssistantClient, time_zone: ZoneInfo, which: str
) -> None:
    """Have the night begin or end in a moment; the other one is hours away."""
    [number] = await client.automations()
    config = await client.get(f"/api/config/automation/config/{number}")
    other = {"night_begins": "night_ends", "night_ends": "night_begins"}[which]
    soon = now = datetime.now(time_zone)
    # It was loaded too late for that moment: there is another.
    while soon <= now:
        soon = now.replace(microsecond=0) + timedelta(seconds=_SECONDS)
        times = {which: soon, other: soon + timedelta(hours=6)}
        inputs = {name: f"{time:%H:%M:%S}" for name, time in times.items()}
        config["use_blueprint"]["input"] |= inputs
        await client.save_automation(number, config)
        now = datetime.now(time_zone)


@asynccontextmanager
async def triggered(client: HomeAssistantClient) -> AsyncIterator[None]:
    """Wait at the end until an automation was triggered."""
    async with client.events("automation_triggered") as runs:
        yield
        async with asyncio.timeout(60):
            while not runs:
                await asyncio.sleep(0.1)


async def state(client: HomeAssistantClient, entity_id: str) -> str:
    """Return the state of an entity."""
    return (await client.states())[entity_id].state
