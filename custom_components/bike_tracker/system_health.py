"""System health: enabled accounts, whether their servers can be reached, and their databases."""

from typing import Any

from homeassistant.components import system_health
from homeassistant.const import CONF_URL
from homeassistant.core import HomeAssistant, callback

from .const import DOMAIN
from .coordinator import coordinators


@callback
def async_register(
    hass: HomeAssistant, register: system_health.SystemHealthRegistration
) -> None:
    """Register the function that returns the information about all accounts."""
    register.async_register_info(_async_info)


async def _async_info(hass: HomeAssistant) -> dict[str, Any]:
    entries = hass.config_entries.async_entries(DOMAIN, include_disabled=False)
    urls = [entry.data[CONF_URL] for entry in entries]
    info: dict[str, Any] = {
        "accounts": len(urls),
        "can_reach_server": _async_reach(hass, urls),
    }
    databases = [await it.database.async_info() for it in coordinators(hass)]
    if databases:
        mib = sum(database.get("bytes", 0) for database in databases) / 2**20
        info["database_size"] = f"{mib:.2f} MiB"
        info["database_version"] = databases[0]["version"]
    if times := list(filter(None, (it["written_at"] for it in databases))):
        info["database_written_at"] = max(times)
    return info


async def _async_reach(hass: HomeAssistant, urls: list[str]) -> str | dict[str, str]:
    """Return the error of the first server that cannot be reached, or "ok" if all can be reached."""
    for url in sorted(set(urls)):
        result = await system_health.async_check_can_reach_url(hass, url)
        if result != "ok":
            return result
    return "ok"
