"""Descriptions of the entities, and the states that Home Assistant can name."""

from collections.abc import Mapping, Sequence
from importlib import import_module

from homeassistant.helpers.entity import EntityDescription

from custom_components.bike_tracker import PLATFORMS

DESCRIPTIONS: Mapping[str, Sequence[EntityDescription]] = {
    platform.value: import_module(
        f"custom_components.bike_tracker.{platform.value}"
    ).DESCRIPTIONS
    for platform in PLATFORMS
}
STATES: Mapping[str, frozenset[str]] = {
    "alarm_control_panel": frozenset({"disarmed", "armed_away", "triggered"}),
    "binary_sensor": frozenset({"on", "off"}),
    "calendar": frozenset({"on", "off"}),
    "device_tracker": frozenset({"home", "not_home"}),
    "event": frozenset(),
    "sensor": frozenset(),
}

KEYS: Mapping[str, frozenset[str]] = {
    platform: frozenset(it.key for it in descriptions)
    # A guard that an alarm triggered has another name for its state.
    | ({"guard_alarm"} if platform == "alarm_control_panel" else set())
    for platform, descriptions in DESCRIPTIONS.items()
}
"""The translation keys of entities."""
