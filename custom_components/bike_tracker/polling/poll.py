"""Polls of one account: the device list, then positions, and error handling."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from homeassistant.config_entries import SOURCE_REAUTH, ConfigEntry, ConfigEntryState
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from homeassistant.helpers.update_coordinator import UpdateFailed
from homeassistant.util import dt as dt_util

from ..api import errors
from ..api.client import TrackingClient
from ..api.models import Device, Position
from ..const import DOMAIN
from ..devices import NO_CONTACT, async_check_contact, async_delete_issue
from .backoff import NORMAL_BACKOFF, SIGN_IN_BACKOFF, EndpointSupport, Failures
from .history import History
from .positions import Devices, PositionLookup

# Ignore a single 401: servers sometimes send one by mistake.
_REFUSALS_UNTIL_REAUTH: Final = 2
# After a longer pause (machine asleep, manual polling), reports may be missing.
_MAX_PAUSE: Final = timedelta(minutes=5)
_TRANSLATION_KEYS: Final[dict[type[errors.TrackingError], str]] = {
    errors.AuthenticationError: "unauthorized",
    errors.InvalidResponseError: "invalid_response",
    errors.RedirectedError: "redirected",
    errors.ServiceUnavailableError: "service_unavailable",
}


@dataclass(slots=True, eq=False, repr=False)
class Service:
    """Polls the tracking service for one account and counts failures."""

    hass: HomeAssistant
    entry: ConfigEntry
    client: TrackingClient
    positions: PositionLookup
    history: History
    asked_at: datetime = field(default_factory=dt_util.utcnow)
    """Start of the newest poll, in UTC."""
    answered_at: datetime = field(default_factory=dt_util.utcnow)
    """Start of the newest successful poll, in UTC."""
    _failures: Failures = field(default_factory=Failures)
    # Rejected sign-ins. Other failures between them do not reset the count after reauth.
    _refusals: Failures = field(default_factory=Failures)

    @property
    def has_history(self) -> bool:
        """Return whether the service may have a history of reports."""
        positions, history = self.positions.support, self.history.support
        may_work = history.is_supported is not False or history.failures.is_due
        return bool(positions.is_supported) and may_work

    @property
    def has_missed(self) -> bool:
        """Return whether reports since the last successful poll may be missing."""
        support = self.positions.support
        has_paused = dt_util.utcnow() - self.answered_at > _MAX_PAUSE
        return has_paused or bool(support.is_supported and support.error)

    async def async_get_devices(self) -> Mapping[str, Device]:
        """Start a poll: return the device list, or raise UpdateFailed."""
        self.asked_at = dt_util.utcnow()
        try:
            devices = await self._async_get_devices()
        except errors.TrackingError as err:
            # Home Assistant keeps the exception; its traceback would keep the response.
            raise self._failure(err) from err.with_traceback(None)
        for flow in self.entry.async_get_active_flows(self.hass, {SOURCE_REAUTH}):
            self.hass.config_entries.flow.async_abort(flow["flow_id"])
        if self._failures.length:
            async_delete_issue(self.hass, self.entry, NO_CONTACT)
        self._failures = self._refusals = Failures()
        return devices

    async def _async_get_devices(self) -> Mapping[str, Device]:
        password = self.client.password
        try:
            return await self.client.async_get_devices()
        except errors.AuthenticationError:
            if password == self.client.password:
                raise
        # The user signed in again in the meantime.
        return await self.client.async_get_devices()

    async def async_get_positions(self, wanted: Devices) -> Mapping[str, Position]:
        """Finish a poll: return the positions of these devices, by `uniqueId`."""
        positions = await self.positions.async_get(wanted) if wanted else {}
        self.answered_at = self.asked_at
        return positions

    def _failure(self, err: errors.TrackingError) -> UpdateFailed:
        """Count a failure and return it as UpdateFailed."""
        wait = self._failures = self._failures.another(NORMAL_BACKOFF, err.retry_after)
        is_loaded = self.entry.state is ConfigEntryState.LOADED
        if isinstance(err, errors.AuthenticationError):
            wait = self._refused(is_loaded)
        # After the reauth flow has started, only a success resets the refusals.
        elif self._refusals.length < _REFUSALS_UNTIL_REAUTH:
            self._refusals = Failures()
        if is_loaded:
            async_check_contact(self.hass, self.entry, self._failures.since, str(err))
        # During set-up, Home Assistant chooses the waits.
        is_known = is_loaded or err.retry_after is not None
        return UpdateFailed(
            translation_domain=DOMAIN,
            translation_key=_TRANSLATION_KEYS.get(type(err), "cannot_connect"),
            translation_placeholders={"error": str(err)},
            retry_after=wait.wait if is_known else None,
        )

    def _refused(self, is_loaded: bool) -> Failures:
        self._refusals = self._refusals.another(SIGN_IN_BACKOFF)
        # ConfigEntryAuthFailed would stop polling. During set-up, start reauth at once:
        # each of Home Assistant's retries begins with a new count.
        if self._refusals.length >= _REFUSALS_UNTIL_REAUTH or not is_loaded:
            self.entry.async_start_reauth(self.hass)
        return self._refusals


@callback
def async_open_service(
    hass: HomeAssistant, entry: ConfigEntry, *, supports_positions: bool
) -> Service:
    """Create the service of an entry. Support of positions is restored after a restart."""
    client = TrackingClient(async_get_clientsession(hass), **entry.data)
    support = EndpointSupport(supports_positions or None)
    positions = PositionLookup(entry, client, support)
    entry.async_on_unload(partial(async_delete_issue, hass, entry, NO_CONTACT))
    history = History(client, positions.extra_requests)
    return Service(hass, entry, client, positions, history)
