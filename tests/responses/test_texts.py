"""What is told of a guard that was triggered."""

from typing import Any

from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util
from homeassistant.util.unit_system import US_CUSTOMARY_SYSTEM
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.bike_tracker.responses.texts import place_of, sentence
from custom_components.bike_tracker.tracking.occurrences import Occurrence


@pytest.mark.usefixtures("setup")
@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"cause": "motion"}, "The bike moves"),
        ({"cause": "alarm", "alarm": "tow"}, "Towed"),
        ({"cause": "place", "distance": 204}, "670 ft from where it stood"),
        ({"cause": "place", "distance": 5_000}, "3.1 mi from where it stood"),
    ],
)
async def test_without_a_place(
    hass: HomeAssistant, entry: MockConfigEntry, more: dict[str, Any], said: str
) -> None:
    """Where no place is known, none is told; near is told in feet where miles are."""
    hass.config.units = US_CUSTOMARY_SYSTEM
    place = dict.fromkeys(
        ("alarm", "distance", "address", "seen_latitude", "seen_longitude")
    )
    now = dt_util.utcnow()
    occurrence = Occurrence(1, "guard_triggered", now, now, None, {**place, **more})
    text = sentence(hass, "Red bike", occurrence)
    assert text == f"{said}, {dt_util.as_local(now):%H:%M}"
    assert place_of(hass, occurrence) is None
