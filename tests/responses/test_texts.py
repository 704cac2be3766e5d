"""Distances, lists and occurrences as texts."""

from datetime import timedelta
from typing import Any

from homeassistant.core import HomeAssistant
from homeassistant.helpers.translation import async_load_integrations
from homeassistant.util import dt as dt_util
from homeassistant.util.unit_system import US_CUSTOMARY_SYSTEM
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from syrupy.assertion import SnapshotAssertion

from custom_components.bike_tracker.const import DOMAIN
from custom_components.bike_tracker.responses import texts
from custom_components.bike_tracker.tracking.occurrences import Occurrence

from ..static.project import INTEGRATION
from ..tools.simulator.world import DEFAULT_LATITUDE, DEFAULT_LONGITUDE

LANGUAGES = [path.stem for path in (INTEGRATION / "translations").iterdir()]
NOWHERE = dict.fromkeys(
    ("alarm", "distance", "address", "seen_latitude", "seen_longitude")
)
WORK = {"seen_latitude": DEFAULT_LATITUDE, "seen_longitude": DEFAULT_LONGITUDE}


def occurrence(kind: Any, minutes: float = 0, /, **attributes: Any) -> Occurrence:
    """Return what happened some minutes ago."""
    now = dt_util.utcnow()
    since = now - timedelta(minutes=minutes)
    return Occurrence(1, kind, now, since, None, attributes)


@pytest.mark.usefixtures("setup")
@pytest.mark.parametrize(
    ("more", "said", "place"),
    [
        ({"cause": "motion"}, "The bike moves", None),
        ({"cause": "alarm", "alarm": "tow"}, "Towed", None),
        ({"cause": "place", "distance": 204}, "670 ft from where it stood", None),
        ({"cause": "place", "distance": 5_000}, "3.1 mi from where it stood", None),
        ({"cause": "motion", **WORK}, "The bike moves, Work", "Work"),
        (
            {"cause": "motion", **WORK, "seen_latitude": 10.0, "address": "Rue 1"},
            *("The bike moves, Rue 1", "Rue 1"),
        ),
    ],
)
async def test_triggered_guard(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    more: dict[str, Any],
    said: str,
    place: str | None,
) -> None:
    """Where no place is known, none is told; near is told in feet where miles are."""
    hass.config.units = US_CUSTOMARY_SYSTEM
    triggered = occurrence("guard_triggered", **NOWHERE | more)
    now = dt_util.as_local(triggered.since)
    assert texts.sentence(hass, "Red bike", triggered) == f"{said}, {now:%H:%M}"
    assert texts.place_of(hass, triggered) == place


@pytest.mark.usefixtures("setup")
async def test_sentences(hass: HomeAssistant, snapshot: SnapshotAssertion) -> None:
    """An older occurrence has its time; the end of a ride is new for an hour."""
    ride = {"distance": 4.25, "duration": 3_900}
    told = [
        *(occurrence("ride_ended", minutes, **ride) for minutes in (59, 60)),
        *(occurrence("ride_started", minutes) for minutes in (59, 60, 1_440)),
        *(occurrence("came_online", minutes) for minutes in (59, 60)),
        *(occurrence("went_offline", minutes) for minutes in (0.9, 1)),
        *(occurrence("unknown_kind", minutes) for minutes in (0, 1)),
        occurrence("alarm_raised", type="tow", alarm="tow"),
        occurrence("alarm_raised", type="other", alarm="{odd}"),
    ]
    assert [texts.sentence(hass, "Red bike", it) for it in told] == snapshot


@pytest.mark.usefixtures("setup")
async def test_languages(hass: HomeAssistant, snapshot: SnapshotAssertion) -> None:
    """Each language has its decimal sign, comma and full stop."""
    said = {}
    fallbacks = ("bn", "cy", "gsw", "hi", "ml", "ta", "te", "th", "ur", "hr")
    for language in sorted([*LANGUAGES, *fallbacks]):
        hass.config.language = language
        await async_load_integrations(hass, {DOMAIN})
        parts = texts.distance(hass, 4.2), texts.speed(hass, 27.4)
        said[language] = texts.as_sentence(hass, parts)
    assert said == snapshot
    meters = {way: texts.short_distance(hass, way) for way in (4, 6, 204, 994, 996)}
    assert list(meters.values()) == ["0 m", "10 m", "200 m", "990 m", "1.0 km"]
