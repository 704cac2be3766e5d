"""The bikes of a test's account at the simulated service."""

from collections.abc import Iterator, Mapping
from itertools import count

from tests.e2e.frontend import Frontend
from tests.tools.demo import EMAIL, PASSWORD, SimulatedService
from tests.tools.simulator.streets import HOME, WERDERPLATZ, Point

from .words import ENGLISH

PLACES: Mapping[str, Point] = {
    "City bike": HOME,
    "Cargo bike": WERDERPLATZ,
    "Gravel bike": (49.417365, 8.685359),
}
"""Places of the bikes: one is at home, one at the office, and one at a junction without a zone."""

_serial_numbers: Iterator[int] = count(860_000_000_000_101)


class Fleet:
    """Bikes with IDs that no earlier test has used, because Home Assistant remembers earlier bikes."""

    def __init__(self, service: SimulatedService, places: Mapping[str, Point]) -> None:
        """Choose IDs for bikes with these names and places. `create` adds the bikes to the service."""
        self.service = service
        self.url = service.url
        self.places = places
        self.serial_numbers = {name: str(next(_serial_numbers)) for name in places}

    async def create(self) -> None:
        """Replace the account at the service by a new account that has only these bikes."""
        self.service.add_account(EMAIL, PASSWORD)
        for name, serial_number in self.serial_numbers.items():
            self.service.add_device(serial_number, name=name)
            await self.ride(name, self.places[name], 0)
            await self.change(name, "assign", email=EMAIL)

    async def ride(
        self,
        name: str,
        place: Point,
        kilometers_per_hour: float,
        address: str | None = None,
    ) -> None:
        """Let a bike report this place, this speed (0 if it stands) and, if given, this address."""
        latitude, longitude = place
        await self.change(
            name,
            "report",
            latitude=latitude,
            longitude=longitude,
            altitude=115,
            accuracy=5,
            speed=kilometers_per_hour / 1.852,
            motion=kilometers_per_hour > 0,
            battery_level=80,
            **({"address": address} if address else {}),
        )

    async def change(self, name: str, action: str, /, **args: object) -> None:
        """Call the simulated service's method with the name in `action` for the tracker of a bike."""
        getattr(self.service, action)(unique_id=self.serial_numbers[name], **args)

    async def add_account(self, frontend: Frontend) -> None:
        """Add the account in the frontend, but leave the last dialog of the flow open."""
        await frontend.open("/config/integrations/dashboard")
        await frontend.button(ENGLISH.add).click()
        await frontend.page.get_by_placeholder(ENGLISH.search).fill("Bike Tracker")
        await frontend.button("Bike Tracker").click()
        account = {"Server address": self.url, "Email": EMAIL, "Password": PASSWORD}
        await frontend.fill_in(account)
        await frontend.button(ENGLISH.submit).click()
