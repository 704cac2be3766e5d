"""A simulated phone with Home Assistant's app, which receives messages.

This integration replaces Home Assistant's own integration `mobile_app`, whose packages
need a compiler. A sensor shows the newest message, and further sensors show its buttons.
"""

from typing import Any

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, ServiceCall, callback
from homeassistant.helpers import device_registry as dr
from homeassistant.util import dt as dt_util, slugify

MESSAGE = "phone_message"
"""Type of the event that each message fires. The event's data is the message."""
SHOWN = "sensor.phone_message"
BUTTONS = [f"sensor.phone_button_{number}" for number in range(3)]
"""Sensors for the buttons of a message, which has at most three. Buttons that open an address are not shown."""
TRY = "bike_tracker_demo"
"""Type of the event that each tap on a button of the page *Try it* fires. Its data has the trick's name."""
TRIED = "sensor.tried"
"""Sensor with an attribute for each trick that was tried: the time of the last try."""


async def async_setup_entry(hass: HomeAssistant, entry: ConfigEntry) -> bool:
    """Add actions (send a message, press a button, try a trick), and the sensors that show a message."""

    @callback
    def async_notify(call: ServiceCall) -> None:
        hass.bus.async_fire(MESSAGE, dict(call.data))
        _show(hass, call.data)

    @callback
    def async_press(call: ServiceCall) -> None:
        if button := hass.states.get(call.data["button"]):
            action = {"action": button.attributes["action"]}
            hass.bus.async_fire("mobile_app_notification_action", action)

    @callback
    def async_try(call: ServiceCall) -> None:
        hass.bus.async_fire(TRY, dict(call.data))
        tried = hass.states.get(TRIED)
        times = {call.data["try"]: dt_util.now().strftime("%H:%M:%S")}
        attributes = {**(tried.attributes if tried else {}), **times}
        hass.states.async_set(TRIED, call.data["try"], attributes)

    device = {(entry.domain, entry.entry_id)}
    dr.async_get(hass).async_get_or_create(
        config_entry_id=entry.entry_id, identifiers=device, name=entry.title
    )
    name = f"{entry.domain}_{slugify(entry.title)}"
    hass.services.async_register("notify", name, async_notify)
    hass.services.async_register(entry.domain, "press", async_press)
    hass.services.async_register(entry.domain, "try", async_try)
    _show(hass, {})
    return True


def _show(hass: HomeAssistant, message: dict[str, Any]) -> None:
    """Show a message with its buttons. The message `clear_notification` removes the shown message with the same tag."""
    data = message.get("data", {})
    if message.get("message") == "clear_notification":
        shown = hass.states.get(SHOWN)
        if shown and shown.attributes.get("tag") != data["tag"]:
            return
        message = data = {}
    attributes = {key: message.get(key, "") for key in ("title", "message")}
    attributes |= {key: data.get(key, "") for key in ("tag", "url")}
    hass.states.async_set(SHOWN, "on" if message else "off", attributes)
    actions = [each for each in data.get("actions", ()) if each["action"] != "URI"]
    for entity_id in BUTTONS:
        action = actions.pop(0) if actions else {}
        attributes = {
            "friendly_name": action.get("title", "Button"),
            "action": action.get("action"),
        }
        hass.states.async_set(entity_id, "on" if action else "off", attributes)
