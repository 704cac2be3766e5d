"""System health: number of accounts and whether their servers can be reached."""

from typing import Any

from homeassistant.components import system_health
from homeassistant.const import CONF_URL
from homeassistant.core import HomeAssistant, callback

from .const import DOMAIN


@callback
def async_register(
    hass: HomeAssistant, register: system_health.SystemHealthRegistration
) -> None:
    """Register the system health information."""
    register.async_register_info(_async_info)


async def _async_info(hass: HomeAssistant) -> dict[str, Any]:
    urls = [entry.data[CONF_URL] for entry in hass.config_entries.async_entries(DOMAIN)]
    return {"accounts": len(urls), "can_reach_server": _async_reach(hass, urls)}


async def _async_reach(hass: HomeAssistant, urls: list[str]) -> str | dict[str, str]:
    """Return the error of the first server that cannot be reached, or "ok"."""
    for url in sorted(set(urls)):
        result = await system_health.async_check_can_reach_url(hass, url)
        if result != "ok":
            return result
    return "ok"
