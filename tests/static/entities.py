"""The keys of entities, triggers, conditions and actions, and the states that may have names and icons."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from homeassistant.helpers.entity import EntityDescription
from homeassistant.util.yaml import load_yaml_dict

from custom_components.bike_tracker import PLATFORMS

from .project import INTEGRATION

DESCRIPTIONS: Mapping[str, Sequence[EntityDescription]] = {
    platform.value: import_module(
        f"custom_components.bike_tracker.{platform.value}"
    ).DESCRIPTIONS
    for platform in PLATFORMS
}
STATES: Mapping[str, set[str]] = {
    "alarm_control_panel": {"disarmed", "armed_away", "triggered"},
    "binary_sensor": {"on", "off"},
    "calendar": {"on", "off"},
    "device_tracker": {"home", "not_home"},
}
_TRIGGERED = ("again", "alarm", "moved")
KEYS: Mapping[str, frozenset[str]] = {
    platform: frozenset(it.key for it in descriptions)
    # A triggered guard has the key `guard` only while the bike moves.
    | {f"guard_{it}" for it in _TRIGGERED if platform == "alarm_control_panel"}
    for platform, descriptions in DESCRIPTIONS.items()
}
"""The translation keys of entities, by platform."""


def described(kind: str) -> dict[str, Any]:
    """Return the triggers, conditions or services in `{kind}.yaml`, by name. Leave out shared parts, such as `.target`."""
    every = load_yaml_dict(str(INTEGRATION / f"{kind}.yaml"))
    return {name: it for name, it in every.items() if not name.startswith(".")}
