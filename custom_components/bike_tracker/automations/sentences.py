"""What became of a tracker, as a sentence in Home Assistant's language."""

from collections.abc import Mapping
from typing import Any, Final

from homeassistant.core import HomeAssistant
from homeassistant.helpers.translation import async_get_cached_translations

from ..answers.units import distance, duration
from ..const import DOMAIN

# Of these the kind says it all, in words that Home Assistant shows as well.
_KINDS: Final = {
    "alarm_raised": ("selector", "selector.alarm.options", "type"),
    "guard_triggered": (
        "entity",
        "entity.alarm_control_panel.guard.state_attributes.cause.state",
        "cause",
    ),
}


def sentence(
    hass: HomeAssistant, trigger: str, name: str, more: Mapping[str, Any]
) -> str:
    """Return what a trigger tells of a tracker of this name."""
    if trigger in _KINDS:
        category, place, key = _KINDS[trigger]
        return f"{name}: {_text(hass, category, f'{place}.{more[key]}', more[key])}"
    filled = {"name": name}
    if trigger == "ride_ended":
        filled["distance"] = distance(hass, more["distance"])
        filled["duration"] = duration(more["duration"])
    bare = "{name}: " + trigger.replace("_", " ")
    text = _text(hass, "selector", f"selector.told.options.{trigger}", bare)
    return text.format(**filled)


def _text(hass: HomeAssistant, category: str, place: str, bare: str) -> str:
    """Return a text, or what is told while the language is not loaded yet."""
    texts = async_get_cached_translations(hass, hass.config.language, category, DOMAIN)
    return texts.get(f"component.{DOMAIN}.{place}", bare)
