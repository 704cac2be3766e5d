"""What became of a tracker, as a sentence in Home Assistant's language."""

from datetime import timedelta
from typing import Final

from homeassistant.components.zone import async_active_zone
from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util

from ..responses.units import (
    clock_time,
    distance,
    duration,
    short_distance,
    text,
    with_commas,
    with_name,
)
from ..tracking import Occurrence
from .types import TRIGGER_TYPES

_TEXTS: Final = "selector.occurrence.options"
_ALARMS: Final = "selector.alarm.options"
_CAUSES: Final = "entity.alarm_control_panel.guard.state_attributes.cause.state"
# What is older says since when. That a ride is over shows after half an hour at most.
_NEW: Final = timedelta(minutes=1)
_JUST_NOW: Final = timedelta(hours=1)


def sentence(hass: HomeAssistant, name: str, occurrence: Occurrence) -> str:
    """Return the description of a run for a tracker of this name."""
    trigger = occurrence.type
    if trigger == "alarm_raised":
        return with_name(hass, name, _alarm(hass, occurrence))
    if trigger == "guard_triggered":
        return _guard(hass, occurrence)
    time = clock_time(occurrence.since)
    filled = {"name": name, "time": time}
    if trigger == "ride_ended":
        filled["distance"] = distance(hass, occurrence.attributes["distance"])
        filled["duration"] = duration(occurrence.attributes["duration"])
    bare = "{name}: " + trigger.replace("_", " ")
    said = text(hass, f"{_TEXTS}.{trigger}", bare).format(**filled)
    new = _JUST_NOW if TRIGGER_TYPES[trigger].wait is None else _NEW
    if dt_util.utcnow() - occurrence.since < new:
        return said
    return text(hass, f"{_TEXTS}.{trigger}_since", f"{said} ({time})").format(**filled)


def place_of(hass: HomeAssistant, occurrence: Occurrence) -> str | None:
    """Return the zone in which a guarded bike was seen, else the address."""
    seen = occurrence.attributes
    if seen["latitude"] is None:
        return None
    zone = async_active_zone(hass, seen["latitude"], seen["longitude"])
    return zone.name if zone else seen["address"]


def _guard(hass: HomeAssistant, occurrence: Occurrence) -> str:
    """Return why a guard was triggered, where and when."""
    place = occurrence.attributes["address"] or place_of(hass, occurrence)
    said = _cause(hass, occurrence), place, clock_time(occurrence.since)
    return with_commas(hass, filter(None, said))


def _alarm(hass: HomeAssistant, occurrence: Occurrence) -> str:
    """Return what it is called; the tracker's own word where that is all there is."""
    kind, word = occurrence.attributes["type"], occurrence.attributes["alarm"]
    said = text(hass, f"{_ALARMS}.{kind}", word)
    return str(word) if kind == "other" else said


def _cause(hass: HomeAssistant, occurrence: Occurrence) -> str:
    """Return which alarm triggered a guard, how far away the bike was, or that it moved."""
    attributes = occurrence.attributes
    cause, alarm = attributes["cause"], attributes["alarm"]
    said = text(hass, f"{_CAUSES}.{cause}", cause)
    if cause == "place":
        said = text(hass, f"{_TEXTS}.guard_triggered", "{distance}")
        return said.format(distance=short_distance(hass, attributes["distance"]))
    return text(hass, f"{_ALARMS}.{alarm}", said) if alarm else said
