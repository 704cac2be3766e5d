"""The trackers of the account that a test has."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from tests.live import EMAIL, PASSWORD, SimulatorProcess
from tests.simulator.streets import HOME, WERDERPLATZ, Point

_ON_ITS_WAY: Point = (49.417365, 8.685359)
_serial_numbers: Iterator[int] = count(860_000_000_000_101)


@dataclass(frozen=True, slots=True)
class Bike:
    """A bike with a tracker on it."""

    name: str
    place: Point
    serial_number: str


class Fleet:
    """Bikes that nobody has seen before: Home Assistant remembers those it had."""

    def __init__(self, service: SimulatorProcess) -> None:
        """Have three of them."""
        self.service = service
        self.url = service.url
        self.city, self.cargo, self.gravel = self.bikes = [
            Bike(name, place, str(next(_serial_numbers)))
            for name, place in {
                "City bike": HOME,
                "Cargo bike": WERDERPLATZ,
                "Gravel bike": _ON_ITS_WAY,
            }.items()
        ]

    async def create(self) -> None:
        """Make the account anew, with these bikes and no others."""
        do = self.service.control.do
        await do("add_account", email=EMAIL, password=PASSWORD)
        for bike in self.bikes:
            latitude, longitude = bike.place
            await do("add_device", unique_id=bike.serial_number, name=bike.name)
            await do(
                "report",
                unique_id=bike.serial_number,
                latitude=latitude,
                longitude=longitude,
                altitude=115,
                accuracy=5,
                battery_level=80,
            )
            await self.assign(bike)

    async def assign(self, bike: Bike) -> None:
        """Give the bike to the account."""
        await self.service.control.do(
            "assign", email=EMAIL, unique_id=bike.serial_number
        )

    async def unassign(self, bike: Bike) -> None:
        """Take the bike from the account."""
        await self.service.control.do(
            "unassign", email=EMAIL, unique_id=bike.serial_number
        )

    async def change(self, bike: Bike, action: str, **args: object) -> None:
        """Do to the bike's tracker what the simulated service can do."""
        await self.service.control.do(action, unique_id=bike.serial_number, **args)
