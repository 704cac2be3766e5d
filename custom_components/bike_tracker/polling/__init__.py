"""Polls of one account: the device list, then positions, and error handling.

Servers with Traccar's interface provide positions; the service's documented interface
does not.
"""

from collections.abc import Mapping, Set as AbstractSet
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from time import monotonic
from typing import Final

from homeassistant.config_entries import SOURCE_REAUTH, ConfigEntry, ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from homeassistant.helpers.update_coordinator import UpdateFailed
from homeassistant.util import dt as dt_util

from ..api import TrackingClient, errors
from ..api.models import Device, Position
from ..const import DOMAIN, LOGGER
from ..devices import NO_CONTACT, async_check_contact, async_delete_issue
from ..tracking import is_outdated
from .backoff import (
    DAY,
    MINUTE,
    MISSING_POSITION_BACKOFF,
    NORMAL_BACKOFF,
    SIGN_IN_BACKOFF,
    EndpointSupport,
    ExtraRequests,
    Failures,
)
from .history import History

# Request a new password from the user only after the second 401 in a row: servers
# sometimes send a single 401 by mistake.
_REFUSALS_UNTIL_REAUTH: Final = 2
# If the last successful poll is longer ago than this, for example because the machine
# was asleep, reports may be missing.
_MAX_PAUSE: Final = timedelta(minutes=5)
_TRANSLATION_KEYS: Final[dict[type[errors.TrackingError], str]] = {
    errors.AuthenticationError: "unauthorized",
    errors.InvalidResponseError: "invalid_response",
    errors.RedirectedError: "redirected",
    errors.ServiceUnavailableError: "service_unavailable",
}


# Minimum time between two requests for old positions, so that every second minute is
# left to the history. Two seconds are subtracted because polls may start early.
_BETWEEN_OLD_POSITIONS: Final = 2 * MINUTE - 2
# After this number of failures in a row, retry each further failure at once. Retrying
# the first failures, too, would exceed 30 requests in ten minutes.
_RETRY_AFTER: Final = 2

type DevicesById = Mapping[int, Device]
"""Devices by their internal ID. In the account, `Devices` are by `uniqueId`."""
type _Positions = Mapping[int, Position]
type _Listed = AbstractSet[tuple[str, int | None]]
"""For each device, the `uniqueId` and the ID of its position in the device list."""


@dataclass(slots=True, eq=False)
class PositionLookup:
    """Requests positions that are newer than the known ones."""

    entry: ConfigEntry
    client: TrackingClient
    support: EndpointSupport
    """Whether the service supports positions; restored after a restart."""
    extra_requests: ExtraRequests = field(default_factory=ExtraRequests)
    _missing: _Listed = frozenset()
    """Positions in the device list that the service did not return."""
    _failures: Failures = field(default_factory=Failures)
    """Consecutive responses in which positions were missing."""
    _requested_at: dict[str, float] = field(default_factory=dict)
    """Time of each tracker's last request for an old position, by the monotonic clock."""
    _supports_single: bool = True
    """Whether the service may return the position of a single tracker."""

    async def async_get(self, wanted: DevicesById) -> dict[str, Position]:
        """Return the new positions of these devices, by `uniqueId`. After an error, some or all are missing."""
        found, missing = dict[int, Position](), wanted
        due = wanted if self._failures.is_due else self._not_missing(wanted)
        if due and self.support.failures.is_due:
            found, missing = await self._async_get_due(due, wanted)
        if missing and self.support.works:
            found |= await self._async_get_old(missing)
        return {
            device.unique_id: found[device_id]
            for device_id, device in wanted.items()
            if device_id in found
        }

    def _not_missing(self, wanted: DevicesById) -> DevicesById:
        return {
            device_id: device
            for device_id, device in wanted.items()
            if (device.unique_id, device.position_id) not in self._missing
        }

    async def _async_get_due(
        self, due: DevicesById, wanted: DevicesById
    ) -> tuple[dict[int, Position], DevicesById]:
        """Return the positions of `due` devices, and the `wanted` devices whose position is still missing."""
        try:
            found = await self._async_request(due)
        except errors.TrackingError as err:
            self._fail(err)
            return {}, wanted
        if self.support.is_supported and self.support.error:
            LOGGER.info("%s: Positions are fetched again", self.entry.title)
        self.support = EndpointSupport(is_supported=True)
        missing = _missing_of(wanted, found)
        if not _listed(missing) <= self._missing:
            self._failures = Failures()
        # While the retry for the missing positions waits, responses to requests for
        # other trackers must not lengthen this wait.
        if missing and self._failures.is_due:
            self._failures = self._failures.another(MISSING_POSITION_BACKOFF)
        self._missing = _listed(missing)
        return dict(found), missing

    async def _async_request(self, due: DevicesById) -> _Positions:
        """Request the position of a single device by its ID, or all positions for several devices.

        For two of four trackers, two single requests would transfer 2.3 kB instead of
        2.5 kB for the list, but would use more of the rate limit, which the history
        needs, too.
        """
        if len(due) > 1 or not (self._supports_single and self.support.works):
            return await self._async_get_list(due)
        [(device_id, device)] = due.items()
        needs_list = not _listed(due) <= self._missing
        try:
            found = await self._async_get_single(device_id, device)
        except errors.InvalidResponseError:
            found, needs_list = {}, True
        if needs_list and not found:
            self.extra_requests.count()
            found = await self._async_get_list(due)
            self._supports_single = bool(_missing_of(due, found))
        if _missing_of(due, found):
            self._requested_at[device.unique_id] = monotonic()
        return found

    async def _async_get_single(self, device_id: int, device: Device) -> _Positions:
        found = await self.client.async_get_positions([device_id], device_id)
        # Ignore a position that is older than the one in the device list.
        is_old = any(it.id < (device.position_id or 0) for it in found.values())
        return {} if is_old else found

    async def _async_get_list(self, due: DevicesById) -> _Positions:
        """Request the list of positions. After the third failure in a row, and each further failure, retry at once.

        Without this retry, a server that fails every second request would never return
        positions.
        """
        often = self.support.failures.length >= _RETRY_AFTER
        try:
            return await self.client.async_get_positions(due)
        except (errors.CannotConnectError, errors.ServiceUnavailableError) as err:
            # Do not retry at once if the service requested a wait, or was slow.
            is_slow = err.retry_after is not None or err.code == "timeout"
            if is_slow or not (often and self.extra_requests.is_due):
                raise
        self.extra_requests.count()
        return await self.client.async_get_positions(due)

    def _fail(self, err: errors.TrackingError) -> None:
        LOGGER.debug("%s: No positions (%s)", self.entry.title, err)
        before, self.support = self.support, self.support.failed(err)
        # If an answer is too large, log this even if positions never worked: users have
        # no other hint why positions are missing.
        if before.error is None and (before.is_supported or err.is_too_large):
            LOGGER.warning(
                "%s: Positions cannot be fetched (%s); trackers stay where they were",
                self.entry.title,
                err,
            )

    async def _async_get_old(self, missing: DevicesById) -> _Positions:
        """Request one missing position by its ID: servers leave old positions out of the list.

        Request each tracker at most once a day. If no request is due, or after an
        error, return nothing.
        """
        now, requested_at = monotonic(), self._requested_at
        last = max(requested_at.values(), default=-DAY)
        if now < last + _BETWEEN_OLD_POSITIONS or not self.extra_requests.is_due:
            return {}
        for device_id, device in missing.items():
            if now >= requested_at.get(device.unique_id, -DAY) + DAY:
                requested_at[device.unique_id] = now
                self.extra_requests.count()
                try:
                    return await self._async_get_single(device_id, device)
                except errors.TrackingError as err:
                    LOGGER.debug("No old position (%s)", err)
                    break
        return {}


