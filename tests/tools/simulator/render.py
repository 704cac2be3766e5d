"""The JSON of devices and positions, as the service sends it."""

from collections.abc import Mapping
from datetime import UTC, datetime
from random import shuffle
from typing import Literal

import orjson

from .kinds import SERVICE, Kind
from .world import MISSING, Json, Override, SimDevice, SimPosition, World

type Endpoint = Literal["devices", "positions", "history"]
"""A kind of request that can fail while the other kinds work. `history` and `positions` have the same path."""

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
    """Return a time as section 2 of the service's interface writes it. `offset` is the notation of UTC."""
    text = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    return text.removesuffix("+00:00") + offset


def device_json(device: SimDevice, kind: Kind = SERVICE) -> dict[str, Json]:
    """Return a device: its documented fields and the fields of this kind of server, with a test's overrides."""
    nothing_yet = kind.nulls and not device.reported
    offset = kind.offset
    fields: dict[str, Json] = {
        "id": device.id,
        "name": device.name,
        "uniqueId": device.unique_id,
        "status": "offline" if nothing_yet else device.status,
        "lastUpdate": None if nothing_yet else timestamp(device.last_update, offset),
        "positionId": device.position_id,
        "groupId": device.group_id,
        "disabled": device.disabled,
    }
    if kind.attributes:
        fields["attributes"] = device.attributes
    fields |= kind.device_fields
    if "model" in fields:
        fields["model"] = device.model
    return _overridden(fields, device.overrides)


def position_json(
    position: SimPosition,
    device_id: int,
    kind: Kind = SERVICE,
    *,
    overrides: Mapping[str, Override] | None = None,
) -> dict[str, Json]:
    """Return a position: the fields of Traccar and of this kind of server, with a test's overrides."""
    offset = kind.offset
    fields: dict[str, Json] = {
        "id": position.id,
        "attributes": position.attributes,
        "deviceId": device_id,
        "serverTime": timestamp(position.server_time, offset),
        "deviceTime": timestamp(position.device_time, offset),
        "fixTime": timestamp(position.fix_time, offset),
        "valid": position.valid,
        "latitude": position.latitude,
        "longitude": position.longitude,
        "altitude": position.altitude,
        "speed": position.speed,
        "course": position.course,
        "accuracy": position.accuracy,
        **kind.position_fields,
    }
    if position.address is not None:
        fields["address"] = position.address
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
    """Creates answers with the data of a world."""

    def __init__(self, world: World, kind: Kind) -> None:
        """Answer with the data of this world, as this kind of server does."""
        self._world = world
        self._kind = kind

    def body(self, endpoint: Endpoint, email: str) -> bytes:
        """Return the answer to an account: its objects in random order, or the raw answer that a test has set."""
        raw = self._world.raw_answers.get(endpoint)
        if raw is not None:
            return raw if isinstance(raw, bytes) else orjson.dumps(raw)
        items = self.items(endpoint, email)
        shuffle(items)
        return orjson.dumps(items)

    def items(self, endpoint: Endpoint, email: str) -> list[dict[str, Json]]:
        """Return the devices or positions in the answer to an account, in the same order at each call."""
        devices = self._world.devices_of(email)
        if endpoint == "devices":
            return [
                device_json(device, self._kind)
                for device in devices
                if self._kind.lists_disabled or not device.disabled
            ]
        return [
            self._position(device, device.position)
            for device in devices
            if device.position and not self._is_too_old(device.position)
        ]

    def position_of(self, email: str, device_id: str) -> bytes | None:
        """Return a JSON list with a device's last position, even if old. None if the account lacks the device."""
        for device in self._world.devices_of(email):
            if str(device.id) == device_id:
                last = [device.position] if device.position else []
                return orjson.dumps([self._position(device, it) for it in last])
        return None

    def history(
        self, email: str, device_id: str, start: datetime, end: datetime
    ) -> list[dict[str, Json]] | None:
        """Return a tracker's reports whose fixes are in a time range, the oldest first.

        The world's `max_positions` limits their number. Return None if the account does not
        have the tracker.
        """
        for device in self._world.devices_of(email):
            if str(device.id) == device_id:
                reports = [
                    report
                    for report in self._world.reports[device.unique_id]
                    if start <= _as_sent(report.fix_time) <= end
                ]
                reports.sort(key=lambda report: report.fix_time)
                return [
                    self._position(device, report)
                    for report in reports[: self._world.max_positions]
                ]
        return None

    def every_device(self) -> bytes:
        """Return a JSON list of the trackers of all accounts."""
        devices = self._world.devices.values()
        return orjson.dumps([device_json(device, self._kind) for device in devices])

    def _is_too_old(self, position: SimPosition) -> bool:
        oldest = self._kind.oldest_fix
        return oldest is not None and datetime.now(UTC) - position.fix_time > oldest

    def _position(self, device: SimDevice, position: SimPosition) -> dict[str, Json]:
        return position_json(
            position, device.id, self._kind, overrides=device.position_overrides
        )


def _as_sent(moment: datetime) -> datetime:
    """Return a time with the precision of an answer: whole milliseconds."""
    return moment.replace(microsecond=moment.microsecond // 1_000 * 1_000)
