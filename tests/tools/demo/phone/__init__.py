"""A phone with Home Assistant's app, as automations see it; takes the place of Home Assistant's own, which needs a compiler."""

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, ServiceCall, callback
from homeassistant.helpers import device_registry as dr
from homeassistant.util import slugify

MESSAGE = "phone_message"
"""What happens when the phone gets a message; the data is the message."""


async def async_setup_entry(hass: HomeAssistant, entry: ConfigEntry) -> bool:
    """Have the phone take messages."""

    @callback
    def async_show(call: ServiceCall) -> None:
        hass.bus.async_fire(MESSAGE, dict(call.data))

    dr.async_get(hass).async_get_or_create(
        config_entry_id=entry.entry_id,
        identifiers={(entry.domain, entry.entry_id)},
        name=entry.title,
    )
    name = f"{entry.domain}_{slugify(entry.title)}"
    hass.services.async_register("notify", name, async_show)
    return True
