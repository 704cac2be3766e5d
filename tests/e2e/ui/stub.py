"""The cards in a browser, with a JavaScript object in place of a running Home Assistant."""

from collections.abc import Mapping
from copy import deepcopy
from datetime import UTC, datetime, timedelta
import json
from pathlib import Path
from typing import Any, Self

from playwright.async_api import BrowserContext, Locator, Page, Route

from tests.tools.demo.config_folder import INTEGRATION
from tests.tools.demo.furnish import encode
from tests.tools.simulator.streets import HOME, WERDERPLATZ

_URL = "http://cards.test"
_TEXTS = json.loads((INTEGRATION / "translations" / "en.json").read_text())
_FILES = {
    "/": "<!doctype html><html style=--primary-color:blue><home-assistant></home-assistant><script src=/stub.js></script><script type=module src=/frontend/bike-tracker.js></script>"
}
_TYPES = {".js": "text/javascript", ".css": "text/css"}
_STATES: Mapping[str, object] = {
    "tracker": "home",
    "online": "on",
    "last_update": datetime.now(UTC).isoformat(),
    "battery": {"state": "74", "attributes": {"unit_of_measurement": "%"}},
    "guard": "disarmed",
    "ride": "unknown",
    "rides": "off",
}

type House = dict[str, Any]


def bike(number: int, /, **has: object) -> House:
    """Return a bike that is at home without any problem. Keyword arguments replace some of its states."""
    look = {"name": f"Bike {number}", "color": f"#{number % 4 * 60:02x}80a0"}
    return {"id": f"bike{number}", **look, "has": {**_STATES, **has}}


def ride(start: datetime, number: int = 1, /, **values: object) -> House:
    """Return a ride of half an hour from home to the office. Keyword arguments replace its values, such as `route`."""
    places = [
        {"latitude": latitude, "longitude": longitude, "zone": zone, "address": None}
        for (latitude, longitude), zone in ((HOME, "Home"), (WERDERPLATZ, "Office"))
    ]
    return {
        "device_id": f"bike{number}",
        "name": f"Bike {number}",
        "started_at": start.isoformat(),
        "ended_at": (start + timedelta(minutes=30)).isoformat(),
        "distance": 10.0,
        "duration": 1800,
        "maximum_speed": 32.2,
        "start": places[0],
        "end": places[1],
        "route": encode([HOME, WERDERPLATZ]),
        **values,
    }


def house(*bikes: House, rides: list[House] | None = None, **values: Any) -> House:
    """Return a house with these bikes and rides, whose user reads English and writes the day before the month. Keyword arguments replace its values."""
    locale = {"language": "en", "number_format": "language", "time_format": "language"}
    return {
        "now": datetime.now(UTC).isoformat(),
        "bikes": deepcopy(bikes),
        "rides": rides or [],
        "history": {},
        "texts": {**_TEXTS["config_panel"], **_TEXTS["exceptions"]},
        "words": {
            "home": "Home",
            "not_home": "Away",
            "armed_away": "Guarded",
            "triggered": "Being moved",
        },
        "locale": {**locale, "date_format": "DMY", "time_zone": "server"},
        "config": {"time_zone": "Europe/Berlin", "unit_system": {"length": "km"}},
        **values,
    }


class Stub:
    """A page that shows all three cards, without a server. Its script is stub.js."""

    def __init__(self, page: Page) -> None:
        """Find the cards on this page, and from now on collect the page's errors."""
        self.page = page
        self.errors: list[str] = []
        self.bikes, self.rides, self.distance = (
            page.locator(f"home-assistant > bike-tracker-{kind}-card")
            for kind in ("bikes", "rides", "distance")
        )
        self.days = self.rides.locator(".day")
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    @classmethod
    async def create(cls, context: BrowserContext) -> Self:
        """Open a page that has loaded the cards but does not show them yet."""
        await context.route(f"{_URL}/**", _serve)
        stub = cls(await context.new_page())
        await stub.page.goto(_URL)
        return stub

    async def clear(self) -> None:
        """Remove the cards, forget the recorded calls and errors, and reset the size of the page."""
        await self.page.set_viewport_size({"width": 1200, "height": 800})
        await self.page.evaluate("() => clear()")
        self.errors.clear()

    async def show(self, house: House) -> None:
        """Show a house in all cards. If the cards are already shown, only update them."""
        await self.page.evaluate("house => show(house)", house)

    async def calls(self, action: str) -> list[House]:
        """Return the calls of an action since the last `clear`, with their data."""
        calls: list[House] = await self.page.evaluate("() => calls")
        return [call for call in calls if call["action"] == action]

    async def paths(self, card: Locator) -> list[list[list[float]]]:
        """Return the points, as latitude and longitude, of all lines on the map of a card."""
        paths: list[list[list[float]]] = await card.locator("ha-map").evaluate(
            "map => map.paths.map(path => path.points.map(({point}) => point))"
        )
        return paths


async def _serve(route: Route) -> None:
    path = route.request.url.removeprefix(_URL)
    if path in _FILES:
        await route.fulfill(body=_FILES[path], content_type="text/html")
        return
    folder = INTEGRATION if path.startswith("/frontend/") else Path(__file__).parent
    file = folder / path.removeprefix("/")
    if not file.exists():
        await route.fulfill(status=204)
        return
    await route.fulfill(path=file, content_type=_TYPES[file.suffix])
