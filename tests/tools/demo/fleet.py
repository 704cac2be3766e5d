"""Bikes that ride through a town, rest, and now and then are out of reach."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import inf
from random import Random
import time

from tests.tools.simulator.streets import (
    HOME,
    JUNCTIONS,
    METRES_PER_DEGREE,
    Point,
    Route,
    metres,
    street_at,
)
from tests.tools.simulator.world import Json, World

STEP = 10.0
"""Seconds between two reports of a bike that rides."""
HEARTBEAT = 300.0
"""Seconds between two signs of life of one that rests."""
ALARM = 30.0
"""Seconds until somebody shakes a bike that rests."""
MOMENT = 3.0
"""Seconds for which a bike is at home that leaves: longer than two reports need to be told one by one."""
OUT_OF_HOME = 150.0
"""Metres that it has ridden then, so that it is out of the zone before anybody may take it for a ride that goes on."""
CARRIED = 200.0
"""Metres that somebody carries a bike."""
MODEL = "BT-200"
"""What kind of tracker tells of itself, as every other one does."""
TOWN = "69120 Heidelberg"
KNOT = 0.514444
"""Metres per second."""
_UNSEEN_FOR = timedelta(minutes=6)
# What has lasted for a day before Home Assistant hears of it is no news.
_SILENT_FOR = timedelta(days=1) - timedelta(minutes=1)

NAMES = (
    "City bike",
    "Gravel bike",
    "Long-tail bike",
    "Tandem",
    "Mountain bike",
    "Folding bike",
    "Road bike",
    "E-bike",
)
"""No two with the same initials, which the map shows."""


@dataclass(slots=True)
class _Bike:
    """A bike on its way or at a junction."""

    random: Random
    place: Point
    rest: float
    battery: float
    is_talkative: bool
    """Whether it tells of its lock, its supply, its firmware and of alarms, and where it is in words."""
    route: Route | None = None
    travelled: float = 0.0
    speed: float = 0.0
    course: float = 0.0
    silent: float = 0.0
    metres: float = 0.0
    rests: int = 0
    carried: int = 0
    """How many more reports tell that somebody carried it away."""


class Fleet:
    """Moves trackers through a world, the same way each time."""

    def __init__(self, world: World, trackers: int, email: str) -> None:
        """Add so many trackers to the world, assigned to this account."""
        self._world = world
        self._left = 0.0
        self._bikes: dict[str, _Bike] = {}
        for number in range(trackers):
            self._add(number, email)

    async def run(self, speed: float) -> None:
        """Let time pass, so many times as fast as it does, until cancelled."""
        before = time.monotonic()
        while True:
            await asyncio.sleep(1)
            now = time.monotonic()
            self._advance((now - before) * speed)
            before = now

    @property
    def unique_ids(self) -> list[str]:
        """The bikes that there are, as they were added."""
        return [
            unique_id for unique_id in self._bikes if unique_id in self._world.devices
        ]

    def leave_home(self, unique_id: str) -> None:
        """Have a bike ride away from home, where it is for a moment first, wherever it was."""
        self._bikes[unique_id].place = HOME
        self.park(unique_id)
        self._set_off(unique_id)
        self._bikes[unique_id].travelled = OUT_OF_HOME
        self._left = STEP - MOMENT

    def set_off(self, unique_id: str) -> None:
        """Have a bike ride, unless it does."""
        if self._bikes[unique_id].route is None:
            self._set_off(unique_id)
            self.report(unique_id)

    def ride_unseen(self, unique_id: str) -> None:
        """Have a bike ride in the last half hour, of which it tells only now, and that in one go."""
        bike, now = self._bikes[unique_id], datetime.now(UTC)
        bike.route, bike.speed, bike.silent = None, 6.0, 0.0
        home = _junction_near(bike.place)
        away = bike.random.choice([point for point in JUNCTIONS if point != home])
        steps = [
            place
            for route in (Route(home, away), Route(away, home))
            for place in route.every(bike.speed * STEP)
        ]
        time = now - timedelta(seconds=STEP * len(steps)) - _UNSEEN_FOR
        for place in steps:
            time += timedelta(seconds=STEP)
            bike.place, bike.course = place.point, place.course
            bike.metres += bike.speed * STEP
            self.report(unique_id, time=time)
        bike.speed = 0.0
        self.report(unique_id)
        self._rest(unique_id)

    def park(self, unique_id: str) -> None:
        """Have a bike stand where it is, until somebody takes it."""
        bike = self._bikes[unique_id]
        bike.route, bike.speed, bike.rest = None, 0.0, inf
        self._world.set_status(unique_id, "online")
        self.report(unique_id)

    def fall_silent(self, unique_id: str) -> None:
        """Have a bike that reported last some time ago, until it rides."""
        self.park(unique_id)
        self._bikes[unique_id].silent = -inf
        self._world.set_last_update(unique_id, datetime.now(UTC) - _SILENT_FOR)

    def carry_off(self, unique_id: str) -> None:
        """Have a bike stand elsewhere, of which its tracker does not say that it moved."""
        self.park(unique_id)
        bike = self._bikes[unique_id]
        bike.place = bike.place[0] + CARRIED / METRES_PER_DEGREE, bike.place[1]
        bike.carried = 2

    def drain(self, unique_id: str, battery: float) -> None:
        """Have a bike report this charge, in %."""
        self._bikes[unique_id].battery = battery
        self.report(unique_id)

    def report(
        self, unique_id: str, *, alarm: str | None = None, time: datetime | None = None
    ) -> None:
        """Have a bike report now, or have had it do so at a time of which nobody was told."""
        bike = self._bikes[unique_id]
        self._world.report(
            unique_id,
            last_update=time,
            is_buffered=time is not None,
            latitude=bike.place[0],
            longitude=bike.place[1],
            altitude=115.0,
            speed=round(bike.speed / KNOT, 2),
            course=bike.course,
            accuracy=5.0,
            battery_level=round(bike.battery),
            motion=bike.speed > 0,
            address=f"{street_at(bike.place)}, {TOWN}" if bike.is_talkative else None,
            attributes={
                "totalDistance": round(bike.metres, 2),
                **(_of_itself(bike) if bike.is_talkative else {}),
                **({"alarm": alarm} if alarm else {}),
            },
        )

    def _add(self, number: int, email: str) -> None:
        # A bike's rides do not depend on how many others there are.
        random = Random(f"1-{number}")  # noqa: S311 - rides, not secrets
        unique_id = f"8600000000{number + 1:05d}"
        self._bikes[unique_id] = bike = _Bike(
            random=random,
            place=HOME if number == 0 else random.choice(JUNCTIONS),
            rest=STEP if number == 0 else random.uniform(STEP, 300),
            battery=random.uniform(40, 100),
            is_talkative=number % 2 == 0,
        )
        generation, kind = divmod(number, len(NAMES))
        name = f"{NAMES[kind]} {generation + 1}" if generation else NAMES[kind]
        self._world.add_device(unique_id, name=name, email=email, latitude=None)
        if bike.is_talkative:
            self._world.devices[unique_id].model = MODEL
        self.report(unique_id)

    def _advance(self, seconds: float) -> None:
        """Let this much time pass for the bikes, in whole steps."""
        self._left += seconds
        while self._left >= STEP:
            self._left -= STEP
            for unique_id in self.unique_ids:
                self._step(unique_id)

    def _step(self, unique_id: str) -> None:
        bike = self._bikes[unique_id]
        if bike.route is not None:
            self._ride(unique_id, bike.route)
            return
        bike.rest -= STEP
        bike.silent += STEP
        if bike.carried:
            bike.carried -= 1
            self.report(unique_id)
        if bike.is_talkative and bike.rest == inf:
            bike.battery = min(100.0, bike.battery + 0.05)
        is_online = self._world.devices[unique_id].status == "online"
        if bike.rest <= 0:
            self._set_off(unique_id)
        elif is_online and _is_shaken(bike):
            self.report(unique_id, alarm="vibration")
        elif is_online and bike.silent >= HEARTBEAT:
            bike.silent = 0.0
            self._world.touch([unique_id])

    def _set_off(self, unique_id: str) -> None:
        bike = self._bikes[unique_id]
        # It may have been parked, or carried, somewhere in between.
        start = _junction_near(bike.place)
        elsewhere = [junction for junction in JUNCTIONS if junction != start]
        bike.route = Route(start, bike.random.choice(elsewhere))
        bike.travelled = bike.silent = 0.0
        bike.speed = bike.random.uniform(3.5, 7.0)
        self._world.set_disabled(unique_id, False)
        self._world.set_status(unique_id, "online")

    def _ride(self, unique_id: str, route: Route) -> None:
        bike = self._bikes[unique_id]
        bike.travelled += bike.speed * STEP
        bike.metres += bike.speed * STEP
        place = route.at(bike.travelled)
        bike.place, bike.course = place.point, place.course
        # A charged battery lasts for some hours of riding.
        bike.battery = bike.battery - 0.01 if bike.battery > 5 else 100.0
        has_arrived = bike.travelled >= route.length
        if has_arrived:
            bike.route, bike.speed = None, 0.0
        self.report(unique_id)
        if has_arrived:
            self._rest(unique_id)

    def _rest(self, unique_id: str) -> None:
        bike = self._bikes[unique_id]
        bike.rests += 1
        bike.rest = bike.random.uniform(60, 600)
        if bike.random.random() < 0.25:
            self._world.set_status(unique_id, "offline")
        if bike.random.random() < 0.05:
            self._world.set_disabled(unique_id, True)


def _junction_near(place: Point) -> Point:
    return min(JUNCTIONS, key=lambda junction: metres(junction, place))


def _is_shaken(bike: _Bike) -> bool:
    """Return whether somebody shakes it now, so long that a poll comes to see it."""
    is_time = bike.rests % 3 == 1 and bike.silent == ALARM and bike.rest > 60
    return bike.is_talkative and is_time


def _of_itself(bike: _Bike) -> dict[str, Json]:
    """Return what a tracker tells that is fed by the bike, and has its lock."""
    # Nobody locks or plugs in a bike at each stop.
    rests = bike.rest == inf and bike.route is None
    return {
        "lock": rests,
        "charge": rests,
        "battery": round(3.4 + bike.battery / 125, 2),
        "power": 37.5 if rests else 36.0,
        "versionFw": "2.4.1",
    }
