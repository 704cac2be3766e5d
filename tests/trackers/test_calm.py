"""What counts on under way is written calmly, and is exact once a ride is over."""

from datetime import timedelta

from homeassistant.const import Platform
from homeassistant.core import State
from homeassistant.util import dt as dt_util
import pytest

from ..conftest import RED, Poll, StateOf
from ..tools.simulator.server import Simulator

COUNTERS = ("total_distance", "ride_distance", "ride_duration")
# Minutes of riding, and until a ride is over.
RIDDEN = 20
STANDS = 7

pytestmark = [
    pytest.mark.usefixtures("setup"),
    pytest.mark.freeze_time("2026-11-20 12:00:00+00:00"),
]


async def test_ride(
    simulator: Simulator, poll: Poll, state_of: StateOf, writes: list[str]
) -> None:
    """Each is written every other minute, at the start and at the end, and then no more; the address still more rarely."""
    for minute in range(RIDDEN + STANDS):
        heard = dt_util.utcnow() + timedelta(seconds=50)
        if minute == 1:
            writes.clear()
        simulator.report(
            RED,
            latitude=49.41 + 0.002 * min(minute, RIDDEN),
            motion=0 < minute < RIDDEN,
            accuracy=5,
            address=f"Main Street {minute}",
            last_update=heard,
        )
        await poll(60)
    written = [writes.count(f"sensor.red_bike_{name}") for name in COUNTERS]
    assert all(RIDDEN / 2 - 1 <= times <= RIDDEN / 2 + 3 for times in written)
    assert 2 <= writes.count("sensor.red_bike_address") <= RIDDEN / 10 + 3

    def shown(name: str, platform: Platform = Platform.SENSOR) -> State:
        state = state_of(f"{RED}_{name}", platform)
        assert state is not None
        return state

    ride = shown("ride", Platform.EVENT).attributes
    assert ride["event_type"] == "ended"
    assert float(shown("ride_distance").state) == ride["distance"] > 4
    assert float(shown("total_distance").state) == ride["distance"]
    assert float(shown("ride_duration").state) * 60 == pytest.approx(ride["duration"])
    writes.clear()
    for _ in range(12):
        await poll(60)
    assert not {f"sensor.red_bike_{name}" for name in COUNTERS} & set(writes)
    assert shown("address").state == f"Main Street {RIDDEN + STANDS - 1}"
