"""Accounts, trackers, assignments and positions: all data of the simulated service.

The documented fields have the names and rules of section 2 of the service's interface.
Additional fields and the positions are as in Traccar.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from itertools import count
from typing import Final

from .streets import HOME

type Json = bool | int | float | str | list[Json] | dict[str, Json] | None


class Missing(Enum):
    """The type of MISSING."""

    MISSING = "missing"


MISSING: Final = Missing.MISSING
"""An override with this value removes the field from the answer."""

type Override = Json | Missing
type RawAnswer = bytes | str | list[Json]

DEFAULT_LATITUDE, DEFAULT_LONGITUDE = HOME

MOST_REPORTS = 50_000
"""Maximum number of reports that the server keeps of each tracker and, by default, sends in an answer."""


@dataclass(slots=True)
class SimPosition:
    """A position that a tracker has reported, in Traccar's units: degrees, meters and knots."""

    id: int
    latitude: float
    longitude: float
    fix_time: datetime
    device_time: datetime
    server_time: datetime
    altitude: float = 0.0
    speed: float = 0.0
    course: float = 0.0
    accuracy: float = 0.0
    valid: bool = True
    address: str | None = None
    attributes: dict[str, Json] = field(default_factory=dict)


@dataclass(slots=True)
class SimDevice:
    """A tracker: its eight documented fields, further data, and overrides (values that a test sends instead)."""

    id: int
    unique_id: str
    name: str
    status: str
    last_update: datetime
    position_id: int
    group_id: int
    disabled: bool = False
    attributes: dict[str, Json] = field(default_factory=dict)
    model: str | None = None
    reported: bool = False
    position: SimPosition | None = None
    overrides: dict[str, Override] = field(default_factory=dict)
    position_overrides: dict[str, Override] = field(default_factory=dict)


@dataclass(slots=True)
class SimAccount:
    """An account, and the `uniqueId` of each tracker that belongs to it."""

    email: str
    password: str
    assigned: dict[str, None] = field(default_factory=dict)
    disable_reports: bool = False


