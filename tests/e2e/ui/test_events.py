"""What happened to a bike, as one sees it: alarms."""

import re

from playwright.async_api import expect
import pytest

from tests.e2e.frontend import Frontend
from tests.tools.demo import HomeAssistantProcess

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
