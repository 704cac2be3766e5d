"""What a bike reports that rides, and that stands."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from tests.conftest import RED
from tests.tools.simulator.server import Simulator
from tests.tools.simulator.streets import METRES_PER_DEGREE

from .home import Home

METRES_PER_SECOND = 6.0
_KNOT = 0.514444
_ACCURACY = 5.0


def report(
    simulator: Simulator,
    tracker: str = RED,
    *,
    metres: float = 0,
    time: datetime | None = None,
    alarm: str | None = None,
) -> None:
    """Have a bike report from so many metres farther north, at the time of a fix."""
    position = simulator.devices[tracker].position
    assert position is not None
    simulator.report(
        tracker,
        latitude=position.latitude + metres / METRES_PER_DEGREE,
        accuracy=_ACCURACY,
        speed=METRES_PER_SECOND / _KNOT if metres else 0,
        fix_time=time,
        device_time=time,
        attributes={"motion": metres > 0} | ({"alarm": alarm} if alarm else {}),
    )


async def async_ride(home: Home, reports: int, tracker: str = RED) -> None:
    """Have a bike ride, and report every 20 seconds."""
    for _ in range(reports):
        report(home.simulator, tracker, metres=20 * METRES_PER_SECOND)
        await home.async_wait(20)


async def async_stand(
    home: Home, reports: int, tracker: str = RED, *, every: float
) -> None:
    """Have a bike stand, and report that."""
    for _ in range(reports):
        report(home.simulator, tracker)
        await home.async_wait(every)


def times(begin: datetime, minutes: float, *, every: float) -> Iterator[datetime]:
    """Yield times from here on, so many seconds apart."""
    for number in range(int(minutes * 60 / every)):
        yield begin + timedelta(seconds=number * every)


def upload_ride(simulator: Simulator, begin: datetime, tracker: str = RED) -> datetime:
    """Have a bike tell at once of a ride of ten minutes, and of ten in which it stood.

    Returns when the last fix of it was.
    """
    ride, stand = (
        list(times(begin, 10, every=20)),
        list(times(begin + timedelta(minutes=10), 10, every=60)),
    )
    for time in ride:
        report(simulator, tracker, metres=20 * METRES_PER_SECOND, time=time)
    for time in stand:
        report(simulator, tracker, time=time)
    return stand[-1]
