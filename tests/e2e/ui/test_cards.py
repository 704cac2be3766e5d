"""Tests of the dashboard *Bikes* in three releases of the frontend: the oldest, the newest, and one in between."""

from collections.abc import AsyncIterator
import re

from playwright.async_api import expect
import pytest
import pytest_asyncio

from tests.e2e.browser import DESKTOP, PHONE, Look
from tests.e2e.frontend import Clicks, Frontend
from tests.e2e.internet import Internet
from tests.e2e.internet.home_assistant import ConnectedHomeAssistant
from tests.tools.demo import HomeAssistantProcess, SimulatedService
from tests.tools.demo.config_folder import ROOT
from tests.tools.simulator.streets import HOME

from .cards import CONFIG, Cards
from .dashboard import PATH, dashboard
from .ridden import ridden
from .test_looks import check

pytestmark = pytest.mark.asyncio(loop_scope="session")

_NEWEST = ""
_RELEASES = [_NEWEST, "2026.8", "2026.10"]
_FRONTENDS = ROOT / ".venv" / "frontend"
_CLICKS = 3
_MODULES = "() => performance.getEntriesByType('resource').map(({ name }) => name).filter(name => name.includes('bike_tracker_frontend'))"
_BIKE = "860000000000001"
_BOTH = pytest.mark.parametrize(
    "look", [DESKTOP, PHONE], ids=lambda look: look.name, indirect=True
)


@pytest_asyncio.fixture(scope="module", loop_scope="session", params=_RELEASES)
async def release(request: pytest.FixtureRequest) -> str:
    """Return the release of the frontend, or an empty string for the newest. Home Assistant is always the newest."""
    release: str = request.param
    return release


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def service(release: str) -> AsyncIterator[SimulatedService]:
    """Yield a service with three bikes that stand."""
    async with SimulatedService() as service:
        yield service


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def used(
    tmp_path_factory: pytest.TempPathFactory,
    internet: Internet,
    service: SimulatedService,
    release: str,
) -> AsyncIterator[ConnectedHomeAssistant]:
    """Yield a Home Assistant with weeks of rides, and with this release of the frontend."""
    folder = tmp_path_factory.mktemp("cards")
    frontend = _FRONTENDS / release if release else None
    async with ridden(folder, internet, service, frontend=frontend) as home_assistant:
        yield home_assistant


@pytest.fixture
def home_assistant(used: ConnectedHomeAssistant) -> ConnectedHomeAssistant:
    """Return the Home Assistant that the browser opens."""
    return used


@pytest_asyncio.fixture(loop_scope="session")
async def cards(
    frontend: Frontend, home_assistant: HomeAssistantProcess
) -> AsyncIterator[Cards]:
    """Add the dashboard, and yield its cards. The browser's console must stay free of errors."""
    cards = Cards(frontend)
    async with dashboard(home_assistant, CONFIG):
        yield cards
    assert cards.errors == []


async def test_from_nothing(
    frontend: Frontend, home_assistant: HomeAssistantProcess
) -> None:
    """Three clicks add the dashboard. On it, one click shows a ride, and one more downloads the ride as a GPX file."""
    cards, clicks = Cards(frontend), Clicks(frontend.page)
    await frontend.open("/config/lovelace/dashboards")
    await expect(frontend.button("Add dashboard")).to_be_visible()
    await frontend.page.wait_for_function("() => window.customStrategies?.length")
    await clicks.begin()
    await frontend.button("Add dashboard").click()
    await (
        frontend.page.locator("dashboard-card")
        .get_by_role("heading", name="Bikes", exact=True)
        .click()
    )
    await frontend.button("Create").last.click()
    assert await clicks.count() == _CLICKS
    # Wait until the dialog is closed: only then is the dashboard saved.
    await expect(frontend.page.get_by_role("dialog")).to_have_count(0)
    await frontend.settle()
    dashboards = await home_assistant.client.call("lovelace/dashboards/list")
    [dashboard] = [it for it in dashboards if it["title"] == "Bikes"]
    await frontend.open(f"/{dashboard['url_path']}")
    await expect(cards.distance).to_contain_text(re.compile(r"This week · \d+\.\d km"))
    await clicks.begin()
    await cards.ride(0).click()
    await cards.expect_route()
    async with frontend.page.expect_download() as download:
        await frontend.button("Download as GPX").click()
    assert await clicks.count() == 2
    assert (await download.value).suggested_filename.endswith(".gpx")
    assert cards.errors == []
    await home_assistant.client.call(
        "lovelace/dashboards/delete", dashboard_id=dashboard["id"]
    )


@_BOTH
async def test_looks(cards: Cards, frontend: Frontend, look: Look) -> None:
    """All texts are readable. The buttons *Previous ride* and *Next ride* work with the key Enter."""
    await frontend.open(PATH)
    await expect(cards.bikes.get_by_role("listitem")).to_have_count(3)
    await cards.ride(0).click()
    await cards.expect_route()
    await check(frontend, look, "cards")
    await frontend.button("Previous ride").focus()
    await frontend.page.keyboard.press("Enter")
    await expect(cards.ride(1)).to_have_attribute("aria-current", "true")
    await expect(frontend.button("Previous ride")).to_be_focused()
    await frontend.button("Next ride").press("Enter")
    await expect(cards.ride(0)).to_have_attribute("aria-current", "true")