class World:
    """Everything that the service knows, with a method for each change."""

    def __init__(self) -> None:
        """Begin without accounts and trackers."""
        self.accounts: dict[str, SimAccount] = {}
        self.devices: dict[str, SimDevice] = {}
        self.raw_answers: dict[str, bytes | list[Json]] = {}
        self.reports: defaultdict[str, deque[SimPosition]] = defaultdict(
            lambda: deque(maxlen=MOST_REPORTS)
        )
        """The last reports of each tracker by `uniqueId`, in the order in which the server received them."""
        self.max_positions = MOST_REPORTS
        self._device_ids = count(1001)
        self._position_ids = count(500_001)

    # Changes of accounts

    def add_account(self, email: str, password: str) -> SimAccount:
        """Add an account that has no trackers."""
        account = SimAccount(email, password)
        self.accounts[email] = account
        return account

    def set_password(self, email: str, password: str) -> None:
        """Change an account's password. The old password is refused from now on."""
        self.accounts[email].password = password

    def assign(self, email: str, unique_id: str) -> None:
        """Add a tracker to the account's list."""
        self.accounts[email].assigned[unique_id] = None

    def unassign(self, email: str, unique_id: str) -> None:
        """Remove a tracker from the account's list."""
        self.accounts[email].assigned.pop(unique_id, None)

    def set_max_positions(self, max_positions: int) -> None:
        """Limit the number of reports in an answer of the history. If more exist, only the oldest are sent."""
        self.max_positions = max_positions

    # Changes of trackers

    def add_device(
        self,
        unique_id: str,
        *,
        name: str | None = None,
        email: str | None = None,
        status: str = "online",
        group_id: int = 0,
        last_update: datetime | None = None,
        latitude: float | None = DEFAULT_LATITUDE,
        longitude: float | None = DEFAULT_LONGITUDE,
        attributes: Mapping[str, Json] | None = None,
    ) -> SimDevice:
        """Add a tracker. With `email`, it belongs to that account.

        With `latitude=None`, the tracker has no position, and its positionId is 0. If
        `last_update` is missing, too, the tracker has never reported.
        """
        device = SimDevice(
            id=next(self._device_ids),
            unique_id=unique_id,
            name=unique_id if name is None else name,
            status=status,
            last_update=last_update or _now(),
            position_id=0,
            group_id=group_id,
            attributes=dict(attributes or {}),
            reported=last_update is not None,
        )
        self.devices[unique_id] = device
        if latitude is not None and longitude is not None:
            self.report(
                unique_id,
                latitude=latitude,
                longitude=longitude,
                attributes={"batteryLevel": 80, "motion": False},
                last_update=device.last_update,
            )
        if email is not None:
            self.assign(email, unique_id)
        return device

    def delete_device(self, unique_id: str) -> None:
        """Delete a tracker. No account lists it any more."""
        del self.devices[unique_id]
        for account in self.accounts.values():
            account.assigned.pop(unique_id, None)

    def rename(self, unique_id: str, name: str) -> None:
        """Change the name of a tracker."""
        self.devices[unique_id].name = name

    def set_status(self, unique_id: str, status: str) -> None:
        """Change only the status of a tracker. The documented values are `online` and `offline`."""
        device = self.devices[unique_id]
        device.status = status
        self.tell(device)

    def set_disabled(self, unique_id: str, disabled: bool) -> None:
        """Disable or enable the tracker."""
        self.devices[unique_id].disabled = disabled

    def set_attributes(self, unique_id: str, attributes: Mapping[str, Json]) -> None:
        """Replace the undocumented `attributes` of a device. Some servers keep secrets there."""
        self.devices[unique_id].attributes = dict(attributes)

    def set_last_update(self, unique_id: str, last_update: datetime) -> None:
        """Change only `lastUpdate` of a tracker."""
        device = self.devices[unique_id]
        device.last_update = last_update
        device.reported = True
        self.tell(device)

    def move_internal_id(self, unique_id: str) -> int:
        """Give the tracker a new internal `id`, as if it had been deleted and added again. Return this ID."""
        device = self.devices[unique_id]
        device.id = next(self._device_ids)
        return device.id

    def override_field(
        self, unique_id: str, field: str, value: Override = MISSING
    ) -> None:
        """From now on, send this value as a field of the device. Without a value, leave the field out."""
        self.devices[unique_id].overrides[field] = value

    def clear_overrides(self, unique_id: str) -> None:
        """End the overrides: send the device and its position correctly again."""
        device = self.devices[unique_id]
        device.overrides.clear()
        device.position_overrides.clear()

    # Reports of trackers

    def report(
        self,
        unique_id: str,
        *,
        latitude: float | None = None,
        longitude: float | None = None,
        altitude: float | None = None,
        speed: float | None = None,
        course: float | None = None,
        accuracy: float | None = None,
        valid: bool = True,
        address: str | None = None,
        attributes: Mapping[str, Json] | None = None,
        battery_level: float | None = None,
        motion: bool | None = None,
        fix_time: datetime | None = None,
        device_time: datetime | None = None,
        last_update: datetime | None = None,
        is_late: bool = False,
        is_buffered: bool = False,
    ) -> SimPosition:
        """Let a tracker report: it has a new position, positionId and lastUpdate.

        A value that is not given stays as in the previous position, with three exceptions:
        `valid` is then true, the address and the alarm are missing, and each time is
        `last_update` or, without `last_update`, now. The speed is in knots. `attributes`
        replaces all previous attributes: with `attributes={}`, the report has no
        batteryLevel. A late report is in the history and is sent over the live
        connection, but the previous position stays the current position. A buffered
        report is only in the history.
        """
        device = self.devices[unique_id]
        now = last_update or _now()
        before = device.position or SimPosition(
            0, DEFAULT_LATITUDE, DEFAULT_LONGITUDE, now, now, now
        )
        carried = dict(before.attributes)
        carried.pop("alarm", None)
        if attributes is not None:
            carried = dict(attributes)
        if battery_level is not None:
            carried["batteryLevel"] = battery_level
        if motion is not None:
            carried["motion"] = motion
        position = SimPosition(
            id=next(self._position_ids),
            latitude=_given(latitude, before.latitude),
            longitude=_given(longitude, before.longitude),
            altitude=_given(altitude, before.altitude),
            speed=_given(speed, before.speed),
            course=_given(course, before.course),
            accuracy=_given(accuracy, before.accuracy),
            valid=valid,
            address=address,
            attributes=carried,
            fix_time=fix_time or now,
            device_time=device_time or now,
            server_time=now,
        )
        self.reports[unique_id].append(position)
        if is_buffered:
            return position
        device.last_update = now
        device.reported = True
        # As Traccar does, send the device before its position. In this message, the device
        # still has the ID of its previous position.
        self.tell(device)
        if not is_late:
            device.position = position
            device.position_id = position.id
        self.tell(device, position)
        return position

    def report_no_fix(self, unique_id: str) -> SimPosition:
        """Let a tracker report 0/0 in 1970, as trackers do before their first fix."""
        return self.report(
            unique_id,
            latitude=0.0,
            longitude=0.0,
            altitude=0.0,
            speed=0.0,
            course=0.0,
            accuracy=0.0,
            valid=False,
            fix_time=datetime(1970, 1, 1, tzinfo=UTC),
        )

    def report_many(self, unique_ids: Iterable[str] | None = None) -> None:
        """Let these trackers, or all trackers, report from a place eleven meters north of their last place."""
        for unique_id in list(self.devices if unique_ids is None else unique_ids):
            position = self.devices[unique_id].position
            latitude = DEFAULT_LATITUDE if position is None else position.latitude
            self.report(unique_id, latitude=round(latitude + 0.0001, 6))

    def touch(
        self,
        unique_ids: Iterable[str] | None = None,
        *,
        last_update: datetime | None = None,
    ) -> None:
        """Set `lastUpdate` of these trackers, or of all trackers, to `last_update` (by default now). Change nothing else."""
        now = last_update or _now()
        for unique_id in list(self.devices if unique_ids is None else unique_ids):
            self.set_last_update(unique_id, now)

    # Changes of positions

    def override_position(
        self, unique_id: str, field: str, value: Override = MISSING
    ) -> None:
        """From now on, send this value as a field of the tracker's positions. Without a value, leave the field out."""
        self.devices[unique_id].position_overrides[field] = value

    def forget_position(self, unique_id: str) -> None:
        """Drop all positions of a tracker, as servers do with old positions. The positionId stays."""
        device = self.devices[unique_id]
        device.position = None
        self.reports.pop(unique_id, None)

    # Replacements of whole answers

    def raw_devices(self, answer: RawAnswer | None) -> None:
        """From now on, answer requests for the list of devices with this answer. With None, send the list again."""
        self._raw("devices", answer)

    def raw_positions(self, answer: RawAnswer | None) -> None:
        """From now on, answer requests for current positions with this answer. With None, send the positions again."""
        self._raw("positions", answer)

    def _raw(self, endpoint: str, answer: RawAnswer | None) -> None:
        if answer is None:
            self.raw_answers.pop(endpoint, None)
        elif isinstance(answer, str):
            self.raw_answers[endpoint] = answer.encode()
        else:
            self.raw_answers[endpoint] = answer

    # Data for accounts and their live connections

    def devices_of(self, email: str) -> list[SimDevice]:
        """Return the trackers of an account."""
        return [self.devices[unique_id] for unique_id in self.accounts[email].assigned]

    def tell(self, device: SimDevice, position: SimPosition | None = None) -> None:
        """Do nothing. The simulator overrides this method to send a device, or its position, to clients."""


def _now() -> datetime:
    return datetime.now(UTC)


def _given(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value
