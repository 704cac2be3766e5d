"""Tests of a tracker's device page, and of the map during a ride."""

import asyncio

from playwright.async_api import Locator, expect
import pytest

from tests.e2e.frontend import Frontend
from tests.tools.demo import HomeAssistantProcess
from tests.tools.simulator.streets import HOME

from .fleet import Fleet

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_map_live(frontend: Frontend, account: Fleet) -> None:
    """If a bike starts a ride while the map is open, its marker moves without a poll."""
    service = account.service
    async with asyncio.timeout(60):
        while not service.live.sockets:
            await asyncio.sleep(0.1)
    markers = await open_map(frontend)
    city_bike = markers.get_by_role("button", name="City bike")
    await frontend.settle()
    at_home = await centre(city_bike)
    polls = service.polls

    await account.ride("City bike", (HOME[0], HOME[1] + 0.005), 20)
    async with asyncio.timeout(60):
        # While the marker is redrawn, it has no place: treat it as still at home.
        while (await city_bike.bounding_box() or {"x": at_home})["x"] < at_home + 10:
            await asyncio.sleep(0.02)
    assert service.polls == polls


async def open_map(frontend: Frontend) -> Locator:
    """Open Home Assistant's map with the bikes, and return the map's element."""
    await frontend.open("/map")
    devices = frontend.page.get_by_role("tab", name="Devices")
    markers = frontend.page.locator("ha-map")
    city_bike = markers.get_by_role("button", name="City bike")
    # The map has tabs for kinds of entities, such as *Devices*. Until the map knows its
    # size, it shows all kinds, without tabs.
    await expect(devices.or_(city_bike).first).to_be_visible()
    if await devices.is_visible():
        await devices.click()
    return markers


async def centre(marker: Locator) -> float:
    """Return the horizontal center of a marker, in pixels."""
    box = await marker.bounding_box()
    assert box
    return box["x"] + box["width"] / 2


async def test_rename(
    frontend: Frontend, account: Fleet, home_assistant: HomeAssistantProcess
) -> None:
    """If the service renames bikes, their names change, except names that the user has chosen."""
    await frontend.open_device("City bike")
    await frontend.button("Edit settings").click()
    await frontend.fill_in({"Name": "Ann's bike"})
    await frontend.button("Update").click()
    await expect(frontend.title("Ann's bike")).to_be_visible()

    await account.change("City bike", "rename", name="Bike 1")
    await account.change("Cargo bike", "rename", name="Bike 2")
    await frontend.open_integration()
    await home_assistant.client.poll()
    await expect(frontend.text("Bike 2")).to_be_visible()
    await expect(frontend.text("Ann's bike")).to_be_visible()
    await expect(frontend.text("Cargo bike")).to_have_count(0)
    await expect(frontend.text("Bike 1")).to_have_count(0)
