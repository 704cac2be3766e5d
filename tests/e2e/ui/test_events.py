"""What happened to a bike, as one sees it: alarms, and the kilometres of each week."""

import re

from playwright.async_api import expect
import pytest

from tests.e2e.frontend import Frontend
from tests.tools.demo import HomeAssistantProcess
from tests.tools.demo.kilometres import add_kilometres

from .dashboard import cards, dashboard
from .fleet import Fleet

pytestmark = pytest.mark.asyncio(loop_scope="session")

_ALARM = "alarm"


async def test_alarm(
    frontend: Frontend, account: Fleet, home_assistant: HomeAssistantProcess
) -> None:
    """An automation on the bike is told of its first alarm; the page of the bike shows it."""
    client = home_assistant.client
    device = (await client.devices())[account.serial_numbers["City bike"]]
    await client.save_automation(
        _ALARM,
        {
            "alias": "Alarm",
            "triggers": [
                {
                    "trigger": "event.received",
                    "target": {"device_id": device["id"]},
                    "options": {"event_type": ["fall_down", "tow"]},
                }
            ],
            "actions": [
                {
                    "action": "persistent_notification.create",
                    "data": {
                        "title": "Bike",
                        "message": "It says {{ trigger.to_state.attributes.alarm }}",
                    },
                }
            ],
        },
    )
    await frontend.open(f"/config/automation/edit/{_ALARM}")
    await expect(frontend.saying("City bike").first).to_be_visible()
    await frontend.page.get_by_role("button", name="Notifications").first.click()
    await account.change("City bike", "report", attributes={"alarm": "fallDown"})
    await client.poll()
    await expect(frontend.saying("It says fallDown")).to_be_visible()

    await frontend.open_device("City bike")
    await expect(frontend.entity("Alarm")).to_contain_text(
        re.compile("second|minute|now")
    )


async def test_kilometres_of_each_week(
    frontend: Frontend, account: Fleet, home_assistant: HomeAssistantProcess
) -> None:
    """Home Assistant's own graph shows them of what the bikes count, with nothing to set up."""
    client = home_assistant.client
    await client.wait_for_entities(len(account.places))
    await add_kilometres(client)
    totals = [
        entity["entity_id"]
        for entity in await client.entities()
        if entity["unique_id"].endswith("_total_distance")
    ]
    assert len(totals) == len(account.places)
    graph = {
        "type": "statistics-graph",
        "title": "Kilometers per week",
        "entities": totals,
        "period": "week",
        "days_to_show": 28,
        "stat_types": ["change"],
        "chart_type": "bar",
    }
    async with dashboard(client, cards(graph)) as path:
        await frontend.open(path)
        card = frontend.page.locator("hui-statistics-graph-card")
        await expect(card).to_contain_text("Kilometers per week")
        await expect(card.locator("canvas").first).to_be_visible()
        await expect(card).to_contain_text("City bike")
        await expect(card).not_to_contain_text("No statistics found")
