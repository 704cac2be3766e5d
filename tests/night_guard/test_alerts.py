"""The riders with a moved bike, and bikes that are guarded where they arrived."""

from datetime import UTC, datetime, timedelta

import pytest

from custom_components.bike_tracker.api.models import Point
from custom_components.bike_tracker.night_guard.alerts import Rider, companions
from custom_components.bike_tracker.night_guard.follow import is_armed_by_arrival
from custom_components.bike_tracker.tracking.distance import NOWHERE
from custom_components.bike_tracker.tracking.guard import Guard
from custom_components.bike_tracker.tracking.occurrences import Occurrence

NOW = datetime(2026, 11, 20, 23, 0, tzinfo=UTC)
HOME = 52.0, 13.0
# Three places, 111 m and 1.1 km from home, the last in the opposite direction.
NEAR, FAR, AWAY = (52.001, 13.0), (52.01, 13.0), (51.99, 13.0)


@pytest.mark.parametrize(
    ("bike", "riders", "minutes", "away", "names"),
    [
        (FAR, [FAR], 5, 200, "Ann"),
        (FAR, [FAR], 6, 200, ""),
        (FAR, [None], 1, 200, ""),
        # No rider is with the bike, one rider is with it, or two riders are with it.
        (FAR, [HOME, AWAY], 1, 200, ""),
        (FAR, [FAR, HOME], 1, 200, "Ann"),
        (FAR, [FAR, FAR], 1, 200, "Ann Ben"),
        # The rider is near the moved bike, and 111 m from the place of the arming: still
        # near it if the limit is 200 m, but not if the limit is 100 m.
        (NEAR, [NEAR], 1, 200, ""),
        (NEAR, [NEAR], 1, 100, "Ann"),
    ],
)
def test_companions(
    bike: Point, riders: list[Point | None], minutes: int, away: float, names: str
) -> None:
    """A rider is named only if the rider left the guarded place with the bike, and was seen within five minutes."""
    seen_at = NOW - timedelta(minutes=minutes)
    named = zip(("Ann", "Ben"), riders, strict=False)
    each = [Rider(it, place, seen_at) for it, place in named]
    assert companions(HOME, bike, each, away, NOW) == names.split()


def test_arrival() -> None:
    """The end of a ride did not arm a bike that was armed later, while the event of this end waited: nobody tells that it stopped."""
    end = Occurrence(1, "ride_ended", NOW, NOW - timedelta(minutes=5))
    later = NOW + timedelta(seconds=1)
    assert is_armed_by_arrival(Guard(NOW, NOWHERE, NOW), end)
    assert not is_armed_by_arrival(Guard(later, NOWHERE, later), end)
