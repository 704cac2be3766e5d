"""Distances, times and occurrences as texts in Home Assistant's language and units."""

from collections import ChainMap
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from homeassistant.components.zone import async_active_zone
from homeassistant.const import UnitOfLength, UnitOfSpeed
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.singleton import singleton
from homeassistant.helpers.translation import (
    async_get_cached_translations,
    async_load_integrations,
)
from homeassistant.util import dt as dt_util
from homeassistant.util.unit_conversion import DistanceConverter, SpeedConverter

from ..api.models import Point
from ..const import DOMAIN
from ..tracking.occurrences import Occurrence

# Languages with a decimal point (4.2). All other languages have a decimal comma (4,2).
_LANGUAGES_WITH_POINT: Final = {
    *("ar", "en", "en-GB", "es-419", "ga", "he", "ja", "ko", "zh-Hans", "zh-Hant"),
    # Home Assistant supports these languages, but the texts of this integration fall
    # back to English.
    *("bn", "cy", "gsw", "hi", "ml", "ta", "te", "th", "ur"),
}

# Languages with other characters for ", " and ".".
_COMMAS: Final = {"ar": "، ", "ja": "、", "zh-Hans": "，", "zh-Hant": "，"}
_FULL_STOPS: Final = dict.fromkeys(("ja", "zh-Hans", "zh-Hant"), "。")
RIGHT_TO_LEFT: Final = ("ar", "he")
_CATEGORIES: Final = (
    *("config_panel", "config_subentries", "entity", "exceptions", "issues"),
    *("selector", "services"),
)
_TEXTS: Final = "selector.occurrence.options"
_ALARM_TEXTS: Final = "selector.alarm.options"
_CAUSES: Final = "entity.alarm_control_panel.guard.state_attributes.cause.state"
_NEVER_LASTS: Final = ("came_online", "ride_ended", "ride_started")
# Occurrences with a text of their own for a state that lasts: "has been offline since".
_LASTS: Final = ("became_silent", "went_offline")


def distance(hass: HomeAssistant, kilometers: float) -> str:
    """Return a distance such as "4.2 km", in Home Assistant's unit and with the decimal sign of its language."""
    units = hass.config.units
    way = f"{units.length(kilometers, UnitOfLength.KILOMETERS):.1f}"
    if hass.config.language not in _LANGUAGES_WITH_POINT:
        way = way.replace(".", ",")
    return f"{way} {units.length_unit}"


def short_distance(hass: HomeAssistant, meters: float) -> str:
    """Return a distance in meters or feet, such as "200 m"; from a kilometer or mile on, such as "4.2 km"."""
    units, known = hass.config.units, UnitOfLength.METERS
    unit = units.get_converted_unit("distance", known) or known
    # Fixes are not exact to the meter, so round to tens.
    short = round(DistanceConverter.convert(meters, known, unit), -1)
    is_short = units.length(short, unit) < 1
    return f"{short:.0f} {unit}" if is_short else distance(hass, meters / 1_000)


def speed(hass: HomeAssistant, kilometers_per_hour: float) -> str:
    """Return a speed such as "27 km/h", in Home Assistant's unit."""
    known = UnitOfSpeed.KILOMETERS_PER_HOUR
    unit = hass.config.units.get_converted_unit("speed", known) or known
    value = SpeedConverter.convert(kilometers_per_hour, known, unit)
    return f"{value:.0f} {unit}"


def duration(seconds: float) -> str:
    """Return a duration such as "1 h 5 min"."""
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def zone_name(hass: HomeAssistant, place: Point) -> str | None:
    """Return the name of the zone that contains a place, or None."""
    zone = async_active_zone(hass, *place)
    return zone.name if zone else None


def local_time(time: datetime) -> str:
    """Return a time as local time in ISO 8601."""
    return dt_util.as_local(time).isoformat(timespec="seconds")


def clock_time(time: datetime) -> str:
    """Return a time as local time without seconds, with the date unless it is today."""
    local = dt_util.as_local(time)
    is_today = local.date() == dt_util.now().date()
    return local.strftime("%H:%M" if is_today else "%Y-%m-%d %H:%M")


def isolated(hass: HomeAssistant, part: str) -> str:
    """Return a part of a text, isolated from its neighbors if the language is written from right to left.

    Otherwise, two neighbors in Latin letters would be shown in reverse order.
    """
    is_right_to_left = hass.config.language in RIGHT_TO_LEFT
    return f"\u2068{part}\u2069" if is_right_to_left else part


def with_commas(hass: HomeAssistant, parts: Iterable[str]) -> str:
    """Join texts with the comma of Home Assistant's language."""
    language = hass.config.language
    joined = _COMMAS.get(language, ", ").join(isolated(hass, part) for part in parts)
    return f"\u200f{joined}" if language in RIGHT_TO_LEFT else joined


