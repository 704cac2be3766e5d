"""A guarded bike: armed with one tap, triggered before one's eyes, and told of by blueprints."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from playwright.async_api import Locator, expect
import pytest
import pytest_asyncio

from tests.e2e.browser import DESKTOP, Look
from tests.e2e.frontend import Frontend
from tests.e2e.internet.hosting import Repository
from tests.tools.demo import HomeAssistantProcess
from tests.tools.simulator.streets import HOME

from .fleet import Fleet
from .layout import cut_off
from .readme import button

pytestmark = pytest.mark.asyncio(loop_scope="session")

_DASHBOARD = "bikes-guard"
_AWAY = HOME[0] + 0.005, HOME[1]
_SOON = 30
_NOON = 12


@pytest_asyncio.fixture(loop_scope="session")
async def guard(account: Fleet, home_assistant: HomeAssistantProcess) -> str:
    """Return the guard of a bike that stands."""
    client = home_assistant.client
    await client.wait_for_entities(len(account.places))
    unique_id = f"{account.serial_numbers['City bike']}_guard"
    [entity_id] = [
        entity["entity_id"]
        for entity in await client.entities()
        if entity["unique_id"] == unique_id
    ]
    return str(entity_id)


@pytest_asyncio.fixture(loop_scope="session")
async def clean_up(
    home_assistant: HomeAssistantProcess, repository: Repository
) -> AsyncIterator[None]:
    """Leave no automation, blueprint or notification behind."""
    yield
    client = home_assistant.client
    for state in (await client.states()).values():
        if state.entity_id.startswith("automation."):
            number = state.attributes["id"]
            await client.delete(f"/api/config/automation/config/{number}")
    owner = repository.full_name.partition("/")[0]
    for name in ("guard_bikes",):
        path = f"{owner}/{name}.yaml"
        blueprints = await client.call("blueprint/list", domain="automation")
        if path in blueprints:
            await client.call("blueprint/delete", domain="automation", path=path)
    await client.action("persistent_notification.dismiss_all")


@pytest.mark.parametrize(
    "look",
    [DESKTOP, Look("phone", 390, 844, touch=True)],
    ids=lambda look: look.name,
    indirect=True,
)
async def test_card(
    frontend: Frontend,
    account: Fleet,
    home_assistant: HomeAssistantProcess,
    guard: str,
) -> None:
    """One tap on the card arms it, the theft shows, and one tap disarms it."""
    client = home_assistant.client
    created = await client.call(
        "lovelace/dashboards/create", url_path=_DASHBOARD, title="Guard"
    )
    card = {"type": "alarm-panel", "entity": guard, "states": ["arm_away"]}
    await client.call(
        "lovelace/config/save",
        url_path=_DASHBOARD,
        config={"views": [{"cards": [card]}]},
    )
    await frontend.open(f"/{_DASHBOARD}")
    panel = frontend.page.locator("hui-alarm-panel-card")
    await expect(panel).to_contain_text("Disarmed")
    await _press(panel, "Arm away")
    await expect(panel).to_contain_text("Armed away")
    await account.ride("City bike", _AWAY, 20)
    await client.poll()
    await expect(panel).to_contain_text("Triggered")
    assert await cut_off(frontend.page) == []
    await _press(panel, "Disarm")
    await expect(panel).to_contain_text("Disarmed")
    await client.call("lovelace/dashboards/delete", dashboard_id=created["id"])


async def _press(panel: Locator, name: str) -> None:
    await panel.get_by_role("button", name=name, exact=True).click()


@pytest.mark.usefixtures("clean_up")
async def test_message(
    frontend: Frontend,
    account: Fleet,
    home_assistant: HomeAssistantProcess,
    guard: str,
) -> None:
    """The blueprint from the README tells that a guarded bike moves."""
    await frontend.open(button("guard_bikes.yaml"))
    await _make(frontend, "Bike Tracker: guard bikes")
    await frontend.save_automation()

    await home_assistant.client.action(
        "alarm_control_panel.alarm_arm_away", entity_id=guard
    )
    await frontend.page.get_by_role("button", name="Notifications").first.click()
    await account.ride("City bike", _AWAY, 20)
    await home_assistant.client.poll()
    await expect(frontend.text("from where it stood")).to_be_visible()


@pytest.mark.usefixtures("clean_up")
async def test_at_night(
    frontend: Frontend,
    account: Fleet,
    home_assistant: HomeAssistantProcess,
    guard: str,
) -> None:
    """The other one arms it as the night begins."""
    await frontend.open(button("guard_bikes.yaml"))
    await _make(frontend, "Bike Tracker: guard bikes")
    begins = datetime.now(ZoneInfo("Europe/Berlin")) + timedelta(seconds=_SOON)
    evening = frontend.page.locator("ha-selector-time").first
    for label, number in {
        "hh": f"{begins:%I}",
        "mm": f"{begins:%M}",
        "ss": f"{begins:%S}",
    }.items():
        await evening.get_by_role("spinbutton", name=label).fill(number)
        await frontend.page.keyboard.press("Tab")
    if begins.hour < _NOON:
        await evening.get_by_role("button", name="PM").click()
        await frontend.page.get_by_role("menuitem", name="AM").click()
    await frontend.save_automation()

    await frontend.open_device("City bike")
    await expect(frontend.entity("Guard")).to_contain_text(
        "Armed away", timeout=1_000 * 2 * _SOON
    )


async def _make(frontend: Frontend, name: str) -> None:
    """Import the blueprint that is shown, and give the automation a bike."""
    await frontend.import_blueprint()
    await frontend.button(name).click()
    await frontend.choose_bike("City bike")
