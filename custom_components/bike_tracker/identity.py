"""What makes an account one: its email at a server."""

from collections.abc import Mapping
from typing import Any

from homeassistant.config_entries import ConfigEntry
from homeassistant.const import CONF_EMAIL, CONF_URL
from homeassistant.core import HomeAssistant, callback

from .api.address import origin_of, port_of, server_of
from .const import DOMAIN, LOGGER

# Entries of 1.0 have 1: what they are called tells no port and no path.
MINOR_VERSION = 2


def unique_id_of(account: Mapping[str, Any]) -> str:
    """Return the unique ID of an entry with this account."""
    return f"{account[CONF_EMAIL].lower()}@{server_of(account[CONF_URL])}"


def title_of(account: Mapping[str, Any]) -> str:
    """Return what an entry with this account is called, unless a person says otherwise.

    Not the email: Home Assistant writes titles to its log.
    """
    return origin_of(account[CONF_URL])


def name_of(entry: ConfigEntry) -> str:
    """Return what the log calls an account: its title, with a port that is unusual."""
    port = port_of(entry.data[CONF_URL])
    if port is None or f":{port}" in entry.title:
        return entry.title
    return f"{entry.title} (port {port})"


@callback
def async_identify(hass: HomeAssistant, entry: ConfigEntry) -> None:
    """Give an entry the unique ID of its account.

    If another entry has it, as can be after 1.0 was installed again for a while, this
    one goes on without any: with that of 1.0 it would stand in the way of others.
    """
    entries = hass.config_entries
    unique_id = unique_id_of(entry.data)
    holder = entries.async_entry_for_domain_unique_id(DOMAIN, unique_id)
    is_twin = holder not in (None, entry)
    if is_twin and entry.unique_id is not None:
        LOGGER.warning("%s is set up twice: delete one of both", name_of(entry))
    entries.async_update_entry(
        entry,
        unique_id=None if is_twin else unique_id,
        minor_version=MINOR_VERSION,
    )
