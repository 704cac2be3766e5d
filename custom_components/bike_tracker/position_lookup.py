"""When to ask for positions, and what a failure of that means.

The documented interface hands out the ID of a position and no coordinates. Servers like
Traccar answer `GET /positions`; whether this one does is found out by asking.
"""

import asyncio
from collections.abc import Collection, Mapping
from itertools import batched
from time import monotonic
from typing import Final

from .account import is_outdated
from .api import (
    CannotConnectError,
    Device,
    NoAnswerError,
    Position,
    ServiceUnavailableError,
    TrackingClient,
    TrackingError,
)
from .backoff import Backoff, shortened
from .const import LOGGER
from .lacking import LackingPositions

_HOUR: Final = 60 * 60
_DAY: Final = 24 * _HOUR
_IDS_AT_A_TIME: Final = 100


class PositionLookup:
    """Asks for the last known positions of trackers that have another one."""

    def __init__(self, client: TrackingClient, *, offered: bool | None) -> None:
        """Take whether the service offers positions; None while that is not known."""
        self.offered = offered
        """Whether the service ever answered with positions; None before it was asked."""
        self.last_error: TrackingError | None = None
        self._client = client
        self._backoff = Backoff()
        self._not_before = 0.0
        self._next_unoffered_wait = _HOUR
        self._lacking = LackingPositions()

    async def async_get(self, wanted: Mapping[int, Device]) -> dict[str, Position]:
        """Return positions of these devices, by `uniqueId`.

        No error of this call, which nobody promised, goes further than this: there are
        no positions then, nor before it is time to ask again.
        """
        if monotonic() < self._not_before or not self._lacking.is_due(wanted.values()):
            return {}
        try:
            found = dict(await self._async_get_all())
        except TrackingError as err:
            self._fail(err)
            return {}
        self._succeed()
        by_id = self._lacking.by_id(_lacking(wanted, found))
        found |= await self._async_get_by_id(by_id)
        # Thousands of positions were read: the event loop has its turn before they are
        # taken in.
        await asyncio.sleep(0)
        self._lacking.note(_lacking(wanted, found))
        return {
            device.unique_id: found[device_id]
            for device_id, device in wanted.items()
            if device_id in found
        }

    async def _async_get_all(self) -> Mapping[int, Position]:
        """Return the positions of all devices by their internal ID.

        Where only every other answer is a good one, they would all be those of the
        device list: hence a second try if the last one failed too, unless it would be
        long, or the server asked to wait.
        """
        try:
            return (await self._client.async_get_positions()).now
        except NoAnswerError:
            raise
        except TrackingError as err:
            is_first = not self.offered or self.last_error is None
            if is_first or err.retry_after is not None:
                raise
        return (await self._client.async_get_positions()).now

    async def _async_get_by_id(
        self, devices: Collection[Device]
    ) -> dict[int, Position]:
        """Return announced positions that the list of them does not have.

        Servers leave old ones out of the list, and may refuse to name them at all.
        """
        found: dict[int, Position] = {}
        for some in batched(devices, _IDS_AT_A_TIME, strict=False):
            ids = [device.position_id for device in some if device.position_id]
            try:
                found |= await self._client.async_get_positions_by_id(ids)
            except CannotConnectError, ServiceUnavailableError:
                break
            except TrackingError as err:
                LOGGER.debug("No positions by ID (%s)", err)
        return found

    def _succeed(self) -> None:
        if self.offered and self.last_error is not None:
            LOGGER.info("Positions are fetched again")
        self.offered, self.last_error = True, None
        self._backoff.succeed()

    def _fail(self, err: TrackingError) -> None:
        """Wait as after a failed poll where positions are offered, else for hours."""
        if self.offered and self.last_error is None:
            LOGGER.warning(
                "Positions cannot be fetched (%s); trackers stay where they were", err
            )
        self.last_error = err.with_traceback(None)
        if self.offered or isinstance(
            err, CannotConnectError | ServiceUnavailableError
        ):
            seconds = self._backoff.fail(err.retry_after)
        else:
            self.offered = False
            seconds = shortened(self._next_unoffered_wait)
            self._next_unoffered_wait = min(2 * self._next_unoffered_wait, _DAY)
        self._not_before = monotonic() + seconds
        LOGGER.debug("No positions (%s); asking again in %.0f s", err, seconds)


def _lacking(
    wanted: Mapping[int, Device], found: Mapping[int, Position]
) -> list[Device]:
    """Return the devices whose announced position was not found."""
    return [
        device
        for device_id, device in wanted.items()
        if is_outdated(device, found.get(device_id))
    ]
