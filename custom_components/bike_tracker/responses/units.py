"""Ways, times, speeds and places for people to read, in the words of their house."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from homeassistant.components.zone import async_active_zone
from homeassistant.const import UnitOfLength, UnitOfSpeed
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.translation import async_get_cached_translations
from homeassistant.util import dt as dt_util
from homeassistant.util.unit_conversion import DistanceConverter, SpeedConverter

from ..const import DOMAIN
from ..tracking import Fix

# All other languages write 4,2.
_LANGUAGES_WITH_POINT: Final = {
    *("ar", "en", "en-GB", "es-419", "ga", "he", "ja", "ko", "zh-Hans", "zh-Hant"),
    # Whoever uses Home Assistant in these reads English here.
    *("bn", "cy", "gsw", "hi", "ml", "ta", "te", "th", "ur"),
}

# Comma and full stop, and those of languages that have others.
_LATIN: Final = (", ", ".")
_PUNCTUATION: Final = {
    "ar": ("، ", "."),
    **dict.fromkeys(("zh-Hans", "zh-Hant"), ("，", "。")),
    "ja": ("、", "。"),
}
_RIGHT_TO_LEFT: Final = ("ar", "he")


def distance(hass: HomeAssistant, kilometres: float) -> str:
    """Return a way, as "4.2 km", with the decimal comma where that is written."""
    units = hass.config.units
    way = f"{units.length(kilometres, UnitOfLength.KILOMETERS):.1f}"
    if hass.config.language not in _LANGUAGES_WITH_POINT:
        way = way.replace(".", ",")
    return f"{way} {units.length_unit}"


def short_distance(hass: HomeAssistant, meters: float) -> str:
    """Return a way of less than a kilometer or mile as "200 m", or in feet."""
    is_metric = hass.config.units.length_unit == UnitOfLength.KILOMETERS
    unit, longest = (
        (UnitOfLength.METERS, 1_000) if is_metric else (UnitOfLength.FEET, 5_280)
    )
    value = DistanceConverter.convert(meters, UnitOfLength.METERS, unit)
    # Fixes are not exact to the meter.
    short = round(value, -1)
    return f"{short:.0f} {unit}" if short < longest else distance(hass, meters / 1_000)


def speed(hass: HomeAssistant, kilometres_per_hour: float) -> str:
    """Return a speed, as "27 km/h"."""
    known = UnitOfSpeed.KILOMETERS_PER_HOUR
    unit = hass.config.units.get_converted_unit("speed", known) or known
    value = SpeedConverter.convert(kilometres_per_hour, known, unit)
    return f"{value:.0f} {unit}"


def duration(seconds: float) -> str:
    """Return how long something took, as "1 h 5 min"."""
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


@callback
def async_zone_name(hass: HomeAssistant, place: Fix) -> str | None:
    """Return the name of the zone that a place is in, None outside of all."""
    zone = async_active_zone(hass, place.latitude, place.longitude)
    return None if zone is None else zone.name


def local_time(time: datetime) -> str:
    """Return a time in the time zone of the house, as programs read it."""
    return dt_util.as_local(time).isoformat(timespec="seconds")


def clock_time(time: datetime) -> str:
    """Return a time of today, or else with its date, as every language reads it."""
    local = dt_util.as_local(time)
    is_today = local.date() == dt_util.now().date()
    return local.strftime("%H:%M" if is_today else "%Y-%m-%d %H:%M")


def with_commas(hass: HomeAssistant, parts: Iterable[str]) -> str:
    """Return parts with the commas of Home Assistant's language between them."""
    comma, _ = _PUNCTUATION.get(hass.config.language, _LATIN)
    if hass.config.language in _RIGHT_TO_LEFT:
        # A street and a time in Latin letters would be one part, read from the left.
        return "\u200f" + comma.join(f"\u2068{part}\u2069" for part in parts)
    return comma.join(parts)


def with_name(hass: HomeAssistant, name: str, text: str) -> str:
    """Return a text after a name, in the direction of Home Assistant's language."""
    is_right_to_left = hass.config.language in _RIGHT_TO_LEFT
    return (
        f"\u200f\u2068{name}\u2069: {text}" if is_right_to_left else f"{name}: {text}"
    )


def as_sentence(hass: HomeAssistant, parts: Iterable[str]) -> str:
    """Return parts as one sentence in Home Assistant's language."""
    full_stop = _PUNCTUATION.get(hass.config.language, _LATIN)[1]
    return with_commas(hass, parts) + full_stop


def text(hass: HomeAssistant, key: str, default: str) -> str:
    """Return a text in Home Assistant's language, or this while that is not loaded yet."""
    category = key.partition(".")[0]
    texts = async_get_cached_translations(hass, hass.config.language, category, DOMAIN)
    return texts.get(f"component.{DOMAIN}.{key}", default)
