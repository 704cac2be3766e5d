"""Tests with a user whose permissions in Home Assistant contain only one of the three bikes."""

from collections.abc import AsyncIterator
import json
from pathlib import Path
import re

from playwright.async_api import expect
import pytest
import pytest_asyncio

from tests.e2e.frontend import Frontend
from tests.e2e.internet import Internet
from tests.e2e.internet.home_assistant import ConnectedHomeAssistant
from tests.tools.demo import HomeAssistantProcess, SimulatedService
from tests.tools.demo.client import CommandError

from .cards import CONFIG, Cards
from .dashboard import PATH, add_dashboard
from .ridden import ridden

pytestmark = pytest.mark.asyncio(loop_scope="session")

_ANN = "Ann"
_OWN = "City bike"
_LISTENS = "      allow_bypass_login: true\n"
_SIGN = """path => document.querySelector("home-assistant").hass
  .callWS({ type: "auth/sign_path", path }).then((signed) => fetch(signed.path)).then(({ status }) => status)"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def devices() -> dict[str, str]:
    """Return a dictionary that `home_assistant` fills with the device ID of each bike, by name."""
    return {}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def home_assistant(
    tmp_path_factory: pytest.TempPathFactory,
    internet: Internet,
    devices: dict[str, str],
) -> AsyncIterator[ConnectedHomeAssistant]:
    """Yield a Home Assistant that signs in every client as the user with one bike."""
    async with (
        SimulatedService() as service,
        ridden(tmp_path_factory.mktemp("one"), internet, service) as home_assistant,
    ):
        client = home_assistant.client
        known = (await client.devices()).values()
        devices.update({device["name"]: device["id"] for device in known})
        await add_dashboard(client, CONFIG)
        user = (await client.call("config/auth/create", name=_ANN))["user"]["id"]
        await home_assistant.stop()
        permit(home_assistant.folder, user, devices[_OWN])
        await home_assistant.start()
        yield home_assistant


def permit(folder: Path, user: str, device: str) -> None:
    """Let a stopped Home Assistant sign in every client as this user, and let this user access only this device."""
    path = folder / ".storage" / "auth"
    content = json.loads(path.read_text())
    policy = {"entities": {"device_ids": {device: True}}}
    content["data"]["groups"].append({"id": "one", "name": "One", "policy": policy})
    [ann] = [each for each in content["data"]["users"] if each["id"] == user]
    ann["group_ids"] = ["one"]
    path.write_text(json.dumps(content))
    path = folder / "configuration.yaml"
    trusted = f"      trusted_users: {{127.0.0.1: {user}}}\n"
    path.write_text(path.read_text().replace(_LISTENS, _LISTENS + trusted))


async def test_cards(frontend: Frontend) -> None:
    """All cards show only the user's bike."""
    cards = Cards(frontend)
    await frontend.open(PATH)
    await expect(cards.bikes.get_by_role("listitem")).to_have_text([re.compile(_OWN)])
    await cards.ride(0).click()
    await cards.expect_route()
    shown = await cards.map.locator("ha-map").evaluate("map => map.entities.length")
    assert shown == 1
    names = cards.list.locator("li .name")
    assert set(await names.all_inner_texts()) == {_OWN}
    # On a Monday, no ride of the current week exists yet.
    await cards.distance.locator(".bars button").nth(-2).click()
    await expect(cards.distance.locator(".legend")).to_contain_text(_OWN)
    for name in ("Cargo bike", "Gravel bike"):
        await expect(frontend.saying(name)).to_have_count(0)
    assert cards.errors == []


async def test_links(
    frontend: Frontend, home_assistant: HomeAssistantProcess, devices: dict[str, str]
) -> None:
    """GPX files and statistics of other bikes are refused, and their calendars are not listed."""
    client = home_assistant.client
    await frontend.open(PATH)
    await expect(Cards(frontend).bikes.get_by_role("listitem")).to_have_count(1)
    times = "start=2020-01-01T00:00:00Z&end=2020-01-02T00:00:00Z"
    for name, device in devices.items():
        path = f"/api/bike_tracker/gpx/{device}?{times}"
        status = await frontend.page.evaluate(_SIGN, path)
        # The user's own bike has no ride on that day, so its answer is 404.
        assert status == (404 if name == _OWN else 401), name
        data, statistics = {"device_id": device}, "bike_tracker.get_statistics"
        if name == _OWN:
            answer = await client.action(statistics, data, answers=True)
            assert [it["name"] for it in answer["periods"][-1]["bikes"]] == [_OWN]
        else:
            with pytest.raises(CommandError, match="Unauthorized"):
                await client.action(statistics, data, answers=True)
    calendars = await client.get("/api/calendars")
    assert [calendar["name"] for calendar in calendars] == [f"{_OWN} Rides"]
