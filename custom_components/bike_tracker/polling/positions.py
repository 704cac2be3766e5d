"""Requests for positions, which Traccar answers and the documented interface lacks."""

from collections.abc import Mapping, Set as AbstractSet
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

from homeassistant.config_entries import ConfigEntry

from ..api.client import TrackingClient
from ..api.errors import (
    CannotConnectError,
    InvalidResponseError,
    ServiceUnavailableError,
    TrackingError,
)
from ..api.models import Device, Position
from ..const import LOGGER
from ..tracking.account import is_outdated
from .backoff import (
    DAY,
    MINUTE,
    MISSING_POSITION_BACKOFF,
    EndpointSupport,
    ExtraRequests,
    Failures,
)

# Every second minute is left to the history. Polls come up to a second early.
_BETWEEN_OLD_POSITIONS: Final = 2 * MINUTE - 2
# Retries of single failures would exceed 30 requests in ten minutes.
_RETRY_AFTER: Final = 2

type Devices = Mapping[int, Device]
"""By the internal ID of the device."""
type _Positions = Mapping[int, Position]
type _Announced = AbstractSet[tuple[str, int | None]]
"""IDs of trackers and of their positions in the device list."""


@dataclass(slots=True, eq=False)
class PositionLookup:
    """Requests the last known positions of trackers that have a new one."""

    entry: ConfigEntry
    client: TrackingClient
    support: EndpointSupport
    """Whether the service supports them; restored after a restart."""
    extra_requests: ExtraRequests = field(default_factory=ExtraRequests)
    _missing: _Announced = frozenset()
    """Positions in the device list that the service did not return."""
    _failures: Failures = field(default_factory=Failures)
    """Consecutive responses without a position that is missing."""
    _requested_at: dict[str, float] = field(default_factory=dict)
    """Time of each tracker's last request for an old position, by the monotonic clock."""
    _supports_single: bool = True
    """Whether the service may return the position of a single tracker."""

    async def async_get(self, wanted: Devices) -> dict[str, Position]:
        """Return positions of these devices, by `uniqueId`; after an error none."""
        found = dict[int, Position]()
        due = wanted if self._failures.is_due else self._not_missing(wanted)
        if due and self.support.failures.is_due:
            found |= await self._async_get_due(due, wanted)
        if self.support.works:
            found |= await self._async_get_old(_missing_of(wanted, found))
        return {
            device.unique_id: found[device_id]
            for device_id, device in wanted.items()
            if device_id in found
        }

    def _not_missing(self, wanted: Devices) -> Devices:
        return {
            device_id: device
            for device_id, device in wanted.items()
            if (device.unique_id, device.position_id) not in self._missing
        }

    async def _async_get_due(self, due: Devices, wanted: Devices) -> _Positions:
        try:
            found = await self._async_request(due)
        except TrackingError as err:
            self._fail(err)
            return {}
        if self.support.is_supported and self.support.error:
            LOGGER.info("%s: Positions are fetched again", self.entry.title)
        self.support = EndpointSupport(is_supported=True)
        missing = _announced(_missing_of(wanted, found))
        if not missing <= self._missing:
            self._failures = Failures()
        # Other trackers may be requested in the meantime.
        if self._failures.is_due:
            self._failures = self._failures.another(MISSING_POSITION_BACKOFF)
        self._missing = missing
        return found

    async def _async_request(self, due: Devices) -> _Positions:
        """Return one position by its device, several from the list of all.

        A position has 460 bytes, a request and its headers 700: for two of four trackers,
        two requests are smaller than the list. But the history needs the second one.
        """
        if len(due) > 1 or not (self._supports_single and self.support.works):
            return await self._async_get_list(due)
        [(device_id, device)] = due.items()
        needs_list = not _announced(due) <= self._missing
        try:
            found = await self._async_get_single(device_id, device)
        except InvalidResponseError:
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

    async def _async_get_list(self, due: Devices) -> _Positions:
        """Request the list, and retry at once after the third failure in a row.

        A server that fails every other request otherwise never returns positions.
        """
        often = self.support.failures.length >= _RETRY_AFTER
        try:
            return await self.client.async_get_positions(due)
        except (CannotConnectError, ServiceUnavailableError) as err:
            # The service requested a wait, or was slow.
            is_slow = err.retry_after is not None or err.code == "timeout"
            if is_slow or not (often and self.extra_requests.is_due):
                raise
        self.extra_requests.count()
        return await self.client.async_get_positions(due)

    def _fail(self, err: TrackingError) -> None:
        LOGGER.debug("No positions (%s)", err)
        before, self.support = self.support, self.support.failed(err)
        # Log "too large" even if positions never worked: it is the only hint.
        if before.error is None and (before.is_supported or err.is_too_large):
            LOGGER.warning(
                "%s: Positions cannot be fetched (%s); trackers stay where they were",
                self.entry.title,
                err,
            )

    async def _async_get_old(self, missing: Devices) -> _Positions:
        """Return at most one position: servers leave old positions out of the list.

        Request one tracker at a time, and each at most once a day.
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
                except TrackingError as err:
                    LOGGER.debug("No old position (%s)", err)
                    break
        return {}


def _missing_of(wanted: Devices, found: _Positions) -> Devices:
    """Return the devices whose position is missing or not readable."""
    return {
        device_id: device
        for device_id, device in wanted.items()
        if is_outdated(device, found.get(device_id))
    }


def _announced(devices: Devices) -> _Announced:
    return {(device.unique_id, device.position_id) for device in devices.values()}
