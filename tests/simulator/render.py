"""The JSON of devices and positions, rendered once for each change."""

from collections.abc import Mapping
from datetime import UTC, datetime
from random import Random
from typing import Literal

import orjson

from .world import MISSING, Json, Override, SimDevice, SimPosition, World

type Endpoint = Literal["devices", "positions"]

DEVICE_FIELDS = (
    "id",
    "name",
    "uniqueId",
    "status",
    "lastUpdate",
    "positionId",
    "groupId",
    "disabled",
)


def timestamp(moment: datetime, offset: str = "+0000") -> str:
    """Write a time as section 2 has it, with milliseconds, or with another way to write UTC."""
    text = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    return text.removesuffix("+00:00") + offset


def device_json(device: SimDevice, *, documented_only: bool) -> dict[str, Json]:
    """Return the device object: the eight documented fields, and else those that Traccar has besides."""
    fields: dict[str, Json] = {
        "id": device.id,
        "name": device.name,
        "uniqueId": device.unique_id,
        "status": device.status,
        "lastUpdate": timestamp(device.last_update, device.offset),
        "positionId": device.position_id,
        "groupId": device.group_id,
        "disabled": device.disabled,
    }
    if not documented_only:
        fields |= {
            "attributes": device.attributes,
            "category": "bicycle",
            "contact": None,
            "model": None,
            "phone": None,
        }
    return _overridden(fields, device.overrides)


def position_json(
    position: SimPosition,
    device_id: int,
    *,
    offset: str = "+0000",
    overrides: Mapping[str, Override] | None = None,
) -> dict[str, Json]:
    """Return the position object as Traccar has it."""
    fields: dict[str, Json] = {
        "id": position.id,
        "attributes": position.attributes,
        "deviceId": device_id,
        "protocol": "simulator",
        "serverTime": timestamp(position.server_time, offset),
        "deviceTime": timestamp(position.device_time, offset),
        "fixTime": timestamp(position.fix_time, offset),
        "valid": position.valid,
        "latitude": position.latitude,
        "longitude": position.longitude,
        "altitude": position.altitude,
        "speed": position.speed,
        "course": position.course,
        "address": None,
        "accuracy": position.accuracy,
        "network": None,
        "geofenceIds": None,
    }
    return _overridden(fields, overrides or {})


def _overridden(
    fields: dict[str, Json], overrides: Mapping[str, Override]
) -> dict[str, Json]:
    for name, value in overrides.items():
        if value is MISSING:
            fields.pop(name, None)
        else:
            fields[name] = value
    return fields


class Renderer:
    """Turns a world into answers; what did not change since the last answer is not rendered again."""

    def __init__(
        self, world: World, *, documented_only: bool, shuffle: Random | None
    ) -> None:
        """Render this world, in another order each time if there is something to shuffle with."""
        self._world = world
        self._documented_only = documented_only
        self._shuffle = shuffle
        self._rendered: dict[tuple[Endpoint, str], tuple[int, bytes]] = {}
        self._bodies: dict[tuple[Endpoint, str], tuple[int, bytes]] = {}

    def body(self, endpoint: Endpoint, email: str) -> bytes:
        """Return the answer for an account."""
        raw = self._world.raw_answers.get(endpoint)
        if raw is not None:
            return raw if isinstance(raw, bytes) else orjson.dumps(raw)
        if self._shuffle is not None:
            parts = self._parts(endpoint, email)
            self._shuffle.shuffle(parts)
            return _array(parts)
        revision, body = self._bodies.get((endpoint, email), (-1, b""))
        if revision != self._world.revision:
            body = _array(self._parts(endpoint, email))
            self._bodies[endpoint, email] = self._world.revision, body
        return body

    def items(self, endpoint: Endpoint, email: str) -> list[dict[str, Json]]:
        """Return the objects of the answer for an account, in a lasting order."""
        items: list[dict[str, Json]] = orjson.loads(
            _array(self._parts(endpoint, email))
        )
        return items

    def every_device(self) -> bytes:
        """Return a list of all trackers, whoever they are assigned to."""
        devices = self._world.devices.values()
        return _array([self._part("devices", device) for device in devices])

    def _parts(self, endpoint: Endpoint, email: str) -> list[bytes]:
        devices = self._world.devices_of(email)
        if endpoint == "devices":
            return [self._part(endpoint, device) for device in devices]
        parts = [self._part(endpoint, device) for device in devices if device.position]
        parts += [
            orjson.dumps(position_json(position, device_id))
            for device_id, position in self._world.stray_positions
        ]
        return parts

    def _part(self, endpoint: Endpoint, device: SimDevice) -> bytes:
        key = endpoint, device.unique_id
        revision, part = self._rendered.get(key, (-1, b""))
        if revision != device.revision:
            part = orjson.dumps(self._json(endpoint, device))
            self._rendered[key] = device.revision, part
        return part

    def _json(self, endpoint: Endpoint, device: SimDevice) -> dict[str, Json]:
        if endpoint == "devices":
            return device_json(device, documented_only=self._documented_only)
        assert device.position is not None
        return position_json(
            device.position,
            device.id,
            offset=device.offset,
            overrides=device.position_overrides,
        )


def _array(parts: list[bytes]) -> bytes:
    return b"[" + b",".join(parts) + b"]"
