"""When to ask for positions, and how.

The documented interface hands out the ID of a position and no coordinates. Servers like
Traccar answer `GET /positions`; whether this one does is found out by asking.
"""

from collections.abc import Mapping, Set as AbstractSet
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

from homeassistant.config_entries import ConfigEntry

from ..api.client import TrackingClient
from ..api.errors import CannotConnectError, ServiceUnavailableError, TrackingError
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
_BETWEEN_REQUESTS_BY_ID: Final = 2 * MINUTE - 2
# Retries of single failures would exceed 30 requests in ten minutes.
_RETRY_AFTER: Final = 2

# By the internal ID of the device.
type Devices = Mapping[int, Device]
type _Positions = Mapping[int, Position]


@dataclass(slots=True, eq=False)
class PositionLookup:
    """Asks for the last known positions of trackers that have another one."""

    entry: ConfigEntry
    client: TrackingClient
    support: EndpointSupport
    """Whether the service supports them, as far as is known: also from before a restart."""
    extra_requests: ExtraRequests = field(default_factory=ExtraRequests)
    _missing: AbstractSet[tuple[str, int | None]] = frozenset()
    """Positions that the device list announces and the last answer did not have."""
    _failures: Failures = field(default_factory=Failures)
    """Answers in a row without a position that is missing."""
    _asked_by_id_at: dict[str, float] = field(default_factory=dict)
    """When each tracker was asked for by ID last, by the monotonic clock."""

    async def async_get(self, wanted: Devices) -> dict[str, Position]:
        """Return positions of these devices, by `uniqueId`; after an error there are none."""
        found, announced = dict[int, Position](), _announced(wanted)
        is_time = not announced <= self._missing or self._failures.is_due
        if self.support.failures.is_due and is_time:
            found |= await self._async_get_all(wanted)
        if self.support.works:
            position = await self._async_get_by_id(_missing_of(wanted, found))
            found |= {position.device_id: position} if position else {}
        return {
            device.unique_id: found[device_id]
            for device_id, device in wanted.items()
            if device_id in found
        }

    async def _async_get_all(self, wanted: Devices) -> _Positions:
        try:
            found = await self._async_try_twice(wanted)
        except TrackingError as err:
            self._fail(err)
            return {}
        if self.support.is_supported and self.support.error:
            LOGGER.info("%s: Positions are fetched again", self.entry.title)
        self.support = EndpointSupport(is_supported=True)
        missing = _announced(_missing_of(wanted, found))
        if not missing <= self._missing:
            self._failures = Failures()
        # Others may be asked for meanwhile.
        if self._failures.is_due:
            self._failures = self._failures.another(MISSING_POSITION_BACKOFF)
        self._missing = missing
        return found

    async def _async_try_twice(self, wanted: Devices) -> _Positions:
        """Retry at once after the third failure in a row.

        A server that fails every other request otherwise never returns positions.
        """
        often = self.support.failures.length >= _RETRY_AFTER
        try:
            return await self.client.async_get_positions(wanted)
        except (CannotConnectError, ServiceUnavailableError) as err:
            # The service asked to wait, or has already been waited for.
            is_slow = err.retry_after is not None or err.code == "timeout"
            if is_slow or not (often and self.extra_requests.is_due):
                raise
        self.extra_requests.count()
        return await self.client.async_get_positions(wanted)

    def _fail(self, err: TrackingError) -> None:
        LOGGER.debug("No positions (%s)", err)
        before, self.support = self.support, self.support.failed(err)
        # Too large also where positions never worked: nobody would know why.
        if before.error is None and (before.is_supported or err.is_too_large):
            LOGGER.warning(
                "%s: Positions cannot be fetched (%s); trackers stay where they were",
                self.entry.title,
                err,
            )

    async def _async_get_by_id(self, missing: Devices) -> Position | None:
        """Return one announced position that the list lacks: servers leave old ones out.

        One tracker at a time, and each at most once a day.
        """
        if (tracker := self._next_by_id(missing)) is None:
            return None
        unique_id, position_id = tracker
        self._asked_by_id_at[unique_id] = monotonic()
        self.extra_requests.count()
        try:
            return await self.client.async_get_position(position_id)
        except TrackingError as err:
            LOGGER.debug("No position by ID (%s)", err)
            return None

    def _next_by_id(self, missing: Devices) -> tuple[str, int] | None:
        now, asked_at = monotonic(), self._asked_by_id_at
        last = max(asked_at.values(), default=-DAY)
        if now < last + _BETWEEN_REQUESTS_BY_ID or not self.extra_requests.is_due:
            return None
        for device in missing.values():
            if device.position_id and now >= asked_at.get(device.unique_id, -DAY) + DAY:
                return device.unique_id, device.position_id
        return None


def _missing_of(wanted: Devices, found: _Positions) -> Devices:
    """Return the devices whose announced position is not among these, or not readable."""
    return {
        device_id: device
        for device_id, device in wanted.items()
        if is_outdated(device, found.get(device_id))
    }


def _announced(devices: Devices) -> AbstractSet[tuple[str, int | None]]:
    return {(device.unique_id, device.position_id) for device in devices.values()}
