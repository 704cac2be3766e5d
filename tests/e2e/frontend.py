"""Find elements, and do the steps of a user, in Home Assistant's frontend."""

from collections.abc import Mapping
import re

from playwright.async_api import Locator, Page, expect

# JavaScript that returns whether the page shows the automation with this ID as *on*.
_LISTENS = """number => Object.values(
    document.querySelector("home-assistant").hass.states
).some(it => it.attributes.id === number && it.state === "on")"""

_COUNT = """
addEventListener("pointerdown", () => sessionStorage.clicks = 1 + Number(sessionStorage.clicks ?? 0), true);
addEventListener("keydown", (event) => {
  if (event.key.length > 1) sessionStorage.clicks = 1 + Number(sessionStorage.clicks ?? 0);
}, true);
"""


class Frontend:
    """Home Assistant in a browser, with the elements that a user sees."""

    def __init__(self, page: Page, url: str) -> None:
        """Use this page of the browser for the Home Assistant at this address."""
        self.page = page
        self.url = url

    # Elements of a page

    def button(self, name: str | re.Pattern[str]) -> Locator:
        """Return the button with exactly this name."""
        return self.page.get_by_role("button", name=name, exact=True)

    def link(self, name: str) -> Locator:
        """Return the link whose text begins with this name."""
        return self.page.get_by_role("link", name=re.compile(f"^{re.escape(name)}"))

    def field(self, label: str) -> Locator:
        """Return the text field with this label. An asterisk after the label marks a required field."""
        return self.page.get_by_role(
            "textbox", name=re.compile(rf"^{re.escape(label)}\*?$")
        )

    def heading(self, text: str) -> Locator:
        """Return the heading with exactly this text."""
        return self.page.get_by_role("heading", name=text, exact=True)

    def text(self, text: str) -> Locator:
        """Return the element with exactly this text."""
        return self.page.get_by_text(text, exact=True)

    def saying(self, text: str) -> Locator:
        """Return the element whose text contains this text."""
        return self.page.get_by_text(text)

    def option(self, name: str) -> Locator:
        """Return the option whose text begins with this name, in an open list."""
        return self.page.get_by_role("option", name=re.compile(f"^{re.escape(name)}"))

    def title(self, text: str) -> Locator:
        """Return the title of the page, if it is exactly this text."""
        return self.page.locator("ha-top-app-bar-fixed, .toolbar").get_by_text(
            text, exact=True
        )

    def entity(self, name: str) -> Locator:
        """Return the row of the entity with this name on a device page."""
        return self.page.locator("hui-generic-entity-row").filter(
            has=self.page.get_by_text(name, exact=True)
        )

    # Steps of a user

    async def open(self, path: str = "/") -> None:
        """Open a path of Home Assistant, such as `/config`."""
        await self.page.goto(self.url + path)

    async def fill_in(self, fields: Mapping[str, str]) -> None:
        """Type into the fields with these labels."""
        for label, text in fields.items():
            await self.field(label).fill(text)

    async def open_integration(self) -> None:
        """Open the page of the integration with its accounts."""
        await self.open("/config/integrations/integration/bike_tracker")
        await expect(self.heading("Bike Tracker")).to_be_visible()

    async def open_device(self, name: str, *, heading: str = "Device info") -> None:
        """Open the device page of a tracker, and wait until it shows this heading."""
        await self.open_integration()
        await self.page.get_by_role("listitem").filter(has_text=name).click()
        await expect(self.heading(heading)).to_be_visible()

    async def import_blueprint(self) -> None:
        """Import the blueprint in the open dialog. Do not click the page's own button *Import blueprint* behind it."""
        await self.button("Preview").click()
        dialog = self.page.locator("ha-dialog-import-blueprint")
        await dialog.get_by_role("button", name="Import blueprint", exact=True).click()
        await expect(dialog).to_be_hidden()

    async def choose_bike(self, name: str) -> None:
        """Choose a bike in the first field for targets."""
        await self.button("Add target").first.click()
        await self.option(name).first.click()
        await self.page.keyboard.press("Escape")

    async def save_automation(self) -> None:
        """Save the open automation, and wait until it is active. The frontend shows it as saved before it is active."""
        await self.button("Save").last.click()
        await expect(self.link("Traces")).to_be_visible()
        number = self.page.url.rpartition("/")[2]
        await self.page.wait_for_function(_LISTENS, arg=number)

    async def settle(self) -> None:
        """Wait until the page has loaded all files and fonts."""
        await self.page.wait_for_load_state("networkidle")
        await self.page.evaluate("() => document.fonts.ready")

    async def close(self) -> None:
        """Close a dialog that reports success, and wait until it has disappeared."""
        await self.button("Close").last.click()
        await expect(self.page.get_by_role("dialog")).to_have_count(0)


class Clicks:
    """Counts the clicks on a page. Keys without a character, such as Enter and Escape, count as clicks."""

    def __init__(self, page: Page) -> None:
        """Use this page. `begin` starts the count."""
        self._page = page

    async def begin(self) -> None:
        """Count the clicks from now on, starting at zero."""
        if not await self._page.evaluate("() => sessionStorage.clicks"):
            await self._page.add_init_script(_COUNT)
            await self._page.evaluate(_COUNT)
        await self._page.evaluate("() => { sessionStorage.clicks = 0; }")

    async def count(self) -> int:
        """Return the number of clicks after the last `begin`."""
        return int(await self._page.evaluate("() => sessionStorage.clicks"))
