"""A simulated service whose bikes ride through a town and stop."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import inf
from random import Random
import time

from tests.tools.simulator import Simulator
from tests.tools.simulator.streets import (
    HOME,
    JUNCTIONS,
    METERS_PER_DEGREE,
    Point,
    Route,
    meters,
    street_at,
)
from tests.tools.simulator.world import Json

EMAIL = "demo@example.com"
PASSWORD = "demo"
TOWN = "69120 Heidelberg"
BIKES = ("City bike", "Gravel bike", "Long-tail bike", "Tandem", "Mountain bike")
"""Names with different initials, because the map shows the initials."""

_STEP = 10.0
"""Seconds between two reports of a riding bike."""
_HEARTBEAT = 120.0
"""Seconds between two reports of a standing bike."""
_CARRIED = 200.0
"""Distance in meters over which `carry_off` moves a bike."""
_KNOT = 0.514444
"""One knot in meters per second."""
_UNSEEN_FOR = timedelta(minutes=6)
# The trigger for silence only fires if the silence reaches a day while Home Assistant
# runs. So the silence is a minute shorter at first.
_SILENT_FOR = timedelta(days=1) - timedelta(minutes=1)


@dataclass(slots=True)
class _Bike:
    """A bike that rides along a route or stands. Units are meters, seconds and percent."""

    random: Random
    place: Point
    rest: float
    battery: float
    route: Route | None = None
    travelled: float = 0.0
    speed: float = 0.0
    silent: float = 0.0
    meters: float = 0.0

    @property
    def hardware(self) -> dict[str, Json]:
        """The attributes of a report about the lock, the power supply and the firmware."""
        # A bike is locked and charged only after `park`, not at stops between its rides.
        rests = self.rest == inf and self.route is None
        return {
            "lock": rests,
            "charge": rests,
            "battery": round(3.4 + self.battery / 125, 2),
            "power": 37.5 if rests else 36.0,
            "versionFw": "2.4.1",
        }


class Fleet:
    """Moves bikes through a world. Their routes and speeds are the same in each run of the demo."""

    def __init__(self, world: Simulator, trackers: int) -> None:
        """Add this number of bikes with trackers to the world, in the account of the demo."""
        self._world = world
        self._bikes: dict[str, _Bike] = {}
        for number in range(trackers):
            self._add(number)
        self.unique_ids = list(self._bikes)

    async def run(self) -> None:
        """Let the bikes ride until this task is canceled."""
        left, before = 0.0, time.monotonic()
        while True:
            await asyncio.sleep(1)
            now = time.monotonic()
            left, before = left + now - before, now
            while left >= _STEP:
                left -= _STEP
                for unique_id, bike in self._bikes.items():
                    self._step(unique_id, bike)

    def leave_home(self, unique_id: str) -> None:
        """Put a bike at home, wherever it is, and let it ride away."""
        self._bikes[unique_id].place = HOME
        self.park(unique_id)
        self._set_off(unique_id)

    def set_off(self, unique_id: str) -> None:
        """Let a bike start a ride, and report the start. If the bike is already riding, do nothing."""
        if self._bikes[unique_id].route is None:
            self._set_off(unique_id)
            self.report(unique_id)

    def ride_unseen(self, unique_id: str) -> None:
        """Add a whole ride, which ended six minutes ago, to a bike's history. Park the bike where the ride ended."""
        bike = self._bikes[unique_id]
        bike.speed = 6.0
        places = list(_way(bike).every(bike.speed * _STEP))
        at = datetime.now(UTC) - _UNSEEN_FOR - timedelta(seconds=_STEP * len(places))
        for place in places:
            at += timedelta(seconds=_STEP)
            bike.place = place
            bike.meters += bike.speed * _STEP
            self.report(unique_id, time=at)
        self.park(unique_id)

    def park(self, unique_id: str, status: str = "online") -> None:
        """Stop a bike at its place until another method lets it ride again. Set its status, too."""
        bike = self._bikes[unique_id]
        bike.route, bike.speed, bike.rest, bike.silent = None, 0.0, inf, 0.0
        self.report(unique_id)
        self._world.set_status(unique_id, status)

    def fall_silent(self, unique_id: str) -> None:
        """Set the time of a bike's last report to almost a day ago. Until its next ride, it reports nothing by itself."""
        self.park(unique_id)
        self._bikes[unique_id].silent = -inf
        self._world.set_last_update(unique_id, datetime.now(UTC) - _SILENT_FOR)

    def carry_off(self, unique_id: str) -> None:
        """Move a bike to another place, from which it reports that it stands."""
        self.park(unique_id)
        bike = self._bikes[unique_id]
        bike.place = bike.place[0] + _CARRIED / METERS_PER_DEGREE, bike.place[1]
        # Make two reports due. The next two steps send them from the new place.
        bike.silent = 2 * _HEARTBEAT

    def drain(self, unique_id: str, battery: float) -> None:
        """Let a bike report this battery level in percent."""
        self._bikes[unique_id].battery = battery
        self.report(unique_id)

    def report(
        self, unique_id: str, *, alarm: str | None = None, time: datetime | None = None
    ) -> None:
        """Let a bike report now. With a time, only add a report of that time to its history."""
        bike = self._bikes[unique_id]
        self._world.report(
            unique_id,
            last_update=time,
            is_buffered=time is not None,
            latitude=bike.place[0],
            longitude=bike.place[1],
            speed=round(bike.speed / _KNOT, 2),
            accuracy=5.0,
            battery_level=round(bike.battery),
            motion=bike.speed > 0,
            address=f"{street_at(bike.place)}, {TOWN}",
            attributes={
                "totalDistance": round(bike.meters, 2),
                **bike.hardware,
                **({"alarm": alarm} if alarm else {}),
            },
        )

    def _add(self, number: int) -> None:
        # With a seed for each bike, rides do not depend on the number of bikes.
        random = Random(f"1-{number}")  # noqa: S311 - rides, not secrets
        unique_id = f"8600000000{number + 1:05d}"
        self._bikes[unique_id] = _Bike(
            random=random,
            place=HOME if number == 0 else random.choice(JUNCTIONS),
            rest=_STEP if number == 0 else random.uniform(_STEP, 300),
            battery=random.uniform(40, 100),
        )
        name = BIKES[number] if number < len(BIKES) else f"Bike {number}"
        self._world.add_device(unique_id, name=name, email=EMAIL, latitude=None)
        self._world.devices[unique_id].model = "BT-200"
        self.report(unique_id)

    def _step(self, unique_id: str, bike: _Bike) -> None:
        if bike.route is not None:
            self._ride(unique_id, bike, bike.route)
            return
        bike.rest -= _STEP
        bike.silent += _STEP
        if bike.rest <= 0:
            self._set_off(unique_id)
        elif bike.silent >= _HEARTBEAT:
            bike.silent -= _HEARTBEAT
            if self._world.devices[unique_id].status == "online":
                self.report(unique_id)

    def _set_off(self, unique_id: str) -> None:
        bike = self._bikes[unique_id]
        bike.route = _way(bike)
        bike.travelled = bike.silent = 0.0
        bike.speed = bike.random.uniform(3.5, 7.0)
        self._world.set_status(unique_id, "online")

    def _ride(self, unique_id: str, bike: _Bike, route: Route) -> None:
        bike.travelled += bike.speed * _STEP
        bike.meters += bike.speed * _STEP
        bike.place = route.at(bike.travelled)
        # A full battery lasts for about a day of riding. At 5 %, it is full again.
        bike.battery = bike.battery - 0.01 if bike.battery > 5 else 100.0
        if bike.travelled >= route.length:
            bike.route, bike.speed = None, 0.0
            bike.rest = bike.random.uniform(60, 600)
        self.report(unique_id)


def _way(bike: _Bike) -> Route:
    """Return a route from the junction nearest to the bike to a random other junction."""
    start = min(JUNCTIONS, key=lambda junction: meters(junction, bike.place))
    elsewhere = [junction for junction in JUNCTIONS if junction != start]
    return Route(start, bike.random.choice(elsewhere))


class SimulatedService(Simulator):
    """A simulator with the account of the demo and its trackers."""

    def __init__(self, *, trackers: int = 3, port: int = 0) -> None:
        """Create a fleet with this number of bikes. They stand until `fleet.run` is called."""
        super().__init__(port=port)
        self.add_account(EMAIL, PASSWORD)
        self.fleet = Fleet(self, trackers)

    @property
    def polls(self) -> int:
        """How often the list of trackers was requested."""
        return self.record.counts["/api/devices"]
