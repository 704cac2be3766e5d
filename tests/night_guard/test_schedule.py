"""Decisions of the night guard, as tables: whether a bike is guarded, by time of day and riders."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from custom_components.bike_tracker.night_guard.alerts import Rider, companion
from custom_components.bike_tracker.night_guard.schedule import (
    Decision,
    GuardState,
    NightGuard,
    Situation,
    decide,
)

NOW = datetime(2026, 11, 20, 23, 0, tzinfo=UTC)
HOME = 52.0, 13.0
# Two places, 111 m and 1.1 km from home. By default, less than 200 m is near.
NEAR, FAR = (52.001, 13.0), (52.01, 13.0)

type Places = list[tuple[float, float] | None]


def night_guard(**data: Any) -> NightGuard:
    """Return a night guard with these settings. Missing settings have their defaults, except the night."""
    return NightGuard.from_data("1", data)


@pytest.mark.parametrize(
    ("night", "clock", "is_night", "began_hours_ago"),
    [
        (("22:00:00", "06:00:00"), "21:59", False, 23.98),
        (("22:00:00", "06:00:00"), "22:00", True, 0),
        (("22:00:00", "06:00:00"), "05:59", True, 7.98),
        (("22:00:00", "06:00:00"), "06:00", False, 8),
        (("01:00:00", "06:00:00"), "00:59", False, 23.98),
        (("01:00:00", "06:00:00"), "03:00", True, 2),
        # A night whose start is also its end always lasts, and begins once a day.
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
    guard = night_guard(night_begins=night[0], night_ends=night[1])
    now = datetime.fromisoformat(f"2026-11-20T{clock}:00Z")
    assert guard.is_night(now) is is_night
    began = guard.last_began(now)
    hours = began and round((now - began).total_seconds() / 3600, 2)
    assert hours == began_hours_ago


@pytest.mark.parametrize(
    ("riders", "wanted_by_day"),
    [
        ([], False),
        ([NEAR], False),
        ([FAR], True),
        ([None], True),
        ([FAR, NEAR], False),
        ([FAR, None], True),
    ],
)
def test_wants(riders: Places, wanted_by_day: bool) -> None:
    """At night, a bike is always guarded. By day, it is guarded only if it has riders and none is near."""
    nights = {"night_begins": "22:00:00", "night_ends": "06:00:00"}
    guard = night_guard(riders=["person.ann"] * len(riders), **nights)
    assert guard.wants(HOME, riders, NOW)
    assert guard.wants(HOME, riders, NOW.replace(hour=12)) is wanted_by_day


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
        ("armed", "wanted begins", "arm"),
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
    """The decision follows from the guard's state and from facts about the bike and the night."""
    it = facts.split()
    situation = Situation(guard, "held" in it, "ride" in it, "outage" in it)
    decided = decide(situation, is_wanted="wanted" in it, night_begins="begins" in it)
    assert decided == decision


@pytest.mark.parametrize(
    ("places", "minutes", "name"),
    [
        ([FAR], 1, "Ann"),
        # A rider at the guarded place does not move with the bike.
        ([HOME], 1, None),
        ([FAR], 5, "Ann"),
        ([FAR], 6, None),
        ([None], 1, None),
        ([FAR, FAR], 1, None),
        ([FAR, HOME], 1, "Ann"),
    ],
)
def test_companion(places: Places, minutes: int, name: str | None) -> None:
    """A rider is named only if exactly one rider is near the moved bike, and was seen within five minutes."""
    seen_at = NOW - timedelta(minutes=minutes)
    names = ("Ann", "Ben")[: len(places)]
    riders = [Rider(*it, seen_at) for it in zip(names, places, strict=True)]
    assert companion(HOME, FAR, riders, 200, NOW) == name


def test_rider_beside_the_guarded_place() -> None:
    """A rider near the moved bike is not named if the rider is also near the place of the arming."""
    assert companion(HOME, NEAR, [Rider("Ann", NEAR, NOW)], 200, NOW) is None
    assert companion(HOME, NEAR, [Rider("Ann", NEAR, NOW)], 100, NOW) == "Ann"
