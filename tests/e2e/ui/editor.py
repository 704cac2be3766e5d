"""Home Assistant's automation editor. Each method makes the clicks of a user."""

from dataclasses import dataclass
import re
from typing import Literal

from playwright.async_api import Locator, expect

from tests.e2e.frontend import Frontend


@dataclass(frozen=True, slots=True)
class Target:
    """An area, device or label that a user chooses in the editor to find triggers and conditions for it."""

    kind: Literal["area", "device", "label"]
    name: str


class Editor:
    """An automation in the editor, which a test makes by clicks."""

    def __init__(self, frontend: Frontend) -> None:
        """Use this frontend. `open` opens the editor."""
        self._frontend = frontend
        self._page = frontend.page

    async def open(self) -> None:
        """Open the editor with an empty automation."""
        await self._frontend.open("/config/automation/edit/new")

    async def expect_to_find(self, word: str, trigger: str) -> None:
        """Search all triggers for a word, and expect that this trigger is found."""
        await self._frontend.button("Add trigger").click()
        await self._page.get_by_placeholder("Search").fill(word)
        # Show only triggers. Without this filter, the list shows at most five triggers,
        # and how many more match.
        await self._frontend.button("Triggers").click()
        found = re.compile(f"^{re.escape(trigger)}")
        await expect(self._page.get_by_role("button", name=found)).to_be_visible()

    async def add_trigger(self, name: str, target: Target) -> None:
        """Add a trigger: choose a target, and the trigger with this name."""
        await self._frontend.button("Add trigger").click()
        await self._choose(name, target)

    async def add_condition(self, name: str, target: Target | None = None) -> None:
        """Add a condition: choose its target first or, without a target, search for the condition's name."""
        await self._frontend.button("Add condition").click()
        await self._choose(name, target)

    async def tell(self, message: str) -> None:
        """Add an action that shows a notification in Home Assistant."""
        await self._frontend.button("Add action").click()
        await self._choose("Send a persistent notification", None)
        field = self._page.locator("ha-settings-row").filter(has_text="Message body")
        await field.get_by_role("textbox").fill(message)

    async def last(
        self, *, hours: int = 0, minutes: int = 0, seconds: int = 0, days: int = 0
    ) -> None:
        """Set how long the state must last before the trigger fires."""
        times = {"dd": days, "hh": hours, "mm": minutes, "ss": seconds}
        for label, number in times.items():
            if number:
                await self.number(f"{label}*").fill(str(number))
        # The editor saves a number when its field loses the focus.
        await self._page.keyboard.press("Tab")

    def number(self, label: str) -> Locator:
        """Return the number field with this label."""
        return self._page.get_by_role("spinbutton", name=label, exact=True)

    async def choose_zone(self, name: str) -> None:
        """Choose the zone of the trigger or condition."""
        await self._page.get_by_role("button", name=re.compile("^Select an")).click()
        await self._frontend.option(name).click()

    async def fall_below(self, level: int) -> None:
        """Let the trigger fire if the value falls below this level."""
        await self._page.get_by_role("button", name=re.compile("^Fire when")).click()
        await self._page.get_by_role("menuitem", name="Below").click()
        selector = self._page.locator("ha-selector-numeric_threshold")
        await selector.get_by_role("spinbutton").fill(str(level))
        await self._page.keyboard.press("Tab")

    async def be_between(self, after: int, before: int) -> None:
        """Set the hours of the day between which the time condition is true."""
        for name, hour in {"After": after, "Before": before}.items():
            group = self._page.get_by_role("group", name=name, exact=True)
            await group.get_by_role("spinbutton", name="hh").fill(str(hour))
            await self._page.keyboard.press("Tab")

    async def expect_met(self, number: int = 1) -> None:
        """Expect that the editor marks exactly this number of conditions as true at the moment."""
        met = self._page.get_by_role("status", name="Condition passes", exact=True)
        await expect(met).to_have_count(number)

    async def save(self, name: str) -> None:
        """Save the automation under this name."""
        await self._frontend.button("Save").click()
        await self._frontend.field("Name").fill(name)
        await self._frontend.save_automation()

    async def _choose(self, name: str, target: Target | None) -> None:
        search = self._page.get_by_placeholder("Search")
        match target:
            case None:
                await search.fill(name)
            case Target("area", area):
                await self._page.get_by_role("treeitem", name=area, exact=True).click()
            case Target("label", label):
                await self._frontend.button(label).click()
            case Target("device", device):
                await search.fill(device)
                found = re.compile(f"^{re.escape(device)}.*Bike Tracker$")
                await self._page.get_by_role("button", name=found).click()
        choice = re.compile(f"^{re.escape(name)}")
        await self._page.get_by_role("button", name=choice).first.click()
        await expect(self._page.get_by_role("dialog")).to_have_count(0)
