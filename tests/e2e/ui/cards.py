"""The dashboard *Bikes*, and what its cards show."""

import re

from playwright.async_api import ConsoleMessage, Locator, Page, expect

from tests.e2e.frontend import Frontend

PATH = "/bikes-dashboard"
CONFIG = {"strategy": {"type": "custom:bike-tracker"}}
_PATHS = "map => map.paths.map(path => path.points.length)"
# The simulated internet has no map tiles for a moment; Chromium reports its own slow drawing.
_NOT_OURS = re.compile(r"GL Driver|502 \(Bad Gateway\)|net::ERR_")

# Rides of the old ride book have no route.
ADD_ROUTES = """
(() => {
  const encode = (points) => {
    let text = "", last = [0, 0];
    for (const point of points) point.forEach((value, i) => {
      const now = Math.round(value * 1e5);
      let rest = (now - last[i]) << 1;
      last[i] = now;
      for (rest = rest < 0 ? ~rest : rest; rest >= 32; rest >>= 5) text += String.fromCharCode((32 | (rest & 31)) + 63);
      text += String.fromCharCode(rest + 63);
    });
    return text;
  };
  const timer = setInterval(() => {
    const socket = document.querySelector("home-assistant")?.hass?.connection;
    if (!socket) return;
    clearInterval(timer);
    const send = socket.sendMessagePromise.bind(socket);
    socket.sendMessagePromise = async (message) => {
      const answer = await send(message);
      if (message.service === "get_rides" && message.service_data.routes) {
        for (const ride of answer.response.rides) {
          const ends = [ride.start, ride.end].map((place) => [place.latitude, place.longitude]);
          ride.route ??= encode([ends[0], [ends[0][0], ends[1][1]], ends[1]]);
        }
      }
      return answer;
    };
  }, 10);
})();
"""


class Cards:
    """The cards of the dashboard, on a page whose console stays free of errors."""

    def __init__(self, frontend: Frontend) -> None:
        """Look at this page."""
        self.frontend = frontend
        self.errors: list[str] = []
        page = frontend.page
        page.on("console", self._note)
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _note(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not _NOT_OURS.search(message.text):
            self.errors.append(message.text)

    @property
    def page(self) -> Page:
        """Return the page."""
        return self.frontend.page

    @property
    def bikes(self) -> Locator:
        """Return the card with the bikes."""
        return self.page.locator("bike-tracker-bikes-card")

    @property
    def map(self) -> Locator:
        """Return the card with the map."""
        return self.page.locator("bike-tracker-rides-card").first

    @property
    def list(self) -> Locator:
        """Return the card with the list of rides."""
        return self.page.locator("bike-tracker-rides-card").last

    @property
    def distance(self) -> Locator:
        """Return the card with the bars."""
        return self.page.locator("bike-tracker-distance-card")

    def ride(self, number: int) -> Locator:
        """Return a ride of yesterday."""
        return self.list.locator(".day").nth(1).get_by_role("button").nth(number)

    async def expect_route(self) -> None:
        """Expect a line with its start and its end on the map."""
        line = self.map.locator("ha-map")
        await expect(line).to_be_visible()
        points: list[int] = []
        for _ in range(100):
            points = await line.evaluate(_PATHS)
            if len(points) == 3 and points[0] > 1 and points[1:] == [1, 1]:
                return
            await self.page.wait_for_timeout(100)
        raise AssertionError(points)
