"""From the README's button to an automation that runs."""

import asyncio
from datetime import UTC, datetime, timedelta

from playwright.async_api import expect
import pytest

from tests.e2e.frontend import Frontend
from tests.tools.demo import EMAIL, HomeAssistantClient, HomeAssistantProcess
from tests.tools.simulator.streets import HOME

from .fleet import Fleet
from .readme import button

pytestmark = pytest.mark.asyncio(loop_scope="session")

# The end of a ride may wait for the service's history.
_SOON = 60


async def test_blueprint(
    frontend: Frontend, account: Fleet, home_assistant: HomeAssistantProcess
) -> None:
    """Imported, given a tracker, it tells when that tracker is offline, until it is back."""
    await _import(
        frontend, "tracker offline", "Sends a message when a tracker has been"
    )
    await frontend.page.get_by_role("spinbutton").first.fill("0")
    await frontend.save_automation()

    await frontend.page.get_by_role("button", name="Notifications").first.click()
    await account.change("City bike", "set_status", status="offline")
    await home_assistant.client.poll()
    fired = frontend.saying("City bike went offline")
    await expect(fired).to_be_visible()
    await account.change("City bike", "set_status", status="online")
    await home_assistant.client.poll()
    await expect(fired).to_have_count(0)


async def test_a_ride_has_ended(
    frontend: Frontend, account: Fleet, home_assistant: HomeAssistantProcess
) -> None:
    """Imported, given a tracker, it tells how far it went and how long that took."""
    client, service = home_assistant.client, account.service
    racer = "860000000000900"
    service.add_device(racer, name="Race bike", email=EMAIL, latitude=None)
    await client.poll()
    await _import(
        frontend, "a ride has ended", "Sends the distance and duration", "Race bike"
    )
    await frontend.save_automation()

    await frontend.page.get_by_role("button", name="Notifications").first.click()
    now, (latitude, longitude) = datetime.now(UTC), HOME
    for minutes, north, state in ((20, 0, "off"), (14, 0.01, "on"), (6, 0.01, "off")):
        service.report(
            racer,
            latitude=latitude + north,
            longitude=longitude,
            motion=state == "on",
            fix_time=now - timedelta(minutes=minutes),
        )
        await client.poll()
        async with asyncio.timeout(_SOON):
            while not await _is(client, f"{racer}_motion", state):
                await asyncio.sleep(0.1)
    fired = "Race bike ended a ride: 1.1 km in "
    await expect(frontend.saying(fired)).to_be_visible(timeout=1_000 * _SOON)


async def _is(client: HomeAssistantClient, unique_id: str, state: str) -> bool:
    states = await client.states()
    return any(
        entity["unique_id"] == unique_id and states[entity["entity_id"]].state == state
        for entity in await client.entities()
        if entity["entity_id"] in states
    )


async def _import(
    frontend: Frontend, name: str, description: str, bike: str = "City bike"
) -> None:
    """Import a blueprint with the README's button, and give the automation a bike."""
    await frontend.open(button(f"{name.replace(' ', '_')}.yaml"))
    await frontend.button("Preview").click()
    paragraphs = frontend.page.get_by_role("paragraph")
    await expect(paragraphs.filter(has_text=description)).to_be_visible()
    await frontend.button("Import blueprint").last.click()
    await frontend.button(f"Bike Tracker: {name}").click()
    await frontend.choose_bike(bike)