def titled(hass: HomeAssistant, *names: str, label: str) -> str:
    """Return a text about bikes: their names, a colon and the label."""
    # `with_commas` isolates each name: otherwise, a name in Latin letters would be
    # misplaced in a text that is written from right to left.
    return f"{with_commas(hass, names)}: {label}"


def as_sentence(hass: HomeAssistant, parts: Iterable[str]) -> str:
    """Join texts with commas, and end the sentence."""
    return with_commas(hass, parts) + _FULL_STOPS.get(hass.config.language, ".")


@singleton(f"{DOMAIN}_texts")
def _texts_in(_hass: HomeAssistant) -> dict[str, Mapping[str, str]]:
    """Return the loaded texts by language and key.

    From Home Assistant 2026.11 on, an update of the integration removes its texts from
    the cache, and later the texts of the new release are loaded. Until the restart,
    this release still needs its own.
    """
    return {}


async def async_load_texts(hass: HomeAssistant) -> None:
    """Load the texts in Home Assistant's language, if they are not loaded yet."""
    language = hass.config.language
    await async_load_integrations(hass, {DOMAIN})
    read = async_get_cached_translations
    loaded = (read(hass, language, it, DOMAIN) for it in _CATEGORIES)
    _texts_in(hass).setdefault(language, ChainMap(*loaded))


def text(hass: HomeAssistant, key: str, **placeholders: object) -> str:
    """Return a text in Home Assistant's language. If the text is not loaded, return the last part of its key."""
    texts, name = _texts_in(hass).get(hass.config.language, {}), key.rpartition(".")[2]
    return texts.get(f"component.{DOMAIN}.{key}", name).format(**placeholders)


def panel_text(hass: HomeAssistant, state: str, key: str = "guard") -> str:
    """Return a state of a guard's panel in Home Assistant's language, given the translation key of the panel."""
    return text(hass, f"entity.alarm_control_panel.{key}.state.{state}")


def error_text(hass: HomeAssistant, err: HomeAssistantError) -> str:
    """Return the message of an error in Home Assistant's language, without a final period: `str` returns it in English."""
    if err.translation_domain != DOMAIN:
        return str(err)
    key, placeholders = err.translation_key, err.translation_placeholders or {}
    return text(hass, f"exceptions.{key}.message", **placeholders).removesuffix(".")


def sentence(hass: HomeAssistant, name: str, occurrence: Occurrence) -> str:
    """Return an occurrence as a sentence that names the tracker."""
    kind, attributes = occurrence.type, occurrence.attributes
    time = clock_time(occurrence.since)
    if kind == "alarm_raised":
        alarm = alarm_text(hass, attributes["type"], attributes["alarm"])
        return titled(hass, name, label=alarm)
    if kind == "guard_triggered":
        return titled(hass, name, label=happened(hass, occurrence))
    filled = {"name": name, "time": time}
    if kind == "ride_ended":
        filled["distance"] = distance(hass, attributes["distance"])
        filled["duration"] = duration(attributes["duration"])
    # Add the time to an occurrence that is at least a minute old. If the occurrence
    # begins no lasting state, add the time only after an hour, because the end of a
    # ride is noticed up to half an hour late.
    new = timedelta(hours=1) if kind in _NEVER_LASTS else timedelta(minutes=1)
    said = text(hass, f"{_TEXTS}.{kind}", **filled)
    if dt_util.utcnow() - occurrence.since < new:
        return said
    if kind in _LASTS:
        return text(hass, f"{_TEXTS}.{kind}_since", **filled)
    return f"{said} ({time})"


def happened(
    hass: HomeAssistant, occurrence: Occurrence, cause: str | None = None
) -> str:
    """Return the cause, place and time of a triggered guard as a text. `cause` replaces the text of the cause."""
    seen = occurrence.attributes
    place = seen["address"] or place_of(hass, occurrence)
    parts = (cause or cause_text(hass, seen), place, clock_time(occurrence.since))
    return with_commas(hass, filter(None, parts))


def place_of(hass: HomeAssistant, occurrence: Occurrence) -> str | None:
    """Return where a guarded bike was seen: the name of the zone, else the address, else None."""
    seen = occurrence.attributes
    place = seen["seen_latitude"], seen["seen_longitude"]
    return zone_name(hass, place) or seen["address"]


def cause_text(hass: HomeAssistant, attributes: Mapping[str, Any]) -> str:
    """Return why a guard was triggered: the alarm, the distance, or motion, as a text."""
    cause, alarm = attributes["cause"], attributes["alarm"]
    if cause == "place":
        way = short_distance(hass, attributes["distance"])
        return text(hass, f"{_TEXTS}.guard_triggered", distance=way)
    return alarm_text(hass, alarm) if alarm else text(hass, f"{_CAUSES}.{cause}")


def alarm_text(hass: HomeAssistant, alarm: str, word: str = "") -> str:
    """Return the name of a type of alarm in Home Assistant's language.

    For the type `other`, return the service's `word`.
    """
    other = word if alarm == "other" else ""
    return other or text(hass, f"{_ALARM_TEXTS}.{alarm}")
