"""Find the cards of the dashboard *Bikes* in a browser, and check the route on the map."""

import re

from playwright.async_api import ConsoleMessage, Locator, expect

from tests.e2e.frontend import Frontend

CONFIG = {"strategy": {"type": "custom:bike-tracker"}}
_PATHS = "map => map.paths.map(path => path.points.length)"
# Errors to ignore, because other programs cause them. Chromium reports that its own
# drawing is slow. The simulated internet lacks the map's fonts, and the tiles that older
# releases load. Leaflet, the map of release 2026.8, finishes its zoom after the page was
# closed, and Chromium then looks for Leaflet's source.
_NOT_OURS = re.compile(
    r"GL Driver|/api/map_tiles/|https://basemaps\.cartocdn\.com/"
    r"|_leaflet_pos|/node_modules/leaflet/"
)


class Cards:
    """The cards of the dashboard, and the errors in the browser's console."""

    def __init__(self, frontend: Frontend) -> None:
        """Find the cards on this page, and from now on collect the errors in its console."""
        self.errors: list[str] = []
        self.page = page = frontend.page
        self.bikes = page.locator("bike-tracker-bikes-card")
        rides = page.locator("bike-tracker-rides-card")
        self.map, self.list = rides.first, rides.last
        self.distance = page.locator("bike-tracker-distance-card")
        page.on("console", self._note)
        page.on("pageerror", lambda error: self._note_error(str(error)))

    def _note(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self._note_error(f"{message.text} {message.location['url']}")

    def _note_error(self, line: str) -> None:
        if not _NOT_OURS.search(line):
            self.errors.append(line)

    def ride(self, number: int) -> Locator:
        """Return the entry of a ride on the second day in the list. The first ride of that day has the number 0."""
        return self.list.locator(".day").nth(1).get_by_role("button").nth(number)

    async def expect_route(self) -> None:
        """Expect that the map shows one line."""
        line = self.map.locator("ha-map")
        await expect(line).to_be_visible()
        for _ in range(100):
            points = await line.evaluate(_PATHS)
            if len(points) == 1 and points[0] > 1:
                return
            await self.page.wait_for_timeout(100)
        raise AssertionError("The map shows no line, or several lines")
