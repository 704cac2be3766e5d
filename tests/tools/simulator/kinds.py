"""Kinds of servers: the features and the format of each.

The answers of Traccar's versions were recorded from real servers: see tests/traccar.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from .world import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of server.

    Attributes:
        name: the name by which it is selected
        offset: the notation of UTC in its times
        device_fields: fields that a device has besides its documented fields and `attributes`
        position_fields: fields that have the same values in all positions
        attributes: whether a device has `attributes`
        positions: whether the server has positions
        lists_disabled: whether the list of devices contains disabled trackers
        nulls: whether a tracker is offline, with lastUpdate null, until its first report
        oldest_fix: maximum age of a fix in the list of positions; None for no limit
        reports_refusal: the answer to an account that may not see reports; None if all may
        live: whether the server has a live connection
        position_delay: seconds from the live message of a device to that of its position
        socket_refusal: status of the answer if a websocket is opened without a session
    """

    name: str
    offset: str = "+0000"
    device_fields: dict[str, Json]
    position_fields: dict[str, Json]
    attributes: bool = True
    positions: bool = True
    lists_disabled: bool = True
    nulls: bool = False
    oldest_fix: timedelta | None = None
    reports_refusal: str | None = None
    live: bool = True
    position_delay: float = 0.0
    socket_refusal: int = 503


_CONTACTS: Final[dict[str, Json]] = {
    "phone": None,
    "model": None,
    "contact": None,
    "category": None,
}
_NOWHERE: Final[dict[str, Json]] = {"address": None, "network": None}
_WITH_GEOFENCES: Final[dict[str, Json]] = _NOWHERE | {"geofenceIds": None}
_WITH_END: Final[dict[str, Json]] = _CONTACTS | {
    "calendarId": 0,
    "expirationTime": None,
}
NULL_POINTER = (
    'Cannot invoke "org.traccar.api.security.LoginResult.getUser()" because "<local4>" is null'
    " - NullPointerException (SecurityRequestFilter:93 < ... < OverrideFilter:49 < ...)"
)
"""The answer of Traccar 5.11 and 5.12 to a wrong password."""
REPORTS_DISABLED = "Operation restricted - SecurityException (PermissionsService:142 < PositionResource:87 < ...)"
"""The answer of Traccar 5.12 and 6.14.5 to a user without the right to read reports."""

DOCUMENTED: Final = Kind(
    name="documented",
    device_fields={},
    position_fields={},
    attributes=False,
    positions=False,
    live=False,
)
"""A server with the documented interface and nothing else."""

SERVICE: Final = Kind(
    name="service",
    device_fields=_CONTACTS | {"category": "bicycle"},
    position_fields=_WITH_GEOFENCES | {"protocol": "simulator"},
)
"""A server with the documented interface and the features of a service that is built on Traccar."""

_KINDS = (
    DOCUMENTED,
    SERVICE,
    Kind(
        name="4.11",
        device_fields=_CONTACTS | {"geofenceIds": []},
        position_fields=_NOWHERE
        | {"protocol": "osmand", "type": None, "outdated": False},
        lists_disabled=False,
        nulls=True,
    ),
    Kind(
        name="5.12",
        offset="+00:00",
        device_fields=_WITH_END,
        position_fields=_WITH_GEOFENCES | {"protocol": "osmand", "outdated": False},
        nulls=True,
        reports_refusal=REPORTS_DISABLED,
    ),
    Kind(
        name="6.14.5",
        offset="+00:00",
        device_fields=_WITH_END,
        position_fields=_WITH_GEOFENCES | {"protocol": "osmand"},
        nulls=True,
        oldest_fix=timedelta(days=90),
        reports_refusal=REPORTS_DISABLED,
        position_delay=3.0,
        socket_refusal=404,
    ),
)

KINDS: Final = {kind.name: kind for kind in _KINDS}
