"""A sign-in that is refused: when it is tried again, and what the person is asked."""

from time import monotonic
from typing import Final

from homeassistant.config_entries import SOURCE_REAUTH, ConfigEntry
from homeassistant.core import HomeAssistant, callback

from .waits import LONGEST_WAIT, shortened

_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE
_DAY: Final = 24 * _HOUR


class SignIn:
    """Waits so long between refused sign-ins that a wrong password locks no account."""

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry) -> None:
        """Begin with a sign-in that nobody refused."""
        self._hass = hass
        self._entry = entry
        self._refused_since: float | None = None
        self._asked = False

    @callback
    def async_succeed(self) -> None:
        """Withdraw what the person was asked for."""
        if self._refused_since is None:
            return
        self._refused_since, self._asked = None, False
        for flow in list(
            self._entry.async_get_active_flows(self._hass, {SOURCE_REAUTH})
        ):
            self._hass.config_entries.flow.async_abort(flow["flow_id"])

    @callback
    def async_fail_otherwise(self) -> None:
        """Take in a failure of another kind, which refusals before it are no row with.

        Once the person was asked, only a success ends the long waits.
        """
        if not self._asked:
            self._refused_since = None

    @callback
    def async_fail(self) -> float:
        """Return the wait in seconds; ask the person, but not at the first refusal.

        A server may err once.
        """
        now = monotonic()
        if self._refused_since is None:
            self._refused_since = now
            return shortened(_MINUTE)
        self._asked = True
        self._entry.async_start_reauth(self._hass)
        refused_for = now - self._refused_since
        if refused_for < _HOUR:
            return shortened(LONGEST_WAIT)
        return shortened(15 * _MINUTE if refused_for < _DAY else _HOUR)
