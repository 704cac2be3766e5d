"""How often somebody clicked."""

from playwright.async_api import Page

_COUNT = """
addEventListener("pointerdown", () => sessionStorage.clicks = 1 + Number(sessionStorage.clicks ?? 0), true);
addEventListener("keydown", (event) => {
  if (event.key.length > 1) sessionStorage.clicks = 1 + Number(sessionStorage.clicks ?? 0);
}, true);
"""


class Clicks:
    """What is clicked on a page from now on; Enter, Escape and such keys count as well."""

    def __init__(self, page: Page) -> None:
        """Count on this page."""
        self._page = page

    async def begin(self) -> None:
        """Begin with none."""
        if not await self._page.evaluate("() => sessionStorage.clicks"):
            await self._page.add_init_script(_COUNT)
            await self._page.evaluate(_COUNT)
        await self._page.evaluate("() => { sessionStorage.clicks = 0; }")

    async def count(self) -> int:
        """Return how many there were."""
        return int(await self._page.evaluate("() => sessionStorage.clicks"))
