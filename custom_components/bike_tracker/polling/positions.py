"""When to ask for positions, and how.

The documented interface hands out the ID of a position and no coordinates. Servers like
Traccar answer `GET /positions`; whether this one does is found out by asking.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

from homeassistant.config_entries import ConfigEntry

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
from ..tracking import is_outdated
from .missing_positions import Missing
from .refused_positions import Offer
from .waits import spare_requests

_STAY: Final = "({}); trackers stay where they were"
_TOO_LARGE: Final = (
    "(the list is too large to be read: {});"
    " trackers stay where they were, or without a place"
)


@dataclass(slots=True, eq=False)
class PositionLookup:
    """Asks for the last known positions of trackers that have another one."""

    entry: ConfigEntry
    client: TrackingClient
    offer: Offer
    """Whether the service offers them, as far as is known: also from before a restart."""
    _missing: Missing = field(default_factory=Missing)

    async def async_get(self, wanted: Mapping[int, Device]) -> dict[str, Position]:
        """Return positions of these devices, by `uniqueId`; after an error there are none."""
        is_due = self._missing.is_due(wanted.values())
        if monotonic() < self.offer.again_at or not is_due:
            return {}
        try:
            found = dict(await self._async_get_all())
        except TrackingError as err:
            self._fail(err)
            return {}
        if self.offer.is_interrupted:
            LOGGER.info("%s: Positions are fetched again", self.entry.title)
        self.offer = Offer(is_made=True)
        found |= await self._async_get_missing(_lacking(wanted, found))
        return {
            device.unique_id: found[device_id]
            for device_id, device in wanted.items()
            if device_id in found
        }

    def _fail(self, err: TrackingError) -> None:
        LOGGER.debug("No positions (%s)", err)
        before, self.offer = self.offer, self.offer.failed(err)
        is_too_large = err.is_too_large and not before.said_too_large
        # Too large also where positions never worked: nobody would know why.
        if is_too_large or before.works:
            text = (_TOO_LARGE if is_too_large else _STAY).format(err)
            LOGGER.warning("%s: Positions cannot be fetched %s", self.entry.title, text)

    async def _async_get_all(self) -> Mapping[int, Position]:
        """Return the positions of all devices by their internal ID.

        Where only every other answer is a good one, they would all be those of the
        device list: hence a second try if the last one failed too, unless it would be
        long, the server asked to wait, or there were many requests before.
        """
        try:
            return (await self.client.async_get_positions()).after
        except NoAnswerError:
            raise
        except TrackingError as err:
            may_repeat = self.offer.is_interrupted and spare_requests(self.client)
            if err.retry_after is not None or not may_repeat:
                raise
        return (await self.client.async_get_positions()).after

    async def _async_get_missing(
        self, lacking: Mapping[int, Device]
    ) -> dict[int, Position]:
        """Return announced positions that the list lacks: servers leave old ones out."""
        found: dict[int, Position] = {}
        spare, unanswered = spare_requests(self.client), None
        self._missing, groups = self._missing.by_id(lacking.values(), spare)
        for group in groups:
            ids = [device.position_id for device in group if device.position_id]
            try:
                answer = await self.client.async_get_positions_by_id(ids)
            except (CannotConnectError, ServiceUnavailableError) as err:
                unanswered = err
                break
            except TrackingError as err:
                LOGGER.debug("No positions by ID (%s)", err)
                self._missing = self._missing.refused(group)
            else:
                # A server that knows no such question answers with what it likes.
                found |= {key: item for key, item in answer.items() if item.id in ids}
        self._missing = self._missing.noted(_lacking(lacking, found).values())
        if unanswered is not None:
            self._missing = self._missing.unanswered(unanswered.retry_after)
        return found


def _lacking(
    wanted: Mapping[int, Device], found: Mapping[int, Position]
) -> dict[int, Device]:
    """Return the devices whose announced position is not among these, or not readable."""
    return {
        device_id: device
        for device_id, device in wanted.items()
        if is_outdated(device, found.get(device_id))
    }
