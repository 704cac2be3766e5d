"""A user can make common automations by clicks in an empty editor. Each automation runs once per event.

In the tests, waits are seconds instead of minutes. For a silence of one day, the
service changes the time of the last report. For a condition at night, the night is some
hours around the current time.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from playwright.async_api import expect
import pytest
import pytest_asyncio

from tests.e2e.frontend import Frontend
from tests.tools.demo import HomeAssistantClient, HomeAssistantProcess
from tests.tools.simulator.streets import WERDERPLATZ

from .conftest import automations
from .editor import Editor, Target
from .fleet import Fleet

pytestmark = pytest.mark.asyncio(loop_scope="session")

type Wish = Callable[[Editor, Target], Awaitable[None]]
"""Function that makes an automation in the editor, for a target."""
type Event = Callable[[Fleet], Awaitable[None]]
"""Function that causes the event after which the automation must run."""

_BIKE = "City bike"
_FIRED = "The bike has news"
_SECONDS = 5
_DEVICE, _AREA = Target("device", _BIKE), Target("area", "Shed")
_LABEL = Target("label", "Bikes")


@pytest_asyncio.fixture(loop_scope="session")
async def client(
    home_assistant: HomeAssistantProcess, account: Fleet
) -> AsyncIterator[HomeAssistantClient]:
    """Yield a client. The bike has an area and a label, which are removed afterwards."""
    client = home_assistant.client
    area = await client.call("config/area_registry/create", name="Shed")
    label = await client.call("config/label_registry/create", name="Bikes")
    device = (await client.devices())[account.serial_numbers[_BIKE]]
    await client.call(
        "config/device_registry/update",
        device_id=device["id"],
        area_id=area["area_id"],
        labels=[label["label_id"]],
    )
    # With the 24-hour format, the time fields have no AM and PM.
    language = {"language": "en", "time_format": "24"}
    await client.call("frontend/set_user_data", key="language", value=language)
    yield client
    await client.call("config/area_registry/delete", area_id=area["area_id"])
    await client.call("config/label_registry/delete", label_id=label["label_id"])


@pytest_asyncio.fixture(loop_scope="session")
async def editor(client: HomeAssistantClient, frontend: Frontend) -> Editor:
    """Return an editor that shows an empty automation."""
    editor = Editor(frontend)
    await editor.open()
    return editor


async def save(editor: Editor) -> None:
    """Add an action that shows a notification, and save the automation."""
    await editor.tell(_FIRED)
    await editor.save("My bikes")


async def expect_fired(frontend: Frontend, client: HomeAssistantClient) -> None:
    """Poll, and expect exactly one notification, also after another poll."""
    await client.poll()
    await frontend.page.get_by_role("button", name="Notifications").first.click()
    await expect(frontend.text(_FIRED)).to_be_visible()
    await client.poll()
    await expect(frontend.text(_FIRED)).to_have_count(1)
    [automation] = await automations(client)
    traces = await client.call("trace/list", domain="automation", item_id=automation)
    assert [trace["script_execution"] for trace in traces] == ["finished"]


async def test_search_finds_triggers(editor: Editor, frontend: Frontend) -> None:
    """A search for the usual name of an event finds its trigger."""
    for word, found in {
        "alarm": "Alarm raised by bike tracker",
        "sos": "Alarm raised by bike tracker",
        "ride": "Bike tracker ended a ride",
        "theft": "Guard of bike tracker triggered",
        "stolen": "Guard of bike tracker triggered",
    }.items():
        await editor.expect_to_find(word, found)
        # Leave the page. If the browser only reloaded it, the dialog would open again.
        await frontend.page.goto("about:blank")
        await editor.open()


async def offline_for_a_while(editor: Editor, target: Target) -> None:
    """Make an automation that runs if the bike is offline for some time: in the test, two seconds."""
    await editor.add_trigger("Bike tracker went offline", target)
    await editor.last(seconds=2)


async def left_home(editor: Editor, target: Target) -> None:
    """Make an automation that runs if the bike leaves home."""
    await editor.add_trigger("Zone left", target)
    await editor.choose_zone("Home")


async def battery_below(editor: Editor, target: Target) -> None:
    """Make an automation that runs if the battery falls below 20 % while the bike is online."""
    await editor.add_trigger("Battery level crossed threshold", target)
    await editor.fall_below(20)
    await editor.add_condition("Bike tracker is online", target)
    await editor.expect_met()


async def starts_moving_at_night(editor: Editor, target: Target) -> None:
    """Make an automation that runs if the bike starts to move at night while no person is at home."""
    now = datetime.now(ZoneInfo("Europe/Berlin"))
    await editor.add_trigger("Bike tracker started moving", target)
    await editor.add_condition("Time")
    hour = timedelta(hours=1)
    await editor.be_between((now - hour).hour, (now + 2 * hour).hour)
    await editor.add_condition("Zone occupancy is not detected")
    await editor.choose_zone("Home")
    await editor.expect_met(2)


async def no_report_for_a_day(editor: Editor, target: Target) -> None:
    """Make an automation that runs after a day without a report. The editor must suggest one day as the duration."""
    await editor.add_trigger("Bike tracker became silent", target)
    await expect(editor.number("dd*")).to_have_value("1")


async def offline_at_home(editor: Editor, target: Target) -> None:
    """Make an automation that runs if the bike goes offline at home."""
    await editor.add_trigger("Bike tracker went offline", target)
    await editor.add_condition("Is in zone", target)
    await editor.choose_zone("Home")
    await editor.expect_met()


async def go_offline(fleet: Fleet) -> None:
    """Let the bike go offline."""
    await fleet.change(_BIKE, "set_status", status="offline")


async def fall_silent(fleet: Fleet) -> None:
    """Change the time of the last report, so that the tracker has been silent for a day in five seconds."""
    then = datetime.now(UTC) - timedelta(days=1) + timedelta(seconds=_SECONDS)
    await fleet.change(_BIKE, "set_last_update", last_update=then)


_WISHES: list[tuple[Wish, Event]] = [
    (offline_for_a_while, go_offline),
    (left_home, lambda fleet: fleet.ride(_BIKE, WERDERPLATZ, 0)),
    (battery_below, lambda fleet: fleet.change(_BIKE, "report", battery_level=19)),
    (starts_moving_at_night, lambda fleet: fleet.change(_BIKE, "report", motion=True)),
    (no_report_for_a_day, fall_silent),
    (offline_at_home, go_offline),
]


@pytest.mark.parametrize(
    ("wish", "event", "target"),
    [
        pytest.param(wish, event, target, id=f"{wish.__name__}-{target.kind}")
        for wish, event in _WISHES
        for target in (_DEVICE, _AREA, _LABEL)
        if target != _LABEL or wish is starts_moving_at_night
    ],
)
async def test_wishes(
    editor: Editor,
    frontend: Frontend,
    client: HomeAssistantClient,
    account: Fleet,
    wish: Wish,
    event: Event,
    target: Target,
) -> None:
    """A user can make each of these automations by clicks. After its event, the automation runs once."""
    await wish(editor, target)
    await save(editor)
    await event(account)
    if event is fall_silent:
        await client.poll()
        await asyncio.sleep(_SECONDS)
    await expect_fired(frontend, client)