async def test_bars(cards: Cards, frontend: Frontend) -> None:
    """A tap on a bar lists its rides. The user can switch from bars of weeks to bars of months and years."""
    await frontend.open(PATH)
    bars = cards.distance.locator(".bars").get_by_role("button")
    await expect(bars).to_have_count(8)
    await bars.nth(6).click()
    await expect(cards.distance).to_contain_text(re.compile(r"Week of .+ · .+ km"))
    await expect(cards.distance.locator(".day").first).to_be_visible()
    for kind in ("Month", "Year"):
        await frontend.button(kind).click()
        label = re.compile(rf"This {kind.lower()} · [\d.]+ km")
        await expect(cards.distance).to_contain_text(label)
        await expect(bars).to_have_count(8)


async def test_guard(
    cards: Cards,
    frontend: Frontend,
    home_assistant: HomeAssistantProcess,
    service: SimulatedService,
) -> None:
    """One tap guards a bike, one saves the theft report, and one ends the alarm and disarms the guard.

    After a reload during an outage, the guard and the map of a ride work, too.
    """
    await frontend.open(PATH)
    city = cards.bikes.get_by_role("button", name=re.compile(": City bike"))
    await city.click()
    await expect(city).to_contain_text("Guarded")
    service.report(_BIKE, latitude=HOME[0] + 0.005, motion=True)
    await home_assistant.client.poll()
    alarm = cards.bikes.get_by_role("alert")
    await expect(alarm).to_have_text("City bike: Being moved")
    await expect(cards.bikes.locator("ha-map")).to_be_visible()
    async with frontend.page.expect_download() as download:
        await frontend.button("Theft report").click()
    assert (await download.value).suggested_filename == "City bike.html"
    await cards.bikes.get_by_role("button", name="It's me", exact=True).click()
    await expect(alarm).to_have_count(0)
    await city.click()
    service.fault("status-503")
    try:
        await frontend.page.reload()
        await expect(city).to_contain_text("Guarded")
        await cards.ride(0).click()
        await cards.expect_route()
        await city.click()
        await expect(city).to_have_text("Guard")
    finally:
        service.fault(None)


async def test_picker(
    cards: Cards, frontend: Frontend, home_assistant: HomeAssistantProcess
) -> None:
    """The card picker offers each card with a preview, and suggests it for exactly the integration's entities."""
    await frontend.open(PATH)
    await expect(cards.bikes).to_be_visible()
    offered = await frontend.page.evaluate(
        """() => {
          const { hass } = document.querySelector("home-assistant");
          return customCards.map(({ type, name, preview, getEntitySuggestion }) => [
            type, name, preview,
            Object.keys(hass.states).filter((id) => getEntitySuggestion(hass, id)),
          ]);
        }"""
    )
    assert [card[1] for card in offered] == ["Bikes", "Rides", "Distance"]
    assert all(card[2] for card in offered)
    states = set(await home_assistant.client.states())
    own = {entity["entity_id"] for entity in await home_assistant.client.entities()}
    for card in offered:
        assert set(card[3]) == own & states


async def test_picker_in_sight(
    frontend: Frontend, home_assistant: HomeAssistantProcess
) -> None:
    """If a user adds a card, a preview of it shows the user's bikes. A click on the preview opens the card's form."""
    cards = Cards(frontend)
    view = {"title": "Mine", "type": "sections", "sections": [{"cards": []}]}
    async with dashboard(home_assistant, {"views": [view]}):
        await frontend.open(f"{PATH}/0?edit=1")
        await frontend.button("Add card").first.click()
        await frontend.page.get_by_role("tab", name="By card").click()
        await frontend.page.get_by_placeholder("Search cards").fill("Distance")
        preview = frontend.page.locator("hui-card-picker bike-tracker-distance-card")
        await expect(preview).to_contain_text(re.compile(r"This week · \d"))
        await frontend.page.locator("hui-card-picker .overlay").first.click()
        await expect(frontend.saying("Bikes (all if empty)")).to_be_visible()
        await expect(frontend.page.get_by_role("tab", name="Config")).to_be_visible()
        await expect(frontend.page.get_by_role("radio", name="Week")).to_be_checked()
    # Ignore errors of the picker's other previews, which need the internet.
    assert not [line for line in cards.errors if "bike" in line]


async def test_update(
    cards: Cards, frontend: Frontend, home_assistant: HomeAssistantProcess
) -> None:
    """After an update of the integration, the browser loads the new version of the cards."""
    await frontend.open(PATH)
    await expect(cards.bikes).to_be_visible()
    before = await frontend.page.evaluate(_MODULES)
    folder = home_assistant.folder / "custom_components/bike_tracker/frontend"
    style = folder / "cards.css"
    style.write_text(f"{style.read_text()}\n")
    # Leave the page: if it were still loading, it would log errors during the restart.
    await frontend.page.goto("about:blank")
    await home_assistant.stop()
    await home_assistant.start()
    await frontend.open(PATH)
    await expect(cards.bikes.get_by_role("listitem")).to_have_count(3)
    after = await frontend.page.evaluate(_MODULES)
    assert after
    assert set(before).isdisjoint(after)
