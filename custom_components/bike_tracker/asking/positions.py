"""When to ask for positions, and how.

The documented interface hands out the ID of a position and no coordinates. Servers like
Traccar answer `GET /positions`; whether this one does is found out by asking.
"""

from collections.abc import Mapping, Sequence
from time import monotonic

from homeassistant.config_entries import ConfigEntry

from ..account import is_outdated
from ..api import (
    CannotConnectError,
    Device,
    NoAnswerError,
    Position,
    ServiceUnavailableError,
    TrackingClient,
    TrackingError,
)
from ..const import LOGGER
from .position_gaps import PositionGaps
from .position_offer import PositionOffer
from .waits import Requests


class PositionLookup:
    """Asks for the last known positions of trackers that have another one."""

    def __init__(
        self,
        entry: ConfigEntry,
        client: TrackingClient,
        requests: Requests,
        *,
        known: bool,
    ) -> None:
        """Take whether positions are known from before a restart."""
        self.offer = PositionOffer(entry, known=known)
        self._client = client
        self._requests = requests
        self._not_before = 0.0
        self._gaps = PositionGaps()

    async def async_get(self, wanted: Mapping[int, Device]) -> dict[str, Position]:
        """Return positions of these devices, by `uniqueId`.

        No error of this call, which nobody promised, goes further than this: there are
        no positions then, nor before it is time to ask again.
        """
        if monotonic() < self._not_before or not self._gaps.is_due(wanted.values()):
            return {}
        try:
            found = dict(await self._async_get_all())
        except TrackingError as err:
            wait = self.offer.fail(err)
            self._not_before = monotonic() + wait
            LOGGER.debug("No positions (%s); asking again in %.0f s", err, wait)
            return {}
        self.offer.succeed()
        lacking = _lacking(wanted, found)
        by_id, error = await self._async_get_by_id(lacking)
        found |= by_id
        self._gaps.note(_lacking(wanted, found))
        if error is not None:
            self._gaps.fail(error.retry_after)
        return {
            device.unique_id: found[device_id]
            for device_id, device in wanted.items()
            if device_id in found
        }

    async def _async_get_all(self) -> Mapping[int, Position]:
        """Return the positions of all devices by their internal ID.

        Where only every other answer is a good one, they would all be those of the
        device list: hence a second try if the last one failed too, unless it would be
        long, the server asked to wait, or there were many requests before.
        """
        self._requests.note()
        try:
            return (await self._client.async_get_positions()).now
        except NoAnswerError:
            raise
        except TrackingError as err:
            is_first = not self.offer.is_made or self.offer.last_error is None
            if is_first or err.retry_after is not None or not self._requests.spare:
                raise
        self._requests.note()
        return (await self._client.async_get_positions()).now

    async def _async_get_by_id(
        self, lacking: Sequence[Device]
    ) -> tuple[dict[int, Position], TrackingError | None]:
        """Return announced positions that the list of them does not have.

        Servers leave old ones out of the list, and may refuse to name them at all. If the
        service could not answer, return why as well.
        """
        found: dict[int, Position] = {}
        for group in self._gaps.by_id(lacking, self._requests.spare):
            self._requests.note()
            ids = [device.position_id for device in group if device.position_id]
            try:
                answer = await self._client.async_get_positions_by_id(ids)
            except (CannotConnectError, ServiceUnavailableError) as err:
                return found, err
            except TrackingError as err:
                LOGGER.debug("No positions by ID (%s)", err)
                self._gaps.refuse(group)
            else:
                # A server that knows no such question answers with what it likes.
                found |= {key: item for key, item in answer.items() if item.id in ids}
        return found, None


def _lacking(
    wanted: Mapping[int, Device], found: Mapping[int, Position]
) -> list[Device]:
    """Return the devices whose announced position is not among these, or not readable."""
    return [
        device
        for device_id, device in wanted.items()
        if is_outdated(device, found.get(device_id))
    ]
