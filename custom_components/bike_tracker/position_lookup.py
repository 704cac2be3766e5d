"""When to ask for positions, and what a failure of that means.

The documented interface hands out the ID of a position and no coordinates. Servers like
Traccar answer `GET /positions`; whether this one does is found out by asking.
"""

import asyncio
from collections.abc import Iterable, Mapping
from time import monotonic

from .api import (
    CannotConnectError,
    Device,
    Position,
    ServiceUnavailableError,
    TrackingClient,
    TrackingError,
)
from .backoff import Backoff
from .const import LOGGER

_ASK_AGAIN_AFTER = 24 * 60 * 60


class PositionLookup:
    """Asks for the last known positions of trackers that have another one."""

    def __init__(self, client: TrackingClient) -> None:
        """Begin without knowing whether the service offers positions."""
        self.offered: bool | None = None
        """Whether the service offers positions; None while that is not known."""
        self.last_error: TrackingError | None = None
        self._client = client
        self._backoff = Backoff()
        self._not_before = 0.0
        # Trackers and positions of theirs that were announced and not there.
        self._announced_in_vain: set[tuple[str, int | None]] = set()

    async def async_get(self, wanted: Mapping[int, Device]) -> dict[str, Position]:
        """Return positions of these devices, by `uniqueId`.

        No error of this call, which nobody promised, goes further than this: there are
        no positions then, nor before it is time to ask again.
        """
        if not self._is_due(wanted.values()):
            return {}
        try:
            found = (await self._client.async_get_positions()).now
        except (CannotConnectError, ServiceUnavailableError) as err:
            asked_for = getattr(err, "retry_after", None)
            self._wait(err, self._backoff.fail(asked_for))
            return {}
        except TrackingError as err:
            self.offered = False
            self._wait(err, _ASK_AGAIN_AFTER)
            return {}
        self.offered, self.last_error = True, None
        self._backoff.succeed()
        # Thousands of positions were read: the event loop has its turn before they are
        # taken in.
        await asyncio.sleep(0)
        self._announced_in_vain = {
            (device.unique_id, device.position_id)
            for device_id, device in wanted.items()
            if device_id not in found or found[device_id].id != device.position_id
        }
        return {
            device.unique_id: found[device_id]
            for device_id, device in wanted.items()
            if device_id in found
        }

    def _is_due(self, wanted: Iterable[Device]) -> bool:
        """Return whether it is time to ask, and there is something new to ask for."""
        return monotonic() >= self._not_before and any(
            (device.unique_id, device.position_id) not in self._announced_in_vain
            for device in wanted
        )

    def _wait(self, err: TrackingError, seconds: float) -> None:
        self.last_error = err.with_traceback(None)
        self._not_before = monotonic() + seconds
        LOGGER.debug("No positions (%s); asking again in %.0f s", err, seconds)
