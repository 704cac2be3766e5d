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

    unique_id: str
    random: Random
    place: Point
    rest: float
    route: Route | None = None
    travelled: float = 0.0
    speed: float = 0.0
    battery: float = 100.0
    silent: float = 0.0
    metres: float = 0.0
    rests: int = 0
    carried: int = 0
    """How many more reports tell that somebody carried it away."""
    is_talkative: bool = False
    """Whether it tells of its lock, its supply, its firmware and of alarms, and where it is in words."""


class Fleet:
    """Moves trackers through a world; the same seed gives the same rides."""

    def __init__(
        self, world: World, *, trackers: int, seed: int, email: str | None = None
    ) -> None:
        """Add so many trackers to the world, assigned to the account of `email`."""
        self._world = world
        self._left = 0.0
        self._bikes = [self._add(number, seed, email) for number in range(trackers)]

    async def run(self, speed: float) -> None:
        """Let time pass, so many times as fast as it does, until cancelled."""
        before = time.monotonic()
        while True:
            await asyncio.sleep(1)
            now = time.monotonic()
            self.advance((now - before) * speed)
            before = now

    @property
    def unique_ids(self) -> list[str]:
        """The bikes that there are, as they were added."""
        return [
            bike.unique_id
            for bike in self._bikes
            if bike.unique_id in self._world.devices
        ]

    def leave_home(self, unique_id: str) -> None:
        """Have a bike ride away from home, where it is for a moment first, wherever it was."""
        bike = self._bike(unique_id)
        bike.place = HOME
        self.park(unique_id)
        self._set_off(bike)
        bike.travelled = OUT_OF_HOME
        self._left = STEP - MOMENT

    def set_off(self, unique_id: str) -> None:
        """Have a bike ride, unless it does."""
        bike = self._bike(unique_id)
        if bike.route is None:
            self._set_off(bike)
            self._report(bike, course=0.0)

    def ride_unseen(self, unique_id: str) -> None:
        """Have a bike ride in the last half hour, of which it tells only now, and that in one go."""
        bike, now = self._bike(unique_id), datetime.now(UTC)
        bike.route, bike.speed, bike.silent = None, 6.0, 0.0
        home = min(JUNCTIONS, key=lambda junction: metres(junction, bike.place))
        away = bike.random.choice([point for point in JUNCTIONS if point != home])
        steps = [
            place
            for route in (Route(home, away), Route(away, home))
            for place in route.every(bike.speed * STEP)
        ]
        time = now - timedelta(seconds=STEP * len(steps)) - _UNSEEN_FOR
        for place in steps:
            time += timedelta(seconds=STEP)
            bike.place = place.point
            bike.metres += bike.speed * STEP
            self._report(bike, course=place.course, time=time)
        bike.speed = 0.0
        self._report(bike, course=0.0)
        self._rest(bike)

    def park(self, unique_id: str) -> None:
        """Have a bike stand where it is, until somebody takes it."""
        bike = self._bike(unique_id)
        bike.route, bike.speed, bike.rest = None, 0.0, inf
        self._world.set_status(bike.unique_id, "online")
        self._report(bike, course=0.0)

    def fall_silent(self, unique_id: str) -> None:
        """Have a bike that reported last some time ago, until it rides."""
        self.park(unique_id)
        self._bike(unique_id).silent = -inf
        self._world.set_last_update(unique_id, datetime.now(UTC) - _SILENT_FOR)

    def carry_off(self, unique_id: str) -> None:
        """Have a bike stand elsewhere, of which its tracker does not say that it moved."""
        self.park(unique_id)
        bike = self._bike(unique_id)
        bike.place = bike.place[0] + CARRIED / METRES_PER_DEGREE, bike.place[1]
        bike.carried = 2

    def drain(self, unique_id: str, battery: float) -> None:
        """Have a bike report this charge, in %."""
        bike = self._bike(unique_id)
        bike.battery = battery
        self._report(bike, course=0.0)

    def raise_alarm(self, unique_id: str, alarm: str) -> None:
        """Have a bike report an alarm, in the service's word."""
        self._report(self._bike(unique_id), course=0.0, alarm=alarm)

    def _bike(self, unique_id: str) -> _Bike:
        return next(bike for bike in self._bikes if bike.unique_id == unique_id)

    def advance(self, seconds: float) -> None:
        """Let this much time pass for the bikes, in whole steps."""
        self._left += seconds
        while self._left >= STEP:
            self._left -= STEP
            for bike in self._bikes:
                if bike.unique_id in self._world.devices:
                    self._step(bike)

    def _add(self, number: int, seed: int, email: str | None) -> _Bike:
        # A bike's rides do not depend on how many others there are.
        random = Random(f"{seed}-{number}")  # noqa: S311 - rides, not secrets
        bike = _Bike(
            unique_id=f"8600000000{number + 1:05d}",
            random=random,
            place=HOME if number == 0 else random.choice(JUNCTIONS),
            rest=STEP if number == 0 else random.uniform(STEP, 300),
            battery=random.uniform(40, 100),
            is_talkative=number % 2 == 0,
        )
        name = NAMES[number % len(NAMES)]
        generation = number // len(NAMES)
        self._world.add_device(
            bike.unique_id,
            name=f"{name} {generation + 1}" if generation else name,
            email=email,
            latitude=None,
        )
        if bike.is_talkative:
            self._world.devices[bike.unique_id].model = MODEL
        self._report(bike, course=0.0)
        return bike

    def _step(self, bike: _Bike) -> None:
        if bike.route is not None:
            self._ride(bike, bike.route)
            return
        bike.rest -= STEP
        bike.silent += STEP
        if bike.carried:
            bike.carried -= 1
            self._report(bike, course=0.0)
        if bike.is_talkative and bike.rest == inf:
            bike.battery = min(100.0, bike.battery + 0.05)
        if bike.rest <= 0:
            self._set_off(bike)
        elif self._is_shaken(bike):
            self._report(bike, course=0.0, alarm="vibration")
        elif bike.silent >= HEARTBEAT and self._is_online(bike):
            bike.silent = 0.0
            self._world.touch([bike.unique_id])

    def _set_off(self, bike: _Bike) -> None:
        # It may have been parked, or carried, somewhere in between.
        start = min(JUNCTIONS, key=lambda junction: metres(junction, bike.place))
        elsewhere = [junction for junction in JUNCTIONS if junction != start]
        bike.route = Route(start, bike.random.choice(elsewhere))
        bike.travelled = 0.0
        bike.speed = bike.random.uniform(3.5, 7.0)
        bike.silent = 0.0
        self._world.set_disabled(bike.unique_id, False)
        self._world.set_status(bike.unique_id, "online")

    def _ride(self, bike: _Bike, route: Route) -> None:
        bike.travelled += bike.speed * STEP
        bike.metres += bike.speed * STEP
        place = route.at(bike.travelled)
        bike.place = place.point
        # A charged battery lasts for some hours of riding.
        bike.battery = bike.battery - 0.01 if bike.battery > 5 else 100.0
        if bike.travelled >= route.length:
            bike.route = None
            bike.speed = 0.0
            self._report(bike, course=place.course)
            self._rest(bike)
        else:
            self._report(bike, course=place.course)

    def _rest(self, bike: _Bike) -> None:
        bike.rests += 1
        bike.rest = bike.random.uniform(60, 600)
        if bike.random.random() < 0.25:
            self._world.set_status(bike.unique_id, "offline")
        if bike.random.random() < 0.05:
            self._world.set_disabled(bike.unique_id, True)

    def _is_shaken(self, bike: _Bike) -> bool:
        """Return whether somebody shakes it now, so long that a poll comes to see it."""
        if not bike.is_talkative or not self._is_online(bike):
            return False
        return bike.rests % 3 == 1 and bike.silent == ALARM and bike.rest > 60

    def _is_online(self, bike: _Bike) -> bool:
        return self._world.devices[bike.unique_id].status == "online"

    def _report(
        self,
        bike: _Bike,
        *,
        course: float,
        alarm: str | None = None,
        time: datetime | None = None,
    ) -> None:
        """Have a bike report now, or have had it do so at a time of which nobody was told."""
        self._world.report(
            bike.unique_id,
            last_update=time,
            is_buffered=time is not None,
            latitude=bike.place[0],
            longitude=bike.place[1],
            altitude=115.0,
            speed=round(bike.speed / KNOT, 2),
            course=course,
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
