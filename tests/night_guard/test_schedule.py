"""Decisions of the night guard: whether it is night, arming and disarming, and the rider with a moved bike."""

from datetime import UTC, datetime, timedelta

import pytest

from custom_components.bike_tracker.api.models import Point
from custom_components.bike_tracker.night_guard.alerts import Rider, companions
from custom_components.bike_tracker.night_guard.schedule import (
    Decision,
    GuardState,
    NightGuard,
    Situation,
    decide,
)

HOUR = timedelta(hours=1)
NOW = datetime(2026, 11, 20, 23, 0, tzinfo=UTC)
HOME = 52.0, 13.0
# Two places, 111 m and 1.1 km from home.
NEAR, FAR = (52.001, 13.0), (52.01, 13.0)


@pytest.mark.parametrize(
    ("night", "clock", "is_night", "began_hours_ago"),
    [
        (("22:00:00", "06:00:00"), "21:59", False, 23.98),
        (("22:00:00", "06:00:00"), "22:00", True, 0),
        (("22:00:00", "06:00:00"), "05:59", True, 7.98),
        (("22:00:00", "06:00:00"), "06:00", False, 8),
        (("01:00:00", "06:00:00"), "00:59", False, 23.98),
        (("01:00:00", "06:00:00"), "01:00", True, 0),
        (("01:00:00", "06:00:00"), "03:00", True, 2),
        (("01:00:00", "06:00:00"), "06:00", False, 5),
        # A night whose start is also its end lasts until the next night begins.
        (("22:00:00", "22:00:00"), "23:00", True, 1),
        (("22:00:00", "22:00:00"), "21:00", True, 23),
        ((None, None), "23:00", False, None),
        (("22:00:00", None), "23:00", False, None),
    ],
)
def test_night(
    night: tuple[str, str], clock: str, is_night: bool, began_hours_ago: float | None
) -> None:
    """A night may begin before or after midnight. If its start or end is missing, no night exists."""
    begins, ends = night
    guard = NightGuard.from_data("1", {"night_begins": begins, "night_ends": ends})
    now = datetime.fromisoformat(f"2026-11-20T{clock}:00Z")
    assert guard.is_night(now) is is_night
    began = guard.last_began(now)
    assert (began and round((now - began) / HOUR, 2)) == began_hours_ago


@pytest.mark.parametrize(
    ("guard", "facts", "decision"),
    [
        ("disarmed", "wanted", "arm"),
        ("disarmed", "ride wanted", None),
        ("disarmed", "outage wanted", None),
        ("disarmed", "held wanted", None),
        ("disarmed", "held wanted begins", "arm"),
        # When a night begins, the user's choice ends. If the bike is on a ride,
        # `disarm` only ends the choice, and the bike is armed after the ride.
        ("disarmed", "held ride wanted begins", "disarm"),
        ("disarmed", "held begins", "disarm"),
        ("disarmed", "", None),
        ("armed", "wanted", None),
        ("armed", "wanted begins", "keep"),
        ("armed", "outage wanted begins", None),
        ("armed", "", "disarm"),
        ("armed", "outage", "disarm"),
        ("armed", "held", None),
        ("moved", "", None),
        ("moved", "wanted", None),
        ("moved", "wanted begins", "arm"),
        # During a ride, `arm` is only a request: the bike is armed after the ride.
        ("moved", "ride wanted begins", "arm"),
        ("moved", "outage wanted begins", None),
        ("moved", "begins", None),
        # If an alarm triggered the guard at night, the guard ends in the morning:
        # otherwise, the owner's first ride would look like a theft.
        ("shaken", "", "disarm"),
        ("shaken", "held", None),
        ("shaken", "wanted", None),
        ("shaken", "wanted begins", "arm"),
    ],
)
def test_decide(guard: GuardState, facts: str, decision: Decision | None) -> None:
    """The decision depends on the state of the guard, and on the listed facts about the bike and the night."""
    it = facts.split()
    situation = Situation(guard, "held" in it, "ride" in it, "outage" in it)
    decided = decide(situation, is_wanted="wanted" in it, night_begins="begins" in it)
    assert decided == decision


@pytest.mark.parametrize(
    ("bike", "riders", "minutes", "away", "names"),
    [
        (FAR, [FAR], 5, 200, "Ann"),
        (FAR, [FAR], 6, 200, ""),
        (FAR, [None], 1, 200, ""),
        # No rider is with the bike, one rider is with it, or two riders are with it.
        (FAR, [HOME, HOME], 1, 200, ""),
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