class Service:
    """Polls the tracking service for one account and counts failures."""

    def __init__(
        self,
        hass: HomeAssistant,
        entry: ConfigEntry,
        *,
        supports_positions: bool,
        supports_history: bool,
    ) -> None:
        """Initialize. The database shows whether positions and the history ever answered."""
        positions = EndpointSupport(supports_positions or None)
        history = EndpointSupport(supports_history or None)
        self.hass = hass
        self.entry = entry
        self.client = TrackingClient(async_get_clientsession(hass), **entry.data)
        self.positions = PositionLookup(entry, self.client, positions)
        self.history = History(self.client, self.positions.extra_requests, history)
        self.asked_at = dt_util.utcnow()
        """Start of the newest poll, successful or not, in UTC."""
        self.answered_at = self.asked_at
        """Start of the newest poll that succeeded and was applied, in UTC."""
        self._failures = Failures()
        # Rejected sign-ins in a row. After the reauth flow has started, only a success
        # resets the count.
        self._refusals = Failures()
        entry.async_on_unload(partial(async_delete_issue, hass, entry, NO_CONTACT))

    @property
    def has_history(self) -> bool:
        """Return whether the service may have a history of reports."""
        return self.history.support.is_supported is not False

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
            # Drop the traceback: Home Assistant keeps the exception, so the traceback
            # would keep the response in memory.
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
        # The user entered a new password during the request, so try it.
        return await self.client.async_get_devices()

    def _failure(self, err: errors.TrackingError) -> UpdateFailed:
        """Count a failure, and return it as UpdateFailed with the wait until the next poll."""
        wait = self._failures = self._failures.another(NORMAL_BACKOFF, err.retry_after)
        is_loaded = self.entry.state is ConfigEntryState.LOADED
        if isinstance(err, errors.AuthenticationError):
            wait = self._refused(is_loaded)
        # Until the reauth flow starts, any other failure resets the count of rejected
        # sign-ins.
        elif self._refusals.length < _REFUSALS_UNTIL_REAUTH:
            self._refusals = Failures()
        if is_loaded:
            async_check_contact(self.hass, self.entry, self._failures.since, str(err))
        # During set-up, Home Assistant chooses the wait, unless the server requested a
        # wait.
        is_known = is_loaded or err.retry_after is not None
        return UpdateFailed(
            translation_domain=DOMAIN,
            translation_key=_TRANSLATION_KEYS.get(type(err), "cannot_connect"),
            translation_placeholders={"error": str(err)},
            retry_after=wait.wait if is_known else None,
        )

    def _refused(self, is_loaded: bool) -> Failures:
        self._refusals = self._refusals.another(SIGN_IN_BACKOFF)
        # Do not raise ConfigEntryAuthFailed, because it would stop polling. During
        # set-up, start the reauth flow after the first refusal: each retry of the
        # set-up counts from zero again.
        if self._refusals.length >= _REFUSALS_UNTIL_REAUTH or not is_loaded:
            self.entry.async_start_reauth(self.hass)
        return self._refusals


def _missing_of(wanted: DevicesById, found: _Positions) -> DevicesById:
    """Return the devices for which `found` lacks the position of the device list, or contains it with a wrong time."""
    return {
        device_id: device
        for device_id, device in wanted.items()
        if is_outdated(device, found.get(device_id))
    }


def _listed(devices: DevicesById) -> _Listed:
    return {(device.unique_id, device.position_id) for device in devices.values()}
