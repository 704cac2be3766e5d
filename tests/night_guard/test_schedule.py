"""What should be guarded when: tables."""

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
# 111 m each.
NEAR, FAR = (52.001, 13.0), (52.01, 13.0)


def night_guard(**data: Any) -> NightGuard:
    """Return a night guard with these settings."""
    return NightGuard.from_data("1", data)


@pytest.mark.parametrize(
    ("begins", "ends", "clock", "is_night", "began_hours_ago"),
    [
        ("22:00:00", "06:00:00", "21:59", False, 23.98),
        ("22:00:00", "06:00:00", "22:00", True, 0),
        ("22:00:00", "06:00:00", "05:59", True, 7.98),
        ("22:00:00", "06:00:00", "06:00", False, 8),
        ("01:00:00", "06:00:00", "00:59", False, 23.98),
        ("01:00:00", "06:00:00", "03:00", True, 2),
        # A night without length begins all the same.
        ("22:00:00", "22:00:00", "23:00", False, 1),
        (None, None, "23:00", False, None),
        ("22:00:00", None, "23:00", False, None),
    ],
)
def test_night(
    begins: str | None,
    ends: str | None,
    clock: str,
    is_night: bool,
    began_hours_ago: float | None,
) -> None:
    """It may begin before or after midnight, or never."""
    guard = night_guard(night_begins=begins, night_ends=ends)
    hour, minute = map(int, clock.split(":"))
    now = NOW.replace(hour=hour, minute=minute)
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
def test_wants(riders: list[tuple[float, float] | None], wanted_by_day: bool) -> None:
    """At night a bike is guarded in any case, by day while all riders are away."""
    persons = [f"person.{number}" for number, _ in enumerate(riders)]
    nights = {"night_begins": "22:00:00", "night_ends": "06:00:00"}
    guard = night_guard(riders=persons, **nights)
    assert guard.wants(HOME, riders, NOW)
    assert guard.wants(HOME, riders, NOW.replace(hour=12)) is wanted_by_day


@pytest.mark.parametrize(
    ("guard", "is_held", "on_ride", "in_outage", "is_wanted", "begins", "decision"),
    [
        ("disarmed", False, False, False, True, False, "arm"),
        ("disarmed", False, True, False, True, False, None),
        ("disarmed", False, False, True, True, False, None),
        ("disarmed", True, False, False, True, False, None),
        ("disarmed", True, False, False, True, True, "arm"),
        # Nobody holds it beyond the night's begin: it is armed once it stands.
        ("disarmed", True, True, False, True, True, "disarm"),
        ("disarmed", True, False, False, False, True, "disarm"),
        ("disarmed", False, False, False, False, False, None),
        ("armed", False, False, False, True, False, None),
        ("armed", False, False, False, True, True, "arm"),
        ("armed", False, False, True, True, True, None),
        ("armed", False, False, False, False, False, "disarm"),
        ("armed", False, False, True, False, False, "disarm"),
        ("armed", True, False, False, False, False, None),
        ("moved", False, False, False, False, False, None),
        ("moved", False, False, False, True, False, None),
        ("moved", False, False, False, True, True, "arm"),
        # It is armed once it stands.
        ("moved", False, True, False, True, True, "arm"),
        ("moved", False, False, True, True, True, None),
        ("moved", False, False, False, False, True, None),
        # A cat at night: the owner's first ride in the morning is no theft.
        ("shaken", False, False, False, False, False, "disarm"),
        ("shaken", True, False, False, False, False, None),
        ("shaken", False, False, False, True, False, None),
        ("shaken", False, False, False, True, True, "arm"),
    ],
)
def test_decide(
    guard: GuardState,
    is_held: bool,
    on_ride: bool,
    in_outage: bool,
    is_wanted: bool,
    begins: bool,
    decision: Decision | None,
) -> None:
    """A guard is compared with what it should be."""
    situation = Situation(guard, is_held, on_ride, in_outage)
    assert decide(situation, is_wanted=is_wanted, night_begins=begins) == decision


@pytest.mark.parametrize(
    ("places", "minutes", "name"),
    [
        ([FAR], 1, "Ann"),
        # Somebody who sleeps where the bike was guarded does not ride it.
        ([HOME], 1, None),
        ([FAR], 6, None),
        ([None], 1, None),
        ([FAR, FAR], 1, None),
        ([FAR, HOME], 1, "Ann"),
    ],
)
def test_companion(
    places: list[tuple[float, float] | None], minutes: int, name: str | None
) -> None:
    """Exactly one rider who is near the bike and moves with it is named."""
    seen_at = NOW - timedelta(minutes=minutes)
    riders = [
        Rider(rider, place, seen_at)
        for rider, place in zip(("Ann", "Ben"), places, strict=False)
    ]
    assert companion(HOME, FAR, riders, 200, NOW) == name
