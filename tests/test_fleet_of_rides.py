"""A fleet on which more rides end than the service's history may be asked for: each is exact in the end."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from random import Random
from typing import Any

from freezegun.api import FrozenDateTimeFactory
from homeassistant.util import dt as dt_util
import pytest

from custom_components.bike_tracker.diagnostics import (
    async_get_config_entry_diagnostics,
)

from .conftest import EMAIL, PASSWORD
from .long import IS_LONG
from .tools.simulator import Simulator
from .tools.simulator.streets import METRES_PER_DEGREE
from .tools.story.home import Home

BIKES, HOURS = (300, 3) if IS_LONG else (40, 0.5)
RIDES_AN_HOUR = 40
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
EVERY = 10 * SECOND
"""So often a bike reports that rides."""
METRES_A_SECOND = 5.0
_KNOT = 0.514444

pytestmark = pytest.mark.timeout(1_800 if IS_LONG else 120)


@dataclass
class Ride:
    """A ride of a bike on which nobody rode before."""

    bike: str
    start: datetime
    end: datetime

    @property
    def kilometres(self) -> float:
        """Return how long it is."""
        return (self.end - self.start).total_seconds() * METRES_A_SECOND / 1_000

    def reports(self) -> Iterator[datetime]:
        """Yield when the bike reports: under way, and standing for some minutes."""
        time = self.start
        while time <= self.end + 8 * MINUTE:
            yield time
            time += EVERY if time < self.end else MINUTE


@dataclass
class Rental:
    """Rents out bikes, each for one ride."""

    home: Home
    rides: list[Ride] = field(default_factory=list)
    waiting: list[int] = field(default_factory=list)
    """How many waited for the history, minute by minute, as diagnostics say."""

    def rent(self) -> None:
        """Plan all rides, in whole steps of time."""
        random = Random("rental")  # noqa: S311 - no secret
        now = dt_util.utcnow().replace(microsecond=0)
        for number in range(int(RIDES_AN_HOUR * HOURS)):
            start = now + random.randrange(int(HOURS * 360)) * EVERY
            end = start + random.randint(30, 90) * EVERY
            self.rides.append(Ride(bike(number), start, end))

    async def live(self) -> None:
        """Let all of it happen."""
        due = sorted(
            (time, number)
            for number, ride in enumerate(self.rides)
            for time in ride.reports()
        )
        for time, number in due:
            if (left := time - dt_util.utcnow()) > timedelta():
                await self.home.async_wait(left.total_seconds())
                self.waiting.append(await self.async_waiting())
            self._report(self.rides[number], time)

    async def async_waiting(self) -> int:
        """Return how many wait for the history, as diagnostics say."""
        hass, entry = self.home.hass, self.home.entry(EMAIL)
        told: Any = await async_get_config_entry_diagnostics(hass, entry)
        return int(told["service"]["history_waiting"])

    def _report(self, ride: Ride, time: datetime) -> None:
        metres = METRES_A_SECOND * (min(time, ride.end) - ride.start).total_seconds()
        moves = ride.start < time < ride.end
        self.home.simulator.report(
            ride.bike,
            latitude=47.9 + metres / METRES_PER_DEGREE,
            accuracy=5.0,
            speed=METRES_A_SECOND / _KNOT if moves else 0.0,
            fix_time=time,
            attributes={"motion": moves},
        )


def bike(number: int) -> str:
    """Return the `uniqueId` of a bike."""
    return f"{860_000_000_000_000 + number}"


@pytest.fixture
async def rental(
    freezer: FrozenDateTimeFactory,
    hass_storage: dict[str, Any],
    hass_tmp_config_dir: str,
) -> AsyncIterator[Rental]:
    """Return a rental whose home polls, without a live connection."""
    async with Simulator() as simulator:
        simulator.add_account(EMAIL, PASSWORD)
        for number in range(BIKES):
            simulator.add_device(bike(number), name=f"Bike {number}", email=EMAIL)
            simulator.report(bike(number), latitude=47.9, attributes={"motion": False})
        home = Home(freezer, simulator, hass_storage, hass_tmp_config_dir)
        await home.async_move_in(EMAIL)
        yield Rental(home)
        await home.async_stop()


async def test_fleet(rental: Rental) -> None:
    """It asks no more than it may, says how many wait, and the book is as it was."""
    home = rental.home
    rental.rent()
    await rental.live()
    assert max(rental.waiting) > 1
    while await rental.async_waiting():
        await home.async_wait(60)
    await home.async_wait(60)

    requests = home.simulator.requests
    times = [request.time for request in requests]
    assert all(
        later - time > 10 * MINUTE - SECOND
        for time, later in zip(times, times[30:], strict=False)
    )
    asked = [request.time for request in requests if "deviceId" in request.query]
    assert len(asked) == len(rental.rides)
    assert all(later - time > MINUTE - 3 * SECOND for time, later in pairwise(asked))

    for ride in rental.rides:
        assert home.listener.rides(ride.bike) == ["started", "ended"]
        [booked] = home.booked(ride.bike)
        assert abs(booked.started_at - ride.start) <= 15 * SECOND
        assert abs(booked.moved_at - ride.end) <= 15 * SECOND
        assert booked.distance == pytest.approx(ride.kilometres, rel=0.01)
