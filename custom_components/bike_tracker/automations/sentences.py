"""What became of a tracker, as a sentence in Home Assistant's language."""

from datetime import timedelta
from typing import Final

from homeassistant.core import HomeAssistant
from homeassistant.helpers.translation import async_get_cached_translations
from homeassistant.util import dt as dt_util

from ..const import DOMAIN
from ..responses.units import clock_time, distance, duration
from ..tracking import Occurrence
from .types import TRIGGER_TYPES

_CAUSES: Final = "entity.alarm_control_panel.guard.state_attributes.cause.state"
# What is older says since when. That a ride is over shows after half an hour at most.
_NEW: Final = timedelta(minutes=1)
_JUST_NOW: Final = timedelta(hours=1)


def sentence(hass: HomeAssistant, name: str, occurrence: Occurrence) -> str:
    """Return the description of a run for a tracker of this name."""
    trigger = occurrence.type
    if trigger == "alarm_raised":
        return f"{name}: {_alarm(hass, occurrence)}"
    if trigger == "guard_triggered":
        return f"{name}: {_cause(hass, occurrence)}"
    filled = {"name": name}
    if trigger == "ride_ended":
        filled["distance"] = distance(hass, occurrence.attributes["distance"])
        filled["duration"] = duration(occurrence.attributes["duration"])
    bare = "{name}: " + trigger.replace("_", " ")
    text = _text(hass, f"selector.told.options.{trigger}", bare)
    said = text.format(**filled)
    new = _JUST_NOW if TRIGGER_TYPES[trigger].wait is None else _NEW
    if dt_util.utcnow() - occurrence.since < new:
        return said
    return f"{said} ({clock_time(occurrence.since)})"


def _alarm(hass: HomeAssistant, occurrence: Occurrence) -> str:
    """Return what it is called; the tracker's own word where that is all there is."""
    kind, word = occurrence.attributes["type"], occurrence.attributes["alarm"]
    text = _text(hass, f"selector.alarm.options.{kind}", word)
    return str(word) if kind == "other" else text


def _cause(hass: HomeAssistant, occurrence: Occurrence) -> str:
    """Return why a guard was triggered, and how far away the bike was seen."""
    cause = occurrence.attributes["cause"]
    text = _text(hass, f"{_CAUSES}.{cause}", cause)
    if cause != "place":
        return text
    return f"{text} ({distance(hass, occurrence.attributes['distance'] / 1000)})"


def _text(hass: HomeAssistant, place: str, bare: str) -> str:
    """Return a text, or what is told while the language is not loaded yet."""
    category = place.partition(".")[0]
    texts = async_get_cached_translations(hass, hass.config.language, category, DOMAIN)
    return texts.get(f"component.{DOMAIN}.{place}", bare)
