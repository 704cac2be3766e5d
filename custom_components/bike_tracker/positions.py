"""Where the trackers are: when to ask for positions, and which are known.

The documented interface hands out the ID of a position and no coordinates. Servers like
Traccar answer `GET /positions`; whether this one does is found out by asking.
"""

from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping, Set as AbstractSet
from dataclasses import replace
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
from .turns import in_turns

_ASK_AGAIN_AFTER = 24 * 60 * 60


class PositionLookup:
    """The last known position of each tracker."""

    def __init__(self, client: TrackingClient, known: dict[str, Position]) -> None:
        """Begin with the positions known from before, by `uniqueId`."""
        self.known = known
        self.offered: bool | None = None
        """Whether the service offers positions; None while that is not known."""
        self.last_error: TrackingError | None = None
        self._client = client
        self._backoff = Backoff()
        self._not_before = 0.0
        self._asked: dict[str, int | None] = {}
        self._outdated: dict[str, Device] = {}

    async def async_update(
        self,
        devices: Mapping[str, Device],
        news: set[str],
        movable: Container[str],
    ) -> bool:
        """Ask for positions if a tracker has a new one; return whether any moved.

        Only the devices in `news` are others than before; the trackers that moved are
        added to it. Only trackers in `movable`, and those without a position, move.

        No error of this call, which nobody promised, goes further than this.
        """
        for unique_id in news:
            self._compare(unique_id, devices.get(unique_id))
        if not self._outdated or monotonic() < self._not_before:
            return False
        waiting = self._waiting(devices, movable)
        if not any(map(self._is_news, waiting.values())):
            return False
        positions = await self._async_ask(waiting.keys())
        if positions is None:
            return False
        moved = False
        async for some in in_turns(waiting.items()):
            for device_id, device in some:
                if self._take(device, positions.get(device_id)):
                    news.add(device.unique_id)
                    moved = True
                self._compare(device.unique_id, device)
        return moved

    def forget(self, unique_id: str) -> None:
        """Forget the position of a tracker that was removed."""
        self.known.pop(unique_id, None)
        self._asked.pop(unique_id, None)

    def _compare(self, unique_id: str, device: Device | None) -> None:
        """Note whether a tracker has another position than the known one."""
        known = self.known.get(unique_id)
        if (
            device is None
            or device.position_id is None
            or (known is not None and known.id == device.position_id)
        ):
            self._outdated.pop(unique_id, None)
        else:
            self._outdated[unique_id] = device

    def _waiting(
        self, devices: Mapping[str, Device], movable: Container[str]
    ) -> dict[int, Device]:
        """Return the outdated trackers that may move, by internal ID.

        An ID that several trackers have leads to nobody's place.
        """
        waiting = {
            device.id: device
            for device in self._outdated.values()
            if device.id is not None and self._may_move(device, movable)
        }
        for device_id in _ambiguous_ids(devices.values(), waiting) if waiting else ():
            del waiting[device_id]
        return waiting

    def _is_news(self, device: Device) -> bool:
        return self._asked.get(device.unique_id) != device.position_id

    def _may_move(self, device: Device, movable: Container[str]) -> bool:
        return device.unique_id in movable or device.unique_id not in self.known

    async def _async_ask(
        self, device_ids: AbstractSet[int]
    ) -> dict[int, Position] | None:
        try:
            positions = await self._client.async_get_positions(device_ids)
        except (CannotConnectError, ServiceUnavailableError) as err:
            asked_for = getattr(err, "retry_after", None)
            self._wait(err, self._backoff.fail(asked_for))
            return None
        except TrackingError as err:
            self.offered = False
            self._wait(err, _ASK_AGAIN_AFTER)
            return None
        self.offered, self.last_error = True, None
        self._backoff.succeed()
        return positions

    def _wait(self, err: TrackingError, seconds: float) -> None:
        self.last_error = err.with_traceback(None)
        self._not_before = monotonic() + seconds
        LOGGER.debug("No positions (%s); asking again in %.0f s", err, seconds)

    def _take(self, device: Device, position: Position | None) -> bool:
        """Keep the device's position; return whether it is another one than before."""
        unique_id = device.unique_id
        self._asked[unique_id] = device.position_id
        # Servers drop old positions from their list; the bike is where it was.
        if position is None:
            return False
        known = self.known.get(unique_id)
        if known is not None:
            position = _carry_over(known, position)
            if position == known:
                return False
        self.known[unique_id] = position
        return True


def _ambiguous_ids(devices: Iterable[Device], ids: Collection[int]) -> list[int]:
    """Return those of the IDs that several trackers have."""
    found = Counter(device.id for device in devices if device.id in ids)
    return [device_id for device_id in ids if found[device_id] > 1]


def _carry_over(known: Position, position: Position) -> Position:
    """Return the new position with what it does not say but the known one does.

    A message without a fix does not make the place unknown, and one without a battery
    level does not empty the battery.
    """
    if position.latitude is None:
        position = replace(
            known,
            device_id=position.device_id,
            id=position.id,
            battery_level=position.battery_level,
            motion=position.motion,
        )
    if position.battery_level is None and known.battery_level is not None:
        position = replace(position, battery_level=known.battery_level)
    return position
