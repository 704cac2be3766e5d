"""Most browser tests share a Home Assistant, a service and a Chromium. Each such test has a new account."""

import asyncio
from collections.abc import AsyncIterator, Generator
from pathlib import Path
import re

from playwright.async_api import Browser, BrowserContext, expect
import pytest
import pytest_asyncio

from tests.e2e import RESULTS
from tests.e2e.browser import DESKTOP, MILLISECONDS, Look, chromium, new_context
from tests.e2e.frontend import Frontend
from tests.e2e.internet import Internet, hosting, map_server
from tests.e2e.internet.home_assistant import ConnectedHomeAssistant
from tests.tools.demo import (
    EMAIL,
    PASSWORD,
    HomeAssistantClient,
    HomeAssistantProcess,
    SimulatedService,
)
from tests.tools.demo.client import DOMAIN
from tests.tools.demo.home_assistant import complaints

from .fleet import PLACES, Fleet
from .words import Words

_ENGLISH = {"language": "en"}

_failed = pytest.StashKey[bool]()

expect.set_options(timeout=MILLISECONDS)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Remember whether a test failed, for the fixtures that keep screenshots."""
    report = yield
    if report.failed:
        item.stash[_failed] = True
    return report


# Fixtures that tests share


@pytest.fixture(scope="session")
def repository() -> hosting.Repository:
    """Return this repository as the simulated GitHub serves it."""
    return hosting.this_repository()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def internet(repository: hosting.Repository) -> AsyncIterator[Internet]:
    """Yield the simulated internet: the map server, GitHub, and the Marketplace's catalog."""
    sites = {map_server.HOST: map_server.site, **hosting.sites(repository)}
    async with Internet(sites) as internet:
        yield internet


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def service() -> AsyncIterator[SimulatedService]:
    """Yield the simulated service, at first without trackers."""
    async with SimulatedService(trackers=0) as service:
        yield service


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_home_assistant(
    tmp_path_factory: pytest.TempPathFactory, internet: Internet
) -> AsyncIterator[ConnectedHomeAssistant]:
    """Yield a Home Assistant with the integration, in the simulated town. Each test can add the simulated phone."""
    folder = tmp_path_factory.mktemp("home-assistant")
    connected = ConnectedHomeAssistant(folder, internet)
    async with connected as home_assistant:
        yield home_assistant


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """Yield the Chromium that all tests use."""
    async with chromium() as browser:
        yield browser


# Fixtures that are new for each test


@pytest_asyncio.fixture(loop_scope="session")
async def home_assistant(
    shared_home_assistant: ConnectedHomeAssistant,
) -> AsyncIterator[ConnectedHomeAssistant]:
    """Yield the shared Home Assistant, without accounts and automations.

    After the test, remove the accounts and automations of the test. Warnings and errors in the log
    that mention the integration must contain no traceback.
    """
    before = len(shared_home_assistant.log)
    yield shared_home_assistant
    client = shared_home_assistant.client
    await remove_accounts(client)
    await remove_automations(client)
    await client.action("persistent_notification.dismiss_all")
    await client.call("frontend/set_user_data", key="language", value=_ENGLISH)
    await client.call("config/core/update", **_ENGLISH)
    written = complaints(shared_home_assistant.log[before:], "bike_tracker")
    assert not [entry for entry in written if "Traceback" in entry]


@pytest_asyncio.fixture(loop_scope="session")
async def fleet(service: SimulatedService) -> Fleet:
    """Return the bikes of a new account: one at home, one at the office, and one at a junction."""
    service.fault(None)
    fleet = Fleet(service, PLACES)
    await fleet.create()
    return fleet


@pytest_asyncio.fixture(loop_scope="session")
async def account(home_assistant: HomeAssistantProcess, fleet: Fleet) -> Fleet:
    """Add the new account to Home Assistant, and return its bikes."""
    await home_assistant.client.add_account(fleet.url, EMAIL, PASSWORD)
    return fleet


@pytest.fixture
def look(request: pytest.FixtureRequest) -> Look:
    """Return the user's screen and preferred colors: those in the test's parameter, or else a light desktop."""
    look: Look = getattr(request, "param", DESKTOP)
    return look


@pytest_asyncio.fixture(loop_scope="session")
async def context(
    request: pytest.FixtureRequest, browser: Browser, look: Look
) -> AsyncIterator[BrowserContext]:
    """Yield a browser session without history. If the test fails, keep a trace."""
    context = await new_context(browser, look)
    await context.tracing.start(snapshots=True)
    yield context
    failed = request.node.stash.get(_failed, False)
    await context.tracing.stop(
        path=_results_of(request) / "trace.zip" if failed else None
    )
    await context.close()


@pytest_asyncio.fixture(loop_scope="session")
async def frontend(
    request: pytest.FixtureRequest,
    home_assistant: HomeAssistantProcess,
    context: BrowserContext,
) -> AsyncIterator[Frontend]:
    """Yield the frontend. If the test fails, keep a screenshot and Home Assistant's log."""
    page = await context.new_page()
    yield Frontend(page, home_assistant.url)
    if request.node.stash.get(_failed, False):
        results = _results_of(request)
        await page.screenshot(path=results / "page.png")
        (results / "home-assistant.log").write_text(home_assistant.log)


@pytest_asyncio.fixture(loop_scope="session")
async def words(
    request: pytest.FixtureRequest,
    home_assistant: HomeAssistantProcess,
    frontend: Frontend,
) -> Words:
    """Set the language of the house and of the user, and return Home Assistant's texts in this language."""
    words: Words = request.param
    await home_assistant.client.call("config/core/update", language=words.language)
    await frontend.open("/profile/localization")
    await frontend.button(re.compile("^Language")).click()
    await frontend.page.get_by_placeholder("Search", exact=True).fill(words.own_name)
    await frontend.option(words.own_name).first.click()
    await expect(frontend.link(words.settings)).to_be_visible()
    return words


async def remove_accounts(client: HomeAssistantClient) -> None:
    """Remove all accounts of the tracking service."""
    for entry in await client.call("config_entries/get", domain=DOMAIN):
        await client.delete(f"/api/config/config_entries/entry/{entry['entry_id']}")


async def automations(client: HomeAssistantClient) -> list[str]:
    """Return the `id` that each loaded automation has in its configuration. This ID is not the entity ID."""
    return [
        state.attributes["id"]
        for entity_id, state in (await client.states()).items()
        if entity_id.startswith("automation.")
    ]


async def remove_automations(client: HomeAssistantClient) -> None:
    """Remove all automations and imported blueprints."""
    for number in await automations(client):
        await client.delete(f"/api/config/automation/config/{number}")
    # Home Assistant answers before an automation is removed. Wait for the removal, because
    # Home Assistant refuses to remove a blueprint that an automation uses.
    async with asyncio.timeout(60):
        while await automations(client):
            await asyncio.sleep(0.1)
    for path in await client.call("blueprint/list", domain="automation"):
        if not path.startswith("homeassistant/"):
            await client.call("blueprint/delete", domain="automation", path=path)


def _results_of(request: pytest.FixtureRequest) -> Path:
    folder = RESULTS / re.sub(r"\W+", "-", request.node.name).strip("-")
    folder.mkdir(parents=True, exist_ok=True)
    return folder
