"""A sign-in that is refused: when it is tried again, and what the person is asked."""

from dataclasses import dataclass

from homeassistant.config_entries import SOURCE_REAUTH, ConfigEntry
from homeassistant.core import HomeAssistant, callback

from .waits import NONE_FAILED, REFUSED_SIGN_IN, Row


@dataclass(slots=True, eq=False)
class SignIn:
    """Counts refusals in a row; the person is asked at the second, as a server may err."""

    hass: HomeAssistant
    entry: ConfigEntry
    _refused: Row = NONE_FAILED

    @callback
    def async_succeed(self) -> None:
        """Withdraw what the person was asked for."""
        if not self._refused.tries:
            return
        self._refused = NONE_FAILED
        for flow in list(self.entry.async_get_active_flows(self.hass, {SOURCE_REAUTH})):
            self.hass.config_entries.flow.async_abort(flow["flow_id"])

    @callback
    def async_fail_otherwise(self) -> None:
        """End the row, but once the person was asked: only a success ends that."""
        if self._refused.tries < 2:
            self._refused = NONE_FAILED

    @callback
    def async_fail(self) -> float:
        """Return the wait in seconds; ask the person, but not at the first refusal."""
        self._refused = self._refused.another()
        if self._refused.tries > 1:
            self.entry.async_start_reauth(self.hass)
        return REFUSED_SIGN_IN.after(self._refused)
