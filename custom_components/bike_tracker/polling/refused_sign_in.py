"""A sign-in that is refused: when it is tried again, and what the person is asked."""

from homeassistant.config_entries import SOURCE_REAUTH, ConfigEntry
from homeassistant.core import HomeAssistant, callback

from .waits import REFUSED_SIGN_IN, Row


@callback
def async_ask_person(hass: HomeAssistant, entry: ConfigEntry, refused: Row) -> float:
    """Return the wait in seconds; ask at the second refusal, as a server may err."""
    if refused.tries > 1:
        entry.async_start_reauth(hass)
    return REFUSED_SIGN_IN.after(refused)


@callback
def async_ask_no_more(hass: HomeAssistant, entry: ConfigEntry) -> None:
    """Withdraw what the person was asked for."""
    for flow in list(entry.async_get_active_flows(hass, {SOURCE_REAUTH})):
        hass.config_entries.flow.async_abort(flow["flow_id"])
