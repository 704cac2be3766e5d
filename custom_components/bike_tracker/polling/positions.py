"""When to ask for positions, and how.

The documented interface hands out the ID of a position and no coordinates. Servers like
Traccar answer `GET /positions`; whether this one does is found out by asking.
"""

from collections.abc import Mapping, Set as AbstractSet
from dataclasses import dataclass, field
from time import monotonic
from typing import Final, NamedTuple

from homeassistant.config_entries import ConfigEntry

from ..api import (
    CannotConnectError,
    Device,
    Position,
    ServiceUnavailableError,
    TrackingClient,
    TrackingError,
)
from ..const import LOGGER
from ..tracking import is_outdated
from .backoff import (
    DAY,
    MINUTE,
    MISSING_POSITION_BACKOFF,
    NO_FAILURES,
    NORMAL_BACKOFF,
    UNSUPPORTED_BACKOFF,
    ExtraRequests,
    FailureStreak,
)

# Every second minute is left to the history. Polls come up to a second early.
_BETWEEN_REQUESTS_BY_ID: Final = 2 * MINUTE - 2
_STAY: Final = "({}); trackers stay where they were"
_TOO_LARGE: Final = (
    "(the list is too large to be read: {});"
    " trackers stay where they were, or without a place"
)


class EndpointSupport(NamedTuple):
    """Whether the service supports a call that is not documented.

    A service that answered once supports it: whatever else it says from then on, a 401
    and a 404 included, is a failure that passes. One that never did is left alone for an
    hour, then for days, unless it could not answer at all.
    """

    is_supported: bool | None = None
    """None before the service was asked."""
    error: TrackingError | None = None
    """Why the last answer was none."""
    failures: FailureStreak = NO_FAILURES
    retry_at: float = 0.0
    """When to ask again, by the monotonic clock."""
    was_too_large: bool = False
    """Whether an answer was too large since the last good one: that is logged once."""

    @property
    def works(self) -> bool:
        """Return whether the service supports it and did not fail the last time."""
        return self.is_supported is True and self.error is None

    @property
    def is_interrupted(self) -> bool:
        """Return whether the service supports it and failed the last time."""
        return self.is_supported is True and self.error is not None

    @property
    def is_due(self) -> bool:
        """Return whether it is time to ask."""
        return monotonic() >= self.retry_at

    def failed(self, err: TrackingError) -> EndpointSupport:
        """Return what an error means."""
        is_supported, streak = self.is_supported, self.failures
        may_pass = isinstance(err, CannotConnectError | ServiceUnavailableError)
        if is_supported or may_pass:
            failures = streak.another()
            wait = NORMAL_BACKOFF.after(failures, err.retry_after)
        else:
            # Failures before say nothing of what is supported.
            failures = (NO_FAILURES if is_supported is None else streak).another()
            is_supported, wait = False, UNSUPPORTED_BACKOFF.after(failures)
        # Its traceback would keep the answer.
        error = err.with_traceback(None)
        return EndpointSupport(
            is_supported,
            error,
            failures,
            monotonic() + wait,
            was_too_large=self.was_too_large or err.is_too_large,
        )


class _Missing(NamedTuple):
    """Positions that the device list announces and `GET /positions` does not have."""

    announced: AbstractSet[tuple[str, int | None]] = frozenset()
    """Trackers and the IDs of their positions."""
    failures: FailureStreak = NO_FAILURES
    retry_at: float = 0.0

    def is_due(self, wanted: Mapping[int, Device]) -> bool:
        """Return whether one of these is to be asked for: it is new, or it is time."""
        is_new = not _announced(wanted) <= self.announced
        return bool(wanted) and (is_new or monotonic() >= self.retry_at)

    def after(self, missing: Mapping[int, Device]) -> _Missing:
        """Return what is missing after an answer."""
        announced = _announced(missing)
        is_new = not announced <= self.announced
        failures = (NO_FAILURES if is_new else self.failures).another()
        wait = MISSING_POSITION_BACKOFF.after(failures)
        return _Missing(announced, failures, monotonic() + wait)


@dataclass(slots=True, eq=False)
class PositionLookup:
    """Asks for the last known positions of trackers that have another one."""

    entry: ConfigEntry
    client: TrackingClient
    extra_requests: ExtraRequests
    support: EndpointSupport
    """Whether the service supports them, as far as is known: also from before a restart."""
    _missing: _Missing = field(default_factory=_Missing)
    _asked_by_id_at: dict[str, float] = field(default_factory=dict)
    """When each tracker was asked for by ID last, by the monotonic clock."""
    _by_id_at: float = 0.0
    """When the next one may be asked for by ID."""

    async def async_get(self, wanted: Mapping[int, Device]) -> dict[str, Position]:
        """Return positions of these devices, by `uniqueId`; after an error there are none."""
        found: dict[int, Position] = {}
        if self.support.is_due and self._missing.is_due(wanted):
            found |= await self._async_get_all(wanted)
        if self.support.works:
            found |= await self._async_get_by_id(_missing_of(wanted, found))
        return {
            device.unique_id: found[device_id]
            for device_id, device in wanted.items()
            if device_id in found
        }

    async def _async_get_all(
        self, wanted: Mapping[int, Device]
    ) -> Mapping[int, Position]:
        try:
            found = (await self.client.async_get_positions()).after
        except TrackingError as err:
            self._fail(err)
            return {}
        if self.support.is_interrupted:
            LOGGER.info("%s: Positions are fetched again", self.entry.title)
        self.support = EndpointSupport(is_supported=True)
        self._missing = self._missing.after(_missing_of(wanted, found))
        return found

    def _fail(self, err: TrackingError) -> None:
        LOGGER.debug("No positions (%s)", err)
        before, self.support = self.support, self.support.failed(err)
        is_too_large = err.is_too_large and not before.was_too_large
        # Too large also where positions never worked: nobody would know why.
        if is_too_large or before.works:
            text = (_TOO_LARGE if is_too_large else _STAY).format(err)
            LOGGER.warning("%s: Positions cannot be fetched %s", self.entry.title, text)

    async def _async_get_by_id(
        self, missing: Mapping[int, Device]
    ) -> Mapping[int, Position]:
        """Return one announced position that the list lacks: servers leave old ones out."""
        device = self._next_by_id(missing)
        if device is None or device.position_id is None:
            return {}
        now = monotonic()
        self._asked_by_id_at[device.unique_id] = now
        self._by_id_at = now + _BETWEEN_REQUESTS_BY_ID
        self.extra_requests.count()
        try:
            position = await self.client.async_get_position(device.position_id)
        except TrackingError as err:
            LOGGER.debug("No position by ID (%s)", err)
            return {}
        return {} if position is None else {position.device_id: position}

    def _next_by_id(self, missing: Mapping[int, Device]) -> Device | None:
        """Return the tracker to ask for by ID now: each at most once a day."""
        now, asked_at = monotonic(), self._asked_by_id_at
        if now < self._by_id_at or not self.extra_requests.is_due:
            return None
        due = (
            device
            for device in missing.values()
            if now >= asked_at.get(device.unique_id, -DAY) + DAY
        )
        return next(due, None)


def _missing_of(
    wanted: Mapping[int, Device], found: Mapping[int, Position]
) -> dict[int, Device]:
    """Return the devices whose announced position is not among these, or not readable."""
    return {
        device_id: device
        for device_id, device in wanted.items()
        if is_outdated(device, found.get(device_id))
    }


def _announced(devices: Mapping[int, Device]) -> AbstractSet[tuple[str, int | None]]:
    return {(device.unique_id, device.position_id) for device in devices.values()}
